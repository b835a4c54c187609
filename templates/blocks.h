// Numbers of blocks for axes of grids that are sized to fill a device.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "generator/op.h"

namespace tunesmith {

/// So many per multiprocessor, then those of `few` that are less than one per multiprocessor.
inline std::vector<Value> blocks_to_fill(const DeviceFacts& device,
                                         std::initializer_list<std::int64_t> per_multiprocessor,
                                         std::initializer_list<std::int64_t> few = {}) {
  const std::int64_t multiprocessors = multiprocessors_to_fill(device);
  std::vector<Value> blocks;
  for (const std::int64_t each : per_multiprocessor) blocks.emplace_back(each * multiprocessors);
  for (const std::int64_t number : few) {
    if (number < multiprocessors) blocks.emplace_back(number);
  }
  return blocks;
}

}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
// Numbers of blocks, for axes of kernels whose grids are sized to fill a device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "generator/op.h"

namespace tunesmith {

/// The numbers of blocks with `per_multiprocessor` blocks per multiprocessor, then those of `few` that are
/// less than one per multiprocessor. The numbers for an unknown device come last, so that a winner of an H200
/// stays legal on every device.
inline std::vector<Value> blocks_to_fill(const DeviceFacts& device,
                                         std::initializer_list<std::int64_t> per_multiprocessor,
                                         std::initializer_list<std::int64_t> few = {}) {
  const std::int64_t multiprocessors = multiprocessors_to_fill(device);
  std::vector<Value> blocks;
  for (const std::int64_t each : per_multiprocessor) blocks.emplace_back(each * multiprocessors);
  for (const std::int64_t number : few) {
    if (number < multiprocessors) blocks.emplace_back(number);
  }
  for (const std::int64_t each : per_multiprocessor) {
    const Value elsewhere = each * multiprocessors_to_fill({});
    if (std::find(blocks.begin(), blocks.end(), elsewhere) == blocks.end()) blocks.push_back(elsewhere);
  }
  return blocks;
}

/// For `worth`.
inline Rule own_blocks_rule(const IntegerAxis& blocks, const DeviceFacts& device) {
  return {
      "The number of blocks is a multiple of this device's multiprocessors, or less than one per "
      "multiprocessor.",
      [blocks, multiprocessors = multiprocessors_to_fill(device)](const Config& c) {
        return c[blocks] % multiprocessors == 0 || c[blocks] < multiprocessors;
      }};
}

}  // namespace tunesmith

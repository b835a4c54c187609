// SPDX-License-Identifier: Apache-2.0
// The place of a window: scipy.ndimage's `origin`, by which it begins before the centred window. The image
// ops use it.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "generator/op.h"

namespace tunesmith {

/// The places from a window's first one to its output's. `turned` means that the window is read backwards.
inline std::int64_t places_before(std::int64_t extent, std::int64_t origin, bool turned = false) {
  return turned ? extent - 1 - extent / 2 - origin : extent / 2 + origin;
}

/// The parameter for the origin of windows of up to `most` places.
inline Parameter origin_parameter(std::string name, std::string what, std::int64_t most) {
  return {.name = std::move(name),
          .what = std::move(what),
          .minimum = -(most / 2),
          .maximum = (most - 1) / 2,
          .initial = Value(0)};
}

/// For Op::check: the reason why a window of `extent` places would not hold its output's own place, or empty.
inline std::string refuses_origin(const Problem& problem, const std::string& name, std::int64_t extent) {
  const std::int64_t origin = problem.integer(name), least = -(extent / 2), most = (extent - 1) / 2;
  if (origin >= least && origin <= most) return "";
  return "A window does not hold its output's place with " + name + "=" + std::to_string(origin) + "; for " +
         std::to_string(extent) + " places there, allowed are whole numbers from " + std::to_string(least) +
         " to " + std::to_string(most) + ".";
}

/// For Op::sizes: the parameters that decide the distance of problems. An origin is not one of them.
inline std::function<Values(const Problem&)> sizes_of(std::initializer_list<const char*> names) {
  return [all = std::vector<const char*>(names)](const Problem& problem) {
    Values sizes;
    for (const char* name : all) sizes.set(name, problem.integer(name));
    return sizes;
  };
}

}  // namespace tunesmith

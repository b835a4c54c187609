// SPDX-License-Identifier: Apache-2.0
// The samples outside an image or a signal: the parameter `boundary` of the ops that have one, and the
// definition of each boundary.
#pragma once

#include <tunesmith/boundary.h>  // the one for applications; a package may have a copy next to this file

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "generator/op.h"
#include "templates/choice.h"

namespace tunesmith {

inline Parameter boundary_parameter(std::string what, Boundary initial) {
  return {.name = "boundary",
          .what = std::move(what),
          .categories = choices<Boundary>(),
          .initial = std::string(name_of(initial))};
}

inline Boundary boundary_of(const Problem& problem) { return choice<Boundary>(problem, "boundary"); }

/// The index in [0, size) of the sample at any place, by the period of the boundary; -1 if the sample there
/// is a constant.
inline std::int64_t sample_at(std::int64_t place, std::int64_t size, Boundary boundary) {
  const auto within = [place](std::int64_t period) { return (place % period + period) % period; };
  switch (boundary) {
    case Boundary::zero:
    case Boundary::constant:
      return place >= 0 && place < size ? place : -1;
    case Boundary::nearest:
      return std::clamp<std::int64_t>(place, 0, size - 1);
    case Boundary::reflect:
      return std::min(within(2 * size), 2 * size - 1 - within(2 * size));
    case Boundary::mirror: {
      const std::int64_t period = std::max<std::int64_t>(2 * size - 2, 1);
      return std::min(within(period), period - within(period)) % size;
    }
    case Boundary::wrap:
      return within(size);
  }
  return -1;
}

}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
// A config for where the one that is wanted is not legal.
#pragma once

#include <optional>

#include "generator/space.h"

namespace tunesmith {

/// What counts as near. Two numbers are as far apart as the octaves between them, and `unequal` more.
struct Nearness {
  int most_axes = 1;      ///< that may change, beside conditional ones: 1, or 2
  double unequal = 1e-3;  ///< so that 0 and 1 differ too
  double other_word = 100;
};
/// Of a config that is used without having been measured: as it was, but for one number.
inline constexpr Nearness one_number = {};
/// Of a guess that will be measured. The values may be of an earlier version: those of an axis that is gone
/// are left out, others are moved onto the axis, and an axis that came later gets a promising value.
inline constexpr Nearness a_guess = {.most_axes = 2, .unequal = 0.1, .other_word = 1};

/// These values where they are legal, else the nearest config that is. Nothing where more axes would have to
/// change.
std::optional<Config> nearest_legal(const Space& space, const Values& values, const Nearness& nearness);

}  // namespace tunesmith

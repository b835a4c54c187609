// SPDX-License-Identifier: Apache-2.0
// Finds the nearest legal config if the wanted one is not legal. Dispatch and the tuner's search use it.
#pragma once

#include <optional>

#include "generator/space.h"

namespace tunesmith {

/// A measure of distance between configs. Two numbers are as far apart as the octaves between them, plus
/// `unequal`.
struct Nearness {
  int most_axes = 1;      ///< the number of axes that may change, in addition to conditional ones: 1, or 2
  double unequal = 1e-3;  ///< makes 0 and 1 differ too
  double other_word = 100;
};
/// For a config that is used without having been measured: only one number may change.
inline constexpr Nearness one_number = {};
/// For a guess that will be measured. The values may come from an earlier version: values of missing axes are
/// left out, others are moved onto their axis, and new axes get a promising value.
inline constexpr Nearness a_guess = {.most_axes = 2, .unequal = 0.1, .other_word = 1};

/// Returns these values if they are legal, else the nearest legal config; nothing if more axes would have to
/// change.
std::optional<Config> nearest_legal(const Space& space, const Values& values, const Nearness& nearness);

}  // namespace tunesmith

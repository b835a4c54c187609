// SPDX-License-Identifier: Apache-2.0
// Guesses for a search: variants that were fast on the problem before, or on other problems of the op.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/search/search.h"

namespace tunesmith {

/// The number of guesses that are tried in all: a config that is fast everywhere is among them, and a
/// strategy that learns from these finds the rest sooner than more guesses would.
inline constexpr std::size_t most_promising = 8;

/// This many of the fastest variants of each problem are guesses.
inline constexpr std::size_t most_remembered = 8;

/// A config that was fast somewhere.
struct Guess {
  double distance = 0;    ///< distance of its problem, as distance() in op.h; 0: the same problem
  std::size_t place = 0;  ///< position among the fastest of its problem, from 0
  std::string template_name;
  std::string config;
};

/// Points of `space` to propose first, without repetitions, at most `most_promising`: the guesses of the same
/// problem in their order, then the others, for which a place counts as much as an octave of distance.
/// `template_index` says which template a name means, if any.
std::vector<Point> promising(
    const SearchSpace& space, std::vector<Guess> guesses,
    const std::function<std::optional<std::size_t>(std::string_view)>& template_index);

}  // namespace tunesmith

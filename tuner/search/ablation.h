// SPDX-License-Identifier: Apache-2.0
// What each heuristic (`worth` rule) of the ops' templates is worth, from recordings in which configs break
// heuristics too.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tuner/search/recorded.h"

namespace tunesmith {

/// A mean over recordings, or over recordings and repeats, and its standard error; of none NaN.
struct MeanEstimate {
  double mean = 0, error = 0;
};

struct AblatedRule {
  std::string op, template_name, why;
  std::size_t number = 0;                        ///< its place among the template's heuristics, from 1
  std::int64_t configs = 0;                      ///< recorded ones of the template
  std::int64_t breaking = 0;                     ///< of these, those that break it
  std::int64_t alone = 0;                        ///< of these, those that break no other
  std::int64_t failed = 0;                       ///< of the alone, those that are not ok
  std::int64_t best_1 = 0, best_1_breaking = 0;  ///< the fastest 1 % of each recording, at least one config
  std::int64_t best_5 = 0, best_5_breaking = 0;  ///< the fastest 5 %
  /// The expected best time of ten configs that break it alone / of ten that keep all heuristics; the
  /// geometric mean over recordings with at least `least_alone` of each, and the least of them.
  MeanEstimate slower;
  double least_slower = 0;
  MeanEstimate compile;  ///< the mean compile time of these / of those
  /// By mark: what leaving the heuristic out changes of optimum / best found; positive: it is better left
  /// out.
  std::vector<MeanEstimate> change;
};

inline constexpr std::size_t least_alone = 5;

/// Of every heuristic of the templates in the recordings of ops that this library has; configs that are not
/// legal (any more) are left out. Searches with `auto`, `repeats` times, none for 0; the qualities are after
/// `marks` verdicts.
std::vector<AblatedRule> ablation(std::span<const Recording> recordings, std::size_t repeats,
                                  std::uint64_t seed, std::span<const std::int64_t> marks);

}  // namespace tunesmith

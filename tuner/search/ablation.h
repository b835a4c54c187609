// SPDX-License-Identifier: Apache-2.0
// Computes the benefit of each heuristic (`worth` rule) of the ops' templates, from recordings with configs
// that break heuristics too.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tuner/search/recorded.h"
#include "tuner/search/statistics.h"

namespace tunesmith {

struct AblatedRule {
  std::string op, template_name, why;
  std::size_t number = 0;                        ///< its place among the template's heuristics, from 1
  std::int64_t configs = 0;                      ///< recorded configs of the template
  std::int64_t breaking = 0;                     ///< those that break the heuristic
  std::int64_t alone = 0;                        ///< those of `breaking` that break no other
  std::int64_t failed = 0;                       ///< those of `alone` that are not ok
  std::int64_t best_1 = 0, best_1_breaking = 0;  ///< the fastest 1 % of each recording, at least one config
  std::int64_t best_5 = 0, best_5_breaking = 0;  ///< the fastest 5 %
  /// The expected best time of ten configs that break only this heuristic, divided by that of ten that keep
  /// all heuristics: the geometric mean over recordings with at least `least_alone` of each, and the least of
  /// them.
  MeanEstimate slower;
  double least_slower = 0;
  MeanEstimate compile;  ///< the ratio of mean compile times of the same two groups
  /// By mark: the change of optimum / best found when the heuristic is left out; positive: it is better left
  /// out.
  std::vector<MeanEstimate> change;
};

inline constexpr std::size_t least_alone = 5;

/// Examines every heuristic of the templates in the recordings of ops that this library has; configs that are
/// not legal (any more) are left out. Searches with `auto`, `repeats` times; 0: no search. The qualities are
/// after `marks` verdicts.
std::vector<AblatedRule> ablation(std::span<const Recording> recordings, std::size_t repeats,
                                  std::uint64_t seed, std::span<const std::int64_t> marks);

}  // namespace tunesmith

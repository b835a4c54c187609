// SPDX-License-Identifier: Apache-2.0
// Summarises the measured choices of `tunesmith regret`, as pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/text_table.h"
#include "tuner/run/tune.h"

namespace tunesmith {

/// The variant that dispatch would take for an untuned problem, and the best that tuning found there.
struct Regret {
  static constexpr std::size_t tried = 4;
  std::string problem;
  std::string match;          ///< dispatch's match
  std::string picked, tuned;  ///< template and config; picked is empty if dispatch has only the base
  double expected_us = 0;     ///< dispatch's estimate; 0: it had none
  double expected_loss = 0;   ///< likewise
  double picked_us = 0, tuned_us = 0, base_us = 0;  ///< 0: not ok
  double portfolio_us = 0;  ///< time of the best variant that dispatch could choose; 0: not known
  double tried_us = 0;      ///< time of the best of the `tried` most promising ones; 0: not known
  double ratio = 0;         ///< tuned / picked, paired; 0: the picked variant is not ok
};

/// Completes `regret`, which has the problem and the pick, with a tuning's times of both; the tuning has
/// winners.
Regret with_times(Regret regret, const TunedProblem& tuned);

/// Adds the time of a pick that the tuning had not measured; a pick that is faster than all of its variants
/// becomes the best.
Regret with_late_pick(Regret regret, double picked_us);

/// Summary of at least one regret.
struct RegretSummary {
  double mean = 0;   ///< geometric mean of the ratios
  double fifth = 0;  ///< the 5th percentile
  double worst = 0;
  double over_base = 0;               ///< geometric mean of base / picked
  int slower_than_base = 0;           ///< picks slower by more than 2 %
  double claimed_loss = 0, loss = 0;  ///< geometric means over picks with an estimate
  double portfolio = 0;               ///< geometric mean of tuned / the best of the portfolio; 0: not known
  double tried = 0,
         tried_fifth =
             0;    ///< geometric mean of tuned / the best of the most promising ones, and the 5th percentile
  int failed = 0;  ///< picks that are not ok; not counted in the other numbers
};
RegretSummary summary_of(const std::vector<Regret>& all);

/// Says why the picks are not good enough: the geometric mean is less than `least`, or one is not ok. Empty
/// if they are.
std::string why_below(const std::vector<Regret>& all, double least);

std::string regret_text(const std::vector<Regret>& all);
TextTable regret_table(const std::vector<Regret>& all);  ///< the worst first

}  // namespace tunesmith

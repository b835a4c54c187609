// SPDX-License-Identifier: Apache-2.0
// What `tunesmith regret` says of choices that were measured, as pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/text_table.h"
#include "tuner/run/tune.h"

namespace tunesmith {

/// A variant that dispatch would take for a problem that nobody tuned, and the best that tuning found there.
struct Regret {
  static constexpr std::size_t tried = 4;
  std::string problem;
  std::string match;          ///< as dispatch said it
  std::string picked, tuned;  ///< template and config; picked empty: it has nothing but the base
  double expected_us = 0;     ///< as dispatch said it; 0: it did not
  double expected_loss = 0;   ///< likewise
  double picked_us = 0, tuned_us = 0, base_us = 0;  ///< 0: not ok
  double portfolio_us = 0;  ///< of the best that dispatch had to choose from; 0: not known
  double tried_us = 0;      ///< of the best of those that promised most, `tried` of them; 0: not known
  double ratio = 0;         ///< tuned / picked, paired; 0: what was picked is not ok
};

/// `regret`, of which the problem and the pick are known, with what a tuning that has winners says of both.
Regret with_times(Regret regret, const TunedProblem& tuned);

/// With the time of a pick that the tuning had not measured; one that is faster than all that it had is the
/// best.
Regret with_late_pick(Regret regret, double picked_us);

/// At least one.
struct RegretSummary {
  double mean = 0;   ///< geometric, of the ratios
  double fifth = 0;  ///< the 5th percentile
  double worst = 0;
  double over_base = 0;               ///< geometric mean of base / picked
  int slower_than_base = 0;           ///< by more than 2 %
  double claimed_loss = 0, loss = 0;  ///< geometric means, of those with a claim
  double portfolio = 0;               ///< geometric mean of tuned / the best of the portfolio; 0: not known
  double tried = 0,
         tried_fifth = 0;  ///< of tuned / the best of those that promised most, and the 5th percentile
  int failed = 0;          ///< picks that are not ok; in none of the other numbers
};
RegretSummary summary_of(const std::vector<Regret>& all);

std::string regret_text(const std::vector<Regret>& all);
TextTable regret_table(const std::vector<Regret>& all);  ///< the worst first

}  // namespace tunesmith

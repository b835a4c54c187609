// SPDX-License-Identifier: Apache-2.0
#include "cli/regret_table.h"

#include <algorithm>
#include <cmath>

#include "generator/listed.h"
#include "generator/number_text.h"

namespace tunesmith {
namespace {

constexpr double noise = 1.02;  // ratio of two times of one kernel that is loaded twice
constexpr std::size_t most_losers = 10;

double geometric_mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return values.empty() ? 0 : std::exp(sum / static_cast<double>(values.size()));
}

double fifth_percentile(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double at = 0.05 * static_cast<double>(values.size() - 1);  // as numpy.percentile
  const auto below = static_cast<std::size_t>(at);
  return std::lerp(values[below], values[std::min(below + 1, values.size() - 1)],
                   at - static_cast<double>(below));
}

}  // namespace

Regret with_times(Regret regret, const TunedProblem& tuned) {
  const TunedWinner& winner = tuned.winners.front();
  regret.tuned = winner.template_name + " " + winner.config;
  regret.tuned_us = winner.time.median_us;
  if (tuned.base) regret.base_us = tuned.base->median_us;
  for (const TunedFinalist& finalist : tuned.finalists) {
    if (finalist.template_name + " " + finalist.config != regret.picked) continue;
    regret.picked_us = finalist.median_us;
    regret.ratio = 1 / finalist.ratio;
  }
  // An interrupted run names a winner without finals.
  if (regret.picked_us <= 0 && regret.picked == regret.tuned) {
    regret.picked_us = regret.tuned_us;
    regret.ratio = 1;
  }
  return regret;
}

Regret with_late_pick(Regret regret, double picked_us) {
  regret.picked_us = picked_us;
  if (picked_us < regret.tuned_us) {
    regret.tuned = regret.picked;
    regret.tuned_us = picked_us;
  }
  regret.ratio = regret.tuned_us / picked_us;
  return regret;
}

RegretSummary summary_of(const std::vector<Regret>& all) {
  RegretSummary summary;
  std::vector<double> ratios, over_base, portfolio, tried, claims, claimed_ratios;
  for (const Regret& one : all) {
    if (one.ratio <= 0) {
      ++summary.failed;
      continue;
    }
    ratios.push_back(one.ratio);
    if (one.base_us > 0) over_base.push_back(one.base_us / one.picked_us);
    if (one.base_us > 0 && one.picked_us > noise * one.base_us) ++summary.slower_than_base;
    if (one.portfolio_us > 0) portfolio.push_back(one.tuned_us / one.portfolio_us);
    if (one.tried_us > 0) tried.push_back(one.tuned_us / one.tried_us);
    if (one.expected_us <= 0) continue;
    claims.push_back(1 + one.expected_loss);
    claimed_ratios.push_back(one.ratio);
  }
  if (ratios.empty()) return summary;
  summary.mean = geometric_mean(ratios);
  summary.worst = *std::min_element(ratios.begin(), ratios.end());
  summary.fifth = fifth_percentile(ratios);
  summary.over_base = geometric_mean(over_base);
  summary.portfolio = geometric_mean(portfolio);
  summary.tried = geometric_mean(tried);
  summary.tried_fifth = fifth_percentile(tried);
  if (!claims.empty()) {
    summary.claimed_loss = geometric_mean(claims) - 1;
    summary.loss = 1 / geometric_mean(claimed_ratios) - 1;
  }
  return summary;
}

TextTable regret_table(const std::vector<Regret>& all) {
  std::vector<Regret> sorted = all;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Regret& a, const Regret& b) { return a.ratio < b.ratio; });
  TextTable table({"ratio", "picked_us", "tuned_us", "base_us", "portfolio_us", "tried_us", "expected_us",
                   "expected_loss", "match", "problem", "picked", "tuned"});
  const auto known = [](double value) { return value > 0 ? Cell(value) : Cell(); };
  for (const Regret& one : sorted) {
    table.add({known(one.ratio), known(one.picked_us), known(one.tuned_us), known(one.base_us),
               known(one.portfolio_us), known(one.tried_us), known(one.expected_us),
               one.expected_us > 0 ? Cell(one.expected_loss) : Cell(), one.match, one.problem, one.picked,
               one.tuned});
  }
  return table;
}

std::string why_below(const std::vector<Regret>& all, double least) {
  const RegretSummary summary = summary_of(all);
  const std::string asked = ", and --fail-below asks for " + printed("%g", least) + ".";
  if (summary.failed > 0)
    return std::to_string(summary.failed) + " of " + std::to_string(all.size()) +
           " picked variants are not right" + asked;
  if (summary.mean >= least) return "";
  return "Dispatch reaches " + printed("%.3f", summary.mean) + " of the tuned speed in the geometric mean" +
         asked;
}

std::string regret_text(const std::vector<Regret>& all) {
  const RegretSummary s = summary_of(all);
  std::string out;
  const auto line = [&](const char* pattern, auto... values) { out += printed(pattern, values...); };
  line("%s. Tuned time / picked time: geometric mean %.3f, 5th percentile %.3f, worst %.3f.\n",
       counted(all.size(), "problem").c_str(), s.mean, s.fifth, s.worst);
  line("Against the base: %.3g times as fast (geometric mean); slower than it on %d.\n", s.over_base,
       s.slower_than_base);
  if (s.claimed_loss > 0 || s.loss > 0)
    line("Expected loss: %.1f %%; measured: %.1f %%.\n", 100 * s.claimed_loss, 100 * s.loss);
  if (s.portfolio > 0) line("With the best of the portfolio it would be %.3f.\n", s.portfolio);
  if (s.tried > 0)
    line("With the %d most promising tried at first use it would be %.3f, 5th percentile %.3f.\n",
         static_cast<int>(Regret::tried), s.tried, s.tried_fifth);
  if (s.failed > 0)
    line("On %d what was picked is wrong, failed or was not compiled in time; it is in no number above.\n",
         s.failed);
  std::vector<Regret> losers = all;
  std::erase_if(losers, [](const Regret& one) { return one.ratio * noise >= 1; });
  std::stable_sort(losers.begin(), losers.end(),
                   [](const Regret& a, const Regret& b) { return a.ratio < b.ratio; });
  if (losers.empty()) return out;
  TextTable table({"ratio", "picked us", "tuned us", "problem", "picked", "tuned"});
  for (std::size_t i = 0; i < std::min(losers.size(), most_losers); ++i) {
    const Regret& one = losers[i];
    table.add({one.ratio, one.picked_us, one.tuned_us, one.problem, one.picked, one.tuned});
  }
  return out + "\nLosers, the worst first:\n" + table.text();
}

}  // namespace tunesmith

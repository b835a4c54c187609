// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/outcome.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace tunesmith {

TunedTime tuned_time(const Trial& trial) {
  TunedTime time;
  time.median_us = trial.median_us;
  time.interval_us = median_interval(trial.loads_us, stated_confidence);
  time.energy_uj = trial.reply.energy_uj;
  return time;
}

TunedWinner tuned_winner(const Findings& findings, const Decision& decision, const Decision::Winner& chosen,
                         std::int64_t element_bytes) {
  const Trial& trial = findings.trial(chosen.trial_id);
  TunedWinner winner;
  winner.any_alignment = chosen.alignment_bytes <= element_bytes;
  winner.template_name = trial.variant.tmpl->name;
  winner.config = trial.variant.point.config.text();
  winner.time = tuned_time(trial);
  winner.alignment_bytes = chosen.alignment_bytes;
  winner.registers = trial.reply.registers;
  for (const Decision::Finalist& each : decision.finalists) {
    if (each.winner != chosen.trial_id) continue;
    ++winner.finalists;
    if (each.tied) ++winner.tied;
    if (each.trial_id != each.winner && winner.runner_up.empty()) {
      const RenderedVariant& second = findings.trial(each.trial_id).variant;
      winner.runner_up = second.tmpl->name + " " + second.point.config.text();
      winner.runner_up_ratio = each.ratio;
    }
  }
  return winner;
}

std::vector<TunedFinalist> first_finalists(const Findings& findings, const Decision& decision) {
  std::vector<TunedFinalist> finalists;
  for (const Decision::Finalist& each : decision.finalists) {
    if (each.winner != decision.winners.front().trial_id) continue;
    const Trial& trial = findings.trial(each.trial_id);
    finalists.push_back(
        {trial.variant.tmpl->name, trial.variant.point.config.text(), trial.median_us, each.ratio.middle});
  }
  return finalists;
}

std::map<TrialId, std::vector<FinalistRow>> finalist_rows(const Findings& findings,
                                                          const Decision& decision) {
  std::map<TrialId, std::vector<FinalistRow>> of_winner;
  for (const Decision::Finalist& each : decision.finalists) {
    FinalistRow row;
    row.measurement_id = findings.trial(each.trial_id).measurement;
    row.ratio = each.ratio.middle;
    if (std::isfinite(each.ratio.high)) {
      row.ratio_low = each.ratio.low;
      row.ratio_high = each.ratio.high;
    }
    row.tied = each.tied;
    of_winner[each.winner].push_back(row);
  }
  return of_winner;
}

std::vector<TrialId> provisional_winners(const Findings& findings, const SearchSpace& space, bool in_parts,
                                         std::int64_t element_bytes) {
  const auto judged = [&](const Point& point) {
    return std::any_of(findings.trials.begin(), findings.trials.end(), [&](const Trial& trial) {
      return trial.variant.point == point && trial.measurement > 0;
    });
  };
  const bool all_tried = in_parts ? findings.trials.size() > space.promising.size()
                                  : std::all_of(space.promising.begin(), space.promising.end(), judged);
  if (!judged(*space.base) || !all_tried) return {};
  std::vector<TrialId> winners;
  for (const bool any_alignment : {false, true}) {
    TrialId best = -1;
    for (std::size_t i = 0; i < findings.trials.size(); ++i) {
      const Trial& trial = findings.trials[i];
      if (trial.median_us <= 0 || trial.measurement <= 0 || !reentrant(trial.variant.work)) continue;
      if (any_alignment && trial.variant.alignment_bytes > element_bytes) continue;
      if (best < 0 || trial.median_us < findings.trial(best).median_us) best = static_cast<TrialId>(i);
    }
    if (best >= 0 && std::find(winners.begin(), winners.end(), best) == winners.end())
      winners.push_back(best);
  }
  return winners;
}

TunedWinner provisional_winner(const Trial& trial, std::int64_t element_bytes) {
  TunedWinner winner;
  winner.any_alignment = trial.variant.alignment_bytes <= element_bytes;
  winner.template_name = trial.variant.tmpl->name;
  winner.config = trial.variant.point.config.text();
  winner.time.median_us = trial.median_us;
  winner.alignment_bytes = trial.variant.alignment_bytes;
  winner.registers = trial.reply.registers;
  return winner;
}

void add_counts(TunedProblem& result, const Findings& findings) {
  result.verdicts = findings.verdicts;
  result.measured = findings.measured;
  result.known = findings.known;
  result.worst_us = findings.worst_us;
  for (const Trial& trial : findings.trials) {
    if (trial.reply.unwatched.empty()) continue;
    if (++result.unwatched == 1) result.why_unwatched = trial.reply.unwatched;
  }
  if (findings.trials.empty() || !findings.trials.front().variant.is_base) return;
  const MeasureReply& base = findings.trials.front().reply;
  if (base.verdict != Verdict::ok) result.base_fault = std::string(name(base.verdict)) + ": " + base.reason;
}

std::vector<FailedVariant> failed_variants(const Findings& findings) {
  std::vector<FailedVariant> failed;
  for (const Trial& trial : findings.trials) {
    if (trial.reply.verdict != Verdict::ok)
      failed.push_back({trial.variant.tmpl->name, trial.variant.point.config.text(), trial.reply.verdict,
                        trial.reply.reason});
  }
  return failed;
}

}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
#include "cli/winners_table.h"

#include <cmath>

#include "cli/cli.h"
#include "cli/text_table.h"
#include "cli/user_metrics.h"
#include "generator/config_count.h"
#include "generator/listed.h"
#include "generator/number_text.h"

namespace tunesmith {
namespace {

constexpr std::size_t indent = 2;

std::string percent(double fraction) { return printed("%.1f %%", fraction * 100); }

// "1.002x (0.998 to 1.006)"
std::string ratio_with_interval(const Interval& ratio) {
  std::string text = printed("%.3fx", ratio.middle);
  if (std::isfinite(ratio.high))
    text += " (" + printed("%.3f", ratio.low) + " to " + printed("%.3f", ratio.high) + ")";
  return text;
}

Cell interval(const TunedTime& time) {
  if (!time.interval_us) return {};
  return time_text(time.interval_us->low) + " to " + time_text(time.interval_us->high);
}

Cell energy(const TunedTime& time) {
  if (time.energy_uj <= 0) return {};
  return time.energy_uj < 1e3 ? printed("%.3g uJ", time.energy_uj) : printed("%.4g mJ", time.energy_uj / 1e3);
}

const char* address(const TunedProblem& problem, const TunedWinner& winner) {
  return &winner == &problem.winners.front() ? "winner" : "any address";
}

std::string over(double slower_us, double median_us) {
  return slower_us > 0 && median_us > 0 ? ratio_text(slower_us / median_us) : "-";
}

std::string times_text(const TunedProblem& problem, const Op* op) {
  TextTable table(with_metric_names({"", "median", "95 % interval", "energy", "over base", "over worst",
                                     "alignment", "registers", "template", "config"},
                                    op));
  for (const TunedWinner& winner : problem.winners) {
    const double us = winner.time.median_us;
    table.add(with_metrics(
        {std::string(address(problem, winner)), time_text(us), interval(winner.time), energy(winner.time),
         over(problem.base ? problem.base->median_us : 0, us), over(problem.worst_us, us),
         counted(static_cast<std::size_t>(winner.alignment_bytes), "byte"),
         winner.registers > 0 ? std::to_string(winner.registers) : "-", winner.template_name, winner.config},
        op, problem.problem, winner.config, us));
  }
  if (problem.base) {
    const double us = problem.base->median_us;
    table.add(
        with_metrics({std::string("base"), time_text(us), interval(*problem.base), energy(*problem.base),
                      std::string("1.00x"), over(problem.worst_us, us), Cell(), Cell(), Cell(), Cell()},
                     op, problem.problem, "", us));
  }
  return table.empty() ? "" : table.text(indent);
}

// Writes the finalists that the winner cannot be distinguished from, and the runner-up.
std::string set_text(const TunedProblem& problem, const TunedWinner& winner) {
  if (winner.runner_up.empty()) return "";
  std::string text = std::string(address(problem, winner)) + ": ";
  text += winner.tied > 1 ? std::to_string(winner.tied) + " of " + std::to_string(winner.finalists) +
                                " finalists cannot be told from the best"
                          : "faster than the other " +
                                (winner.finalists == 2 ? "finalist"
                                                       : std::to_string(winner.finalists - 1) + " finalists");
  return text + "; runner-up " + ratio_with_interval(winner.runner_up_ratio) + ": " + winner.runner_up + '\n';
}

bool no_variant_is_ok(const TunedProblem& problem) {
  return !problem.verdicts.empty() && !problem.verdicts.contains(Verdict::ok);
}

std::string problem_text(const TunedProblem& problem, const Op* op) {
  const std::string blanks(indent, ' ');
  std::string text = problem.problem + '\n' + times_text(problem, op);
  if (!problem.base_fault.empty()) {
    text += blanks + "The base fails, " + problem.base_fault +
            " Dispatch falls back on it, so mend it or the reference first.\n";
  }
  if (no_variant_is_ok(problem))
    text += blanks + "No variant is ok: the reference, the op's contract or the device may be at fault.\n";
  if (problem.winners.empty()) text += blanks + "No winner: nothing new was chosen in this run.\n";
  if (problem.provisional) {
    text +=
        blanks +
        "Provisional: the fastest so far, measured once. Dispatch uses it; the finals have not been run.\n";
  }
  for (const TunedWinner& winner : problem.winners) {
    if (const std::string set = set_text(problem, winner); !set.empty()) text += blanks + set;
    if (!winner.note.empty()) text += blanks + winner.note + '\n';
  }
  text += blanks + "Verdicts:";
  for (const auto& [verdict, count] : problem.verdicts)
    text += ' ' + std::string(name(verdict)) + ' ' + std::to_string(count);
  text += "; " + std::to_string(problem.measured) + " measured in " + printed("%.1f s", problem.seconds);
  // The base's verdict comes before the search's time begins.
  if (problem.measured > 1 && problem.search_s > 0) {
    text += " (searching " + printed("%.1f s", problem.search_s) + ", " +
            printed("%.1f", static_cast<double>(problem.measured - 1) / problem.search_s) +
            " verdicts per second)";
  }
  return text + ", " + std::to_string(problem.known) + " known before, " + count_text(problem.variants) +
         (problem.variants == 1 ? " variant" : " variants") + " in the space.\n";
}

}  // namespace

bool is_alarming(const TunedProblem& problem) {
  return !problem.base_fault.empty() || no_variant_is_ok(problem);
}

std::string spent_text(const TuneResult& result) {
  if (result.seconds <= 0) return "";
  const TimeSpent& spent = result.spent;
  TextTable table({"time spent", "seconds", "share"});
  const auto add = [&](std::string name, double seconds, double of) {
    table.add({std::move(name), seconds, percent(seconds / of)});
  };
  add("prepare", spent.prepare_s, result.seconds);
  add("load", spent.load_s, result.seconds);
  add("check", spent.check_s, result.seconds);
  add("time", spent.time_s, result.seconds);
  add("store", spent.store_s, result.seconds);
  add("idle", spent.idle_s, result.seconds);
  add("other", spent.other_s, result.seconds);
  add("together", spent.sum_s(), result.seconds);
  add("compile (" + std::to_string(result.compilers) + " at once)", result.compile_s,
      result.compilers * result.seconds);
  return table.text();
}

std::string winners_text(const TuneResult& result, const Op* op) {
  std::string text = "\nOn " + result.device.name + " (" + result.device_id + ")" +
                     (result.device.kind == DeviceKind::host ? std::string(", ") + emulated : "") +
                     (result.conditions.caches == Caches::cold ? ", with cold caches" : "") +
                     (result.conditions.launches == Launches::chained ? ", launches chained" : "") + ":\n";
  for (const TunedProblem& problem : result.problems) text += problem_text(problem, op);
  text += spent_text(result);
  if (result.problems.empty() && !result.interrupted)
    text += result.mode.chooses_again()
                ? "There was nothing to choose from: no problem was tuned on this device with these "
                  "caches and launches.\n"
                : "There was nothing to tune: no winner with these caches and launches is stale.\n";
  if (result.interrupted) {
    text +=
        "Interrupted. Every verdict so far is in the database; run the same command again to continue, or "
        "\"tunesmith finals\" to choose winners from the stored measurements.\n";
  }
  return text;
}

}  // namespace tunesmith

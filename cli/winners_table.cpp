#include "cli/winners_table.h"

#include <array>
#include <cstdio>

#include "cli/table.h"

namespace tunesmith {
namespace {

constexpr std::size_t indent = 2;

std::string percent(double fraction) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f %%", fraction * 100);
  return text.data();
}

std::string over(double slower_us, double median_us) {
  return slower_us > 0 && median_us > 0 ? ratio_text(slower_us / median_us) : "-";
}

std::string times_text(const TunedProblem& problem) {
  Table table(
      {"", "median", "spread", "over base", "over worst", "alignment", "registers", "template", "config"});
  for (const TunedWinner& winner : problem.winners) {
    const double us = winner.time.median_us;
    table.add({std::string(&winner == &problem.winners.front() ? "winner" : "any address"), time_text(us),
               percent(winner.time.spread), over(problem.base ? problem.base->median_us : 0, us),
               over(problem.worst_us, us), std::to_string(winner.alignment_bytes) + " bytes",
               winner.registers > 0 ? std::to_string(winner.registers) : "-", winner.template_name,
               winner.config});
  }
  if (problem.base) {
    const double us = problem.base->median_us;
    table.add({std::string("base"), time_text(us), percent(problem.base->spread), std::string("1.00x"),
               over(problem.worst_us, us), Cell(), Cell(), Cell(), Cell()});
  }
  return table.empty() ? "" : table.text(indent);
}

std::string problem_text(const TunedProblem& problem) {
  const std::string blanks(indent, ' ');
  std::string text = problem.problem + '\n' + times_text(problem);
  if (problem.winners.empty()) text += blanks + "No winner: nothing new was chosen in this run.\n";
  for (const TunedWinner& winner : problem.winners) {
    if (!winner.note.empty()) text += blanks + winner.note + '\n';
  }
  text += blanks + "Verdicts:";
  for (const auto& [verdict, count] : problem.verdicts)
    text += ' ' + std::string(name(verdict)) + ' ' + std::to_string(count);
  std::array<char, 160> counts{};
  std::snprintf(counts.data(), counts.size(),
                "; %lld measured in %.1f s, %lld known before, %lld variants in the space.\n",
                static_cast<long long>(problem.measured), problem.seconds,
                static_cast<long long>(problem.known), static_cast<long long>(problem.variants));
  return text + counts.data();
}

// What the device did, moment by moment, and below it the compilers, which work at the same time.
std::string spent_text(const TuneResult& result) {
  if (result.seconds <= 0) return "";
  const TimeSpent& spent = result.spent;
  Table table({"time spent", "seconds", "share"});
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

}  // namespace

std::string winners_text(const TuneResult& result) {
  std::string text = "\nOn " + result.device.name + " (" + result.device_id + ")" +
                     (result.cold_caches ? ", with cold caches" : "") + ":\n";
  for (const TunedProblem& problem : result.problems) text += problem_text(problem);
  text += spent_text(result);
  if (result.problems.empty() && !result.interrupted)
    text += "There was nothing to tune: no winner with these caches is stale.\n";
  if (result.interrupted) {
    text += "Interrupted. Every verdict so far is in the database; run the same command again to continue.\n";
  }
  return text;
}

}  // namespace tunesmith

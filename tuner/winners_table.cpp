// What a run found, as a table for people.
#include <algorithm>
#include <array>
#include <cstdio>
#include <ostream>

#include "tuner/tune.h"

namespace tunesmith {
namespace {

using Row = std::vector<std::string>;

// Columns as wide as their widest cell; the last is not padded.
void print(std::ostream& out, const std::vector<Row>& rows) {
  std::vector<std::size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const Row& row : rows) {
    out << "  ";
    for (std::size_t i = 0; i < row.size(); ++i) {
      out << row[i];
      if (i + 1 < row.size()) out << std::string(widths[i] - row[i].size() + 2, ' ');
    }
    out << '\n';
  }
}

std::string percent(double fraction) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", fraction * 100);
  return text;
}

std::string over(double slower_us, double median_us) {
  return slower_us > 0 && median_us > 0 ? ratio_text(slower_us / median_us) : "-";
}

void print(std::ostream& out, const TunedProblem& problem) {
  out << problem.problem << '\n';
  std::vector<Row> rows = {
      {"", "median", "spread", "over base", "over worst", "alignment", "registers", "template", "config"}};
  for (const TunedWinner& winner : problem.winners) {
    const double us = winner.time.median_us;
    rows.push_back({&winner == &problem.winners.front() ? "winner" : "any address", time_text(us),
                    percent(winner.time.spread), over(problem.base ? problem.base->median_us : 0, us),
                    over(problem.worst_us, us), std::to_string(winner.alignment_bytes) + " bytes",
                    winner.registers > 0 ? std::to_string(winner.registers) : "-", winner.template_name,
                    winner.config});
  }
  if (problem.base) {
    rows.push_back({"base", time_text(problem.base->median_us), percent(problem.base->spread), "1.00x",
                    over(problem.worst_us, problem.base->median_us)});
  }
  if (rows.size() > 1) print(out, rows);
  if (problem.winners.empty()) out << "  No winner: nothing new was chosen in this run.\n";
  for (const TunedWinner& winner : problem.winners) {
    if (!winner.note.empty()) out << "  " << winner.note << '\n';
  }
  out << "  Verdicts:";
  for (const auto& [verdict, count] : problem.verdicts) out << ' ' << name(verdict) << ' ' << count;
  std::array<char, 160> text;
  std::snprintf(text.data(), text.size(),
                "; %lld measured in %.1f s, %lld known before, %lld variants in the space.",
                static_cast<long long>(problem.measured), problem.seconds,
                static_cast<long long>(problem.known), static_cast<long long>(problem.variants));
  out << text.data() << "\n";
}

}  // namespace

void print_winners(std::ostream& out, const TuneResult& result) {
  out << "\nOn " << result.device.name << " (" << result.device_id << ")"
      << (result.cold_caches ? ", with cold caches" : "") << ":\n";
  for (const TunedProblem& problem : result.problems) print(out, problem);
  if (result.problems.empty() && !result.interrupted)
    out << "There was nothing to tune: no winner with these caches is stale.\n";
  if (result.interrupted) {
    out << "Interrupted. Every verdict until then is in the database; the same command continues from "
           "there.\n";
  }
}

}  // namespace tunesmith

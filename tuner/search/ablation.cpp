// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/ablation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "generator/ops.h"
#include "tuner/search/replay.h"

namespace tunesmith {
namespace {

// The expected logarithm of the least of `drawn` of these times, which are sorted.
double best_of(const std::vector<double>& times, std::size_t drawn) {
  double expected = 0;
  double none_before = 1;  // the chance that all drawn times come later
  for (std::size_t i = 0; i < times.size(); ++i) {
    const double here = std::min(1.0, static_cast<double>(drawn) / static_cast<double>(times.size() - i));
    expected += none_before * here * std::log(times[i]);
    none_before *= 1 - here;
  }
  return expected;
}

// A recorded config that is legal, with the heuristics that it breaks.
struct Row {
  const RecordedRow* recorded;
  bool ok;
  std::vector<bool> breaks;
  std::ptrdiff_t broken;  // number of broken heuristics
};

struct TemplateRows {
  std::vector<Rule> worth;
  std::vector<Row> rows;  // the fastest first
};
using TemplateRowsByName = std::map<std::string, TemplateRows>;  // by template

TemplateRowsByName parts_of(const Recording& recording) {
  TemplateRowsByName parts;
  const auto op =
      std::find_if(ops().begin(), ops().end(), [&](const Op& each) { return each.name == recording.op; });
  if (op == ops().end()) return parts;
  const Problem problem = complete_problem(*op, Problem::parse(recording.problem));
  for (const Template& tmpl : op->templates) {
    if (tmpl.refuses && !tmpl.refuses(problem).empty()) continue;
    const Space space = tmpl.space(problem);
    TemplateRows part{space.worth(), {}};
    for (const RecordedRow& row : recording.rows) {
      const auto config = row.template_name == tmpl.name ? space.find(row.config) : std::nullopt;
      if (!config) continue;
      Row its{&row, row.verdict == Verdict::ok && row.median_us > 0, {}, 0};
      for (const Rule& rule : part.worth) its.breaks.push_back(!rule.holds(*config));
      its.broken = std::count(its.breaks.begin(), its.breaks.end(), true);
      part.rows.push_back(std::move(its));
    }
    std::stable_sort(part.rows.begin(), part.rows.end(), [](const Row& a, const Row& b) {
      return std::pair(!a.ok, a.recorded->median_us) < std::pair(!b.ok, b.recorded->median_us);
    });
    if (!part.rows.empty()) parts.emplace(tmpl.name, std::move(part));
  }
  return parts;
}

// The qualities by repeat and mark, without one heuristic of the template `name`.
std::vector<std::vector<double>> qualities(Recording legal, const TemplateRowsByName& parts,
                                           const std::string& name, std::size_t left_out, std::size_t repeats,
                                           std::uint64_t seed, std::span<const std::int64_t> marks) {
  std::vector<RecordedRow> rows;
  for (const auto& [its, part] : parts)
    for (const Row& row : part.rows) rows.push_back(*row.recorded);
  legal.rows = std::move(rows);
  const RecordedSpace space(legal, [&](const std::string& tmpl) {
    std::vector<Rule> worth = parts.at(tmpl).worth;
    if (tmpl == name) worth.erase(worth.begin() + static_cast<std::ptrdiff_t>(left_out));
    return worth;
  });
  std::vector<std::vector<double>> found(repeats);
  for (std::size_t repeat = 0; repeat < repeats; ++repeat) {
    Replay how;
    how.budget.count = marks.back();
    how.seed = seed + 1000 * repeat;
    const std::vector<ReplayStep> steps = replay(space, how);
    for (const std::int64_t mark : marks)
      found[repeat].push_back(steps[std::min(static_cast<std::size_t>(mark), steps.size()) - 1].quality);
  }
  return found;
}

struct Samples {
  AblatedRule rule;
  std::vector<double> slower, compile;
  std::vector<std::vector<double>> change;  // by mark
};

void add(Samples& its, const TemplateRows& part, std::size_t rule) {
  std::vector<double> keep, alone, keep_ms, alone_ms;
  const auto ok = static_cast<std::size_t>(
      std::count_if(part.rows.begin(), part.rows.end(), [](const Row& row) { return row.ok; }));
  for (std::size_t n = 0; n < part.rows.size(); ++n) {
    const Row& row = part.rows[n];
    const std::int64_t breaks = row.breaks[rule] ? 1 : 0;
    ++its.rule.configs;
    its.rule.breaking += breaks;
    if (100 * n < ok) ++its.rule.best_1, its.rule.best_1_breaking += breaks;
    if (20 * n < ok) ++its.rule.best_5, its.rule.best_5_breaking += breaks;
    if (row.broken > breaks) continue;
    its.rule.alone += breaks;
    its.rule.failed += row.ok ? 0 : breaks;
    if (row.ok) (breaks > 0 ? alone : keep).push_back(row.recorded->median_us);
    if (row.recorded->compile_ms > 0) (breaks > 0 ? alone_ms : keep_ms).push_back(row.recorded->compile_ms);
  }
  const std::size_t drawn = std::min({alone.size(), keep.size(), std::size_t{10}});
  if (drawn >= least_alone) its.slower.push_back(best_of(alone, drawn) - best_of(keep, drawn));
  if (!alone_ms.empty() && !keep_ms.empty())
    its.compile.push_back(mean_of(alone_ms).mean / mean_of(keep_ms).mean);
}

}  // namespace

std::vector<AblatedRule> ablation(std::span<const Recording> recordings, std::size_t repeats,
                                  std::uint64_t seed, std::span<const std::int64_t> marks) {
  std::map<std::tuple<std::string, std::string, std::size_t>, Samples> all;
  for (const Recording& recording : recordings) {
    const TemplateRowsByName parts = parts_of(recording);
    std::vector<std::vector<double>> with_all;
    for (const auto& [name, part] : parts) {
      for (std::size_t rule = 0; rule < part.worth.size(); ++rule) {
        Samples& its = all[{recording.op, name, rule}];
        its.rule.op = recording.op;
        its.rule.template_name = name;
        its.rule.number = rule + 1;
        its.rule.why = part.worth[rule].why;
        its.change.resize(marks.size());
        const std::int64_t before = its.rule.breaking;
        add(its, part, rule);
        if (repeats == 0 || its.rule.breaking == before) continue;
        if (with_all.empty()) with_all = qualities(recording, parts, "", 0, repeats, seed, marks);
        const auto without = qualities(recording, parts, name, rule, repeats, seed, marks);
        for (std::size_t repeat = 0; repeat < repeats; ++repeat)
          for (std::size_t m = 0; m < marks.size(); ++m)
            its.change[m].push_back(without[repeat][m] - with_all[repeat][m]);
      }
    }
  }
  std::vector<AblatedRule> results;
  for (auto& [key, its] : all) {
    const MeanEstimate logarithm = mean_of(its.slower);
    its.rule.slower = {std::exp(logarithm.mean), std::exp(logarithm.mean) * logarithm.error};
    its.rule.least_slower =
        its.slower.empty() ? std::nan("") : std::exp(*std::min_element(its.slower.begin(), its.slower.end()));
    its.rule.compile = mean_of(its.compile);
    for (const std::vector<double>& changes : its.change) its.rule.change.push_back(mean_of(changes));
    results.push_back(std::move(its.rule));
  }
  return results;
}

}  // namespace tunesmith

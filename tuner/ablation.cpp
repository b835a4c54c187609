#include "tuner/ablation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "generator/error.h"
#include "generator/ops.h"
#include "tuner/replay.h"

namespace tunesmith {
namespace {

Estimated estimated(const std::vector<double>& values) {
  const auto size = static_cast<double>(values.size());
  if (values.empty()) return {std::nan(""), std::nan("")};
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / size;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, size > 1 ? std::sqrt(squares / (size - 1) / size) : std::nan("")};
}

// The expected logarithm of the least of `drawn` of these times.
double best_of(std::vector<double> times, std::size_t drawn) {
  std::sort(times.begin(), times.end());
  double expected = 0;
  double none_before = 1;  // the chance that all that are drawn come later
  for (std::size_t i = 0; i < times.size(); ++i) {
    const auto left = static_cast<double>(times.size() - i);
    const double here = std::min(1.0, static_cast<double>(drawn) / left);
    expected += none_before * here * std::log(times[i]);
    none_before *= 1 - here;
  }
  return expected;
}

// The recorded configs of one template that are legal, and which heuristics each breaks.
struct Judged {
  struct Row {
    const RecordedRow* recorded;
    std::vector<std::size_t> broken;
  };
  std::vector<Rule> worth;
  std::vector<Row> rows;
};

struct Studied {
  const Recording* recording;
  std::map<std::string, Judged> templates;
};

std::optional<Studied> studied(const Recording& recording) {
  const auto op =
      std::find_if(ops().begin(), ops().end(), [&](const Op& each) { return each.name == recording.op; });
  if (op == ops().end()) return std::nullopt;
  Studied study{&recording, {}};
  const Problem problem = complete_problem(*op, Problem::parse(recording.problem));
  for (const Template& tmpl : op->templates) {
    if (tmpl.refuses && !tmpl.refuses(problem).empty()) continue;
    const Space space = tmpl.space(problem);
    Judged judged{space.worth(), {}};
    for (const RecordedRow& row : recording.rows) {
      if (row.template_name != tmpl.name) continue;
      const auto config = space.find(row.config);
      if (!config) continue;
      Judged::Row& its = judged.rows.emplace_back(Judged::Row{&row, {}});
      for (std::size_t rule = 0; rule < judged.worth.size(); ++rule)
        if (!judged.worth[rule].holds(*config)) its.broken.push_back(rule);
    }
    if (!judged.rows.empty()) study.templates.emplace(tmpl.name, std::move(judged));
  }
  return study;
}

using Found = std::vector<std::vector<double>>;  // by repeat and mark

Found qualities(const Studied& study, const std::string& name, std::size_t left_out, std::size_t repeats,
                std::uint64_t seed, std::span<const std::int64_t> marks) {
  Recording legal = *study.recording;
  legal.rows.clear();
  for (const auto& [its, judged] : study.templates)
    for (const Judged::Row& row : judged.rows) legal.rows.push_back(*row.recorded);
  const RecordedSpace space(legal, [&](const std::string& tmpl) {
    std::vector<Rule> worth = study.templates.at(tmpl).worth;
    if (tmpl == name) worth.erase(worth.begin() + static_cast<std::ptrdiff_t>(left_out));
    return worth;
  });
  Found found;
  for (std::size_t repeat = 0; repeat < repeats; ++repeat) {
    Replay how;
    how.budget.count = marks.back();
    how.seed = seed + 1000 * repeat;
    const std::vector<ReplayStep> steps = replay(space, how);
    std::vector<double>& at = found.emplace_back();
    for (const std::int64_t mark : marks)
      at.push_back(steps.empty() ? 0
                                 : steps[std::min(static_cast<std::size_t>(mark), steps.size()) - 1].quality);
  }
  return found;
}

void count(AblatedRule& result, const Judged& judged, std::size_t rule) {
  std::vector<const Judged::Row*> ok;
  for (const Judged::Row& row : judged.rows) {
    ++result.configs;
    const bool breaks = std::count(row.broken.begin(), row.broken.end(), rule) > 0;
    result.breaking += breaks ? 1 : 0;
    result.alone += breaks && row.broken.size() == 1 ? 1 : 0;
    const bool is_ok = row.recorded->verdict == Verdict::ok && row.recorded->median_us > 0;
    result.failed += breaks && row.broken.size() == 1 && !is_ok ? 1 : 0;
    if (is_ok) ok.push_back(&row);
  }
  std::sort(ok.begin(), ok.end(), [](const Judged::Row* a, const Judged::Row* b) {
    return a->recorded->median_us < b->recorded->median_us;
  });
  for (const auto& [part, all, breaking] : {std::tuple(100, &result.best_1, &result.best_1_breaking),
                                            {20, &result.best_5, &result.best_5_breaking}}) {
    const std::size_t size =
        ok.empty() ? 0 : (ok.size() + static_cast<std::size_t>(part) - 1) / static_cast<std::size_t>(part);
    *all += static_cast<std::int64_t>(size);
    *breaking += std::count_if(
        ok.begin(), ok.begin() + static_cast<std::ptrdiff_t>(size),
        [&](const Judged::Row* row) { return std::count(row->broken.begin(), row->broken.end(), rule) > 0; });
  }
}

}  // namespace

std::vector<AblatedRule> ablation(std::span<const Recording> recordings, std::size_t repeats,
                                  std::uint64_t seed, std::span<const std::int64_t> marks) {
  struct Samples {
    AblatedRule rule;
    std::vector<double> slower, compile;
    std::vector<std::vector<double>> change;  // by mark
  };
  std::map<std::tuple<std::string, std::string, std::size_t>, Samples> all;
  for (const Recording& recording : recordings) {
    const auto study = studied(recording);
    if (!study) continue;
    std::optional<Found> with_all;
    for (const auto& [name, judged] : study->templates) {
      for (std::size_t rule = 0; rule < judged.worth.size(); ++rule) {
        Samples& its = all[{recording.op, name, rule}];
        its.rule.op = recording.op;
        its.rule.template_name = name;
        its.rule.number = rule + 1;
        its.rule.why = judged.worth[rule].why;
        its.change.resize(marks.size());
        count(its.rule, judged, rule);
        std::vector<double> keep, alone, keep_ms, alone_ms;
        bool matters = false;
        for (const Judged::Row& row : judged.rows) {
          const bool breaks = std::count(row.broken.begin(), row.broken.end(), rule) > 0;
          matters = matters || breaks;
          if (row.broken.size() > (breaks ? 1U : 0U)) continue;
          const RecordedRow& recorded = *row.recorded;
          if (recorded.compile_ms > 0) (breaks ? alone_ms : keep_ms).push_back(recorded.compile_ms);
          if (recorded.verdict == Verdict::ok && recorded.median_us > 0)
            (breaks ? alone : keep).push_back(recorded.median_us);
        }
        const std::size_t drawn = std::min({alone.size(), keep.size(), std::size_t{10}});
        if (drawn >= least_alone) its.slower.push_back(best_of(alone, drawn) - best_of(keep, drawn));
        if (!alone_ms.empty() && !keep_ms.empty())
          its.compile.push_back(estimated(alone_ms).mean / estimated(keep_ms).mean);
        if (repeats == 0 || !matters) continue;
        if (!with_all) with_all = qualities(*study, "", 0, repeats, seed, marks);
        const Found without = qualities(*study, name, rule, repeats, seed, marks);
        for (std::size_t repeat = 0; repeat < repeats; ++repeat)
          for (std::size_t m = 0; m < marks.size(); ++m)
            its.change[m].push_back(without[repeat][m] - (*with_all)[repeat][m]);
      }
    }
  }
  std::vector<AblatedRule> results;
  for (auto& [key, its] : all) {
    const Estimated logarithm = estimated(its.slower);
    its.rule.slower = {std::exp(logarithm.mean), std::exp(logarithm.mean) * logarithm.error};
    its.rule.least_slower =
        its.slower.empty() ? std::nan("") : std::exp(*std::min_element(its.slower.begin(), its.slower.end()));
    its.rule.compile = estimated(its.compile);
    for (const std::vector<double>& changes : its.change) its.rule.change.push_back(estimated(changes));
    results.push_back(std::move(its.rule));
  }
  return results;
}

}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
// replay: simulates searches on recorded spaces.
#include "tuner/search/replay.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <memory>

#include "cli/cli.h"
#include "cli/output.h"
#include "cli/recordings.h"
#include "cli/text_table.h"
#include "generator/error.h"
#include "generator/number_text.h"
#include "kernel_file/find_op.h"
#include "tuner/search/ablation.h"
#include "tuner/search/promising.h"

namespace tunesmith {
namespace {

constexpr const char* digits = "0123456789";
constexpr double unknown_distance = 4;  // octaves

struct ReplayRequest {
  std::vector<std::filesystem::path> sources;
  std::vector<std::string> strategies = {"auto", "random"};
  std::string budget = "320", prior = "worth", format = "table";
  std::size_t lag = 0, repeats = 20, ranks = 1;
  std::string until;
  std::uint64_t seed = 1;
  bool warm_start = false, ablate = false;
  QueryFilter filter;
};

std::vector<Recording> read_all(const ReplayRequest& request) {
  std::vector<Recording> recordings;
  std::optional<InputFile> input;
  for (const std::filesystem::path& source : request.sources) {
    if (auto found = read_input_file(source)) {
      input = std::move(found);
      continue;
    }
    for (Recording& recording : read_recordings(source, request.filter)) {
      if (input && !input->kernel.empty()) {
        recording.op = input->kernel;
        recording.name = input->kernel + " (" + recording.name + ")";
      }
      recordings.push_back(std::move(recording));
    }
    input.reset();
  }
  return recordings;
}

// The numbers in a problem's text: "4096x4096_k13" has three.
std::vector<double> numbers_in(const std::string& text) {
  std::vector<double> numbers;
  for (std::size_t at = text.find_first_of(digits); at != std::string::npos;
       at = text.find_first_of(digits, at)) {
    const std::size_t end = std::min(text.find_first_not_of(digits, at), text.size());
    numbers.push_back(nearest_number(text.substr(at, end - at)));
    at = end;
  }
  return numbers;
}

// The distance as in op.h. If the op is not one of ours, the numbers in the problem's text are its sizes.
double apart(const Recording& a, const Recording& b) {
  try {
    const Op& op = find_op(a.op);
    return distance(op, complete_problem(op, Problem::parse(a.problem)),
                    complete_problem(op, Problem::parse(b.problem)));
  } catch (const UsageError&) {
    const std::vector<double> left = numbers_in(a.problem);
    const std::vector<double> right = numbers_in(b.problem);
    if (left.size() != right.size()) return unknown_distance;
    double sum = 0;
    for (std::size_t i = 0; i < left.size(); ++i)
      sum += std::pow(std::log2(std::max(left[i], 1.0) / std::max(right[i], 1.0)), 2);
    return std::sqrt(sum);
  }
}

// Returns the guesses that a run would begin with if the other problems of the op had been tuned before.
std::vector<Point> warm_start(const std::vector<Recording>& recordings, std::size_t which,
                              const RecordedSpace& space) {
  const Recording& own = recordings[which];
  std::vector<Guess> guesses;
  for (std::size_t other = 0; other < recordings.size(); ++other) {
    const Recording& recording = recordings[other];
    if (other == which || recording.op != own.op || recording.caches != own.caches ||
        recording.launches != own.launches)
      continue;
    std::vector<const RecordedRow*> rows;
    for (const RecordedRow& row : recording.rows) {
      if (row.verdict == Verdict::ok) rows.push_back(&row);
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const RecordedRow* a, const RecordedRow* b) { return a->median_us < b->median_us; });
    // The same problem on another device does not count as the same problem.
    const double distance = apart(recording, own) + (recording.device == own.device ? 0.01 : 1);
    for (std::size_t place = 0; place < std::min(most_remembered, rows.size()); ++place)
      guesses.push_back({distance, place, rows[place]->template_name, rows[place]->config.text()});
  }
  const std::vector<std::string>& templates = space.templates();
  return promising(space.space(), std::move(guesses),
                   [&](std::string_view name) -> std::optional<std::size_t> {
                     const auto found = std::find(templates.begin(), templates.end(), name);
                     if (found == templates.end()) return std::nullopt;
                     return static_cast<std::size_t>(found - templates.begin());
                   });
}

// Returns the points at which qualities are shown: numbers of verdicts, or seconds.
std::vector<double> marks(const Budget& budget, const std::vector<RecordedSpace>& spaces) {
  std::vector<double> at;
  if (budget.seconds) {
    for (double mark = *budget.seconds; at.size() < 6; mark /= 2) at.insert(at.begin(), mark);
    return at;
  }
  double most = 0;
  for (const RecordedSpace& space : spaces) most = std::max(most, static_cast<double>(space.size()));
  if (budget.count) most = std::min(most, static_cast<double>(*budget.count));
  for (const double mark : {20, 40, 80, 100, 160, 320, 640, 1280}) {
    if (mark < most) at.push_back(mark);
  }
  at.push_back(most);
  return at;
}

double quality_at(const std::vector<ReplayStep>& steps, double mark, bool by_seconds) {
  double quality = 0;
  for (std::size_t n = 0; n < steps.size(); ++n) {
    if ((by_seconds ? steps[n].seconds : static_cast<double>(n + 1)) > mark) break;
    quality = steps[n].quality;
  }
  return quality;
}

std::string short_text(double value, int digits) { return printed("%.*f", digits, value); }

// Notes variants without a compile time: their binary was in the cache when they were measured.
void note_unknown_costs(const std::vector<Recording>& recordings) {
  std::size_t all = 0, unknown = 0;
  for (const Recording& recording : recordings) {
    all += recording.rows.size();
    for (const RecordedRow& row : recording.rows) unknown += row.compile_ms <= 0 ? 1 : 0;
  }
  if (unknown == 0) return;
  std::cerr
      << unknown << " of " << all
      << " verdicts have no compile time, as where a binary came from the cache: compiling them costs 0 s "
         "here.\n";
}

// Writes a mean with its standard error; empty if there is none.
std::string with_error(const MeanEstimate& value) {
  if (std::isnan(value.mean)) return "";
  return short_text(value.mean, 3) + (std::isnan(value.error) ? "" : " ± " + short_text(value.error, 3));
}

void run_ablation(const ReplayRequest& request, const std::vector<Recording>& recordings) {
  constexpr std::array<std::int64_t, 3> marks = {20, 40, 80};
  TextTable table({"op", "template", "heuristic", "configs", "breaking", "alone", "failed", "slower", "least",
                   "compile", "of best 1 %", "of best 5 %", "20", "40", "80", "why"});
  const auto part = [](std::int64_t some, std::int64_t all) {
    return std::to_string(some) + " / " + std::to_string(all);
  };
  for (const AblatedRule& rule : ablation(recordings, request.repeats, request.seed, marks)) {
    std::vector<Cell> row = {rule.op,
                             rule.template_name,
                             static_cast<std::int64_t>(rule.number),
                             rule.configs,
                             rule.breaking,
                             rule.alone,
                             rule.failed,
                             with_error(rule.slower),
                             std::isnan(rule.least_slower) ? "" : short_text(rule.least_slower, 3),
                             with_error(rule.compile),
                             part(rule.best_1_breaking, rule.best_1),
                             part(rule.best_5_breaking, rule.best_5)};
    for (const MeanEstimate& change : rule.change) row.emplace_back(with_error(change));
    row.emplace_back(rule.why);
    table.add(std::move(row));
  }
  exact_output() << table.as(request.format);
}

void run_replay(const ReplayRequest& request) {
  const std::vector<Recording> recordings = read_all(request);
  if (request.ablate) return run_ablation(request, recordings);
  if (request.repeats == 0)
    throw UsageError("--repeats is 0; only --ablate takes that: it then searches nothing.");
  if (Budget::parse(request.budget).seconds) note_unknown_costs(recordings);
  std::vector<RecordedSpace> spaces;
  for (const Recording& recording : recordings) {
    spaces.emplace_back(recording);
    if (spaces.back().best_us() == 0) throw UsageError(recording.name + " has no config that is ok.");
  }
  if (spaces.empty()) throw UsageError("The sources hold no recorded space.");
  Replay how;
  how.budget = Budget::parse(request.budget);
  how.prior = prior_of(request.prior);
  how.lag = request.lag;
  how.ranks = request.ranks;
  if (!request.until.empty()) how.until_gain = least_gain_of(request.until);
  const bool by_seconds = how.budget.seconds.has_value();
  const std::vector<double> at = marks(how.budget, spaces);
  const bool for_people = request.format == "table";
  std::vector<std::string> columns = {"space", "configs", "strategy"};
  for (const double mark : at)
    columns.push_back(short_text(mark, by_seconds && mark < 10 ? 1 : 0) + (by_seconds ? " s" : ""));
  TextTable table(for_people ? columns
                             : std::vector<std::string>{"space", "configs", "strategy", "prior", "warm_start",
                                                        "lag", by_seconds ? "seconds" : "verdicts", "mean",
                                                        "low", "error"});
  for (const std::string& strategy : request.strategies) {
    how.strategy = strategy;
    std::vector<Quality> total(at.size());
    for (std::size_t s = 0; s < spaces.size(); ++s) {
      how.promising = request.warm_start ? warm_start(recordings, s, spaces[s]) : std::vector<Point>();
      std::vector<std::vector<double>> qualities(at.size());
      for (std::size_t repeat = 0; repeat < request.repeats; ++repeat) {
        how.seed = request.seed + 1000 * repeat;
        const std::vector<ReplayStep> steps = replay(spaces[s], how);
        for (std::size_t m = 0; m < at.size(); ++m)
          qualities[m].push_back(quality_at(steps, at[m], by_seconds));
      }
      const auto size = static_cast<std::int64_t>(spaces[s].size());
      std::vector<Cell> row = {recordings[s].name, size, strategy};
      for (std::size_t m = 0; m < at.size(); ++m) {
        const Quality quality = quality_of(qualities[m]);
        total[m].mean += quality.mean / static_cast<double>(spaces.size());
        total[m].error = std::hypot(total[m].error, quality.error / static_cast<double>(spaces.size()));
        total[m].low += quality.low / static_cast<double>(spaces.size());
        row.emplace_back(with_error(quality) + " / " + short_text(quality.low, 2));
        if (!for_people) {
          table.add({recordings[s].name, size, strategy, request.prior, std::int64_t{request.warm_start},
                     static_cast<std::int64_t>(request.lag), at[m], quality.mean, quality.low,
                     std::isnan(quality.error) ? Cell() : Cell(quality.error)});
        }
      }
      if (for_people) table.add(row);
    }
    if (!for_people || spaces.size() < 2) continue;
    std::vector<Cell> row = {std::string("mean"), Cell(), strategy};
    for (const Quality& quality : total)
      row.emplace_back(with_error(quality) + " / " + short_text(quality.low, 2));
    table.add(row);
  }
  exact_output() << table.as(request.format);
}

}  // namespace

void add_replay_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("replay", "Simulate searches on recorded spaces: no device is needed");
  auto request = std::make_shared<ReplayRequest>();
  command
      ->add_option(
          "SOURCE", request->sources,
          "Database, T4 file, Kernel Tuner cache (.json, .json.gz) or table of verdicts (.csv, .csv.gz);\n"
          "a T1 file before a T4 file names its kernel")
      ->required();
  command
      ->add_option("--strategy", request->strategies,
                   "Strategies, separated by commas: " + strategy_names() +
                       ",\nrun:COMMAND or unix:SOCKET of your own")
      ->delimiter(',')
      ->capture_default_str();
  command
      ->add_option("--budget", request->budget,
                   "Number of verdicts, a time of recorded seconds (60s), or all")
      ->capture_default_str();
  command->add_option("--lag", request->lag, "Proposals in flight when a verdict is reported")
      ->capture_default_str()
      ->check(whole_number(0, 1'000'000));
  command
      ->add_option("--ranks", request->ranks,
                   "Number of searches at the same time that share their verdicts; the budget is for each")
      ->capture_default_str()
      ->check(whole_number(1, 1024));
  command->add_option("--until", request->until,
                      "End searches as tune does: when less is expected, such as 0.5%");
  command->add_option("--repeats", request->repeats, "Searches with different seeds")
      ->capture_default_str()
      ->check(whole_number(0, 1'000'000));
  command->add_option("--seed", request->seed, "Seed of the first")
      ->capture_default_str()
      ->check(whole_number(0));
  command->add_option("--prior", request->prior, "worth or none, as in tune")
      ->capture_default_str()
      ->check(CLI::IsMember({"worth", "none"}));
  command->add_flag("--warm-start", request->warm_start,
                    "Begin with what was fastest in the other spaces of the same op");
  command->add_flag("--ablate", request->ablate,
                    "Of each heuristic of our ops: what configs that break it lose, and searches without it");
  command->add_option("--op", request->filter.op, "Only this op of a database");
  command->add_option("--problem", request->filter.problem, "Only these problems of a database");
  command->add_option("--device", request->filter.device, "Only this device of a database");
  add_kind_options(command, request->filter);
  command->add_option("-o,--format", request->format, "Output format: table, json or csv")
      ->capture_default_str()
      ->check(CLI::IsMember({"table", "json", "csv"}));
  command->callback([request] { run_replay(*request); });
}

}  // namespace tunesmith

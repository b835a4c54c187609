// SPDX-License-Identifier: Apache-2.0
// `tunesmith regret`: compares, on untuned problems, the choice of dispatch with the result of tuning.

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "choose/portfolio.h"
#include "choose/select.h"
#include "choose/timing_table.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "cli/regret_table.h"
#include "db/store.h"
#include "dispatch/tuning_data.h"
#include "generator/error.h"
#include "generator/listed.h"
#include "generator/number_text.h"
#include "generator/sample.h"
#include "kernel_file/find_op.h"
#include "runtime/device_id.h"
#include "runtime/files.h"
#include "runtime/temporary_folder.h"
#include "tuner/run/table_run.h"
#include "tuner/run/tune.h"
#include "tunesmith/dispatcher.h"

namespace tunesmith {
namespace {

// Examples: "5s", "6 variants".
constexpr double finals_s = 4;  // short, because a ratio is wanted, not a winner to keep

struct Request {
  std::string op, device = "auto", budget = "5s";
  std::filesystem::path database, csv, keep;
  std::size_t problems = 20;
  std::uint64_t seed = 2;
  int compilers = 0;
  double fail_below = 0;  // a geometric mean; 0: none is asked for
};

struct Pick {
  std::string match, template_name, config;
  double expected_us = 0, expected_loss = 0;
  std::vector<std::string> first =
      {};  // template and config of the most promising choices, including the pick as the first
};

// Draws problems that no winner is known for.
std::vector<Problem> unknown_problems(const Op& op, const std::vector<Candidate>& known,
                                      const Request& request, DeviceKind device_kind) {
  std::set<std::string> tuned;
  for (const Candidate& candidate : known) {
    tuned.insert(candidate.problem.text());
    for (const Candidate::Time& time : candidate.times) tuned.insert(time.problem->text());
  }
  const std::size_t drawn = request.problems + tuned.size();
  std::vector<Problem> problems = sample_problems(op, drawn, request.seed, sample_limits(device_kind));
  std::erase_if(problems, [&](const Problem& problem) { return tuned.contains(problem.text()); });
  problems.resize(request.problems);
  return problems;
}

Pick pick_of(const Chooser& chooser, const Op& op, const DeviceFacts& device,
             const std::vector<Candidate>& candidates, const Problem& problem) {
  const Selection selection = chooser.select(problem, true);
  if (selection.choices.empty()) {
    if (const std::vector<UntunedVariant> guesses = untuned(op, problem, device); !guesses.empty())
      return {"base", guesses.front().tmpl->name, guesses.front().config.text()};
    return {"base", op.templates.front().name, base_config(op, problem, device).text()};
  }
  const Choice& choice = selection.choices.front();
  Pick pick{std::string(name(choice.match)), candidates[choice.candidate].template_name, choice.config.text(),
            choice.expected_us, choice.expected_loss};
  for (const Choice& other : selection.choices) {
    const std::string variant = candidates[other.candidate].template_name + " " + other.config.text();
    if (pick.first.size() == Regret::tried) break;
    if (std::find(pick.first.begin(), pick.first.end(), variant) == pick.first.end())
      pick.first.push_back(variant);
  }
  return pick;
}

Regret regret_of(const TunedProblem& tuned, const Pick& pick) {
  Regret regret;
  regret.problem = tuned.problem;
  regret.match = pick.match;
  regret.picked = pick.template_name + " " + pick.config;
  regret.expected_us = pick.expected_us;
  regret.expected_loss = pick.expected_loss;
  return with_times(std::move(regret), tuned);
}

// Returns the variants that dispatch chooses from on a problem, except winners, as they are there.
std::vector<NamedVariant> portfolio_of(const Chooser& chooser, const std::vector<Candidate>& candidates,
                                       const Problem& problem) {
  std::vector<NamedVariant> variants;
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    const Candidate& candidate = candidates[c];
    Choice choice;
    choice.candidate = c;
    if (!candidate.problem.empty() || chooser.complete(problem, true, choice) || !choice.is_adapted) continue;
    NamedVariant variant{candidate.template_name, choice.config.text()};
    if (std::find(variants.begin(), variants.end(), variant) == variants.end())
      variants.push_back(std::move(variant));
  }
  return variants;
}

// Measures the variants of each problem's list where the search did not. Returns times by problem, then by
// template and config.
using Times = std::map<std::string, std::map<std::string, double>>;
Times times_of(const Op& op, const DeviceFacts& device, const VariantLists& lists, TuneOptions options,
               Progress& progress) {
  options.table = TableOptions{.searched = 0, .portfolio = lists.begin()->second, .lists = lists};
  tune(options, progress);
  Times times;
  for (const std::vector<TimeRow>& measured : times_of_model(options.database, op, device)) {
    for (const TimeRow& time : measured) {
      const auto list = lists.find(time.problem);
      if (list != lists.end() &&
          std::find(list->second.begin(), list->second.end(),
                    NamedVariant{time.template_name, time.config}) != list->second.end())
        times[time.problem].emplace(time.template_name + " " + time.config, time.median_us);
    }
  }
  return times;
}

// A folder for a database that is deleted when the command ends.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (temporary_folder() / "tunesmith_regret_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw Error("No temporary folder can be made in " + temporary_folder().string() + ".");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

void run(const Request& request, int& exit_code) {
  const Op& op = find_op(request.op);
  const DeviceFacts device = first_device(request.device);
  const std::vector<Candidate> known = candidates_of(
      read_tuning_data({.database = database_or_default(request.database).string(), .device = device}),
      op.name);
  const Chooser chooser(op, device, known);

  const TemporaryFolder folder;
  TuneOptions options;
  options.op = op.name;
  options.device = request.device;
  options.search.budget = request.budget;
  options.seed = request.seed;
  options.compile.processes = request.compilers;
  options.database = request.keep.empty() ? folder.path() / "regret.db" : request.keep;
  options.measure.energy = false;
  options.measure.policy = policy_for(device.kind);
  options.measure.policy->final_seconds = std::min(options.measure.policy->final_seconds, finals_s);
  options.problems = unknown_problems(op, known, request, device.kind);
  options.search.built_in = guesses_of(known);
  std::map<std::string, Pick> picks;
  VariantLists lists;
  for (const Problem& problem : options.problems) {
    if (std::vector<NamedVariant> portfolio = portfolio_of(chooser, known, problem); !portfolio.empty())
      lists.emplace(problem.text(), std::move(portfolio));
    const Pick pick = pick_of(chooser, op, device, known, problem);
    options.search.built_in.push_back(
        {op.name, problem.text(), pick.template_name, pick.config});  // so that it takes part in the finals
    picks.emplace(problem.text(), pick);
  }

  Progress progress(progress_output(), isatty(STDERR_FILENO) != 0);
  const TuneResult result = tune(options, progress);
  Times times;
  if (!lists.empty() && !result.interrupted) times = times_of(op, device, lists, options, progress);
  std::vector<Regret> all;
  for (const TunedProblem& tuned : result.problems) {
    if (tuned.winners.empty()) continue;
    const Pick& pick = picks.at(tuned.problem);
    Regret& regret = all.emplace_back(regret_of(tuned, pick));
    const auto of_portfolio = times.find(tuned.problem);
    const bool has_portfolio = of_portfolio != times.end();
    // A slow base can use up the whole search. A pick that was not compiled in that time was measured with
    // the portfolio, or is measured now.
    if (regret.picked_us <= 0 && !result.interrupted) {
      TuneOptions alone = options;
      alone.problems = {complete_problem(op, Problem::parse(tuned.problem))};
      const Times late = has_portfolio
                             ? times
                             : times_of(op, device, {{tuned.problem, {{pick.template_name, pick.config}}}},
                                        std::move(alone), progress);
      if (const auto found = late.find(tuned.problem); found != late.end())
        if (const auto own = found->second.find(regret.picked); own != found->second.end())
          regret = with_late_pick(std::move(regret), own->second);
    }
    if (!has_portfolio) continue;
    const std::map<std::string, double>& known_us = of_portfolio->second;
    regret.portfolio_us = regret.picked_us > 0 ? regret.picked_us : known_us.begin()->second;
    for (const auto& [variant, us] : known_us) regret.portfolio_us = std::min(regret.portfolio_us, us);
    if (regret.picked_us <= 0) continue;
    regret.tried_us = regret.picked_us;
    for (const std::string& variant : pick.first)
      if (const auto tried = known_us.find(variant); tried != known_us.end())
        regret.tried_us = std::min(regret.tried_us, tried->second);
  }
  if (result.interrupted) exit_code = 130;
  if (all.empty()) throw Error("No problem was tuned to the end, so there is no result for " + op.name + ".");
  std::cout << op.name << " on " << result.device.name << ", seed " << request.seed << ", "
            << budget_text(request.budget) << " of tuning per problem\n"
            << regret_text(all);
  if (!request.csv.empty()) write_file(request.csv, regret_table(all).csv());
  if (request.fail_below <= 0 || result.interrupted) return;
  if (const std::string why = why_below(all, request.fail_below); !why.empty()) throw Error(why);
}

}  // namespace

void add_regret_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "regret", "Measure what dispatch loses on problems that were never tuned, against tuning them");
  auto request = std::make_shared<Request>();
  add_op_option(command, request->op, "Name of an op, or the file of a kernel with its description")
      ->required();
  command->add_option("--problems", request->problems, "How many are drawn")
      ->capture_default_str()
      ->check(whole_number(1, 10000));
  command->add_option("--seed", request->seed, "Seed for the problems, the search and the inputs")
      ->capture_default_str()
      ->check(whole_number(0));
  command->add_option("--budget", request->budget, "To tune each: a time (5s), or a number of variants (500)")
      ->capture_default_str();
  command->add_option("--csv", request->csv, "Write a line per problem to this file");
  command
      ->add_option(
          "--fail-below", request->fail_below,
          "End with exit code 1 if the geometric mean of tuned time / picked time is below this, as for a CI")
      ->check([](const std::string& text) {
        const double least = parsed_number<double>(text).value_or(-1);
        return std::string(
            least > 0 && least <= 1 ? "" : "\"" + text + "\" is not a number above 0, and at most 1");
      });
  command->add_option("--keep", request->keep,
                      "Keep what is measured in this database; \"tunesmith db merge\" adds it to another");
  command
      ->add_option("--device", request->device,
                   std::string(device_words) + ";\nseveral of one model: cuda:all, or cuda:0,cuda:1")
      ->capture_default_str();
  command
      ->add_option("--jobs", request->compilers,
                   "Number of compilers that run at the same time; 0: number of processors - 1")
      ->capture_default_str()
      ->check(whole_number(0, 1024));
  add_db_option(command, request->database);
  command->callback([request, &exit_code] { run(*request, exit_code); });
}

}  // namespace tunesmith

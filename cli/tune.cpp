// `tunesmith tune`: reads the request; tune.h does the work.
#include "tuner/tune.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "choose/portfolio.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "cli/problem_file.h"
#include "cli/tune_anchors.h"
#include "cli/winners_table.h"
#include "db/store.h"
#include "dispatch/known.h"
#include "generator/error.h"
#include "generator/listed.h"
#include "generator/ops.h"
#include "kernel_file/find_op.h"
#include "runtime/device_id.h"

namespace tunesmith {
namespace {

struct TuneRequest {
  TuneOptions options;
  AnchorCounts anchors;
  std::string total;
  bool all = false;
  std::vector<std::string> ops;
  std::vector<std::string> problems;
  std::filesystem::path problem_file;
  std::filesystem::path database;
  std::string shard;
  std::string caches = "warm";
  std::string launches = "apart";
  std::string prior = "worth";
  std::string objective = "time";
};

// 0 where there is none.
double seconds_of(const std::string& option, const std::string& text) {
  if (text.empty()) return 0;
  const Budget budget = Budget::parse(text);
  if (!budget.seconds) throw UsageError(option + " is " + text + ", but it is a time; give one such as 10m.");
  return *budget.seconds;
}

// Of several ops one after the other, the most valuable first; a fault of one does not end the others.
void tune_each(const TuneOptions& options, const std::vector<ProblemsOfOp>& ops, Progress& progress,
               int& exit_code) {
  const auto began = std::chrono::steady_clock::now();
  double weight_left = 0;
  for (const ProblemsOfOp& one : ops) weight_left += one.weight;
  for (const ProblemsOfOp& one : ops) {
    TuneOptions asked = options;
    asked.op = one.op->name;
    asked.problems.insert(asked.problems.end(), one.problems.begin(), one.problems.end());
    asked.weights.resize(options.problems.size(), 1);
    asked.weights.insert(asked.weights.end(), one.weights.begin(), one.weights.end());
    if (options.total_s > 0) {
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - began;
      asked.total_s = (options.total_s - elapsed.count()) * one.weight / weight_left;
      if (asked.total_s <= 0) {
        progress.say("The time limit --total is reached; the problems of " + asked.op + " were not tuned.");
        continue;
      }
      weight_left -= one.weight;
    }
    try {
      const TuneResult result = tune(asked, progress);
      std::cout << winners_text(result) << std::flush;
      if (std::any_of(result.problems.begin(), result.problems.end(), is_alarming)) exit_code = 1;
      if (!result.interrupted) continue;
      exit_code = 130;
      return;
    } catch (const UsageError&) {
      throw;  // about the request, so about every op
    } catch (const std::exception& error) {
      if (ops.size() == 1) throw;
      progress.say(asked.op + " failed; tuning goes on with the other ops: " + error.what());
      exit_code = 1;
    }
  }
}

void refuse_beside_all(const CLI::App& command) {
  for (const char* option : {"OP", "--problem", "--problems", "--anchors", "--measured", "--fill", "--total",
                             "--stale", "--finals", "--shard", "--template"}) {
    if (command.count(option) > 0) {
      throw UsageError("--all chooses ops and problems itself, so it does not go with " +
                       std::string(option) + "; leave that out, or name the ops by --ops.");
    }
  }
}

std::string op_names() {
  std::vector<std::string> names;
  for (const Op& op : ops()) names.push_back(op.name);
  return listed(names);
}

// Problems with the weight 0; whether there were any.
bool leave_out_tuned(std::vector<ProblemsOfOp>& listed) {
  std::size_t count = 0;
  for (ProblemsOfOp& of_op : listed) {
    const auto first = std::find(of_op.weights.begin(), of_op.weights.end(), 0.0);  // they are the last
    count += static_cast<std::size_t>(of_op.weights.end() - first);
    of_op.weights.erase(first, of_op.weights.end());
    of_op.problems.resize(of_op.weights.size());
  }
  std::erase_if(listed, [](const ProblemsOfOp& of_op) { return of_op.problems.empty(); });
  if (count > 0)
    std::cout << counted(count, "problem") << " with weight=0 left out: tuned already." << std::endl;
  return count > 0;
}

}  // namespace

void add_tune_command(CLI::App& app, const std::string& command_line, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("tune", "Find the fastest variants for problems and keep every verdict");
  auto request = std::make_shared<TuneRequest>();
  TuneOptions& options = request->options;
  options.command = command_line;
  add_op_option(
      command, options.op,
      "Name of an op, or a .cu file with a description; none with --all, or if --problems names ops");
  command->add_flag(
      "--all", request->all,
      "Once per GPU: make the timing table of every op, in one hour or --budget; can be resumed");
  command->add_option("--ops", request->ops, "With --all: only these, such as reduce,conv2d")->delimiter(',');
  command->add_option("--problem", request->problems, "Problem; may be repeated")->allow_extra_args(false);
  command->add_option("--problems", request->problem_file,
                      "File with one problem per line: \"[OP] [weight=W] name=value …\"; # begins a comment");
  command
      ->add_option("--anchors", request->anchors.searched,
                   "Make a table: search this many problems of the op's usual range, measure the best on all")
      ->check(whole_number(1, 10000));
  command
      ->add_option(
          "--measured", request->anchors.measured,
          "Measure the portfolio on this many more problems; without --anchors extends the known table")
      ->check(whole_number(1, 100000));
  command
      ->add_option("--fill", request->anchors.filled,
                   "Measure the times that the known table lacks, on this many of its anchors")
      ->check(whole_number(1, 100000));
  command->add_option(
      "--total", request->total,
      "Time for all problems together (5m), shared by weight; problems started by then are finished");
  command->add_flag("--stale", options.stale,
                    "Tune problems in the database whose winners' templates have changed");
  command->add_flag("--finals", options.finals,
                    "No search: measure the fastest stored variants again and choose winners");
  command->add_option(
      "--shard", request->shard,
      "Tune one part of the work: I/N, or auto for the rank of srun or mpirun; writes a separate file");
  command
      ->add_option("--device", options.device,
                   std::string(device_words) + "; several GPUs of one model: cuda:all, or cuda:0,cuda:1")
      ->capture_default_str();
  command
      ->add_option("--budget", options.budget,
                   "Per problem: a time (60s, 5m), a number of variants (500), both (60s,500), or all;\n"
                   "the default is 2s with --anchors; with --all it is the time for everything (1h)")
      ->capture_default_str();
  command->add_option("--until", options.until,
                      "End a search when the model expects less improvement than this, such as 0.5%");
  command->add_option("--strategy", options.strategy, "How to search: " + strategy_names())
      ->capture_default_str();
  command
      ->add_option("--prior", request->prior,
                   "worth: begin with what the templates' heuristics prefer; none: treat all configs alike")
      ->capture_default_str()
      ->check(CLI::IsMember({"worth", "none"}));
  command->add_option("--seed", options.seed, "Seed for the search and the inputs")
      ->capture_default_str()
      ->check(whole_number(0));
  command->add_option("--template", options.templates, "Only this template; may be repeated")
      ->allow_extra_args(false);
  add_reference_option(command, options.reference);
  add_inputs_option(command, options.inputs);
  command
      ->add_option("--caches", request->caches,
                   "warm: the L2 cache holds what the launch before left; cold: nothing (CUDA only)")
      ->capture_default_str()
      ->check(CLI::IsMember({"warm", "cold"}));
  command
      ->add_option("--objective", request->objective,
                   "Choose winners by time, by energy per launch, or by edp, their product (CUDA only)")
      ->capture_default_str()
      ->check(CLI::IsMember({"time", "energy", "edp"}));
  command->add_flag("!--no-energy", options.energy,
                    "Do not measure the energy of finalists, which takes some seconds per problem");
  command
      ->add_option("--launches", request->launches,
                   "apart: each launch between ordinary kernels; chained: launches back to back")
      ->capture_default_str()
      ->check(CLI::IsMember({"apart", "chained"}));
  command->add_flag("--retry-failed", options.retry_failed,
                    "Retry variants that timed out or crashed in an earlier run");
  command
      ->add_option("--jobs", options.compilers,
                   "Number of compilers that run at the same time; 0: number of processors - 1")
      ->capture_default_str()
      ->check(whole_number(0, 1024));
  add_db_option(command, request->database);
  command->callback([request, command, &exit_code] {
    TuneOptions& asked = request->options;
    if (command->count("--shard") > 0) asked.shard = Shard::parse(request->shard, ::getenv);
    if (request->shard == "auto") asked.local_rank = local_rank(::getenv);
    asked.cold_caches = request->caches == "cold";
    asked.chained = request->launches == "chained";
    asked.prior = prior_of(request->prior);
    asked.objective = objective_of(request->objective);
    const Known known = read_known({});
    for (const Op& op : ops())
      for (BuiltIn& guess : guesses_of(candidates_of(known, op.name))) asked.built_in.push_back(guess);
    asked.database = database_or_default(request->database);
    const bool has_budget = command->count("--budget") > 0;
    Progress progress(progress_output(), isatty(STDERR_FILENO) != 0);
    if (request->all) {
      refuse_beside_all(*command);
      const double seconds = seconds_of("--budget", has_budget ? asked.budget : "1h");
      return tune_all(asked, request->ops, seconds, progress, exit_code);
    }
    const bool has_file = !request->problem_file.empty();
    if (asked.op.empty() && !has_file) {
      throw UsageError("tune needs the name of an op, one of " + op_names() +
                       ", or --all, or --problems with a file that names ops.");
    }
    if (!request->ops.empty()) throw UsageError("--ops goes with --all; an op alone is named without it.");
    const Op* op = asked.op.empty() ? nullptr : &find_op(asked.op);
    if (op == nullptr && (!request->problems.empty() || request->anchors.searched > 0 ||
                          request->anchors.measured > 0 || request->anchors.filled > 0 || asked.stale)) {
      throw UsageError("--problem, --anchors, --measured, --fill and --stale are for one op; name it: " +
                       op_names() + ".");
    }
    for (const std::string& text : request->problems)
      asked.problems.push_back(complete_problem(*op, Problem::parse(text)));
    std::vector<ProblemsOfOp> listed;
    if (has_file) listed = read_problem_file(request->problem_file, op);
    if (leave_out_tuned(listed) && listed.empty()) return;
    const double total_s = seconds_of("--total", request->total);
    if (request->anchors.searched > 0 || request->anchors.measured > 0 || request->anchors.filled > 0) {
      if (has_file)
        asked.problems.insert(asked.problems.end(), listed[0].problems.begin(), listed[0].problems.end());
      if (!has_budget) asked.budget = budget_of_an_anchor;
      return tune_anchors(asked, request->anchors, total_s, progress, exit_code);
    }
    if (asked.problems.empty() && !has_file && !asked.stale && !asked.finals) {
      throw UsageError(
          "There is no problem to tune; add --problem, --problems, --anchors, --stale or --finals.");
    }
    asked.total_s = total_s;
    if (total_s > 0 && !has_budget) asked.budget = "all";
    if (listed.empty()) listed.push_back({.op = op, .problems = {}, .weights = {}, .weight = 1});
    tune_each(asked, listed, progress, exit_code);
  });
}

}  // namespace tunesmith

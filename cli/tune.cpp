// SPDX-License-Identifier: Apache-2.0
// `tunesmith tune` and `tunesmith finals`: read the request; tuner/tune.h does the work.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "cli/output.h"
#include "cli/problem_file.h"
#include "cli/timing_tables.h"
#include "cli/tune_options.h"
#include "cli/winners_table.h"
#include "generator/error.h"
#include "generator/listed.h"
#include "kernel_file/find_op.h"
#include "kernel_file/toml_problems.h"

namespace tunesmith {
namespace {

struct SearchRequest : TuneRequest {
  bool all = false;
  std::vector<std::string> ops;
  std::string shard;
};

// Tunes several ops one after the other, the most valuable first; a fault in one does not end the others.
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
      std::cout << winners_text(result, one.op) << std::flush;
      if (std::any_of(result.problems.begin(), result.problems.end(), is_alarming)) exit_code = 1;
      if (!result.interrupted) continue;
      exit_code = 130;
      return;
    } catch (const UsageError&) {
      throw;  // it concerns the request, so every op
    } catch (const std::exception& error) {
      if (ops.size() == 1) throw;
      progress.say(asked.op + " failed; tuning goes on with the other ops: " + error.what());
      exit_code = 1;
    }
  }
}

void refuse_beside_all(const CLI::App& command) {
  for (const char* option :
       {"OP", "--problem", "--problems", "--total", "--stale", "--shard", "--template"}) {
    if (command.count(option) > 0) {
      throw UsageError("--all chooses ops and problems itself, so it does not go with " +
                       std::string(option) + "; leave that out, or name the ops by --ops.");
    }
  }
}

// Removes problems with weight 0, which are tuned already; returns true if there were any.
bool leave_out_tuned(std::vector<ProblemsOfOp>& listed) {
  std::size_t count = 0;
  for (ProblemsOfOp& of_op : listed) {
    const auto first = std::find(of_op.weights.begin(), of_op.weights.end(), 0.0);  // they come last
    count += static_cast<std::size_t>(of_op.weights.end() - first);
    of_op.weights.erase(first, of_op.weights.end());
    of_op.problems.resize(of_op.weights.size());
  }
  std::erase_if(listed, [](const ProblemsOfOp& of_op) { return of_op.problems.empty(); });
  if (count > 0)
    std::cout << counted(count, "problem") << " with weight=0 left out: tuned already." << std::endl;
  return count > 0;
}

// Reads the op and the problems from a TOML file given in place of the op.
void read_described(TuneOptions& asked) {
  const std::string file = asked.op;
  const TomlProblems given = read_toml_problems(file);
  try {
    asked.op = find_op(given.op).name;
    for (const Problem& problem : given.problems)
      asked.problems.push_back(complete_problem(find_op(given.op), problem));
  } catch (const UsageError& error) {
    throw UsageError(file + ": " + error.what());
  }
}

// Tunes the problems of the named op, or of the ops that a file names.
void tune_problems(const TuneRequest& request, TuneOptions asked, const std::string& command,
                   Progress& progress, int& exit_code) {
  const bool has_file = !request.problem_file.empty();
  if (asked.op.ends_with(".toml")) read_described(asked);
  if (asked.op.empty() && !has_file)
    throw UsageError(command + " needs the name of an op, one of " + op_names() +
                     (asked.mode.chooses_again() ? "" : ", or --all") +
                     ", or --problems with a file that names ops.");
  const Op* op = asked.op.empty() ? nullptr : &find_op(asked.op);
  if (op == nullptr && (!request.problems.empty() || asked.stale))
    throw UsageError("--problem and --stale are for one op; name it: " + op_names() + ".");
  for (const std::string& text : request.problems)
    asked.problems.push_back(complete_problem(*op, Problem::parse(text)));
  std::vector<ProblemsOfOp> listed;
  if (has_file) listed = read_problem_file(request.problem_file, op);
  if (leave_out_tuned(listed) && listed.empty()) return;
  if (asked.problems.empty() && !has_file && !asked.stale && !asked.mode.chooses_again()) {
    throw UsageError(
        "There is no problem to tune; add --problem, --problems or --stale. \"tunesmith table make " +
        asked.op + "\" draws problems itself.");
  }
  asked.total_s = seconds_of("--total", request.total);
  if (listed.empty()) listed.push_back({.op = op, .problems = {}, .weights = {}, .weight = 1});
  tune_each(asked, listed, progress, exit_code);
}

}  // namespace

void add_tune_command(CLI::App& app, const std::string& command_line, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("tune", "Find the fastest variants for problems and keep every verdict");
  auto request = std::make_shared<SearchRequest>();
  TuneOptions& options = request->options;
  options.command = command_line;
  add_op_option(command, options.op,
                "An op, a .cu file with a description, or a .toml file with an op and problems; none with "
                "--all, or if --problems names ops");
  command->add_flag("--all", request->all,
                    "Once per GPU: a timing table of every op, in one hour or --budget; can be resumed");
  command->add_option("--ops", request->ops, "With --all: only these, such as reduce,conv2d")->delimiter(',');
  add_problem_options(command, *request);
  command->add_flag("--stale", options.stale,
                    "Tune problems in the database whose winners' templates have changed");
  command->add_option("--shard", request->shard,
                      "One part of the work, I/N, or auto for the rank of srun or mpirun, into its own file");
  add_search_options(command, *request);
  add_template_option(command, *request);
  add_condition_options(command, *request);
  add_run_options(command, *request);
  command->callback([request, command, &exit_code] {
    TuneOptions asked = tune_options(*request);
    if (command->count("--shard") > 0) asked.shard = Shard::parse(request->shard, ::getenv);
    if (request->shard == "auto") asked.local_rank = local_rank(::getenv);
    const bool has_budget = command->count("--budget") > 0;
    Progress progress(progress_output(), isatty(STDERR_FILENO) != 0);
    if (request->all) {
      refuse_beside_all(*command);
      const double seconds = seconds_of("--budget", has_budget ? asked.search.budget : "1h");
      tune_all(asked, request->ops, seconds, progress, exit_code);
      return warn_if_unused(asked.database);
    }
    if (!request->ops.empty()) throw UsageError("--ops goes with --all; an op alone is named without it.");
    if (!request->total.empty() && !has_budget) asked.search.budget = "all";
    tune_problems(*request, asked, "tune", progress, exit_code);
    warn_if_unused(asked.database);
  });
}

void add_finals_command(CLI::App& app, const std::string& command_line, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "finals",
      "Choose winners without a search: measure the fastest stored variants again, of these problems or all");
  auto request = std::make_shared<TuneRequest>();
  TuneOptions& options = request->options;
  options.command = command_line;
  options.mode = modes::finals;
  add_op_option(command, options.op, "An op, or a .cu file with a description; none if --problems names ops");
  add_problem_options(command, *request);
  add_template_option(command, *request);
  add_condition_options(command, *request);
  add_run_options(command, *request);
  command->callback([request, &exit_code] {
    Progress progress(progress_output(), isatty(STDERR_FILENO) != 0);
    const TuneOptions asked = tune_options(*request);
    tune_problems(*request, asked, "finals", progress, exit_code);
    warn_if_unused(asked.database);
  });
}

}  // namespace tunesmith

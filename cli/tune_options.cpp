// SPDX-License-Identifier: Apache-2.0
#include "cli/tune_options.h"

#include "choose/portfolio.h"
#include "cli/cli.h"
#include "dispatch/tuning_data.h"
#include "generator/error.h"
#include "generator/listed.h"
#include "generator/ops.h"
#include "runtime/device_id.h"

namespace tunesmith {

void add_problem_options(CLI::App* command, TuneRequest& request) {
  command->add_option("--problem", request.problems, "Problem; may be repeated")->allow_extra_args(false);
  command->add_option("--problems", request.problem_file,
                      "File with one problem per line: \"[OP] [weight=W] name=value …\"; # begins a comment");
  command->add_option("--total", request.total,
                      "Time for all problems together (5m), shared by weight; what is begun is finished");
}

void add_search_options(CLI::App* command, TuneRequest& request) {
  TuneOptions& options = request.options;
  command
      ->add_option("--budget", options.search.budget,
                   "Per problem: a time (60s, 5m), a number of variants (500), both (60s,500), or all")
      ->capture_default_str();
  command->add_option("--until", options.search.until,
                      "End a search when the model expects less improvement than this, such as 0.5%");
  command
      ->add_option("--strategy", options.search.strategy,
                   "How to search: " + strategy_names() + ",\nrun:COMMAND or unix:SOCKET of your own")
      ->capture_default_str();
  command
      ->add_option("--prior", request.prior, "none: search all configs alike, whatever the heuristics prefer")
      ->check(CLI::IsMember({"worth", "none"}))
      ->option_text("TEXT=worth");
}

void add_template_option(CLI::App* command, TuneRequest& request) {
  command->add_option("--template", request.options.search.templates, "Only this template; may be repeated")
      ->allow_extra_args(false);
}

void add_condition_options(CLI::App* command, TuneRequest& request) {
  command
      ->add_option("--caches", request.caches,
                   "warm: the L2 cache holds what the launch before left; cold: nothing (CUDA only)")
      ->check(CLI::IsMember({"warm", "cold"}))
      ->option_text("TEXT=warm");
  command
      ->add_option("--objective", request.objective,
                   "Choose winners by time, by energy per launch, or by edp, their product (CUDA only)")
      ->check(CLI::IsMember({"time", "energy", "edp"}))
      ->option_text("TEXT=time");
  command->add_flag("!--no-energy", request.options.measure.energy,
                    "Do not measure the energy of finalists, which takes some seconds per problem");
  command
      ->add_option("--launches", request.launches,
                   "apart: each launch between ordinary kernels; chained: launches back to back")
      ->check(CLI::IsMember({"apart", "chained"}))
      ->option_text("TEXT=apart");
}

void add_run_options(CLI::App* command, TuneRequest& request) {
  TuneOptions& options = request.options;
  command
      ->add_option("--device", options.device,
                   std::string(device_words) + "; several GPUs of one model: cuda:all, or cuda:0,cuda:1")
      ->capture_default_str();
  command->add_option("--seed", options.seed, "Seed for the search and the inputs")
      ->check(whole_number(0))
      ->option_text("UINT=1");
  add_reference_option(command, options.measure.reference);
  add_inputs_option(command, options.measure.inputs);
  command->add_flag("--retry-failed", options.search.retry_failed,
                    "Retry variants that timed out or crashed in an earlier run");
  command
      ->add_option("--jobs", options.compile.processes,
                   "Number of compilers that run at the same time; 0: number of processors - 1")
      ->check(whole_number(0, 1024))
      ->option_text("INT=0");
  add_db_option(command, request.database);
}

TuneOptions tune_options(const TuneRequest& request) {
  TuneOptions options = request.options;
  options.measure.conditions = conditions_of(request);
  options.search.prior = prior_of(request.prior);
  const TuningData data = read_tuning_data({});
  // A description is read later: a kernel's has no guesses here, a .toml file names an op.
  const bool takes_all = options.op.empty() || options.op.ends_with(".toml");
  for (const Op& op : ops()) {
    if (!takes_all && op.name != options.op) continue;
    for (BuiltIn& guess : guesses_of(candidates_of(data, op.name))) options.search.built_in.push_back(guess);
  }
  options.database = database_or_default(request.database);
  return options;
}

double seconds_of(const std::string& option, const std::string& text) {
  if (text.empty()) return 0;
  const Budget budget = Budget::parse(text);
  if (!budget.seconds) throw UsageError(option + " is " + text + ", but it is a time; give one such as 10m.");
  return *budget.seconds;
}

std::string op_names() {
  std::vector<std::string> names;
  for (const Op& op : ops()) names.push_back(op.name);
  return listed(names);
}

}  // namespace tunesmith

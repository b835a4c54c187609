// SPDX-License-Identifier: Apache-2.0
// `tunesmith check`: runs every check of `tune` on configs in which each value of each axis occurs. It
// chooses nothing and keeps nothing; tune.h does the work.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "cli/checked_variants.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "generator/error.h"
#include "generator/listed.h"
#include "generator/ops.h"
#include "generator/space.h"
#include "generator/threads.h"
#include "kernel_file/add.h"
#include "kernel_file/find_op.h"
#include "kernel_file/user_kernel.h"
#include "runtime/device_id.h"
#include "runtime/temporary_folder.h"
#include "runtime/toolchain.h"
#include "tuner/run/tune.h"

namespace tunesmith {
namespace {

// A folder for a temporary database; it is deleted with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (temporary_folder() / "tunesmith_check_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw Error("No folder can be made in " + temporary_folder().string() +
                  "; set TMPDIR to a folder that can be written.");
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

struct CheckRequest {
  TuneOptions options;
  std::vector<std::string> problems;
  std::size_t random = 8;
  std::string target;  // empty: the variants are run
};

struct VariantToCompile {
  std::string name, problem, config;
  Source source;
  std::string fault;     // empty: none
  bool is_late = false;  // the compiler was ended for its time
};

std::string undecided_text(std::size_t count) {
  return count == 0 ? ""
                    : ", " + std::to_string(count) + (count == 1 ? " was" : " were") +
                          " not decided within the limit of time";
}

// Lists, for each template and verdict, the number of failures and the first one.
std::string failures_text(const TunedProblem& problem) {
  std::map<std::pair<std::string, Verdict>, std::vector<const FailedVariant*>> kinds;
  for (const FailedVariant& failed : problem.failed)
    kinds[{failed.template_name, failed.verdict}].push_back(&failed);
  std::string text;
  for (const auto& [kind, failed] : kinds) {
    text += "  " + kind.first + ": " + std::string(name(kind.second)) + " " + std::to_string(failed.size()) +
            (failed.size() > 1 ? ", the first " : ", ") + failed.front()->config + ". " +
            failed.front()->reason + (failed.front()->reason.ends_with('\n') ? "" : "\n");
  }
  return text;
}

// Says once that accesses of variants were not watched, and why; empty: all were.
std::string unwatched_text(const std::vector<TunedProblem>& problems) {
  std::int64_t count = 0;
  std::string why;
  for (const TunedProblem& problem : problems) {
    count += problem.unwatched;
    if (why.empty()) why = problem.why_unwatched;
  }
  if (count == 0) return "";
  return "The accesses of " + counted(static_cast<std::size_t>(count), "variant") +
         " were not watched, because the compiler did not make " + (count == 1 ? "it" : "them") +
         " for that: only results were compared. It said: " + why + (why.ends_with('\n') ? "" : "\n");
}

// False for examples without any work: some only show that.
bool launches_something(const Op& op, const std::string& example) {
  const Problem problem = complete_problem(op, Problem::parse(example));
  return !op.templates.front().work(problem, base_config(op, problem)).steps.empty();
}

std::string not_checked_text(const Op& op, const std::vector<Problem>& problems, const DeviceFacts& device) {
  std::string text;
  for (const Template& tmpl : op.templates) {
    std::set<std::string> reasons;
    bool serves = false;
    for (const Problem& problem : problems) {
      const std::optional<std::string> why = why_not(tmpl, problem, device);
      serves = serves || !why;
      if (why) reasons.insert(*why);
    }
    if (!serves) text += op.name + "/" + tmpl.name + " was not checked here: " + *reasons.begin() + '\n';
  }
  return text;
}

// Returns the variants that check would run, each text once. `left_out` counts those that need more than the
// target has.
std::vector<VariantToCompile> variants_of(const Op& op, const CheckRequest& request,
                                          const DeviceFacts& device, std::size_t& left_out) {
  std::vector<VariantToCompile> variants;
  std::set<std::string> seen;
  const auto add = [&](const Template& tmpl, const Problem& problem, const Config& config) {
    if (exceeds(tmpl.work(problem, config, device), device)) {
      ++left_out;
      return;
    }
    Source source = render(op, tmpl, problem, config, request.target);
    if (seen.insert(source.hash + tmpl.name).second)
      variants.push_back({op.name + "/" + tmpl.name, problem.text(), config.text(), std::move(source), ""});
  };
  for (const Problem& problem : request.options.problems) {
    for (const Template& tmpl : op.templates) {
      const auto& wanted = request.options.search.templates;
      const bool is_wanted =
          wanted.empty() || std::find(wanted.begin(), wanted.end(), tmpl.name) != wanted.end();
      if (!is_wanted || why_not(tmpl, problem, device)) continue;
      const Space space = tmpl.space(problem, device);
      for (const Config& config : covering_configs(space, request.random, request.options.seed))
        add(tmpl, problem, config);
    }
    const UserKernel* own = op.user_kernel;
    if (own != nullptr && !own->reference_is_base && own->reference_text.empty())
      add(own->reference, problem, base_config(op, problem, device));
  }
  return variants;
}

// Checks without a device that the variants compile for a target, and have their kernels.
void compile_for(const CheckRequest& request, int& exit_code) {
  const Op& op = find_op(request.options.op);
  const DeviceFacts device = facts_of_target(request.target);
  const std::unique_ptr<Toolchain> toolchain = make_toolchain(request.target);
  std::size_t left_out = 0;
  std::vector<VariantToCompile> variants = variants_of(op, request, device, left_out);
  if (variants.empty())
    throw UsageError("No variant of " + op.name + " serves these problems on " + request.target + ".");
  std::atomic<std::size_t> next = 0;
  const auto compile = [&] {
    for (std::size_t at; (at = next.fetch_add(1)) < variants.size();) {
      VariantToCompile& one = variants[at];
      const Compilation compiled = toolchain->compile(one.source);
      one.is_late = compiled.is_late;
      if (one.is_late)
        one.fault = compiled.log;
      else if (!compiled.ok)
        one.fault = "It does not compile: " + located(compiled.log, one.source.text);
      for (const std::string& kernel : one.source.kernels) {
        if (one.fault.empty() && compiled.bytes.find(kernel + one.source.suffix) == std::string::npos)
          one.fault = "It compiles, but has no kernel " + kernel + ".";
      }
    }
  };
  const int processors = static_cast<int>(std::thread::hardware_concurrency());
  const int threads =
      request.options.compile.processes > 0 ? request.options.compile.processes : std::max(1, processors - 1);
  run_in_threads(static_cast<std::size_t>(threads), compile);
  std::map<std::string, std::vector<const VariantToCompile*>> wrong;
  std::size_t count = 0, undecided = 0;
  for (const VariantToCompile& one : variants) {
    if (one.fault.empty()) continue;
    ++(one.is_late ? undecided : count);
    wrong[one.name].push_back(&one);
  }
  for (const auto& [name, all] : wrong) {
    std::cout << name << ": " << counted(all.size(), "variant") << ", the first " << all.front()->config
              << " for " << all.front()->problem << ". " << all.front()->fault
              << (all.front()->fault.ends_with('\n') ? "" : "\n");
  }
  const std::size_t right = variants.size() - count - undecided;
  std::cout << op.name << " for " << request.target << ": " << counted(right, "variant")
            << (right == 1 ? " compiles, " : " compile, ") << count << (count == 1 ? " does not" : " do not")
            << undecided_text(undecided)
            << (left_out > 0 ? ", " + std::to_string(left_out) + " need more than " + request.target + " has"
                             : "")
            << ". Nothing was run.\n";
  if (count + undecided > 0) exit_code = 1;
}

void check(CheckRequest& request, int& exit_code) {
  const Op& op = find_op(request.options.op);
  if (request.problems.empty()) {
    std::copy_if(op.examples.begin(), op.examples.end(), std::back_inserter(request.problems),
                 [&](const std::string& example) { return launches_something(op, example); });
  }
  if (request.problems.empty()) {
    throw UsageError(op.name + " has no examples; give a problem to check by --problem.");
  }
  for (const std::string& text : request.problems)
    request.options.problems.push_back(complete_problem(op, Problem::parse(text)));
  if (!request.target.empty()) return compile_for(request, exit_code);
  const TemporaryFolder folder;
  request.options.database = folder.path() / "check.db";
  request.options.mode = modes::checks;
  request.options.random_checks = request.random;
  Progress progress(progress_output(), ::isatty(STDERR_FILENO) != 0);
  const TuneResult result = tune(request.options, progress);
  const CheckedVariants checked(result.problems);

  for (const TunedProblem& problem : result.problems) {
    if (!problem.failed.empty()) std::cout << problem.problem << '\n' << failures_text(problem);
  }
  std::cout << not_checked_text(op, request.options.problems, result.device)
            << unwatched_text(result.problems) << op.name << " on " << result.device.name << ": "
            << checked.text() << '\n';
  if (result.interrupted) {
    exit_code = 130;
  } else if (!checked.all_are_right()) {
    exit_code = 1;
  }
}

}  // namespace

CheckedVariants::CheckedVariants(const std::vector<TunedProblem>& tuned) : problems(tuned.size()) {
  for (const TunedProblem& problem : tuned) {
    const auto ok = problem.verdicts.find(Verdict::ok);
    right += ok == problem.verdicts.end() ? 0 : static_cast<std::size_t>(ok->second);
    for (const FailedVariant& failed : problem.failed) {
      // A config that needs more than the device has is not wrong.
      if (failed.verdict != Verdict::resource_limit)
        ++(failed.verdict == Verdict::timeout ? undecided : wrong);
    }
  }
}

std::string CheckedVariants::text() const {
  return counted(right, "variant") + (right == 1 ? " is" : " are") + " right on " +
         counted(problems, "problem") + " and their companions, " + std::to_string(wrong) +
         (wrong == 1 ? " is" : " are") + " wrong" + undecided_text(undecided) + ".";
}

void add_check_command(CLI::App& app, const std::string& command_line, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "check", "Run every check of tune on a sample of an op's variants, without a search and a database");
  auto request = std::make_shared<CheckRequest>();
  TuneOptions& options = request->options;
  options.command = command_line;
  add_op_option(command, options.op, "Name of an op, or the file of a kernel with its description")
      ->required();
  command->add_option("--problem", request->problems, "Problem; may be repeated (default: the op's examples)")
      ->allow_extra_args(false);
  CLI::Option* device =
      command->add_option("--device", options.device, std::string(device_words))->capture_default_str();
  command
      ->add_option("--target", request->target,
                   "Only compile for this target, such as sm_90a, and look for the kernels: no GPU is needed")
      ->excludes(device);
  command->add_option("--template", options.search.templates, "Check only this template; may be repeated")
      ->allow_extra_args(false);
  add_reference_option(command, options.measure.reference);
  add_inputs_option(command, options.measure.inputs);
  command
      ->add_option("--random", request->random,
                   "Random configs of each template, besides those in which every value of every axis occurs")
      ->capture_default_str()
      ->check(whole_number(0, 1000000));
  command->add_option("--seed", options.seed, "Seed for the random configs and the inputs")
      ->capture_default_str()
      ->check(whole_number(0));
  command
      ->add_option("--jobs", options.compile.processes,
                   "Number of compilers that run at the same time; 0: number of processors - 1")
      ->capture_default_str()
      ->check(whole_number(0, 1024));
  command->callback([request, &exit_code] { check(*request, exit_code); });
}

}  // namespace tunesmith

// `tunesmith check`: every check of `tune` on configs in which each value of each axis occurs. It chooses
// nothing and keeps nothing; tune.h does the work.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/cli.h"
#include "cli/output.h"
#include "generator/error.h"
#include "generator/listed.h"
#include "generator/ops.h"
#include "runtime/device_id.h"
#include "tuner/tune.h"

namespace tunesmith {
namespace {

// For a database that nobody reads; it goes with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "tunesmith_check_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw Error("No folder can be made in " + std::filesystem::temp_directory_path().string() +
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
};

// A config that needs more than the device has is no fault.
bool is_wrong(const FailedVariant& failed) { return failed.verdict != Verdict::resource_limit; }

// Of each template and verdict the number, and the first.
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

// Some examples are there to show that nothing need be done.
bool launches_something(const Op& op, const std::string& example) {
  const Problem problem = complete_problem(op, Values::parse(example));
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
    request.options.problems.push_back(complete_problem(op, Values::parse(text)));
  const TemporaryFolder folder;
  request.options.database = folder.path() / "check.db";
  request.options.random_checks = request.random;
  Progress progress(progress_output(), ::isatty(STDERR_FILENO) != 0);
  const TuneResult result = tune(request.options, progress);

  std::int64_t right = 0;
  std::int64_t wrong = 0;
  for (const TunedProblem& problem : result.problems) {
    const auto ok = problem.verdicts.find(Verdict::ok);
    right += ok == problem.verdicts.end() ? 0 : ok->second;
    for (const FailedVariant& failed : problem.failed) wrong += is_wrong(failed) ? 1 : 0;
    if (!problem.failed.empty()) std::cout << problem.problem << '\n' << failures_text(problem);
  }
  std::cout << not_checked_text(op, request.options.problems, result.device) << op.name << " on "
            << result.device.name << ": " << counted(static_cast<std::size_t>(right), "variant")
            << (right == 1 ? " is" : " are") << " right on " << counted(result.problems.size(), "problem")
            << " and the small ones beside, " << wrong << (wrong == 1 ? " is" : " are") << " wrong.\n";
  if (result.interrupted) {
    exit_code = 130;
  } else if (wrong > 0 || right == 0) {
    exit_code = 1;
  }
}

}  // namespace

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
  command->add_option("--device", options.device, std::string(device_words))->capture_default_str();
  command->add_option("--template", options.templates, "Check only this template; may be repeated")
      ->allow_extra_args(false);
  add_reference_option(command, options.reference);
  command
      ->add_option("--random", request->random,
                   "Random configs of each template, beside those in which every value of every axis occurs")
      ->capture_default_str()
      ->check(whole_number(0, 1000000));
  command->add_option("--seed", options.seed, "Seed for the random configs and the inputs")
      ->capture_default_str()
      ->check(whole_number(0));
  command
      ->add_option("--jobs", options.compilers,
                   "Number of compilers that run at the same time; 0: one less than the number of processors")
      ->capture_default_str()
      ->check(whole_number(0, 1024));
  command->callback([request, &exit_code] { check(*request, exit_code); });
}

}  // namespace tunesmith

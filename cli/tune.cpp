// tune: reads the request; tune.h does the work.
#include "tuner/tune.h"

#include <unistd.h>

#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "db/store.h"
#include "generator/error.h"
#include "generator/ops.h"
#include "runtime/device_id.h"

namespace tunesmith {
namespace {

struct TuneRequest {
  TuneOptions options;
  std::vector<std::string> problems;
  std::filesystem::path problem_file;
  std::filesystem::path database;
  std::string caches = "warm";
  std::string prior = "worth";
};

// One problem a line; what follows a # is for people.
std::vector<Problem> read_problems(const Op& op, const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<Problem> problems;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    try {
      const Values given = Values::parse(std::string_view(line).substr(0, line.find('#')));
      if (!given.empty()) problems.push_back(complete_problem(op, given));
    } catch (const UsageError& error) {
      throw UsageError(path.string() + ", line " + std::to_string(number) + ": " + error.what());
    }
  }
  if (!file.eof()) throw UsageError("The file of problems " + path.string() + " cannot be read.");
  if (problems.empty())
    throw UsageError("The file " + path.string() + " names no problem; write one a line.");
  return problems;
}

}  // namespace

void add_tune_command(CLI::App& app, const std::string& command_line, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("tune", "Find the fastest variants for problems, and keep every verdict");
  auto request = std::make_shared<TuneRequest>();
  TuneOptions& options = request->options;
  options.command = command_line;
  command->add_option("OP", options.op, "An op's name")->required();
  command->add_option("--problem", request->problems, "A problem; give it again for further ones")
      ->allow_extra_args(false);
  command->add_option("--problems", request->problem_file,
                      "A file with a problem a line; # begins a comment");
  command->add_flag("--stale", options.stale,
                    "The problems of the database whose winners' templates have changed since");
  command->add_option("--device", options.device, device_words)->capture_default_str();
  command
      ->add_option("--budget", options.budget,
                   "For each problem: a time (60s, 5m) after its base was measured, a number of variants\n"
                   "(500), all")
      ->capture_default_str();
  command->add_option("--strategy", options.strategy, "random or exhaustive")->capture_default_str();
  command
      ->add_option("--prior", request->prior,
                   "worth: first what the templates' rules call worth trying; none: all legal configs alike")
      ->capture_default_str()
      ->check(CLI::IsMember({"worth", "none"}));
  command->add_option("--seed", options.seed, "Of the search and of the inputs")->capture_default_str();
  command
      ->add_option("--template", options.templates,
                   "Search only this template; give it again for further ones")
      ->allow_extra_args(false);
  command
      ->add_option(
          "--caches", request->caches,
          "warm: launches follow one another on the same buffers; cold: the cache is overwritten before\n"
          "each (CUDA only)")
      ->capture_default_str()
      ->check(CLI::IsMember({"warm", "cold"}));
  command->add_flag("--retry-failed", options.retry_failed,
                    "Try again what timed out or crashed in an earlier run");
  command->add_option("--jobs", options.compilers, "Compilations at a time; 0: one less than processors")
      ->capture_default_str()
      ->check(CLI::Range(0, 1024));
  command->add_option("--db", request->database,
                      "The database; else $TUNESMITH_DB, else in the user's data folder");
  command->callback([request, &exit_code] {
    TuneOptions& asked = request->options;
    const Op& op = find_op(asked.op);
    for (const std::string& text : request->problems)
      asked.problems.push_back(complete_problem(op, Values::parse(text)));
    if (!request->problem_file.empty()) {
      for (Problem& problem : read_problems(op, request->problem_file))
        asked.problems.push_back(std::move(problem));
    }
    if (asked.problems.empty() && !asked.stale)
      throw UsageError("There is no problem to tune; add --problem, --problems or --stale.");
    asked.cold_caches = request->caches == "cold";
    asked.prior = prior_of(request->prior);
    asked.database = request->database.empty() ? default_database_path() : request->database;
    Progress progress(std::cerr, isatty(STDERR_FILENO) != 0);
    const TuneResult result = tune(asked, progress);
    print_winners(std::cout, result);
    if (result.interrupted) exit_code = 130;
  });
}

}  // namespace tunesmith

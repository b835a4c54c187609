// SPDX-License-Identifier: Apache-2.0
// The `tunesmith` program: runs subcommands and returns exit codes. 0: success, 1: something outside the
// request failed, 2: the request was wrong, 130: interrupted. An error is one sentence on stderr, perhaps
// followed by the line that it is about.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <csignal>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/cli.h"
#include "cli/output.h"
#include "generator/error.h"
#include "generator/listed.h"
#include "generator/nearest_name.h"
#include "generator/shell.h"
#include "tuner/check/worker.h"

namespace {

int complain(std::string sentence, int exit_code) {
  while (!sentence.empty() && (sentence.back() == ' ' || sentence.back() == '\n')) sentence.pop_back();
  std::cout.flush();
  std::cerr << "tunesmith: " << sentence << '\n';
  return exit_code;
}

// Returns the fault in the words, at any level: CLI11 would only say that a subcommand is required.
std::string fault_of(const CLI::App& app, const CLI::ParseError& error) {
  std::string command = "tunesmith";
  const CLI::App* used = &app;
  while (!used->get_subcommands().empty()) {
    used = used->get_subcommands().front();
    command += " " + used->get_name();
  }
  const std::string help = " \"" + command + " --help\" shows what is allowed.";
  std::vector<std::string> commands;
  for (const CLI::App* each : used->get_subcommands(nullptr)) commands.push_back(each->get_name());
  std::vector<std::string> options;
  for (const CLI::Option* each : used->get_options())
    for (const std::string& name : each->get_lnames()) options.push_back("--" + name);

  const std::vector<std::string> unknown = app.remaining(true);
  const auto option = std::find_if(unknown.begin(), unknown.end(), [](const std::string& word) {
    return word.size() > 1 && word.front() == '-' && std::isdigit(static_cast<unsigned char>(word[1])) == 0;
  });
  if (!commands.empty() && !unknown.empty() && option != unknown.begin())
    return "There is no command " + unknown.front() + (used == &app ? "" : " of \"" + command + "\"") +
           "; the commands are " + tunesmith::listed(commands) + "." +
           tunesmith::did_you_mean(unknown.front(), commands) + help;
  if (option != unknown.end())
    return "\"" + command + "\" has no option " + *option + "." +
           tunesmith::did_you_mean(option->substr(0, option->find('=')), options) + help;
  if (!commands.empty())
    return "\"" + command + "\" needs a command: " + tunesmith::listed(commands) + "." + help;
  std::string what = error.what();
  std::replace(what.begin(), what.end(), '\n', ' ');
  while (!what.empty() && what.back() == ' ') what.pop_back();
  return what + (what.ends_with('.') ? "" : ".") + help;
}

// Returns the command line as the database stores it with the session.
std::string joined(int argc, char** argv) {
  std::string command = "tunesmith";
  for (int i = 1; i < argc; ++i) command += " " + tunesmith::shell_word(argv[i]);
  return command;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGCHLD,
              SIG_DFL);  // a parent may have ignored it, and then the ends of children are not reported
  if (argc == 3 && std::string_view(argv[1]) == "worker") return tunesmith::worker_main(argv[2]);
  const tunesmith::PrintableOutput output(std::cout);
  const tunesmith::PrintableOutput errors(std::cerr);
  int exit_code = 0;
  CLI::App app(
      "Tunesmith finds the fastest CUDA kernel for a problem on a device, stores every measurement in a "
      "database, and chooses kernels from it.");
  app.name("tunesmith");
  app.set_version_flag("--version", "tunesmith " TUNESMITH_VERSION);
  app.require_subcommand(1);
  app.footer(
      "A problem or a config is written as name=value pairs: \"height=1000 width=2000 mask_height=3 "
      "mask_width=3\".");
  try {
    tunesmith::add_ops_commands(app);
    tunesmith::add_space_command(app);
    tunesmith::add_describe_command(app);
    tunesmith::add_render_command(app);
    tunesmith::add_tune_command(app, joined(argc, argv), exit_code);
    tunesmith::add_finals_command(app, joined(argc, argv), exit_code);
    tunesmith::add_table_command(app, joined(argc, argv), exit_code);
    tunesmith::add_check_command(app, joined(argc, argv), exit_code);
    tunesmith::add_query_command(app);
    tunesmith::add_db_commands(app, joined(argc, argv), exit_code);
    tunesmith::add_regret_command(app, exit_code);
    tunesmith::add_replay_command(app);
    tunesmith::add_dispatch_commands(app);
    tunesmith::add_derive_command(app);
    tunesmith::add_report_command(app);
    tunesmith::add_doctor_command(app, exit_code);
    app.parse(argc, argv);
    std::cout.flush();
    tunesmith::exact_output().flush();
    if (!std::cout || !tunesmith::exact_output())
      throw tunesmith::Error("The output could not be written; is the disk full?");
    return exit_code;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return complain(fault_of(app, error), 2);
  } catch (const tunesmith::UsageError& error) {
    return complain(error.what(), 2);
  } catch (const std::exception& error) {
    return complain(error.what(), 1);
  }
}

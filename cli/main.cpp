// The `tunesmith` program: subcommands in, exit codes out. 0: success, 1: something outside the request
// failed, 2: the request was wrong, 130: interrupted. An error is one sentence on stderr, perhaps followed by
// the line that it is about.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>

#include "cli/cli.h"
#include "cli/output.h"
#include "generator/error.h"
#include "generator/shell.h"
#include "tuner/worker.h"

namespace {

int complain(std::string sentence, int exit_code) {
  while (!sentence.empty() && (sentence.back() == ' ' || sentence.back() == '\n')) sentence.pop_back();
  std::cout.flush();
  std::cerr << "tunesmith: " << sentence << '\n';
  return exit_code;
}

// CLI11 would only say that a subcommand is required.
void refuse_unknown_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  std::string names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    if (command->get_name() == argv[1]) return;
    names += (names.empty() ? "" : ", ") + command->get_name();
  }
  throw tunesmith::UsageError("There is no command " + std::string(argv[1]) + "; the commands are " + names +
                              ".");
}

// The command line, as the database stores it with the session.
std::string joined(int argc, char** argv) {
  std::string command = "tunesmith";
  for (int i = 1; i < argc; ++i) command += " " + tunesmith::shell_word(argv[i]);
  return command;
}

}  // namespace

int main(int argc, char** argv) {
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
    tunesmith::add_look_commands(app);
    tunesmith::add_tune_command(app, joined(argc, argv), exit_code);
    tunesmith::add_finals_command(app, joined(argc, argv), exit_code);
    tunesmith::add_table_command(app, joined(argc, argv), exit_code);
    tunesmith::add_check_command(app, joined(argc, argv), exit_code);
    tunesmith::add_data_commands(app, exit_code);
    tunesmith::add_regret_command(app, exit_code);
    tunesmith::add_replay_command(app);
    tunesmith::add_dispatch_commands(app);
    tunesmith::add_derive_command(app);
    tunesmith::add_report_command(app);
    refuse_unknown_command(app, argc, argv);
    app.parse(argc, argv);
    std::cout.flush();
    tunesmith::exact_output().flush();
    if (!std::cout || !tunesmith::exact_output())
      throw tunesmith::Error("The output could not be written; is the disk full?");
    return exit_code;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    std::string command = "tunesmith";
    for (const CLI::App* used = &app; !used->get_subcommands().empty();) {
      used = used->get_subcommands().front();
      command += " " + used->get_name();
    }
    std::string what = error.what();
    std::replace(what.begin(), what.end(), '\n', ' ');
    return complain(what + "; \"" + command + " --help\" shows what is allowed.", 2);
  } catch (const tunesmith::UsageError& error) {
    return complain(error.what(), 2);
  } catch (const std::exception& error) {
    return complain(error.what(), 1);
  }
}

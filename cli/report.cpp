// SPDX-License-Identifier: Apache-2.0
// report: the Python package draws the page; here its command is found and replaces this process.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "generator/error.h"

namespace tunesmith {

void add_report_command(CLI::App& app) {
  CLI::App* const command = app.add_subcommand("report", "Draw the database as one HTML page");
  command->set_help_flag();  // the Python command answers --help
  command->prefix_command();
  command->callback([command] {
    // A folder of the package's name is not the package, so one of its modules is imported.
    if (std::system("python3 -c 'import tunesmith._report' >/dev/null 2>&1 </dev/null") != 0) {
      const std::vector<std::string> words = command->remaining();
      const bool asks_for_help = std::any_of(words.begin(), words.end(), [](const std::string& word) {
        return word == "--help" || word == "-h";
      });
      if (asks_for_help) {
        std::cout
            << "tunesmith report: draw the database as one HTML page (docs/report.md).\n\n"
               "The page is drawn by the Python package, which has the options; the python3 of this PATH "
               "does not have it.\nInstall it with \"pip install '.[report]'\" in a checkout, then ask "
               "again.\n";
        return;
      }
      throw Error(
          "The page is drawn by the Python package, which the python3 of this PATH does not have; install it "
          "with \"pip install '.[report]'\" in a checkout, or run \"python -m tunesmith report\" where it is "
          "(docs/report.md).");
    }
    std::vector<std::string> words = {"python3", "-m", "tunesmith", "report"};
    for (const std::string& word : command->remaining()) words.push_back(word);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    std::cout.flush();
    execvp(arguments.front(), arguments.data());
    throw Error("python3 cannot be run.");
  });
}

}  // namespace tunesmith

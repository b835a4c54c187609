// SPDX-License-Identifier: Apache-2.0
// The options that tune, finals and table share, and their conversion to TuneOptions.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "tuner/run/tune.h"

namespace tunesmith {

struct TuneRequest {
  TuneOptions options;
  std::string total, prior = "worth", caches = "warm", launches = "apart", objective = "time";
  std::vector<std::string> problems;
  std::filesystem::path problem_file, database;
};

void add_problem_options(CLI::App* command, TuneRequest& request);    ///< --problem, --problems, --total
void add_search_options(CLI::App* command, TuneRequest& request);     ///< --budget and how to search
void add_template_option(CLI::App* command, TuneRequest& request);    ///< --template
void add_condition_options(CLI::App* command, TuneRequest& request);  ///< --caches, --objective, …
void add_run_options(CLI::App* command, TuneRequest& request);        ///< --device, --seed, …, --db

/// Converts the words of the options, and adds the library's winners and tables as guesses, and the database.
/// Leaves out problems and total.
TuneOptions tune_options(const TuneRequest& request);

/// Returns the seconds of an option's text; 0 if it is empty. Throws UsageError if it is no time.
double seconds_of(const std::string& option, const std::string& text);

std::string op_names();  ///< the names of the ops: "conv1d, conv2d and transpose"

}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
// The options that tune, finals and table have in common, and what follows from them.
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

/// As the words of the options say it, with what the library knows as guesses and the database. Without
/// problems and total.
TuneOptions tune_options(const TuneRequest& request);

/// Seconds of an option's text; 0 where there is none. Throws UsageError for what is no time.
double seconds_of(const std::string& option, const std::string& text);

std::string op_names();  ///< "conv1d, conv2d and transpose"

}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
// Makes, extends and fills the timing tables from which dispatch chooses, by measuring; and rebuilds them
// from a database.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "db/store.h"
#include "tuner/run/progress.h"
#include "tuner/run/tune.h"

namespace tunesmith {

/// The default budget of one anchor's search: it suffices to measure the guesses and some dozen further
/// variants. A table needs good kernels, not the best.
inline constexpr const char* budget_of_an_anchor = "2s";

// The next four functions print the table's quality. `seconds` is for all problems, 0: no limit. `exit_code`
// becomes 130 if they were interrupted.

/// Makes a new table: searches the options' problems and `searched` drawn ones, and measures the best
/// variants on these and on `measured` further ones.
void make_table(TuneOptions options, std::size_t searched, std::size_t measured, double seconds,
                Progress& progress, int& exit_code);

/// Extends the known table, from the database or built in, by `measured` anchors. `only_guesses`: on them
/// only the templates' guesses and ways are measured (named_guesses() in choose/portfolio.h).
void extend_table(TuneOptions options, std::size_t measured, bool only_guesses, double seconds,
                  Progress& progress, int& exit_code);

/// Fills in missing times of the known table, on up to `anchors` of its anchors (table_gaps() in
/// choose/portfolio.h).
void fill_table(TuneOptions options, std::size_t anchors, bool only_guesses, double seconds,
                Progress& progress, int& exit_code);

/// Makes new tables of these ops (empty: all) within `seconds`. A failing op is reported, and sets
/// `exit_code` to 1.
void tune_all(const TuneOptions& options, const std::vector<std::string>& names, double seconds,
              Progress& progress, int& exit_code);

/// Rebuilds and stores the tables of all ops and devices of the database that match the names (empty: all).
/// Returns a line on each. `extend`: adds to the known tables, built in or in the database.
std::string remake_tables(Store& store, const std::filesystem::path& database, const std::string& op,
                          const std::string& device, bool extend, const std::string& command);

/// Returns a line on each table of the database and of the library that matches the names.
std::string list_tables(const std::filesystem::path& database, const std::string& op,
                        const std::string& device);

}  // namespace tunesmith

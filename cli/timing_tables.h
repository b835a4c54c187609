// SPDX-License-Identifier: Apache-2.0
// Timing tables, from which dispatch chooses: they are made, extended and filled by measuring, and rebuilt
// from what a database has.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "db/store.h"
#include "tuner/run/progress.h"
#include "tuner/run/tune.h"

namespace tunesmith {

/// Where no other is given, for the search of each: the guesses are measured in it, and some dozen further
/// variants. A table needs good kernels, not the best.
inline constexpr const char* budget_of_an_anchor = "2s";

// What these four print is the table's quality. `seconds` for all problems, 0: no limit. `exit_code` becomes
// 130 if it was interrupted.

/// A new table: the options' problems and `searched` drawn ones are searched, and the best measured on them
/// and on `measured` further ones.
void make_table(TuneOptions options, std::size_t searched, std::size_t measured, double seconds,
                Progress& progress, int& exit_code);

/// The known table, the database's or the one that is built in, with `measured` further anchors.
void extend_table(TuneOptions options, std::size_t measured, double seconds, Progress& progress,
                  int& exit_code);

/// The known table with times that it lacks, on so many of its anchors (table_gaps() in choose/portfolio.h).
void fill_table(TuneOptions options, std::size_t anchors, double seconds, Progress& progress, int& exit_code);

/// New tables of these ops (empty: all), in so many seconds. An op that fails is said, and leaves `exit_code`
/// at 1.
void tune_all(const TuneOptions& options, const std::vector<std::string>& names, double seconds,
              Progress& progress, int& exit_code);

/// Rebuilds the tables of all ops and devices of the database that the names let through (empty: all), and
/// stores them; a line about each. `extend`: adds to those that are known, built in or in the database.
std::string remake_tables(Store& store, const std::filesystem::path& database, const std::string& op,
                          const std::string& device, bool extend, const std::string& command);

/// A line about each table of the database and of the library that the names let through.
std::string list_tables(const std::filesystem::path& database, const std::string& op,
                        const std::string& device);

}  // namespace tunesmith

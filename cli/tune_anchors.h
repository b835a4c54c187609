// `tunesmith tune --anchors` and `--all`: tables to choose from, of one op or of all.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "db/store.h"
#include "tuner/progress.h"
#include "tuner/tune.h"

namespace tunesmith {

/// Where no other is given, for the search of each: the guesses are measured in it, and some dozen further
/// variants. A table needs good kernels, not the best.
inline constexpr const char* budget_of_an_anchor = "2s";

struct AnchorCounts {
  std::size_t searched = 0;  ///< 0: the portfolio is the one that is known, and its table is extended
  std::size_t measured = 0;  ///< further ones, on which the portfolio is measured without a search
  std::size_t filled = 0;    ///< of those that a known table has, on which it lacks times (lacking())
};

/// The options' problems and so many drawn ones; `seconds` for all, 0: no limit. `exit_code` becomes 130 if
/// it was interrupted.
void tune_anchors(TuneOptions options, const AnchorCounts& counts, double seconds, Progress& progress,
                  int& exit_code);

/// Of these ops (empty: all), in so many seconds. An op that fails is said, and leaves `exit_code` at 1.
void tune_all(const TuneOptions& options, const std::vector<std::string>& names, double seconds,
              Progress& progress, int& exit_code);

/// Makes the tables of all ops and devices of the database anew that the names let through (empty: all), and
/// stores them; a line about each. `extend`: adds to those that are known, built in or in the database.
std::string remake_tables(Store& store, const std::filesystem::path& database, const std::string& op,
                          const std::string& device, bool extend, const std::string& command);

}  // namespace tunesmith

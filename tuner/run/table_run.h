// SPDX-License-Identifier: Apache-2.0
// The part of a run that makes a timing table: what is searched, what is measured on all problems, and the
// resulting table (choose/portfolio.h).
#pragma once

#include <filesystem>
#include <vector>

#include "choose/timing_table.h"
#include "db/store.h"
#include "tuner/run/device_runs.h"

namespace tunesmith {

/// The times that a table of the op on the device is made of: the newest times of templates as they are now,
/// with warm caches and launches apart.
std::vector<TimeRow> times_for_table(const Store& store, const Op& op, std::int64_t device_id);

/// The same for each device of that model in the database; none if there is no such file.
std::vector<std::vector<TimeRow>> times_of_model(const std::filesystem::path& database, const Op& op,
                                                 const DeviceFacts& device);

/// Measures the tasks' problems for options.table and stores the table, unless the run is interrupted.
void run_table(const DeviceRuns& device_runs, const Op& op, const TuneOptions& options,
               const std::vector<Problem>& problems, const std::vector<Task>& tasks,
               Clock::time_point started, TuneResult& result);

}  // namespace tunesmith

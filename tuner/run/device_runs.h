// SPDX-License-Identifier: Apache-2.0
// Runs the tasks of a run on its devices: one thread per device.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tuner/run/device_run.h"

namespace tunesmith {

using DeviceRuns = std::vector<std::unique_ptr<DeviceRun>>;

/// Times the same variant on each device, which reveals a GPU that is slower than others of its model before
/// its times are used.
void compare(const DeviceRuns& device_runs, const Op& op, const Problem& problem, Progress& progress);

/// The work to do with each task.
struct Assignment {
  Mode mode = modes::tuning;
  std::span<const NamedVariant> listed = {};
  const VariantLists* lists = nullptr;                    ///< lists of some problems, which replace `listed`
  std::optional<Clock::time_point> until = std::nullopt;  ///< no task begins later
  /// The weights of the problems: each search gets a share of the time until then. Empty: each has the run's
  /// budget.
  std::vector<double> weights = {};
};

/// Runs the tasks in their order, each on the next device that is free. The finals of a problem are on one
/// device: if the problem is split among several, on the device that ends its last part.
std::vector<TunedProblem> run_tasks(const DeviceRuns& device_runs, const std::vector<Problem>& problems,
                                    const std::vector<Task>& tasks, const Assignment& assignment);

}  // namespace tunesmith

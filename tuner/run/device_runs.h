// SPDX-License-Identifier: Apache-2.0
// The tasks of a run on its devices: one thread per device.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tuner/run/device_run.h"

namespace tunesmith {

using DeviceRuns = std::vector<std::unique_ptr<DeviceRun>>;

/// The same variant on each: tells a GPU that is slower than its like before its times are used.
void compare(const DeviceRuns& device_runs, const Op& op, const Problem& problem, Progress& progress);

/// What is done with each task.
struct Assignment {
  Mode mode = modes::tuning;
  std::span<const NamedVariant> listed = {};
  const VariantLists* lists = nullptr;                    ///< of some problems, in place of `listed`
  std::optional<Clock::time_point> until = std::nullopt;  ///< no task begins later
  /// Of the problems: each search gets a share of the time until then. Empty: each has the run's budget.
  std::vector<double> weights = {};
};

/// The tasks in their order, each by the next device that is free. The finals of a problem are on one device:
/// where a problem is split among several, on the one that ends its last part.
std::vector<TunedProblem> run_tasks(const DeviceRuns& device_runs, const std::vector<Problem>& problems,
                                    const std::vector<Task>& tasks, const Assignment& assignment);

}  // namespace tunesmith

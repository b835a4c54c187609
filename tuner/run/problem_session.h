// SPDX-License-Identifier: Apache-2.0
// A device at work on one problem, with its inputs, compilers and rows of the database. It has the parts that
// the search and the finals share; they say what it does.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tuner/check/compilers.h"
#include "tuner/check/references.h"
#include "tuner/run/findings.h"
#include "tuner/run/mode.h"
#include "tuner/run/recorder.h"
#include "tuner/run/tune.h"

namespace tunesmith {

/// The objects that the problems of a device share.
struct RunContext {
  const Op& op;
  const TuneOptions& options;
  const Policy& policy;
  Compilers& compilers;
  References& references;
  DeviceWorker& worker;
  Recorder& recorder;
  Progress& progress;
};

/// The work of a device on a problem.
struct ProblemTask {
  const Problem& problem;
  Mode mode = modes::tuning;
  Task part = {};                                ///< only this part of the points is searched
  std::span<const NamedVariant> listed = {};     ///< variants to try, if the mode has a list
  std::optional<double> seconds = std::nullopt;  ///< for the search, if that is less than the run's budget
  /// The problems that likely follow, with the variants that are listed for them. The first one's inputs and
  /// references are made while the finals run, or all the time if there are no finals.
  struct Upcoming {
    const Problem* problem;
    std::span<const NamedVariant> listed;
  };
  std::vector<Upcoming> next = {};

  /// True if this search is one of several on the problem.
  bool in_parts() const { return part.parts > 1; }
  bool hears_others() const { return in_parts() && mode.hears_others; }
};

class ProblemSession {
 public:
  ProblemSession(const RunContext& context, const ProblemTask& task, const Findings& findings);

  const RunContext& context() const { return context_; }
  const ProblemTask& task() const { return task_; }
  const Policy& policy() const { return policy_; }  ///< of the task, as is the budget
  const Budget& budget() const { return budget_; }
  const DeviceFacts& device() const { return context_.worker.hello().device; }
  double now_s() const;  ///< since the task began
  /// True if it has waited long enough since the interrupt for a variant that hangs, or a compilation that
  /// takes minutes.
  bool out_of_patience();

  /// From here on variants are measured on these inputs, once they are made.
  void want_inputs(std::uint64_t seed);
  bool wants_inputs() const { return wanted_; }
  /// Starts making inputs and references before they are wanted, if that disturbs no times.
  void make_ahead(const Problem& problem, std::uint64_t seed);
  /// Waits until something has happened, or for a moment.
  void wait();

  /// True if the worker has its inputs and nothing to do.
  bool ready() const { return prepared_ && context_.worker.idle(); }
  MeasureRequest request(TrialId trial_id) const;
  /// Call it when ready(). The worker is ended after `limit_times` the limit of this variant in the search.
  void measure(TrialId trial_id, const MeasureRequest& request, double limit_times = 1);

  /// Writes a verdict to the database and prints the first of each kind; returns the measurement's id.
  std::int64_t record(const Trial& trial, const MeasureReply& reply, const Recorder::Cost& cost);

  /// The state that the progress shows for the search and the finals alike.
  ProgressState state(std::string stage, std::int64_t done, std::int64_t total) const;

 private:
  bool may_make_ahead() const;
  void prepare();
  double limit_s(TrialId trial_id) const;

  RunContext context_;
  ProblemTask task_;
  Policy policy_;
  Budget budget_;
  const Findings& findings_;
  Clock::time_point started_ = Clock::now();
  std::optional<Clock::time_point> interrupted_at_;
  std::uint64_t inputs_seed_ = 0;  // of the inputs that the worker has, or gets when they are ready
  bool wanted_ = false;            // inputs are wanted, for the first variant without a known verdict
  bool prepared_ = false;
};

/// "tiled BLOCK_X=32 …"
std::string variant_text(const Trial& trial);

}  // namespace tunesmith

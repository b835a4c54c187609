// SPDX-License-Identifier: Apache-2.0
// A device at work on one problem, with what it needs beside it: inputs, compilers, rows of the database. The
// search and the finals say what it does; what is the same for both is here.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "tuner/check/compilers.h"
#include "tuner/check/references.h"
#include "tuner/run/findings.h"
#include "tuner/run/mode.h"
#include "tuner/run/recorder.h"
#include "tuner/run/tune.h"

namespace tunesmith {

/// What the problems of a device share.
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

/// What a device does with a problem.
struct ProblemTask {
  const Problem& problem;
  Mode mode = modes::tuning;
  Task part = {};                                ///< only this part of the points is searched
  std::span<const NamedVariant> listed = {};     ///< what is tried, where the mode has a list
  std::optional<double> seconds = std::nullopt;  ///< for the search, if that is less than the run's budget
  /// It likely follows, and so do the variants that are listed for it. While the finals run, or all along
  /// where there are none, its inputs and references are made.
  const Problem* next = nullptr;
  std::span<const NamedVariant> listed_next = {};

  /// It is one of several that search the problem.
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
  /// It has waited long enough since the interrupt, for a variant that hangs or a compilation that takes
  /// minutes.
  bool out_of_patience();

  /// From here on variants are measured on these inputs, as soon as they are made.
  void want_inputs(std::uint64_t seed);
  bool wants_inputs() const { return wanted_; }
  /// Begins with inputs and references before they are wanted, where that disturbs no times.
  void make_ahead(const Problem& problem, std::uint64_t seed);
  /// Until something has happened, or for a moment.
  void wait();

  /// It has its inputs and nothing to do.
  bool ready() const { return prepared_ && context_.worker.idle(); }
  MeasureRequest request(TrialId trial_id) const;
  /// When ready; the worker ends after so many times what a variant of the search may take.
  void measure(const MeasureRequest& request, double limit_times = 1);

  /// Writes a verdict to the database and says the first of a kind; answers with the measurement's id.
  std::int64_t record(const Trial& trial, const MeasureReply& reply, const Recorder::Cost& cost);

  /// What the progress shows of the search and the finals alike.
  ProgressState state(std::string stage, std::int64_t done, std::int64_t total) const;

 private:
  bool may_make_ahead() const;
  void prepare();
  double limit_s() const;

  RunContext context_;
  ProblemTask task_;
  Policy policy_;
  Budget budget_;
  const Findings& findings_;
  Clock::time_point started_ = Clock::now();
  std::optional<Clock::time_point> interrupted_at_;
  std::uint64_t inputs_seed_ = 0;  // of the inputs that the worker has, or gets when they are ready
  bool wanted_ = false;            // inputs, for the first variant that is not known
  bool prepared_ = false;
};

/// "tiled BLOCK_X=32 …"
std::string variant_text(const Trial& trial);

}  // namespace tunesmith

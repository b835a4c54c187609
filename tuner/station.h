// A device at work on one problem, with what it needs beside it: inputs, compilers, rows of the database. The
// search and the finals say what it does; what is the same for both is here.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "tuner/compilers.h"
#include "tuner/findings.h"
#include "tuner/mode.h"
#include "tuner/recorder.h"
#include "tuner/references.h"
#include "tuner/tune.h"

namespace tunesmith {

/// What the problems of a device share.
struct Bench {
  const Op& op;
  const TuneOptions& options;
  const Policy& policy;
  Compilers& compilers;
  References& references;
  DeviceWorker& worker;
  Recorder& recorder;
  Progress& progress;
};

/// A problem's turn on a device.
struct Turn {
  const Problem& problem;
  Mode mode = modes::tuning;
  Task task = {};                                ///< only this part of the points is searched
  std::span<const NamedVariant> listed = {};     ///< what is tried, where the mode has a list
  std::optional<double> seconds = std::nullopt;  ///< for the search, if that is less than the run's budget
  /// It likely follows, and so do the variants that are listed for it. While the finals run, or all along
  /// where there are none, its inputs and references are made.
  const Problem* next = nullptr;
  std::span<const NamedVariant> listed_next = {};

  /// It is one of several that search the problem.
  bool in_parts() const { return task.parts > 1; }
  bool hears_others() const { return in_parts() && mode.hears_others; }
};

class Station {
 public:
  Station(const Bench& bench, const Turn& turn, const Findings& findings);

  const Bench& bench() const { return bench_; }
  const Turn& turn() const { return turn_; }
  const Policy& policy() const { return policy_; }  ///< of the turn, as is the budget
  const Budget& budget() const { return budget_; }
  const DeviceFacts& device() const { return bench_.worker.hello().device; }
  double now_s() const;  ///< since the turn began
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
  bool ready() const { return prepared_ && bench_.worker.idle(); }
  MeasureRequest request(Ticket ticket) const;
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

  Bench bench_;
  Turn turn_;
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

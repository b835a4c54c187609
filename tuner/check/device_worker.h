// SPDX-License-Identifier: Apache-2.0
// The worker that owns the device, as the tuner uses it: it is kept prepared for a problem and restarted when
// it dies; every way in which it can end becomes a verdict.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "runtime/processor_time.h"
#include "tuner/check/messages.h"
#include "tuner/check/time_spent.h"
#include "tuner/process/child.h"

namespace tunesmith {

struct WorkerTimeouts {
  double start_s = 120;    ///< a CUDA context on a machine with many GPUs takes seconds
  double prepare_s = 900;  ///< the reference of a very large problem
  double measure_s = 0;    ///< load, check and time one variant; 0: derived from the base's time (policy.h)
};

class DeviceWorker {
 public:
  /// Starts the worker and waits for its first message. Throws Error or UsageError with the worker's reason.
  DeviceWorker(std::string id, const WorkerTimeouts& timeouts);

  const Hello& hello() const { return hello_; }

  /// From here on variants are checked and timed on this problem. Returns at once; the worker is idle() once
  /// it is prepared.
  void prepare(const PrepareRequest& request);

  /// A problem will follow, and until then the worker has no other work: this time counts as preparing, not
  /// as idle.
  void expect_problem();

  /// True if measure() may be called.
  bool idle() const { return state_ == State::idle; }
  bool busy() const { return state_ == State::busy; }
  /// The limit is of processor time on the host, and else of the clock.
  void measure(const MeasureRequest& request, double limit_s);

  /// Reads the worker's messages, restarts it if it died, and returns the verdict on the variant that it was
  /// measuring, once there is one. Throws Error if it cannot be started or prepared again.
  std::optional<MeasureReply> update();

  int descriptor() const { return child_ ? child_->descriptor() : -1; }
  int process() const { return child_ ? child_->process() : -1; }
  /// update() has nothing to end before this moment.
  Clock::time_point deadline() const { return work_ ? work_->next_look() : deadline_; }
  int deaths() const { return deaths_; }  ///< how often a variant ended the worker, so far
  TimeSpent& spent();                     ///< over its life so far

 private:
  enum class State { starting, preparing, idle, busy };
  void start();
  void enter(State state, double timeout_s);
  void count_time();
  void take(const Frame& frame, std::optional<MeasureReply>& reply);
  MeasureReply died(bool late);
  void fail_if_unable(const std::string& how);

  std::string id_;
  WorkerTimeouts timeouts_;
  Hello hello_;
  std::optional<PrepareRequest> wanted_;  // a new worker is prepared for this
  bool wants_another_ = false;            // it prepares what is not wanted any more
  std::unique_ptr<Child> child_;
  State state_ = State::starting;
  Clock::time_point entered_, deadline_;
  double limit_s_ = 0;
  std::optional<ProcessorLimit> work_;  // replaces the deadline
  bool expects_problem_ = false;
  int deaths_ = 0;
  int failed_starts_ = 0;  // in a row
  TimeSpent spent_;
  Clock::time_point counted_ = Clock::now();  // time is counted until then
};

}  // namespace tunesmith

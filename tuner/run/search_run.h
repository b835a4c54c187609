// SPDX-License-Identifier: Apache-2.0
// The search on one problem as a state machine: it is told the results of compilers and device, and says what
// to compile and what to measure next. It starts no process, opens no database and never waits.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/store.h"
#include "tuner/check/compilers.h"
#include "tuner/run/findings.h"
#include "tuner/run/mode.h"
#include "tuner/search/search.h"

namespace tunesmith {

class SearchRun {
 public:
  struct Setup {
    Search& search;
    Point base;
    DeviceFacts device;
    std::string device_id;  ///< for messages: "cuda:0"
    const Policy& policy;
    const Budget& budget;
    std::map<std::string, KnownVerdict> known;  ///< verdicts of earlier runs, by source hash
    Mode mode = modes::tuning;
    bool retry_failed = false;  ///< do not take over time-outs and crashes
    std::function<RenderedVariant(const Point&)> render;
    Record record;
    std::function<double()> now_s;  ///< a clock that never jumps
  };
  SearchRun(Setup setup, Findings& findings);

  /// Takes one proposal of the search. Nothing if the space or the number of variants is exhausted, or if
  /// enough variants wait for the device.
  struct Proposal {
    TrialId trial_id;
    bool compile;  ///< false: its verdict is known already
  };
  std::optional<Proposal> propose();
  void compiled(CompileResult result);
  double compile_limit_s() const;  ///< limit of the next compilation; 0: no limit

  /// The next measurement, if the device is free and a variant is ready.
  struct MeasureTask {
    TrialId trial_id;
    double give_up_above_us = 0;  ///< as in Timing
  };
  std::optional<MeasureTask> to_measure();

  /// Takes the result of the measurement, and if the worker ended with it. The verdict is kept until
  /// write_down(), so that the device gets its next variant before the wait for the disk. Both throw Error
  /// when the device seems unusable.
  void measured(MeasureReply reply, bool worker_died);
  void write_down();

  /// Takes the verdict of another device on a variant: the search need not propose it.
  void learn(const Point& point, Verdict verdict, double median_us) {
    setup_.search.learn(point, verdict, median_us);
  }

  bool out_of_time() const;                                  ///< the time of the budget is over
  bool little_expected() const { return little_expected_; }  ///< the reason why nothing more will be proposed
  void drop_waiting() { ready_.clear(); }                    ///< drops the variants that wait for the device
  bool exhausted() const { return exhausted_; }              ///< nothing more will be proposed
  bool idle() const { return !on_device_ && ready_.empty(); }
  std::int64_t counted() const { return counted_; }  ///< proposals that count against the budget
  double elapsed_s() const;                          ///< time of the budget that is used

 private:
  bool adopt(Trial& trial);
  void learn_compile_time(const Point& point, double milliseconds);
  double least_compile_limit_s() const;
  void settle(TrialId trial_id, const MeasureReply& reply);
  void count(TrialId trial_id, Verdict verdict, double median_us);
  void end_of_probe(const MeasureReply& reply);
  void look_into_deaths(const MeasureReply& reply);

  struct OnDevice {
    TrialId trial_id;
    bool probe;  // the base, to see if it still works
  };
  struct UnwrittenReply {
    TrialId trial_id;
    MeasureReply reply;
  };

  Setup setup_;
  Findings& findings_;
  std::deque<TrialId> ready_;  // compiled, waiting for the device
  std::optional<OnDevice> on_device_;
  std::optional<UnwrittenReply> unwritten_;
  std::vector<double> compile_ms_;  // sorted
  bool exhausted_ = false;
  EndOfSearch end_;
  bool little_expected_ = false;
  bool probe_wanted_ = false;
  std::optional<double> base_settled_s_;  // the budget's time begins here
  int deaths_in_a_row_ = 0;
  std::int64_t counted_ = 0;
};

}  // namespace tunesmith

// One problem from the first proposal to its winners: the search keeps compilers and device busy, then the
// finals decide.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tuner/compilers.h"
#include "tuner/recorder.h"
#include "tuner/tune.h"

namespace tunesmith {

class ProblemRun {
 public:
  /// What the problems of a run share.
  struct Bench {
    const Op& op;
    const TuneOptions& options;
    const Policy& policy;
    const Budget& budget;
    Compilers& compilers;
    DeviceWorker& worker;
    Recorder& recorder;
    Progress& progress;
    bool (*interrupted)();
  };

  ProblemRun(const Bench& bench, const Problem& problem);

  /// What was found until the end, or until the interrupt.
  TunedProblem run();

 private:
  struct Entry {
    Variant variant;
    std::string binary;  ///< kept of those that may still win
    std::optional<double> compile_ms;
    MeasureReply reply;            ///< the newest
    double median_us = 0;          ///< 0: not ok
    bool checked = false;          ///< in this run, against this run's inputs
    std::int64_t measurement = 0;  ///< of the finals
  };
  using Ticket = std::int64_t;  // position in entries_

  // The search.
  void search();
  void propose();
  bool adopt(Entry& entry);
  void take_compiled();
  void take_measured();
  void feed();
  void settle(Ticket ticket, const MeasureReply& reply);
  void count(Ticket ticket, Verdict verdict, double median_us);
  bool out_of_budget() const;
  void wait() const;
  void show(const std::string& stage, std::int64_t done, std::int64_t total);

  // The finals.
  void finals();
  std::vector<Ticket> finalists();
  void add_previous_winners(std::vector<Ticket>& tickets);
  void compile_missing(const std::vector<Ticket>& tickets);
  void measure_rounds(std::vector<Ticket>& tickets);
  void recheck(std::vector<Ticket>& tickets);
  void choose(const std::vector<Ticket>& tickets);
  std::optional<MeasureReply> ask(const Entry& entry, bool check, int samples);
  void fail(Ticket ticket, const MeasureReply& reply);
  std::vector<Contender> contenders(const std::vector<Ticket>& tickets) const;
  MeasureRequest request(const Entry& entry) const;

  Bench bench_;
  Problem problem_;
  SearchSpace space_;
  std::unique_ptr<Search> search_;
  std::map<std::string, KnownVerdict> known_;
  std::vector<WinnerRow> previous_;
  Clock::time_point started_;
  TunedProblem result_;

  std::deque<Entry> entries_;
  std::deque<Ticket> ready_;  // compiled, waiting for the device
  std::optional<Ticket> on_device_;
  bool exhausted_ = false;
  std::optional<Clock::time_point> base_settled_;  // a time as budget counts from here
  bool probing_ = false;  // the base is on the device to see whether that still works
  int deaths_in_a_row_ = 0;
  int deaths_seen_ = 0;
  std::int64_t counted_ = 0;  // proposals that the budget counts
  std::int64_t failed_ = 0;
  double best_us_ = 0;
};

}  // namespace tunesmith

// One problem from the first proposal to its winners: connects the search and the finals, which decide, with
// the compilers, the device and the database, which do.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tuner/compilers.h"
#include "tuner/finals.h"
#include "tuner/promising.h"
#include "tuner/recorder.h"
#include "tuner/references.h"
#include "tuner/search_run.h"
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
    References& references;
    DeviceWorker& worker;
    Recorder& recorder;
    Progress& progress;
    bool (*interrupted)();
    Task part = {};  ///< only this part of the points is searched
    enum class Stages {
      all,
      search,
      finals,
      list,
      check
    } stages = Stages::all;  ///< the finals alone measure what is stored, a list alone what is `listed`
    std::span<const NamedVariant> listed = {};
    std::span<const NamedVariant> listed_next = {};  ///< for the next problem
  };

  /// While the finals run, or all along where there are none, inputs and references of the `next` problem are
  /// made.
  ProblemRun(const Bench& bench, const Problem& problem, const Problem* next = nullptr);

  /// What was found until the end, or until the interrupt.
  TunedProblem run();

 private:
  std::vector<Guess> guesses() const;
  std::vector<Point> stored() const;
  std::vector<Point> listed() const;
  std::vector<Point> checked() const;
  std::unique_ptr<Search> strategy();
  std::vector<std::string> built_in() const;
  void search();
  void hear_others();
  void name_provisional();
  bool out_of_patience();
  void propose();
  void compile_ahead();
  void feed();
  void take_measured();

  void finals();
  void compile_missing(Finals& finals);
  std::optional<MeasureReply> ask(const Finals::Question& question);
  void show_finals(const Finals& finals, const Finals::Question& asked);
  void write(const Decision& decision);
  void record_finalists(const Decision& decision);
  TunedTime time_of(const Trial& trial) const;
  TunedWinner tuned_winner(const Decision& decision, const Decision::Winner& chosen) const;

  /// It is one of several that search the problem.
  bool in_parts() const { return bench_.part.parts > 1; }
  bool hears_others() const { return in_parts() && bench_.stages == Bench::Stages::search; }
  bool has_finals() const {
    return bench_.stages == Bench::Stages::all || bench_.stages == Bench::Stages::finals;
  }
  const DeviceFacts& device() const { return bench_.worker.hello().device; }
  void want_inputs(std::uint64_t seed);
  void prepare();
  bool may_prepare_ahead() const;
  double limit_s() const;
  MeasureRequest request(Ticket ticket) const;
  Record record();
  Recorder::Cost cost(const Trial& trial, const MeasureReply& reply);
  void wait();
  ProgressState progress(const std::string& stage, std::int64_t done, std::int64_t total) const;
  void show(const std::string& stage, std::int64_t done, std::int64_t total);

  Bench bench_;
  Problem problem_;
  const Problem* next_;
  std::uint64_t inputs_seed_ = 0;  // of the inputs that the worker has, or gets when they are ready
  bool wanted_ = false;            // inputs, for the first variant that is not known
  bool prepared_ = false;
  std::size_t ahead_ = 0;  // so many of what is listed are compiled for the next problem
  SearchSpace space_;
  std::vector<WinnerRow> previous_;
  Clock::time_point started_;
  int deaths_seen_;
  TunedProblem result_;
  bool in_finals_ = false;
  std::optional<Clock::time_point> interrupted_at_;
  std::map<std::string, double> finals_s_;  // that its questions took, by a variant's hash
  Findings findings_;
  std::unique_ptr<Search> strategy_;
  std::unique_ptr<SearchRun> search_;
};

}  // namespace tunesmith

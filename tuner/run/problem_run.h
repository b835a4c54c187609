// SPDX-License-Identifier: Apache-2.0
// Runs one problem from the first proposal to its winners: connects the search and the finals, which decide,
// with the compilers, the device and the database, which do the work.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tuner/run/finals.h"
#include "tuner/run/problem_session.h"
#include "tuner/run/search_run.h"

namespace tunesmith {

class ProblemRun {
 public:
  ProblemRun(const RunContext& context, const ProblemTask& task);

  /// Returns the findings until the end, or until the interrupt.
  TunedProblem run();

 private:
  std::unique_ptr<Search> strategy(const std::vector<WinnerRow>& winners);
  std::unique_ptr<Search> proposing(const std::vector<WinnerRow>& winners);
  SearchRun::Setup setup();
  std::int64_t record(const Trial& trial, const MeasureReply& reply);

  void search();
  void propose();
  void compile_ahead();
  void feed();
  void take_measured();
  void hear_others();
  void show(std::int64_t total);

  void name_provisional();
  void write(const Decision& decision);

  SearchSpace space_;
  std::vector<WinnerRow> previous_;
  Findings findings_;
  ProblemSession session_;
  const RunContext& context_;
  const ProblemTask& task_;
  const Mode& mode_;
  int deaths_seen_;
  std::size_t ahead_ = 0, ahead_listed_ = 0;  // the problem and variant that are compiled ahead next
  std::set<std::string> compiled_ahead_;      // hashes of sources
  TunedProblem result_;
  std::unique_ptr<Search> strategy_;
  std::unique_ptr<SearchRun> search_;
};

}  // namespace tunesmith

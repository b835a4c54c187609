// SPDX-License-Identifier: Apache-2.0
// The finals of one problem on a device: asks the questions of Finals (finals.h), until it has decided.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tuner/run/finals.h"
#include "tuner/run/problem_session.h"

namespace tunesmith {

class FinalsRun {
 public:
  /// `previous`: the problem's winners in the database. `space_variants`: the number of variants in the
  /// search space.
  FinalsRun(ProblemSession& session, Findings& findings, std::vector<WinnerRow> previous,
            std::int64_t space_variants);

  /// Runs the finals. Nothing if they were interrupted.
  std::optional<Decision> run();

 private:
  Finals::Setup setup(std::vector<WinnerRow> previous);
  void compile_missing();
  std::optional<MeasureReply> ask(const Finals::Question& question);
  void show(const Finals::Question& asked);

  ProblemSession& session_;
  Findings& findings_;
  std::int64_t space_variants_;
  std::map<std::string, double> took_s_;  // time of its questions, by a variant's hash
  Finals finals_;
};

}  // namespace tunesmith

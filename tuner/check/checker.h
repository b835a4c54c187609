// SPDX-License-Identifier: Apache-2.0
// Checks and times one variant on one device: is its result right on the problem and its companions, and how
// fast is it. Runs in the worker process; knows nothing of search, database or other variants.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tuner/check/messages.h"
#include "tuner/check/problem_arrays.h"
#include "tuner/check/watched_check.h"

namespace tunesmith {

class Checker {
 public:
  /// Keeps copies of the parts on the device, for all variants that follow.
  Checker(Device& device, const Op& op, const std::vector<CheckPart>& parts);

  /// A variant that fails gives a reply. Throws Error only for failures that no variant caused.
  MeasureReply judge(const MeasureRequest& request);

 private:
  void enter(MeasureReply& reply, double MeasureReply::*phase);
  std::optional<CheckFailure> judge_asked(const Template& tmpl, const Config& config,
                                          const MeasureRequest& request, MeasureReply& reply);
  std::optional<CheckFailure> check(const Template& tmpl, const Config& config, Executable& executable,
                                    const Work& work, MeasureReply& reply);
  std::optional<CheckFailure> check_companions(const Template& tmpl, const Config& config,
                                               const Executable& loaded, MeasureReply& reply);
  std::optional<CheckFailure> time(const MeasureRequest& request, Executable& executable, const Work& work,
                                   MeasureReply& reply);
  std::optional<CheckFailure> run(ProblemArrays& on, bool reverse, Executable& executable, const Work& work,
                                  MeasureReply& reply);
  std::optional<CheckFailure> run_behind(ProblemArrays& on, Executable& executable, const Work& work,
                                         MeasureReply& reply);
  std::optional<CheckFailure> after(ProblemArrays& on, int error, Executable& executable, const Work& work,
                                    MeasureReply& reply);
  std::optional<CheckFailure> inspect(ProblemArrays& on, const Work& work, MeasureReply& reply);
  std::optional<CheckFailure> inspect_guards(ProblemArrays& on, const Work& work, MeasureReply& reply);
  double rounding_at(const ProblemArrays& on, std::size_t output, std::int64_t at) const;
  std::string cause(ProblemArrays& on, bool reversed, Executable& executable, const Work& work,
                    MeasureReply& reply);
  void clean_up(MeasureReply& reply, CheckFailure& failure);
  BlockOrder block_order(bool reverse) const {
    return reverse && !watched_.blocks_wait() ? BlockOrder::descending : BlockOrder::ascending;
  }

  Device& device_;
  const Op& op_;
  bool host_;
  ProblemArrays asked_;
  std::vector<ProblemArrays> companions_;
  Workspaces workspaces_;
  WatchedCheck watched_;
  std::chrono::steady_clock::time_point launched_;
  double launch_us_ = 0;                   // of the newest checked launch, by the clock of the host
  double MeasureReply::*phase_ = nullptr;  // where judge() adds its time now
  std::chrono::steady_clock::time_point phase_began_;
};

}  // namespace tunesmith

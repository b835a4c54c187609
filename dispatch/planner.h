// SPDX-License-Identifier: Apache-2.0
// Makes plans, from a problem to loaded kernels: selects, then takes the best kernel that can be loaded or
// compiled as the options allow. Thread-safe.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "choose/launch_set.h"
#include "dispatch/modules.h"
#include "dispatch/online_tuner.h"
#include "dispatch/plan_state.h"
#include "dispatch/tuning_data.h"

namespace tunesmith {

class Planner {
 public:
  /// `ordinal` counts as cudaSetDevice does; -1 is the host. `cannot_cache` is called with a sentence.
  Planner(DeviceFacts device, int ordinal, TuningData data, const DispatcherOptions& options,
          std::function<void(const std::string&)> cannot_cache);

  struct PlanOptions {
    bool may_wait = false;          ///< may wait for a compiler, if a better variant needs one
    bool fallback_at_once = false;  ///< make the fallback now, not only when it is asked for
    /// The variants tried on this problem, the fastest first. The fastest is taken, unless the problem was
    /// tuned since, something that was not tried promises most, or one of them is another kernel by now.
    std::vector<TriedVariant> tried = {};
    std::stop_token stop = {};
  };

  /// Makes a plan. `problem` is complete. The plan's `coming` is set if there is a better variant that must
  /// be compiled first. Waits for a compiler, if it may be used at all, only if not even the base is ready.
  /// Throws Error if there is no kernel.
  std::shared_ptr<PlanState> plan(const Op& op, const Problem& problem, const PlanOptions& options);

  /// The `count` best candidates, without repetitions, compiled if need be.
  std::vector<TrialCandidate> trial_candidates(const Op& op, const Problem& problem, std::size_t count,
                                               const std::stop_token& stop);

  /// Loads or compiles a plan's unaligned fallback and gives it to all holders of the plan; if that fails for
  /// a while, the plan says when to try again.
  void make_fallback(PlanState& state, const std::stop_token& stop);

  const DeviceFacts& device() const { return context_->device; }
  int ordinal() const { return ordinal_; }
  Modules& modules() { return modules_; }

 private:
  struct KernelResult {
    std::shared_ptr<Module> module;
    Kernel kernel;  ///< without an executable: it could not be loaded or compiled
    std::string why_not;
    Clock::time_point try_again = never;  ///< for a source that did not compile
  };
  KernelResult make(const Op& op, const Template& tmpl, const Problem& problem, const Config& config,
                    const Choice* choice, Modules::LoadPolicy policy, const std::stop_token& stop);
  std::optional<std::size_t> place_of_tried(const Op& op, const Problem& problem, Choices& choices,
                                            const std::vector<TriedVariant>& tried);
  std::shared_ptr<PlanState> new_plan(const Op& op, const Problem& problem) const;
  Modules::LoadPolicy policy_for(const LaunchKernel& kernel, bool may_wait, bool one_comes) const;
  KernelResult make_first(PlanState& state, const LaunchKernel& kernel, bool may_compile,
                          const PlanOptions& options);
  KernelResult base(const Op& op, const Problem& problem, const std::stop_token& stop);
  void add_unaligned(PlanState& state, const Problem& problem, Choices& choices, const PlanOptions& options);
  KernelResult find_fallback(const PlanState& state, const Problem& problem, Choices& choices,
                             Modules::LoadPolicy policy, const std::stop_token& stop);
  std::string fault_of_base(const std::string& source_hash, const std::string& problem);
  const std::string& why_stale(const Op& op, std::size_t place);
  Modules::LoadPolicy most() const;

  std::shared_ptr<const SelectionContext> context_;
  int ordinal_;
  bool may_compile_, overlap_, check_pointers_;
  std::string database_;
  Modules modules_;
  std::mutex faults_mutex_;
  std::map<std::string, BaseFaults> faults_;  ///< by source: each is read from the database once
};

}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
// The content of a plan. Private to dispatch/.
#pragma once

#include <semaphore.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "choose/ready_configs.h"
#include "choose/select.h"
#include "dispatch/launch_counts.h"
#include "dispatch/modules.h"
#include "dispatch/tuning_data.h"
#include "runtime/executable.h"
#include "tunesmith/dispatcher.h"

namespace tunesmith {

/// An event by which a launch, which may not take a lock, wakes a thread of the background compiler.
class WakeUp {
 public:
  WakeUp() noexcept { ::sem_init(&semaphore_, 0, 0); }
  ~WakeUp() { ::sem_destroy(&semaphore_); }
  WakeUp(const WakeUp&) = delete;
  WakeUp& operator=(const WakeUp&) = delete;

  void signal() noexcept { ::sem_post(&semaphore_); }
  /// Waits for one signal, at most until `until`; it may end early.
  void wait(Clock::time_point until) noexcept;

 private:
  sem_t semaphore_{};
};

/// The data that choices are made from. It never changes.
class SelectionContext {
 public:
  SelectionContext(DeviceFacts its_device, CandidateSet candidates, bool may_compile_);

  struct OpContext {
    OpContext(const Op& op, const DeviceFacts& device, std::vector<Candidate> its_candidates)
        : candidates(std::move(its_candidates)),
          chooser(op, device, candidates),
          ready(packed_configs(op, device.target)),
          checks(candidates.size()) {}
    struct CandidateCheck {
      std::once_flag once;
      std::string why_stale;
      std::atomic<bool> is_wide = false;  ///< it once asked for aligned pointers, and mostly does
    };
    const std::vector<Candidate> candidates;
    const Chooser chooser;
    const ReadyConfigs ready;
    mutable std::deque<CandidateCheck> checks;  ///< by candidate: the planner's findings
  };
  /// An op's tables are read, and their models made, in some milliseconds when the op is first asked for.
  const OpContext& of(const Op& op) const;

  const DeviceFacts device;
  const bool may_compile;  ///< also true if an exported library has the binary anyway

 private:
  struct LazyOpContext {
    std::once_flag once;
    std::unique_ptr<const OpContext> op_context;
  };
  CandidateSet candidates_;
  mutable std::mutex mutex_;  // guards the map
  mutable std::map<std::string, LazyOpContext, std::less<>> contexts_;
};

/// A loaded variant in a plan.
struct Kernel {
  Variant variant;
  const Candidate* candidate = nullptr;  ///< in SelectionContext; null: a default config, mostly the base's
  std::string changed;                   ///< as in Choice
  bool stands_in = false;                ///< it has another config than the candidate, which has no binary
  std::int64_t alignment_bytes = 1;
  std::int64_t workspace_bytes = 0;
  std::int64_t workspace_offset = 0;  ///< each kernel keeps its part of the plan's
  std::shared_ptr<const Module> module;
  std::unique_ptr<Executable> executable;
};

struct PlanState {
  struct Argument {
    std::uintptr_t bytes = 0;
    /// Bits of the address that must be 0: the element's size - 1, or the alignment of all kernels.
    std::uintptr_t address_bits = 0;
    bool written = false;
    bool in_place = false;  ///< an output may be this very array
  };
  struct Failure {
    const Candidate* candidate = nullptr;
    std::string why;
  };

  const Op* op = nullptr;
  Problem problem;           ///< complete
  std::string problem_text;  ///< the same
  std::shared_ptr<const SelectionContext> context;
  Match match = Match::base;
  int ordinal = -1;                                         ///< as cudaSetDevice counts; -1: the host
  double expected_us = 0, expected_loss = 0, cautious = 0;  ///< as in Choice
  std::int64_t alignment_bytes = 1;
  std::int64_t workspace_bytes = 0;
  std::vector<Argument> arguments;
  MakeNumbers make_numbers;  ///< null: launches take none
  std::size_t number_count = 0;
  std::uint64_t clock = 0;               ///< of Modules, when it was made
  std::shared_ptr<ProblemLaunches> use;  ///< counts its launches; null: not counted
  Kernel first;

  // The kernels for pointers that `first` does not take, if there are such pointers: at once a kernel that is
  // loaded, and after the first request the best one, the fallback.
  std::atomic<const Kernel*> unaligned = nullptr;
  Kernel temporary_fallback, fallback;
  bool fallback_comes = false;  ///< the fallback will be made when it is asked for
  enum FallbackState : int { not_requested, requested, accepted, did_not_compile };
  mutable std::atomic<FallbackState> fallback_state = not_requested;
  std::shared_ptr<WakeUp> wake_up;  ///< signalled when the fallback is asked for

  std::string warning;  ///< about a base that failed here; mostly empty

  // Data that explanation() needs besides a new selection.
  const Candidate* coming = nullptr;         ///< is compiled in the background
  const Template* untuned_coming = nullptr;  ///< compiled in the background too, in its default config
  bool is_improved() const { return coming != nullptr || untuned_coming != nullptr; }
  bool checks_pointers = false;     ///< pointers, at each launch
  bool is_tried = false;            ///< the problem had its trial at its first use: nothing is left to try
  std::vector<TriedVariant> tried;  ///< outcome of that trial, if `first` was the fastest
  std::vector<Failure> failures;
  std::string why_refuses_unaligned;
  mutable std::atomic<bool> outdated = false;

  // When a source that did not compile, for this plan or its fallback, is worth another try.
  std::atomic<Clock::time_point> try_again = never;
  void try_again_at(Clock::time_point when) {
    for (Clock::time_point before = try_again;
         when < before && !try_again.compare_exchange_weak(before, when);) {
    }
  }
};

}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
// What an application asked for, and how often: for summary() and save_problems().
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dispatch/thread_index.h"
#include "generator/device_facts.h"
#include "generator/op.h"
#include "tunesmith/dispatcher.h"

namespace tunesmith {

/// Counts what threads do at the same time. Each adds in one of 16 cache lines, of its own where there are no
/// more threads than that; what a thread added stays when it ends. Takes no lock and allocates nothing.
class Count {
 public:
  void add() noexcept { parts_[thread_index() % parts].value.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t sum() const noexcept;

 private:
  static constexpr std::size_t parts = 16;
  struct alignas(64) Part {
    std::atomic<std::uint64_t> value = 0;
  };

  std::array<Part, parts> parts_;
};

struct PlanState;

/// A problem, as long as a plan or the list of them holds it.
struct ProblemLaunches {
  Count launches;
  const Op* op = nullptr;
  double expected_us = 0, expected_loss = 0;  ///< of the newest plan; written under the list's mutex
  Match match = Match::base;                  ///< likewise
};

/// Thread-safe.
class LaunchCounts {
 public:
  /// Beyond `most_bytes`, about, the problems that were launched least are forgotten.
  LaunchCounts(DeviceFacts device, std::size_t most_bytes)
      : device_(std::move(device)), most_bytes_(most_bytes) {}

  /// From now on launches of the plan count as uses of its problem.
  void begin(PlanState& plan);

  /// Those that were launched, the one that loses most first.
  std::vector<Usage> all() const;

 private:
  void forget_half();

  const DeviceFacts device_;
  const std::size_t most_bytes_;
  mutable std::mutex mutex_;  // of what follows
  std::map<std::pair<std::string_view, std::string>, std::shared_ptr<ProblemLaunches>>
      uses_;  // by op and problem
};

/// As a file for `tunesmith tune --problems`.
std::string problems_text(const std::vector<Usage>& uses, const DeviceFacts& device);

}  // namespace tunesmith

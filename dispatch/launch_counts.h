// SPDX-License-Identifier: Apache-2.0
// Counts the launches of each problem of an application, for summary() and save_problems().
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

/// A counter that many threads increase at the same time. Each thread adds in one of 16 cache lines, its own
/// if there are at most 16 threads; its count stays when it ends. Takes no lock and allocates nothing.
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

/// A problem and its launches. It lives as long as a plan or the list of problems holds it.
struct ProblemLaunches {
  Count launches;
  const Op* op = nullptr;
  double expected_us = 0, expected_loss = 0;  ///< of the newest plan; written under the list's mutex
  Match match = Match::base;                  ///< of the newest plan; written under the list's mutex
};

/// Thread-safe.
class LaunchCounts {
 public:
  /// Beyond about `most_bytes` the problems with the fewest launches are forgotten.
  LaunchCounts(DeviceFacts device, std::size_t most_bytes)
      : device_(std::move(device)), most_bytes_(most_bytes) {}

  /// From now on launches of the plan count as uses of its problem.
  void begin(PlanState& plan);

  /// The problems that were launched, those that lose most first.
  std::vector<Usage> all() const;

 private:
  void forget_half();

  const DeviceFacts device_;
  const std::size_t most_bytes_;
  mutable std::mutex mutex_;  // guards the members below
  std::map<std::pair<std::string_view, std::string>, std::shared_ptr<ProblemLaunches>>
      uses_;  // by op and problem
};

/// The problems as a file for `tunesmith tune --problems`.
std::string problems_text(const std::vector<Usage>& uses, const DeviceFacts& device);

}  // namespace tunesmith

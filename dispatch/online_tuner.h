// SPDX-License-Identifier: Apache-2.0
// The online tuner: times candidates of a problem on memory of the library's own when the problem is first
// used, and remembers how they did. Thread-safe; one problem is tried at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "dispatch/plan_state.h"
#include "runtime/benchmark.h"
#include "runtime/process_mutex.h"

namespace tunesmith {

/// One that takes part: without an executable it could not be had.
struct TrialCandidate {
  std::string template_name, config, source_hash, made_by;  ///< as in TriedVariant
  std::unique_ptr<Executable> executable;
};

class OnlineTuner {
 public:
  using MakeBenchmark = std::function<std::unique_ptr<Benchmark>()>;
  /// `known` are outcomes of earlier processes; the first on a problem counts.
  OnlineTuner(MakeBenchmark make_benchmark, const std::vector<FirstUseOutcome>& known);

  /// What was tried in this process or an earlier one, the fastest first; empty: nothing.
  std::vector<TriedVariant> find(const Op& op, const std::string& problem);

  /// Of candidates in the order in which they promise most. Nothing happens where there is too little memory
  /// or the device refuses; it ends early if it is stopped.
  void try_out(const Op& op, const std::string& problem, const std::vector<TrialCandidate>& candidates,
               const std::stop_token& stop);

  /// Gives what was tried in this process to `write`, what it has not given before. If that throws, it is
  /// given again the next time.
  void write_new(const std::function<void(const std::vector<FirstUseOutcome>&)>& write);

 private:
  using Key = std::pair<std::string, std::string>;  ///< op and problem

  const MakeBenchmark make_benchmark_;
  ProcessMutex trying_;
  std::mutex writing_;
  std::mutex mutex_;  // of what follows
  std::map<Key, std::vector<TriedVariant>> tried_;
  std::set<Key> here_;  ///< those of this process
  std::set<Key> new_;   ///< those of them that are not written
};

/// Times of candidates that take turns, the fastest first; a later one must be faster by more than the
/// clock's noise. `arguments` are the benchmark's.
std::vector<TriedVariant> rank(const std::vector<TrialCandidate>& candidates, Benchmark& benchmark,
                               const std::vector<void*>& arguments, const std::stop_token& stop);

/// So many elements as an op is tuned with: usual_value(), or random bits where the dtype is no number.
std::vector<std::byte> usual_values(DType dtype, std::size_t count);

}  // namespace tunesmith

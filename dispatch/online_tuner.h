// SPDX-License-Identifier: Apache-2.0
// The online tuner: times candidates of a problem on the library's own memory when the problem is first used,
// and remembers their times. Thread-safe; one problem is tried at a time.
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

/// A candidate that takes part in a trial. Without an executable it could not be loaded or compiled.
struct TrialCandidate {
  std::string template_name, config, source_hash, made_by;  ///< as in TriedVariant
  std::unique_ptr<Executable> executable;
};

class OnlineTuner {
 public:
  using MakeBenchmark = std::function<std::unique_ptr<Benchmark>()>;
  /// `known` has the outcomes of earlier processes; the first on a problem counts.
  OnlineTuner(MakeBenchmark make_benchmark, const std::vector<FirstUseOutcome>& known);

  /// The variants that were tried in this process or an earlier one, the fastest first; empty: none.
  std::vector<TriedVariant> find(const Op& op, const std::string& problem);

  /// Times candidates, which are ordered from the most promising on. Nothing happens if there is too little
  /// memory or the device refuses; it ends early if it is stopped.
  void try_out(const Op& op, const std::string& problem, const std::vector<TrialCandidate>& candidates,
               const std::stop_token& stop);

  /// Passes the outcomes of this process that were not written before to `write`. If that throws, they are
  /// passed again the next time.
  void write_new(const std::function<void(const std::vector<FirstUseOutcome>&)>& write);

 private:
  using Key = std::pair<std::string, std::string>;  ///< op and problem

  const MakeBenchmark make_benchmark_;
  ProcessMutex trying_;
  std::mutex writing_;
  std::mutex mutex_;  // guards the members below
  std::map<Key, std::vector<TriedVariant>> tried_;
  std::set<Key> here_;  ///< problems tried in this process
  std::set<Key> new_;   ///< those of them that are not written yet
};

/// Times the candidates in turns, the fastest first; a later one must be faster by more than the clock's
/// noise. `arguments` are the benchmark's.
std::vector<TriedVariant> rank(const std::vector<TrialCandidate>& candidates, Benchmark& benchmark,
                               const std::vector<void*>& arguments, const std::stop_token& stop);

/// Values for `count` elements, as an op is tuned with: usual_value(), or random bits if the dtype is no
/// number.
std::vector<std::byte> usual_values(DType dtype, std::size_t count);

}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
// Compiles a described kernel once more for the host, so that each of its accesses is reported (watcher.h):
// are they inside the arrays, are they in order, and does arithmetic overflow on the largest problems?
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "runtime/toolchain.h"
#include "tuner/check/problem_arrays.h"
#include "tuner/check/watcher.h"

namespace tunesmith {

class WatchedCheck {
 public:
  WatchedCheck(Device& device, const Op& op) : device_(device), op_(op) {}

  /// Returns the first fault, on companions, on the problem, or on the largest problem that the description
  /// allows; nothing also if this compiler cannot watch. `lost`: the kernel stopped midway.
  std::optional<CheckFailure> run(const Template& tmpl, const Config& config, ProblemArrays& asked,
                                  std::span<ProblemArrays> companions, bool& lost);
  /// True if the blocks of the variant that was run wait for blocks with lower numbers, so that blocks must
  /// run in order.
  bool blocks_wait() const { return blocks_wait_; }
  /// The compiler's words on the variant that was run, if it could not make it for the watch.
  const std::string& unwatched() const { return unwatched_; }
  /// A wrong result of the variant that was run, where its threads' variables hold poison before they are
  /// set. It is told if nothing else is wrong: a launch that is not watched knows more of the cause.
  const std::optional<CheckFailure>& unset() const { return unset_; }

 private:
  struct Variant {
    const Template& tmpl;
    const Config& config;
    const Source& source;
    const std::string& binary;
  };
  std::optional<CheckFailure> run_on(ProblemArrays& on, const Variant& variant, std::uint64_t most,
                                     bool& lost);
  int watch_on(ProblemArrays& on, Watcher& watcher, Executable& executable, const std::string& binary,
               const Work& work, void* workspace, bool races, std::uint64_t most);
  std::optional<CheckFailure> compared(ProblemArrays& on, const std::vector<void*>& outputs);
  // A launch that does not end; `order`: because of the order of its blocks.
  CheckFailure endless(const Watcher& watcher, const std::string& order, const Source& source,
                       const ProblemArrays& on) const;
  std::optional<CheckFailure> in_reverse(ProblemArrays& on, const Variant& variant);
  std::optional<CheckFailure> among_late_blocks(ProblemArrays& on, const Variant& variant, Watcher& watcher,
                                                bool are_many, bool& lost);
  std::optional<CheckFailure> among_many_blocks(std::span<ProblemArrays> companions, const Variant& variant,
                                                bool& lost);
  Problem smaller(Problem large, std::size_t array, const Variant& variant, const Values& constants) const;
  std::optional<CheckFailure> check_large(const Variant& variant, const ProblemArrays& asked,
                                          const Values& constants);
  std::optional<CheckFailure> check_on(const Problem& large, const Variant& variant, std::uint64_t most,
                                       const ProblemArrays& asked);

  Device& device_;
  const Op& op_;
  std::unique_ptr<Toolchain> toolchain_;
  bool wraps_ = false;                 // unsigned arithmetic that wraps is reported too
  std::set<Watcher::Spot> overflows_;  // seen on small problems: they are intended
  std::uint64_t accesses_ = 0;         // of the variant that runs, on companions and the problem
  bool blocks_wait_ = false, has_signals_ = false;
  std::optional<CheckFailure> unset_;
  std::string unwatched_;
};

}  // namespace tunesmith

// From a problem to loaded kernels: select, render, find or compile the binary, load. Not thread-safe.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "dispatch/known.h"
#include "dispatch/plan_state.h"
#include "runtime/cache.h"
#include "runtime/toolchain.h"

namespace tunesmith {

class Planner {
 public:
  /// `ordinal` as cudaSetDevice counts; -1 for the host.
  Planner(DeviceFacts device, int ordinal, Known known, BinaryCache cache, bool allow_compile, bool overlap);

  /// `problem` is complete. Throws Error if not even the base can be loaded.
  std::shared_ptr<const PlanState> plan(const Op& op, const Problem& problem);

  const DeviceFacts& device() const { return device_; }
  int ordinal() const { return ordinal_; }

 private:
  struct Loaded {
    Variant variant;
    std::unique_ptr<Executable> executable;
    std::int64_t alignment_bytes = 1;
    std::int64_t workspace_bytes = 0;
    std::string how;  ///< half a sentence: where the binary is from
  };
  using Attempt = std::variant<Loaded, std::string>;  ///< or why not, as a sentence

  Attempt attempt(const Op& op, const Template& tmpl, const Problem& problem, const Config& config,
                  const Candidate* candidate);
  Attempt load(const Work& work, const Source& source, const std::string& binary) const;
  Attempt compile(const Work& work, const Source& source);
  std::optional<Loaded> lowered(const Op& op, const Template& tmpl, const Config& tuned,
                                const Problem& problem, std::int64_t alignment_bytes, std::string& config);
  Attempt base(const Op& op, const Problem& problem);
  const Chooser& chooser(const Op& op);

  DeviceFacts device_;
  int ordinal_;
  Known known_;
  std::map<std::string, Chooser, std::less<>> choosers_;  // by op; made when it is first asked for
  BinaryCache cache_;
  bool allow_compile_;
  bool overlap_;
  std::unique_ptr<Toolchain> toolchain_;
  std::string why_no_toolchain_;
};

}  // namespace tunesmith

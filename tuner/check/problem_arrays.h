// SPDX-License-Identifier: Apache-2.0
// The arrays of one problem on a device, as variants are checked with them: what a kernel gets, what it must
// find there, and what it must leave.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tuner/check/check_memory.h"
#include "tuner/device/device_memory.h"
#include "tuner/search/verdict.h"

namespace tunesmith {

/// Why a variant is not ok.
struct CheckFailure {
  Verdict verdict;
  std::string reason;
};

/// "3 elements beyond the end of y"; empty if nothing was written there.
std::string outside_text(const Outside& written, std::int64_t element_bytes, const std::string& unit,
                         const std::string& what);

/// "[3, 7]": where the element with that flat index stands in a row-major array.
std::string coordinates(std::int64_t index, const std::vector<std::int64_t>& extents);

class ProblemArrays {
 public:
  struct Array {  // of one argument
    std::int64_t elements;
    DType dtype;
    Role role;
    DeviceMemory live;                                // what the kernel gets; on the host aligned as it asks
    std::optional<DeviceMemory> initial;              // of an input or inout
    std::optional<DeviceMemory> expected, permitted;  // of an output or inout
  };

  /// Keeps copies of the part on the device.
  ProblemArrays(Device& device, const Op& op, const CheckPart& part);

  const Problem& problem() const { return problem_; }
  int set() const { return set_; }  ///< of values, as make_inputs() counts them
  std::string where() const;        ///< the problem's text, and what the inputs hold if that is not usual
  const std::vector<Array>& arrays() const { return arrays_; }
  void* const* pointers() const { return pointers_.data(); }
  std::span<void* const> all_pointers() const { return pointers_; }
  std::int64_t alignment() const { return alignment_; }
  /// No inout: a second launch gives the same.
  bool repeatable() const { return repeatable_; }

  /// A GPU's memory is aligned to 256 bytes anyway. The host's ends where nothing can be read, so it is
  /// aligned as the variant asks and no more; an array that is smaller than that, as its elements are.
  void align(std::int64_t bytes);
  /// Inputs as they were: a kernel that is wrong may have changed them.
  void restore_inputs();
  /// Outputs poisoned, inouts as they were. Inputs are restored behind a variant that failed.
  void reset(Poison poison);

  /// "3 elements beyond the end of y"; empty: nothing was written outside. The host repairs what was.
  std::string written_beyond() const;
  Comparison compare(std::size_t argument) const;  ///< an output with what is expected
  std::string element_name(std::size_t argument, std::int64_t element) const;  ///< "y[1, 3]"
  /// "y[3] is 1, expected 2 within 1e-06; 4 of 10 elements are wrong", where something is.
  std::string difference(std::size_t argument, const Comparison& comparison) const;
  /// After an access at this address, where no memory is.
  CheckFailure fault(const void* address, const void* workspace, std::int64_t workspace_bytes) const;

 private:
  void restore(Array& array);

  Device* device_;
  const Op* op_;
  Problem problem_;
  int set_;
  std::vector<Array> arrays_;
  std::vector<void*> pointers_;
  std::int64_t alignment_ = 256;  // of the live arrays
  bool repeatable_ = true;
};

/// Memory for what variants keep between their steps, with guards directly behind it: by size, few at a time.
class Workspaces {
 public:
  explicit Workspaces(Device& device) : device_(device) {}
  /// Null for no bytes. Throws Error when there is not enough.
  void* get(std::int64_t bytes);
  /// As a launch must find it.
  void prepare(const Work& work, Poison poison);
  bool zeroed_part_is_zero(const Work& work);
  std::string written_beyond(std::int64_t bytes);  ///< as ProblemArrays has it; of one that there is
  std::string written_beyond_any();

 private:
  Device& device_;
  std::map<std::int64_t, DeviceMemory> all_;
};

/// Whether a variant for which `constants` are compiled in can also run on the problem.
bool serves(const Op& op, const Template& tmpl, const Config& config, const Problem& problem,
            const DeviceFacts& device, const Values& constants);

}  // namespace tunesmith

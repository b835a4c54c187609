// SPDX-License-Identifier: Apache-2.0
// The arrays of one problem on a device, as variants are checked with them: the arguments of a kernel, their
// contents before the launch, and the contents that it must leave.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernel_file/user_kernel.h"
#include "tuner/check/check_memory.h"
#include "tuner/device/device_memory.h"
#include "tuner/device/fields.h"
#include "tuner/search/verdict.h"

namespace tunesmith {

/// Why a variant is not ok.
struct CheckFailure {
  Verdict verdict;
  std::string reason;
};

/// "3 elements beyond the end of y"; empty if nothing was written outside.
std::string outside_text(const Outside& written, std::int64_t element_bytes, const std::string& unit,
                         const std::string& what);

/// "[3, 7]": the position of the element with that flat index in a row-major array.
std::string coordinates(std::int64_t index, const std::vector<std::int64_t>& extents);

class ProblemArrays {
 public:
  struct Array {  // of one argument
    DType dtype;
    Role role;
    std::vector<ArrayField> fields;  // one, or the members of structs
    const UserRecord* record;        // of structs
    // Argument of the kernel; on the host aligned as it asks.
    DeviceMemory live;
    std::optional<DeviceMemory> initial;              // of an input or inout
    std::optional<DeviceMemory> expected, permitted;  // of an output or inout
    std::optional<DeviceMemory> permitted_more;       // the multiple of it that counts now

    // An element is a struct, or a number.
    std::int64_t element_bytes() const { return record != nullptr ? record->layout.bytes : bytes(dtype); }
    std::int64_t element_alignment() const {
      return record != nullptr ? record->layout.alignment : bytes(dtype);
    }
  };
  /// A number of an output: `number` of those of all its fields, one field after the other.
  struct Number {
    const ArrayField* field;
    std::int64_t at;            // among the field's numbers
    std::int64_t offset;        // in the array, in bytes
    std::int64_t permitted_at;  // in the permitted errors, in bytes
  };

  /// Keeps copies of the part on the device.
  ProblemArrays(Device& device, const Op& op, const CheckPart& part);

  const Problem& problem() const { return problem_; }
  int set() const { return set_; }  ///< index of the set of values, as make_inputs() counts them
  /// The problem's text, and the contents of the inputs if they are not the usual ones.
  std::string where() const;
  const std::vector<Array>& arrays() const { return arrays_; }
  void* const* pointers() const { return pointers_.data(); }
  std::span<void* const> all_pointers() const { return pointers_; }
  std::int64_t alignment() const { return alignment_; }
  /// True if there is no inout: a second launch then gives the same result.
  bool repeatable() const { return repeatable_; }

  /// Aligns the arrays. A GPU's memory is aligned to 256 bytes anyway. The host's arrays end at memory that
  /// cannot be read, so they are aligned as the variant asks and no more; an array smaller than that is
  /// aligned as its elements are.
  void align(std::int64_t bytes);
  /// From now on `times` the usual error is permitted.
  void permit(double times);
  /// Restores the inputs: a kernel that is wrong may have changed them.
  void restore_inputs();
  /// Poisons the outputs and restores the inouts. Inputs are restored after a variant that failed.
  void reset(Poison poison);

  /// "3 elements beyond the end of y"; empty if nothing was written outside. The host repairs the guard
  /// bytes.
  std::string written_beyond() const;
  Comparison compare(std::size_t argument) const;  ///< an output with its expected values
  Number number(std::size_t argument, std::int64_t number) const;
  std::string name_of(std::size_t argument, std::int64_t number) const;  ///< "y[1, 3]", "bodies[7].mass"
  /// "y[3] is 1, expected 2 within 1e-06; 4 of 10 elements are wrong", if any element is wrong.
  std::string difference(std::size_t argument, const Comparison& comparison) const;
  /// The failure after an access to this address, where there is no memory.
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
  double times_ = 1;              // the multiple of the usual error that is permitted
  bool repeatable_ = true;
};

/// Memory that variants keep between their steps, with guards directly behind it. A few sizes are kept at a
/// time.
class Workspaces {
 public:
  explicit Workspaces(Device& device) : device_(device) {}
  /// Returns null for 0 bytes. Throws Error when there is not enough memory.
  void* get(std::int64_t bytes);
  /// Sets the memory to the contents that a launch must find.
  void prepare(const Work& work, Poison poison);
  bool zeroed_part_is_zero(const Work& work);
  /// The same as in ProblemArrays; a workspace of this size must exist.
  std::string written_beyond(std::int64_t bytes);
  std::string written_beyond_any();

 private:
  Device& device_;
  std::map<std::int64_t, DeviceMemory> all_;
};

/// True if a variant with `constants` compiled in can also run on the problem.
bool serves(const Op& op, const Template& tmpl, const Config& config, const Problem& problem,
            const DeviceFacts& device, const Values& constants);

}  // namespace tunesmith

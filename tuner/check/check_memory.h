// SPDX-License-Identifier: Apache-2.0
// The data that variants are checked with, in one piece of memory: for a problem and its companions, one
// after the other, the initial contents of each argument, its expected values and its permitted errors. It is
// made once for a problem, by a separate process, in memory that every worker can map: a worker that replaces
// a dead one needs no arithmetic.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "generator/op.h"

namespace tunesmith {

struct CheckArray {         // of one argument; empty members do not apply
  std::span<char> initial;  ///< of an input or inout, in its dtype
  /// The values of an output or inout, one of its fields (fields.h) after the other; 64-bit integers if
  /// is_exact() (check_data.h).
  std::span<double> expected;
  std::span<char> permitted;  ///< of an output or inout, of each field as pack_permitted() writes them
};
struct CheckPart {
  Problem problem;
  int set = 0;  ///< index of the set of values, as make_inputs() counts them
  std::vector<CheckArray> arrays;
};

/// The layout behind `memory`: the problem first, then its companions, then companions with other values.
std::vector<CheckPart> check_parts(const Op& op, const Problem& problem, char* memory);
std::size_t check_bytes(const Op& op, const Problem& problem);

/// Fills all of check_parts(), in as many threads as there are processors.
void fill_check_memory(const Op& op, const Problem& problem, std::uint64_t seed, char* memory);

/// Memory without a name in any folder; it is freed when the last process that has it open closes it. Other
/// processes of the user open it by its path as long as this object lives.
class MemoryFile {
 public:
  MemoryFile();
  ~MemoryFile();
  MemoryFile(MemoryFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  MemoryFile& operator=(MemoryFile&&) = delete;
  std::string path() const;

 private:
  int descriptor_;
};

/// Fills the file with the problem's check memory and seals it: from then on nothing can change it, and the
/// seal says that it is complete. A process that is killed before that leaves it unsealed, and the next
/// process begins again.
void make_check_file(const Op& op, const Problem& problem, std::uint64_t seed, const std::string& path);

/// A sealed file, mapped for reading.
class CheckFile {
 public:
  /// Throws Error if it is not complete.
  CheckFile(const Op& op, const Problem& problem, const std::string& path);
  ~CheckFile();
  CheckFile(const CheckFile&) = delete;
  CheckFile& operator=(const CheckFile&) = delete;
  const std::vector<CheckPart>& parts() const { return parts_; }

 private:
  char* memory_ = nullptr;
  std::size_t bytes_ = 0;
  std::vector<CheckPart> parts_;
};

}  // namespace tunesmith

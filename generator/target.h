// SPDX-License-Identifier: Apache-2.0
// Compute capabilities, and the targets that a variant's text is made for, as numbers and as people write
// them. One spelling each: a capability of 9.0 is the number 90, and its target is the word "sm_90a".
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tunesmith {

std::string capability_text(int compute_capability);         ///< "9.0" for 90
std::optional<int> parse_capability(std::string_view text);  ///< 90 for "9.0"; nothing for any other form

struct Target {
  enum class Kind {
    host,  ///< "host": a shared object
    gpu,   ///< "sm_90a": a binary for GPUs of this compute capability
    ptx,   ///< "compute_75": PTX, which the driver compiles for any GPU of this or a later compute capability
  };
  Kind kind = Kind::host;
  int compute_capability = 0;  ///< 90 for 9.0; 0 for the host
  /// The further instructions that may be used: 'a', those that only this compute capability has; 'f', those
  /// of its family; 0, none.
  char extension = 0;

  /// Returns nothing if the word is not a target.
  static std::optional<Target> parse(std::string_view word);
  /// The target for a GPU of this compute capability.
  static Target of_gpu(int compute_capability);

  std::string text() const;
  bool is_virtual() const { return kind == Kind::ptx; }

  friend bool operator==(const Target&, const Target&) = default;
};

}  // namespace tunesmith

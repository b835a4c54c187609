// SPDX-License-Identifier: Apache-2.0
// A problem with a short side, for the templates narrow and narrow_pitched. It is private to this folder.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "templates/shared_layout.h"
#include "templates/transpose/op.h"

namespace tunesmith::transpose_op {

#include "templates/transpose/strip_layout.inl"

inline constexpr IntegerAxis STRIP("STRIP");

/// The sides of a problem: one array has few long rows, the other one many short rows.
struct Sides {
  explicit Sides(const Problem& problem) : d(problem), element(bytes(dtype_of(problem))) {}

  /// The reason why the template `name` does not serve the problem; empty if it does.
  std::string too_wide(const std::string& name) const {
    constexpr std::int64_t most_rows = 32;  // more fill tiles
    if (rows <= most_rows) return "";
    return "The template " + name + " is for at most " + std::to_string(most_rows) +
           " rows or columns, not " + std::to_string(rows) + "; take another template.";
  }

  /// Bytes of a strip in shared memory, including skipped banks.
  std::int64_t shared_bytes(std::int64_t strip) const { return strip_place(strip * rows, element) * element; }

  Dims d;
  std::int64_t element;  ///< bytes
  bool tall = d.width < d.height;
  std::int64_t rows = std::min(d.width, d.height), length = std::max(d.width, d.height);
  std::int64_t pitch = tall ? d.output_pitch : d.input_pitch;  ///< the pitch of the long rows
  std::int64_t short_pitch = tall ? d.input_pitch : d.output_pitch;
};

}  // namespace tunesmith::transpose_op

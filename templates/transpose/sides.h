// SPDX-License-Identifier: Apache-2.0
// What narrow and narrow_pitched share: a problem with one short side. Private to this folder.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "templates/shared_layout.h"
#include "templates/transpose/op.h"

namespace tunesmith::transpose_op {

#include "templates/transpose/strip_layout.inl"

inline constexpr IntegerAxis STRIP("STRIP");

/// Few long rows of the one array, and of the other many short ones.
struct Sides {
  explicit Sides(const Problem& problem) : d(problem), element(bytes(dtype_of(problem))) {}

  /// Why no template of strips takes it; empty if they do.
  std::string too_wide(const std::string& name) const {
    constexpr std::int64_t most_rows = 32;  // more fill tiles
    if (rows <= most_rows) return "";
    return "The template " + name + " is for at most " + std::to_string(most_rows) +
           " rows or columns, not " + std::to_string(rows) + "; take another template.";
  }

  /// Of a strip, with what is left out.
  std::int64_t shared_bytes(std::int64_t strip) const { return strip_place(strip * rows, element) * element; }

  Dims d;
  std::int64_t element;  ///< bytes
  bool tall = d.width < d.height;
  std::int64_t rows = std::min(d.width, d.height), length = std::max(d.width, d.height);
  std::int64_t pitch = tall ? d.output_pitch : d.input_pitch;  ///< of the long rows
  std::int64_t short_pitch = tall ? d.input_pitch : d.output_pitch;
};

}  // namespace tunesmith::transpose_op

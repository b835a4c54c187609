// SPDX-License-Identifier: Apache-2.0
// Declarations that conv2d's templates share: the numbers of a problem, axes, and the templates, each defined
// in the file of its name.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "generator/op.h"
#include "templates/axes.h"
#include "templates/conv2d/tunesmith/conv2d_modes.h"
#include "templates/image/boundary.h"
#include "templates/image/samples.h"
#include "templates/image/value.h"

namespace tunesmith::conv2d_op {

using Mode = Conv2dMode;
using Size = Conv2dSize;

inline constexpr IntegerAxis AHEAD("AHEAD");
inline constexpr IntegerAxis ROWS("ROWS");

struct Dims {
  explicit Dims(const Problem& problem);

  bool empty() const { return batch == 0 || height == 0 || width == 0; }

  std::int64_t batch, height, width, mask_height, mask_width;
  bool turned;  // the mask is read backwards
  std::int64_t out_height, out_width;
  std::int64_t top, left;  // rows above and columns before the output's own that the mask covers
  Boundary boundary;       // zero if no output depends on it
};

/// The alignment that accesses of VECTOR elements need.
inline std::int64_t vector_bytes(const Problem& problem, const Config& config) {
  return std::min<std::int64_t>(config[VECTOR] * bytes(dtype_of(problem)), 16);
}

/// The widest row that templates other than the base serve: their bodies count the bytes of a row in 32 bits.
inline constexpr std::int64_t widest_row = std::int64_t{1} << 28;

/// The reason why a template refuses problems that only the base, `sliding` and `bounded` serve, or empty.
std::string not_plain(const Problem& problem);

/// The reason why a template with the limit `widest_row` refuses the problem, or empty.
inline std::string too_wide(const Problem& problem) {
  if (problem.integer("width") <= widest_row) return "";
  return "A width of " + std::to_string(problem.integer("width")) + " is beyond the " +
         std::to_string(widest_row) + " that this template counts in 32 bits; take another template.";
}

Template base();
Template bounded();
Template sliding();
Template tensor();
Template tensor_any();
Template tiled();
Template warpgroup();
Template warpgroup_any();

}  // namespace tunesmith::conv2d_op

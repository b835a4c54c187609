// SPDX-License-Identifier: Apache-2.0
// Declarations that conv1d's templates share: the numbers of a problem, axes, and the templates, each defined
// in the file of its name.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "generator/op.h"
#include "templates/axes.h"
#include "templates/conv1d/tunesmith/conv1d_modes.h"
#include "templates/image/boundary.h"
#include "templates/image/samples.h"
#include "templates/image/value.h"

namespace tunesmith::conv1d_op {

using Function = Conv1dFunction;
using Mode = Conv1dMode;

inline constexpr IntegerAxis OUT_X("OUT_X");
inline constexpr IntegerAxis SEGMENT("SEGMENT");

/// Output i is the sum over j of taps[j] signal[i + j - left]; the taps are the kernel or, for convolve, the
/// reversed kernel. Every mode is a part of `full`, which has an output for each overlap of the two.
struct Dims {
  explicit Dims(const Problem& problem);

  std::int64_t batch, length, taps;
  bool turned;                 // the kernel is read backwards
  std::int64_t output_length;  // outputs of one signal
  std::int64_t first;          // the index of the first output among those of `full`
  std::int64_t left;           // samples before the output's own that its window covers
  double products;             // the number of products of a tap and a sample
  Boundary boundary;           // zero if no output depends on it
};

/// True if all rows of a batch begin at a multiple of `vector` elements.
inline bool rows_aligned(const Dims& d, std::int64_t row_length, std::int64_t vector) {
  return d.batch <= 1 || row_length % vector == 0;
}

/// True if accesses of neighbouring threads conflict in the same banks: their outputs fill an even number of
/// 16-byte units (of `lanes` elements).
inline bool rows_meet(std::int64_t out_x, std::int64_t lanes) {
  return out_x >= 2 * lanes && out_x / lanes % 2 == 0;
}

/// The alignment that loads of VECTOR elements need.
inline std::int64_t vector_bytes(const Problem& problem, const Config& config) {
  return std::min<std::int64_t>(config[VECTOR] * bytes(dtype_of(problem)), 16);
}

/// The reason why a template refuses problems that only the base, `bounded` and `sliding` serve, or empty.
std::string not_plain(const Problem& problem);

/// The reason why a template that compiles in the number of taps refuses the problem, or empty.
std::string too_many_taps(const Problem& problem);

Template base();
Template bounded();
Template chunked();
Template sliding();
Template tensor();
Template tensor_any();
Template tiled();

}  // namespace tunesmith::conv1d_op

// SPDX-License-Identifier: Apache-2.0
// What conv1d's templates share: the numbers of a problem, axes, and the templates themselves, each defined
// in the file of its name.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "generator/op.h"
#include "templates/axes.h"
#include "templates/image/boundary.h"
#include "templates/image/samples.h"
#include "templates/image/value.h"

namespace tunesmith::conv1d_op {

inline constexpr IntegerAxis BLOCK_X("BLOCK_X");
inline constexpr CategoricalAxis COPY("COPY");
inline constexpr IntegerAxis OUT_X("OUT_X");
inline constexpr IntegerAxis SEGMENT("SEGMENT");
inline constexpr CategoricalAxis SMEM_LAYOUT("SMEM_LAYOUT");
inline constexpr IntegerAxis UNROLL("UNROLL");
inline constexpr IntegerAxis VECTOR("VECTOR");

/// Output i is the sum over j of taps[j] signal[i + j - left], taps the kernel or, for convolve, the kernel
/// reversed. Every mode is a part of `full`, which has an output for each overlap of the two.
struct Dims {
  explicit Dims(const Problem& problem);

  std::int64_t batch, length, taps;
  bool turned;                 // the kernel is read backwards
  std::int64_t output_length;  // of one signal
  std::int64_t first;          // where the outputs begin among those of `full`
  std::int64_t left;           // samples before the output's own that its window covers
  double products;             // of a tap and a sample
  Boundary boundary;           // zero where no output sees it
};

/// Rows of a batch begin at a multiple of `vector` elements.
inline bool rows_aligned(const Dims& d, std::int64_t row_length, std::int64_t vector) {
  return d.batch <= 1 || row_length % vector == 0;
}

/// Outputs of neighbouring threads that fill an even number of 16-byte units (of `lanes` elements) meet in
/// the same banks.
inline bool rows_meet(std::int64_t out_x, std::int64_t lanes) {
  return out_x >= 2 * lanes && out_x / lanes % 2 == 0;
}

/// The alignment that loads of VECTOR elements need.
inline std::int64_t vector_bytes(const Problem& problem, const Config& config) {
  return std::min<std::int64_t>(config[VECTOR] * bytes(dtype_of(problem)), 16);
}

/// Why a template refuses what only the base, `bounded` and `sliding` serve, or nothing.
std::string not_plain(const Problem& problem);

/// Why a template that compiles in the number of taps refuses the problem, or nothing.
std::string too_many_taps(const Problem& problem);

Template base();
Template bounded();
Template chunked();
Template sliding();
Template tensor();
Template tensor_any();
Template tiled();

}  // namespace tunesmith::conv1d_op

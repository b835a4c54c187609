// SPDX-License-Identifier: Apache-2.0
// Declarations that conv_covariance's templates share. They are private to this folder.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "generator/op.h"

namespace tunesmith::conv_covariance_op {

struct Dims {
  explicit Dims(const Problem& problem)
      : batch(problem.integer("batch")),
        channels_out(problem.integer("channels_out")),
        channels_in(problem.integer("channels_in")),
        height(problem.integer("height")),
        width(problem.integer("width")),
        mask_height(problem.integer("mask_height")),
        mask_width(problem.integer("mask_width")),
        rows(std::max<std::int64_t>(height - mask_height + 1, 0)),
        columns(std::max<std::int64_t>(width - mask_width + 1, 0)) {}

  std::int64_t pixels() const { return rows * columns; }                     // pixels of an output channel
  std::int64_t input_pitch() const { return channels_out * pixels(); }       // a side of input's matrix
  std::int64_t gamma_pitch() const { return channels_in * height * width; }  // a side of gamma's matrix
  bool nothing_to_add() const { return batch == 0 || channels_out == 0 || channels_in == 0; }

  std::int64_t batch, channels_out, channels_in, height, width, mask_height, mask_width;
  std::int64_t rows, columns;  // the size of the output
};

inline std::int64_t compute_bytes(const Problem& problem) {
  return std::max<std::int64_t>(bytes(dtype_of(problem)), 4);  // f16 is computed in f32
}

// The parameters that `direct` and `factored` compile in.
inline const std::vector<std::string> constants = {"dtype", "channels_in", "mask_height", "mask_width"};

inline constexpr IntegerAxis INDEX_BITS("INDEX_BITS");
inline Axis index_bits_axis() {
  return {INDEX_BITS, {32, 64}, "bits of an offset within one image's covariances"};
}

// True if 32 bits can index every covariance of one image.
inline bool reach_32(const Dims& d) {
  constexpr std::int64_t side = 46340;  // its square is below 2^31
  return d.gamma_pitch() <= side && d.input_pitch() <= side;
}
inline Rule offsets_reach(const Dims& d) {
  return {
      "With INDEX_BITS=32 a side of gamma's and of input's matrix is at most 46340, so that offsets stay "
      "below 2^31.",
      [=](const Config& c) { return reach_32(d) || c[INDEX_BITS] == 64; }};
}

Template base();
Template direct();
Template factored();
Template factored_any();

}  // namespace tunesmith::conv_covariance_op

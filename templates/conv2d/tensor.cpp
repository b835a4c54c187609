// SPDX-License-Identifier: Apache-2.0
// The template `tensor` (tensor.cu): its space and work.

#include "templates/conv2d/split.h"

namespace tunesmith::conv2d_op {
namespace {

constexpr IntegerAxis WARPS("WARPS");

constexpr std::int64_t tile_width = 256;  // as in the body

Space tensor_space(const Problem& problem) {
  std::vector<Axis> axes = {{VECTOR, {1, 4}, "elements of a global load"},
                            {WARPS, {4, 2, 6, 8}, "warps of a block, one below the other"},
                            {ROWS, {6, 4}, "output rows of a warp, 256 columns each"},
                            resident_warps_axis({12, 8, 16})};
  std::vector<Rule> must = {vector_divides_width(problem.integer("width")),
                            resident_warps_rule(axes, [](const Config& c) { return 32 * c[WARPS]; })};
  return Space(std::move(axes), std::move(must));
}

// Sizes as the body computes them.
Work tensor_work(const Problem& problem, const Config& config) {
  const Dims d(problem);
  const std::int64_t steps = matrix_steps(d, config[VECTOR]);
  const std::int64_t tile_height = config[WARPS] * config[ROWS];
  const std::int64_t row_units = tile_width / 8 + steps - 1;
  const std::int64_t weight_words = 2 * d.mask_height * (8 * steps + 8);
  const std::int64_t sample_words = 2 * (tile_height + d.mask_height - 1) * row_units * 4;
  return split_work(d,
                    {.kernel = "conv2d_tensor",
                     .threads = 32 * config[WARPS],
                     .tile_width = tile_width,
                     .tile_height = tile_height,
                     .tiles = 1},
                    weight_words + sample_words);
}

}  // namespace

Template tensor() {
  return {.name = "tensor",
          .what =
              "f32 masks from 5x5 on as Toeplitz matrix products on tensor cores, each number split into two "
              "halves; within the error bound of a plain f32 sum.",
          .kernels = {"conv2d_tensor"},
          .compiled_in = {"dtype", "mode", "mask_height", "mask_width"},
          .minimum_compute_capability = 80,
          .refuses = split_refuses,
          .space = tensor_space,
          .work = tensor_work,
          .alignment_bytes = vector_bytes};
}

Template tensor_any() {
  return for_any_mask(tensor(), "`tensor` for masks of any size: one binary serves them all.");
}

}  // namespace tunesmith::conv2d_op

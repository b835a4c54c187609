// SPDX-License-Identifier: Apache-2.0
// The template `tensor` (tensor.cu): its space and work.

#include "templates/conv2d/split.h"
#include "templates/shared_layout.h"

namespace tunesmith::conv2d_op {
namespace {

#include "templates/conv2d/split_layout.inl"

constexpr IntegerAxis WARPS("WARPS");

Space tensor_space(const Problem& problem) {
  std::vector<Axis> axes = {{VECTOR, {1, 4}, "elements of a global load"},
                            {WARPS, {4, 2, 6, 8}, "warps of a block, one below the other"},
                            {ROWS, {6, 4}, "output rows of a warp, 256 columns each"},
                            resident_warps_axis({12, 8, 16})};
  std::vector<Rule> must = {vector_divides_width(problem.integer("width")),
                            resident_warps_rule(axes, [](const Config& c) { return 32 * c[WARPS]; })};
  return Space(std::move(axes), std::move(must));
}

Work tensor_work(const Problem& problem, const Config& config) {
  const Dims d(problem);
  const std::int64_t tile_height = config[WARPS] * config[ROWS];
  return split_work(d,
                    {.kernel = "conv2d_tensor",
                     .threads = 32 * config[WARPS],
                     .tile_width = tensor_tile_width,
                     .tile_height = tile_height,
                     .tiles = 1},
                    tensor_layout(tile_height, {d.mask_height, d.mask_width, d.left}, config[VECTOR]).words);
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

// SPDX-License-Identifier: Apache-2.0
// Implements split.h.

#include "templates/conv2d/split.h"

#include <algorithm>

#include "templates/shared_layout.h"

namespace tunesmith::conv2d_op {
namespace {

#include "templates/conv2d/split_layout.inl"

constexpr std::int64_t most_steps = 10;  // the bodies of `tensor` and `warpgroup` unroll them

// The a-priori error in units of 2^-24 sum|w x|, in which the permitted error is counted too: of the split,
// two for each step over 16 columns, and of the small products. tensor.cu derives it.
std::int64_t split_error(const Dims& d) {
  return 12 + 2 * d.mask_height * ceil_divide(split_steps(d.mask_width, d.left, 4), 2) + 2;
}

std::string too_many_steps(const Problem& problem) {
  const Dims d(problem);
  if (split_steps(d.mask_width, d.left, 4) <= most_steps) return "";
  return "A mask_width of " + std::to_string(d.mask_width) +
         " is above the 70 that the templates on tensor cores unroll; take another template.";
}

// The reasons to refuse that hold for masks of any width.
std::string split_refuses_any(const Problem& problem) {
  const Dims d(problem);
  if (dtype_of(problem) != DType::f32) {
    return "The templates on tensor cores split f32 only, not " + std::string(name(dtype_of(problem))) +
           "; take another template.";
  }
  if (split_error(d) > d.mask_height * d.mask_width) {
    return "For a mask of " + std::to_string(d.mask_height) + " x " + std::to_string(d.mask_width) +
           " the error bound of the products on tensor cores, " + std::to_string(split_error(d)) +
           " roundings, is above the " + std::to_string(d.mask_height * d.mask_width) +
           " of a plain f32 sum; take another template.";
  }
  return too_wide(problem);
}

}  // namespace

std::string split_refuses(const Problem& problem) {
  const std::string refusal = split_refuses_any(problem);
  return refusal.empty() ? too_many_steps(problem) : refusal;
}

Template for_any_mask(Template tmpl, std::string what) {
  tmpl.name += "_any";
  tmpl.what = std::move(what);
  tmpl.kernels.front() += "_any";
  tmpl.compiled_in = {"dtype"};
  tmpl.refuses = split_refuses_any;
  tmpl.work = [kernel = tmpl.kernels.front(), work_of = tmpl.work](const Problem& problem,
                                                                   const Config& config) {
    const Dims d(problem);
    Work work = work_of(problem, config);
    Launch& launch = std::get<Launch>(work.steps.front());
    launch.kernel = kernel;
    for (const std::int64_t number : {d.mask_height, d.mask_width, std::int64_t{d.turned}})
      launch.arguments.emplace_back(int32(number));
    return work;
  };
  return tmpl;
}

Work split_work(const Dims& d, const Blocks& blocks, std::int64_t shared_words) {
  const std::int64_t tiles_y = ceil_divide(ceil_divide(d.height, blocks.tile_height), blocks.tiles);
  return Work{.steps = {Launch{.kernel = blocks.kernel,
                               .grid = {ceil_divide(d.width, blocks.tile_width),
                                        std::min(tiles_y, grid_limit), std::min(d.batch, grid_limit)},
                               .block = {blocks.threads, 1, 1},
                               .dynamic_shared_bytes = 4 * shared_words,
                               .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, ArgumentPointer{2},
                                             int32(d.batch), int32(d.height), int32(d.width)}}}};
}

Rule vector_divides_width(std::int64_t width) {
  return {"VECTOR divides the width, so that a vector is aligned and inside the image as a whole.",
          [width](const Config& c) { return width % c[VECTOR] == 0; }};
}

}  // namespace tunesmith::conv2d_op

// SPDX-License-Identifier: Apache-2.0
// Declarations that the templates on tensor cores, tensor and warpgroup, share on the host. split.cuh is
// shared by their bodies.
#pragma once

#include <cstdint>
#include <string>

#include "templates/conv2d/op.h"

namespace tunesmith::conv2d_op {

/// The reason why tensor cores cannot serve the problem within its permitted error, or empty.
std::string split_refuses(const Problem& problem);

/// The assignment of an image's tiles to blocks.
struct Blocks {
  const char* kernel;
  std::int64_t threads, tile_width, tile_height;
  std::int64_t tiles;  // tiles of a block, one below the other
};

/// The template `tmpl` with the mask's size and direction as further arguments of its kernel. It has a body
/// of its own.
Template for_any_mask(Template tmpl, std::string what);

Work split_work(const Dims& d, const Blocks& blocks, std::int64_t shared_words);

Rule vector_divides_width(std::int64_t width);

}  // namespace tunesmith::conv2d_op

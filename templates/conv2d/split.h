// SPDX-License-Identifier: Apache-2.0
// What the templates on tensor cores, tensor and warpgroup, share on the host, as split.cuh does for their
// bodies.
#pragma once

#include <cstdint>
#include <string>

#include "templates/conv2d/op.h"

namespace tunesmith::conv2d_op {

/// Why tensor cores cannot serve the problem within its permitted error, or nothing.
std::string split_refuses(const Problem& problem);

/// How the tiles of an image are dealt out to blocks.
struct Blocks {
  const char* kernel;
  std::int64_t threads, tile_width, tile_height;
  std::int64_t tiles;  // of a block, one below the other
};

/// The same with the mask's size and direction as further arguments of the kernel, in a body of its own.
Template for_any_mask(Template tmpl, std::string what);

Work split_work(const Dims& d, const Blocks& blocks, std::int64_t shared_words);

Rule vector_divides_width(std::int64_t width);

}  // namespace tunesmith::conv2d_op

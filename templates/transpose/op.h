// SPDX-License-Identifier: Apache-2.0
// Declarations that transpose's templates share. They are private to this folder.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "generator/op.h"
#include "templates/axes.h"

namespace tunesmith::transpose_op {

struct Dims {
  explicit Dims(const Problem& problem)
      : batch(problem.integer("batch")),
        height(problem.integer("height")),
        width(problem.integer("width")),
        input_pitch(problem.integer("input_pitch") == 0 ? width : problem.integer("input_pitch")),
        output_pitch(problem.integer("output_pitch") == 0 ? height : problem.integer("output_pitch")) {}

  bool empty() const { return batch == 0 || height == 0 || width == 0; }

  std::int64_t batch, height, width;
  std::int64_t input_pitch, output_pitch;  // elements from row to row
};

// The elements of the widest vector that divides both the length and the pitch of rows.
inline std::int64_t widest_vector(std::int64_t element_bytes, std::int64_t length, std::int64_t pitch) {
  std::int64_t widest = 16 / element_bytes;
  while (length % widest != 0 || pitch % widest != 0) widest /= 2;
  return widest;
}

inline constexpr CategoricalAxis BLOCK_ORDER("BLOCK_ORDER");
inline Axis block_order_axis(std::vector<Value> orders) {
  return {BLOCK_ORDER, std::move(orders),
          "in which order blocks take the input's tiles; banded: 8 rows of tiles, column by column"};
}

inline constexpr IntegerAxis TILE_X("TILE_X");
inline Axis tile_x_axis() { return {TILE_X, {64, 32, 128, 256}, "columns of a tile of the input"}; }

inline constexpr IntegerAxis TILE_Y("TILE_Y");
inline Axis tile_y_axis() { return {TILE_Y, {64, 32, 128, 256}, "rows of a tile of the input"}; }

inline constexpr IntegerAxis ROWS("ROWS");
inline constexpr IntegerAxis VECTOR_IN("VECTOR_IN");
inline constexpr IntegerAxis VECTOR_OUT("VECTOR_OUT");

// The kernel arguments of `base`, with which those of `tiled` and `shifted` begin.
inline std::vector<KernelArgument> kernel_arguments(const Dims& d) {
  return {ArgumentPointer{0}, ArgumentPointer{1}, d.batch, d.height, d.width, d.input_pitch, d.output_pitch};
}
inline std::vector<KernelArgument> kernel_arguments(const Dims& d, std::int64_t tiles_x,
                                                    std::int64_t tiles_y) {
  std::vector<KernelArgument> arguments = kernel_arguments(d);
  arguments.emplace_back(int32(tiles_x));
  arguments.emplace_back(int32(tiles_y));
  return arguments;
}

// The grid: `blocks` blocks in x, and in y and z one for each matrix of the batch.
inline Extent grid_of(const Dims& d, std::int64_t blocks) {
  return {blocks, std::min(d.batch, grid_limit), ceil_divide(d.batch, grid_limit)};
}

Template base();
Template narrow();
Template narrow_pitched();
Template shifted();
Template tiled();

}  // namespace tunesmith::transpose_op

// SPDX-License-Identifier: Apache-2.0
// Operands as boxes.inl copies them: which can be, and their views. Private to this folder.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "generator/work.h"
#include "templates/tensor/contract/groups.h"

namespace tunesmith::tensor_op {

/// The most digits of a batch: a tensor map has five dimensions.
constexpr std::size_t most_boxed_batch = BoxedArray::most_dimensions - 2;

/// An operand or the output.
enum class Side : std::uint8_t { first, second, out };

/// The view of an operand after packing, or of the output: the group of its neighbours is the first
/// dimension, the other one the second; then come the digits of the batch. An operand's groups are its rows
/// and its terms, the output's are M and N, whose neighbours are N's. Its array, its elements and the sides
/// of its boxes are not set. Nothing: a group of it is more than one dimension, or has no map for other
/// reasons.
std::optional<BoxedArray> boxed(const Groups& groups, Side side);

/// The view of a windowed operand's image, likewise: its channels are a multiple of `terms`, and its strides
/// of `vector` elements. Nothing: it is no such image, or its windows are too many or too far apart for a
/// map.
std::optional<BoxedArray> boxed_image(const Groups& groups, bool second, std::int64_t terms,
                                      std::int64_t vector);

}  // namespace tunesmith::tensor_op

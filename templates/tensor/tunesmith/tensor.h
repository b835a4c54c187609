// SPDX-License-Identifier: Apache-2.0
// A line of index notation over arrays of any strides: products of matrices and tensors, permutations,
// windows, diagonals. The language and its accuracy: templates/tensor/README.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tunesmith/dispatcher.h"
#include "tunesmith/types.h"

namespace tunesmith {
inline namespace TUNESMITH_ABI {

/// How an array lies in memory.
struct TensorLayout {
  std::vector<std::int64_t> extents = {};  ///< outermost first; none: one element
  std::vector<std::int64_t> strides = {};  ///< in elements, 0 or more, one per extent; empty: no gaps
};

struct TensorInput {
  const void* data = nullptr;
  TensorLayout layout = {};
};

/// Extents of indices that no array fixes, by name, such as {"i", 3}.
using TensorExtents = std::vector<std::pair<std::string, std::int64_t>>;

/// The changes of rounding that are allowed: the order of sums alone, or also how products are distributed
/// over sums, which permits far fewer operations for some expressions (docs/derive.md).
enum class TensorMay { reorder, distribute };

/// The permitted error of products of two f32 elements: a rounding of f32, or the error of factors that are
/// rounded to the 11 bits of TF32, or the 8 of BF16, where that is faster (docs/tensor.md). Nothing is
/// computed with less than 11. It has no effect for other types and lines.
enum class TensorAccuracy { full, tf32, bf16 };

/// The options of a problem besides its line.
struct TensorOptions {
  TensorExtents extents = {};
  TensorMay may = TensorMay::reorder;
  /// The value that is written instead of out, the reduced value: a function of it and of arrays at the
  /// result's indices, such as "max(out + bias[o], 0)".
  std::string finish = "out";
  std::optional<ElementType> out_type = std::nullopt;  ///< of the result; nothing: the inputs' type
  /// The arrays whose elements out of bounds are 0, such as image in image[n,c,y+i-1,x+j-1].
  std::vector<std::string> zero_outside = {};
  TensorAccuracy accuracy = TensorAccuracy::full;
};

/// The names of the arrays that the expression reads, in the order of their first use; arrays that only the
/// finish reads come behind the others. The inputs below have this order. Throws UsageError with the place of
/// the error in the text.
std::vector<std::string> tensor_arrays(const std::string& expression, const std::string& finish = "out");

/// The extents of the array that an expression, such as "out[n,o,y,x] += x[n,c,y+i,x+j] * w[o,c,i,j]",
/// computes, from the extents of its inputs in the order in which the expression first names them. An index
/// that stands alone along a dimension has that extent; an index that stands with others, as y in y+i, has
/// the largest extent that fits. Throws UsageError; the sentence says what is wrong with the expression or
/// contradicts.
std::vector<std::int64_t> tensor_shape(const std::string& expression,
                                       const std::vector<std::vector<std::int64_t>>& inputs,
                                       const TensorOptions& options = {});

/// The problem of the op `tensor` as a text, to tune it or to plan it. The arguments are those of
/// tensor_plan().
std::string tensor_problem(const std::string& expression, ElementName type,
                           const std::vector<TensorLayout>& inputs, const TensorLayout& out,
                           const TensorOptions& options = {});

/// tensor_shape() of an expression on arrays of these layouts, and tensor_problem() for a result without
/// gaps, from one reading of the expression. `dtype`: a word of the op's parameter, such as "f32".
struct TensorComputation {
  std::vector<std::int64_t> shape = {};
  std::string problem = {};
};
TensorComputation tensor_computation(const std::string& expression, std::string_view dtype,
                                     const std::vector<TensorLayout>& inputs,
                                     const TensorOptions& options = {});

/// The plan for an expression on arrays of these layouts, to launch it many times without a look-up.
/// `inputs`: one for each array, in the order in which the expression first names them. `out`: has the
/// extents of tensor_shape(), and strides that give each element an address of its own. Arguments of
/// launch(): the inputs, null pointers to make six of them, and out. Elements of `out` that no index of the
/// expression reaches stay as they are. Throws where plan() throws.
Plan tensor_plan(Dispatcher& dispatcher, const std::string& expression, ElementName type,
                 const std::vector<TensorLayout>& inputs, const TensorLayout& out,
                 const TensorOptions& options = {});

/// Plans and launches; the plan is looked up by a text that is made anew, which costs some ten microseconds.
/// Arrays are in memory of the dispatcher's device; `out` overlaps no input. `stream` is a cudaStream_t. The
/// Status reports a null, overlapping or misaligned pointer.
Status tensor(Dispatcher& dispatcher, const std::string& expression, ElementName type,
              const std::vector<TensorInput>& inputs, void* out, const TensorLayout& out_layout,
              void* stream = nullptr, const TensorOptions& options = {});

}  // namespace TUNESMITH_ABI
}  // namespace tunesmith

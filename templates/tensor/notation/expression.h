// SPDX-License-Identifier: Apache-2.0
// A line of index notation, such as "out[n,o,y,x] += x[n,c,y+i,x+j] * w[o,c,i,j]", as accesses and a function
// of what they read. Pure. Private to this folder.
//
// Indices that the output names are free; the others are reduced. An access is, for each of its array's
// dimensions, a sum of indices with whole factors and a whole number. The function is written in
// elementwise's language, in which the n-th access is the n-th of the letters a to f. A finish, a text of its
// own such as "max(out + bias[o], 0)", says what becomes of the reduced value. No character of a caller's
// text is passed on: all generated text is written from these structures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "language/expression.h"

namespace tunesmith::tensor_op {

constexpr std::size_t most_indices = 12;
constexpr std::size_t most_arrays = 6;  ///< and accesses
constexpr std::size_t longest_text = 2048;

/// One dimension of an access: offset + the sum of factors[i] * index i.
struct Affine {
  std::vector<std::int64_t> factors;  ///< one for each index of the expression
  std::int64_t offset = 0;

  bool operator==(const Affine&) const = default;

  /// The index, if the dimension is a single index and nothing else.
  std::optional<std::size_t> index() const;
};

struct Access {
  int array = 0;  ///< place in Expression::arrays; -1: the output
  std::vector<Affine> dimensions;
  std::size_t position = 0;  ///< in the text, for errors

  bool same(const Access& other) const { return array == other.array && dimensions == other.dimensions; }
  bool is_moved_by(std::size_t index) const;
};

enum class Reduction { sum, max, min };

/// The value that is written instead of the reduced value: a function of the reduced value, which is the
/// first letter, and of accesses, the other letters, which only free indices move.
struct Finish {
  elementwise_op::Expression function;  ///< without nodes the reduced value itself is written
  std::vector<int> accesses;            ///< places in Expression::accesses

  bool is_there() const { return !function.nodes.empty(); }
};

struct Index {
  std::string name;
  std::size_t position = 0;  ///< of its first use in the text, for errors
};

struct Expression {
  std::vector<Index> indices;  ///< the output's in the order in which it names them, then the reduced ones
                               ///< in the order in which they first move an access (parse())
  std::size_t free = 0;        ///< how many of them are the output's
  std::string output_name;
  std::vector<std::string> arrays;  ///< the inputs' names, in the order of first use
  std::vector<std::size_t> ranks;   ///< of each array
  Access output;
  std::vector<Access> accesses;  ///< each once, in the order of first use
  Reduction reduction = Reduction::sum;
  elementwise_op::Expression function;  ///< of the elements of the first function.inputs accesses
  Finish finish;                        ///< the accesses behind those belong to it alone
  std::uint32_t zero_outside = 0;  ///< a bit for each array that is 0 out of its bounds; parse() sets none

  bool is_reduced(std::size_t index) const { return index >= free; }
  bool is_zero_outside(int array) const { return array >= 0 && (zero_outside >> array & 1) != 0; }
  std::size_t place_of(std::string_view index) const;  ///< indices.size(): there is none of that name
  std::size_t rank_of(int array) const {
    return array < 0 ? output.dimensions.size() : ranks[static_cast<std::size_t>(array)];
  }
};

struct ParseResult {
  Expression expression;
  std::string error;  ///< a sentence, the text and a caret under the place; empty if there is an expression
};
constexpr std::string_view no_finish = "out";  ///< the finish that is the reduced value
ParseResult parse(std::string_view text, std::string_view finish = no_finish);

/// The expression with indices named a, b, c, … (the output's first, then in the order in which they first
/// move an access) and arrays x0, x1, …: expressions that differ only in names have the same text. parse() of
/// the text and of the finish in these names gives the same expression again.
std::string canonical_text(const Expression& expression);
std::string canonical_finish(const Expression& expression);

/// The place of an access in its text, for errors: "at character 12", and of which text.
std::string place_of(const Expression& expression, const Access& access);

/// The value that is written if nothing is reduced: the finish of the function of the accesses' elements.
elementwise_op::Expression composed(const Expression& expression);

/// The text with the expression's own names, for people. parse() of it gives the same expression again, but
/// for the order of reduced indices.
std::string text(const Expression& expression);
std::string text(const Expression& expression, const Access& access);  ///< of one access

/// True if the reduced index moves along a dimension with another index, as j of x[i+j].
bool is_window(const Expression& expression, std::size_t index);
bool has_windows(const Expression& expression);

/// The number of operations and functions in one evaluation.
std::int64_t operations_of(const elementwise_op::Expression& function);

/// The accesses that are multiplied, if the function is a product of accesses and nothing else: in the order
/// in which they are written, with repetitions. Empty otherwise.
std::vector<int> product_of(const elementwise_op::Expression& function);

}  // namespace tunesmith::tensor_op

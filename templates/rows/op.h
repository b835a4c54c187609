// SPDX-License-Identifier: Apache-2.0
// Declarations that the files of the op rows share: a problem's arrays and the values that vary along its
// rows, the code that is generated from its expression, and the axes and rules of several templates.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "generator/op.h"
#include "templates/axes.h"
#include "templates/rows/expression.h"

namespace tunesmith::rows_op {

struct InputLayout {
  InputKind kind = InputKind::matrix;
  std::int64_t stride = 0;  ///< of a matrix: elements from one row to the next
};

constexpr std::string_view dense = "matrix";

/// Says why the text is no layout, as a sentence; empty if it is one.
std::string refuses_layout(const std::string& text);

/// A problem's sizes and arrays, and the order in which values are computed: a pass over a row needs the
/// reductions of the passes before it.
struct Shape {
  explicit Shape(const Problem& problem);

  bool empty() const { return rows == 0 || columns == 0; }
  bool varies_along_row(int node) const { return varies[static_cast<std::size_t>(node)] != 0; }
  std::int64_t memory(std::size_t input) const;  ///< elements, those that strides skip included
  std::vector<std::int64_t> extents(std::size_t output) const;
  std::vector<int> reductions_of(int pass) const;
  std::int64_t most_of_a_pass() const;  ///< the most reductions of a pass; at least 1
  /// The nodes that these nodes depend on, and these nodes, in order; not those behind reductions.
  std::vector<int> needed(const std::vector<int>& places) const;
  /// True if the node divides a value that varies along the row by one that does not; kernels turn such a
  /// division into a product.
  bool divides_by_row_value(const Node& node) const {
    return node.operation == Operation::divide && varies_along_row(node.operands[0]) &&
           !varies_along_row(node.operands[1]);
  }

  std::int64_t rows, columns;
  Expression expression;
  std::vector<InputLayout> inputs;
  std::vector<char> varies;        ///< by node: whether it differs from column to column
  std::vector<int> passes_before;  ///< by node: the passes after which it can be computed
  int passes = 0;
  /// aligned: rows of all matrices begin at multiples of this many elements if the arrays do. congruent: they
  /// begin at the same place between multiples of this many elements. Powers of two, at most 16.
  std::int64_t aligned = 16, congruent = 16;
};
/// The shape of a problem; it lasts as long as the problem.
const Shape& shape_of(const Problem& problem);

Problem rewritten(const Problem& given);
std::string check(const Problem& problem);

/// The words that the base's program takes: one for each node, and one more for a number.
constexpr std::size_t most_program_words = 96;
std::size_t program_words(const Expression& expression);

/// The most roundings behind a term of a sum of `terms` terms: one number for all templates, which their
/// rules keep.
double roundings(double terms);

void reference(const Problem& problem, std::span<const std::vector<double>> arguments, int output,
               std::int64_t begin, std::int64_t end, std::span<double> value,
               std::span<double> permitted_error);

/// The expression as C++: the values that a row needs before its first pass, the terms of each pass and the
/// values that follow from their reductions, and the results (row.cuh has the functions that the code calls).
std::string code(const Problem& problem);

/// The constants that the code depends on besides expression and dtype.
Values constants(const Problem& problem);

/// Draws a problem, as Op::sample.
void usual_rows(Random& random, Problem& problem);

Template base();
Template registers();
Template cluster();
Template sweeps();
Template split();

// ---- shared by the tuned templates

constexpr std::int64_t most_items = 8;                       ///< vectors of a thread
constexpr std::int64_t index_limit = std::int64_t{1} << 30;  ///< columns that 32-bit indices reach

std::string refuses_empty(const Problem& problem);
/// Refuses rows that make a grid of too many blocks, `blocks` for each; `instead` says what to take.
std::string refuses_grid(const Problem& problem, std::int64_t blocks, std::string_view instead);

Axis load_axis();
Axis resident_axis();
Axis vector_axis(const Problem& problem);
Rule vector_rule(const Problem& problem);

Rule start_rule(const Problem& problem);

/// The least ITEMS with which a row's threads hold the row, wherever it begins; more would be in vain.
std::int64_t least_items(const Problem& problem, std::int64_t threads, std::int64_t vector);

/// The most vectors, a power of two, of which a thread holds at most `most_bytes`; at least 1.
std::int64_t most_held(const Problem& problem, std::int64_t vector, std::int64_t most_bytes);

/// The number of inputs that are matrices.
std::int64_t matrices_of(const Problem& problem);

/// The bytes that a thread holds for `elements` elements of each matrix, in registers of 4 bytes.
std::int64_t held_bytes(const Problem& problem, std::int64_t elements);

/// The kernel arguments: arrays, strides and sizes, in the order of ROWS_PARAMETERS (row.cuh).
std::vector<KernelArgument> kernel_arguments(const Problem& problem);

std::int64_t alignment_bytes(const Problem& problem, const Config& config);

/// The template that suits rows of this length and number, without measurements.
enum class Suited { registers, cluster, sweeps, split };
Suited suited(const Problem& problem, const DeviceFacts& device);

/// True if two blocks of a multiprocessor can keep a row each in its shared memory and compute results from
/// it.
bool two_rows_are_kept(const Problem& problem, const DeviceFacts& device);

/// True if `threads` threads hold a row in registers, with room for the values that are computed from it.
bool holds_row(const Problem& problem, std::int64_t threads, std::int64_t vector, std::int64_t most_bytes);

/// The choices without measurements. Vectors have 16 bytes, or 4 elements of 16 bits if rows begin at
/// multiples of these, or else what is allowed.
std::int64_t usual_vector(const Problem& problem);
std::string usual_store(const Problem& problem);
std::string usual_start(const Problem& problem);

/// The RESIDENT_WARPS that suits the problem: of the values that give as many whole blocks, the least, which
/// stands for all of them (resident_warps_rule).
std::int64_t usual_resident_warps(const Problem& problem, std::int64_t vector, std::int64_t block);

}  // namespace tunesmith::rows_op

// SPDX-License-Identifier: Apache-2.0
// What the files of the op rows share: a problem's arrays and what varies along its rows, the code that is
// generated from its expression, and the axes and rules that several templates have.
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

/// Why the text is no layout, as a sentence; empty if it is one.
std::string refuses_layout(const std::string& text);

/// A problem's sizes and arrays, and what is computed when: a pass over a row needs the reductions of the
/// passes before it.
struct Shape {
  explicit Shape(const Problem& problem);

  bool empty() const { return rows == 0 || columns == 0; }
  bool varies_along_row(int node) const { return varies[static_cast<std::size_t>(node)] != 0; }
  std::int64_t memory(std::size_t input) const;  ///< elements, those that strides skip included
  std::vector<std::int64_t> extents(std::size_t output) const;
  std::vector<int> reductions_of(int pass) const;
  /// The places that these depend on and their own, in order, not behind reductions.
  std::vector<int> needed(const std::vector<int>& places) const;
  /// Whether the node is a division of what varies by what does not, which kernels turn into a product.
  bool divides_by_row_value(const Node& node) const {
    return node.operation == Operation::divide && varies_along_row(node.operands[0]) &&
           !varies_along_row(node.operands[1]);
  }

  std::int64_t rows, columns;
  Expression expression;
  std::vector<InputLayout> inputs;
  std::vector<char> varies;        ///< by node: whether it differs from column to column
  std::vector<int> passes_before;  ///< by node: after so many passes it can be computed
  int passes = 0;
  /// Rows of all matrices begin at multiples of so many elements if they do at the arrays' first; and at the
  /// same place between multiples of so many. Powers of two, at most 16.
  std::int64_t aligned = 16, congruent = 16;
};
/// Lasts as long as the problem.
const Shape& shape_of(const Problem& problem);

Problem rewritten(const Problem& given);
std::string check(const Problem& problem);

/// What the base's program takes: a word for each node, and one more for a number.
constexpr std::size_t most_program_words = 96;
std::size_t program_words(const Expression& expression);

/// A sum of so many terms has at most so many roundings behind each: every template's number, which its
/// rules keep.
double roundings(double terms);

void reference(const Problem& problem, std::span<const std::vector<double>> arguments, int output,
               std::int64_t begin, std::int64_t end, std::span<double> value,
               std::span<double> permitted_error);

/// The expression as C++: what a row needs before its first pass, the terms of each pass and what follows
/// from their reductions, and the results (row.cuh has what it is made of).
std::string code(const Problem& problem);

/// The constants that the code depends on beside expression and dtype.
Values constants(const Problem& problem);

/// As Op::sample.
void usual_rows(Random& random, Problem& problem);

Template base();
Template registers();
Template cluster();
Template sweeps();

// ---- what the tuned templates share

constexpr std::int64_t most_items = 8;                       ///< vectors of a thread
constexpr std::int64_t index_limit = std::int64_t{1} << 30;  ///< columns that 32-bit indices reach

std::string refuses_empty(const Problem& problem);

Axis load_axis();
Axis resident_axis();
Axis vector_axis(const Problem& problem);
Rule vector_rule(const Problem& problem);

Rule start_rule(const Problem& problem);

/// ITEMS vectors for each of a row's threads are no more than the row needs, wherever it begins.
std::int64_t least_items(const Problem& problem, std::int64_t threads, std::int64_t vector);

/// How many of the inputs are matrices.
std::int64_t matrices_of(const Problem& problem);

/// Bytes that a thread holds of each of `vectors` vectors, in registers of 4 bytes.
std::int64_t held_bytes(const Problem& problem, std::int64_t elements);

/// Arrays, strides and sizes, in the order of ROWS_PARAMETERS (row.cuh).
std::vector<KernelArgument> kernel_arguments(const Problem& problem);

std::int64_t alignment_bytes(const Problem& problem, const Config& config);

/// Without measurements: which template suits rows of this length and number.
enum class Suited { registers, cluster, sweeps };
Suited suited(const Problem& problem, const DeviceFacts& device);

/// Whether two blocks of a multiprocessor keep a row each in its shared memory, from which results are
/// computed.
bool two_rows_are_kept(const Problem& problem, const DeviceFacts& device);

/// Whether so many threads hold a row in registers, with room for what is computed of it.
bool holds_row(const Problem& problem, std::int64_t threads, std::int64_t vector, std::int64_t most_bytes);

/// Without measurements: 16 bytes, or 4 elements of 16 bits where rows begin at those, or what is allowed.
std::int64_t usual_vector(const Problem& problem);
std::string usual_store(const Problem& problem);
std::string usual_start(const Problem& problem);

/// The RESIDENT_WARPS that stands for what suits the problem (resident_warps_rule): the least that is as many
/// whole blocks.
std::int64_t usual_resident_warps(const Problem& problem, std::int64_t vector, std::int64_t block);

}  // namespace tunesmith::rows_op

// SPDX-License-Identifier: Apache-2.0
// Computes results from the elements of matrices and from reductions over each of their rows, in one launch:
// softmax, layer_norm, or any expression such as "y = x / sum(x)". The language and its accuracy:
// templates/rows/README.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tunesmith/dispatcher.h"
#include "tunesmith/types.h"

namespace tunesmith {
inline namespace TUNESMITH_ABI {

using RowsType = ElementType;  ///< f32, f64, f16 or bf16

/// How an array is read: one element for each element of a row, one for each column, one for each row, or one
/// for all.
enum class RowsKind { matrix, per_column, per_row, scalar };

struct RowsLayout {
  RowsKind kind = RowsKind::matrix;
  std::int64_t stride = -1;  ///< of a matrix: elements from one row to the next; -1: no gaps
};

struct RowsInput {
  const void* data = nullptr;
  RowsLayout layout = {};
};

/// The names of the arrays that the expression reads, in the order of their first use, which the inputs below
/// have too; and the names of its results, in the order in which they are written. Both throw UsageError with
/// the place of the error in the text.
std::vector<std::string> rows_arrays(const std::string& expression);
std::vector<std::string> rows_results(const std::string& expression);

/// The expression as a problem stores it, with arrays x0, x1, … and results y0, y1, …
std::string rows_expression(const std::string& expression);

/// For each result: true if it has an element for each element of a row, false if it has one for the row.
std::vector<bool> rows_results_vary(const std::string& expression, const std::vector<RowsKind>& inputs);

/// The problem of the op `rows` as a text, to tune it or to plan it.
std::string rows_problem(const std::string& expression, ElementName type, std::int64_t rows,
                         std::int64_t columns, const std::vector<RowsLayout>& inputs);

/// The plan for an expression, to launch it many times without a look-up. Arguments of launch(): the inputs,
/// null pointers to make six of them, and the results, null pointers to make four of them. Throws where
/// plan() throws.
Plan rows_plan(Dispatcher& dispatcher, const std::string& expression, ElementName type, std::int64_t rows,
               std::int64_t columns, const std::vector<RowsLayout>& inputs);

/// Plans and launches; the plan is looked up by a text that is made anew, which costs some ten microseconds.
/// `expression`: results such as "m = mean(x); y = x - m", or a word: softmax, log_softmax, logsumexp,
/// layer_norm (of x, gamma and beta), rms_norm (of x and gamma), normalize. A result without gaps has rows *
/// columns elements, or one for each row if it is the same along the row. Arrays are in memory of the
/// dispatcher's device; results overlap no input. `stream` is a cudaStream_t. The Status reports a null,
/// overlapping or misaligned pointer.
Status rows(Dispatcher& dispatcher, const std::string& expression, ElementName type, std::int64_t rows,
            std::int64_t columns, const std::vector<RowsInput>& inputs, const std::vector<void*>& results,
            void* stream = nullptr);

Status softmax(Dispatcher& dispatcher, const float* x, float* y, std::int64_t rows, std::int64_t columns,
               void* stream = nullptr);

/// Normalizes each row: (x - mean) / sqrt(variance + 1e-5) * gamma + beta. gamma and beta have an element for
/// each column.
Status layer_norm(Dispatcher& dispatcher, const float* x, const float* gamma, const float* beta, float* y,
                  std::int64_t rows, std::int64_t columns, void* stream = nullptr);

}  // namespace TUNESMITH_ABI
}  // namespace tunesmith

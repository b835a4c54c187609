// SPDX-License-Identifier: Apache-2.0
// Declarations that the files of the op scan share: the shape of a problem, the types, and the axes and rules
// of several templates.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "generator/op.h"
#include "language/expression.h"
#include "templates/along_axis/strided_axis.h"
#include "templates/axes.h"
#include "templates/choice.h"
#include "templates/scan/tunesmith/scan_functions.h"

namespace tunesmith {

constexpr auto names_of(ScanFunction /*type*/) { return scan_function_names; }
constexpr auto names_of(ScanKind /*type*/) { return scan_kind_names; }

namespace scan_op {

using Function = ScanFunction;  // by the numbers of the kernels (scan.cuh)
/// The function of a problem that has an expression instead.
inline constexpr Function own_expression{scan_function_names.size()};

Function function_of(const Problem& problem);
bool is_exclusive(const Problem& problem);
bool is_reverse(const Problem& problem);
bool is_narrow_integer(DType dtype);   ///< of less than 32 bits
bool is_wide(const Problem& problem);  ///< computed and written as f64

using Dims = StridedAxis;

/// The expression of a problem that has one. It lasts as long as the problem.
const language::Expression& expression_of(const Problem& problem);
/// The text of one number, however it is written.
std::string identity_as_stored(const std::string& text);
/// The first result of an exclusive scan of an expression.
double identity_of(const Problem& problem);
/// Says why the expression, with its dtype and identity, is not allowed, as a sentence; empty if it is.
std::string refuses_expression(const Problem& problem);
/// The expression as C++ (scan.cuh), or code that says that there is none.
std::string preamble(const Problem& problem);

DType output_dtype(const Problem& problem);
std::int64_t item_bytes(const Problem& problem);  ///< of the type that a kernel adds in

/// The most roundings behind a floating-point element of a line of `elements` elements: one number for all
/// templates, which their rules keep.
double roundings(double elements);
/// Says why tiles of `tile` elements are too small for a loop that carries a sum from tile to tile.
std::string refuses_small_tiles(std::int64_t length, std::int64_t tile);

void reference(const Problem& problem, std::span<const std::vector<double>> arguments, int output,
               std::int64_t begin, std::int64_t end, std::span<double> value,
               std::span<double> permitted_error);

/// The reference of one line of an expression, in the order of the scan: the combination of all elements up
/// to each one.
void scan_expression(const Problem& problem, std::span<const double> line, std::span<double> value,
                     std::span<double> permitted_error);

Template base();
Template lookback();
Template rows();
Template columns();
Template narrow();

// ---- shared by the tuned templates

inline constexpr IntegerAxis FAN("FAN");

Axis load_axis();
Axis vector_axis(const Problem& problem, std::int64_t most_bytes);

Rule store_rule(const Problem& problem);
Rule register_rule(const Problem& problem, const std::function<std::int64_t(const Config&)>& threads);

/// True if rows are so short that `narrow`, if it serves them, is better than `columns`. Decided without
/// measurements, as all choices below.
bool suits_narrow(const Problem& problem);
/// The elements per access: at most 16 bytes of x and of y, as far as lines are aligned. With `rows` each
/// line must consist of whole accesses.
std::int64_t usual_vector(const Problem& problem, bool rows = false);
/// The hints for stores and loads: streaming if the output has more than a few blocks' tiles, or if the input
/// is more than the second-level cache holds.
std::string usual_store(const Problem& problem, std::int64_t vector);
std::string usual_load(const Problem& problem, const DeviceFacts& device);

/// The bytes that addresses are multiples of, with vectors and without.
std::int64_t vector_bytes(const Problem& problem, const Config& config);
std::int64_t element_bytes(const Problem& problem);

/// The parameters that every tuned kernel compiles in.
std::vector<std::string> all_but_sizes();

/// True if `rows` beats `lookback`, i.e. for few, short lines. Decided without timings.
bool suits_summing(const Problem& problem, const DeviceFacts& device);

/// The workspace of a launch whose blocks pass sums on along lines of `tiles` tiles, `columns` beside each
/// other (chain.cuh): tickets and counters, then the messages.
struct ChainSpace {
  ChainSpace(const Problem& problem, std::int64_t lines, std::int64_t tiles, std::int64_t columns,
             std::int64_t fan);
  std::int64_t messages_at = 0, bytes = 0;
};

}  // namespace scan_op
}  // namespace tunesmith

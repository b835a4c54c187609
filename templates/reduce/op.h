// SPDX-License-Identifier: Apache-2.0
// Declarations that the files of the op reduce share: the shape of a problem, the types, and the axes and
// rules of several templates.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "generator/op.h"
#include "templates/along_axis/strided_axis.h"
#include "templates/axes.h"
#include "templates/choice.h"
#include "templates/reduce/tunesmith/reduce_functions.h"

namespace tunesmith {

constexpr auto names_of(ReduceFunction /*type*/) { return reduce_function_names; }
constexpr auto names_of(ReduceOrder /*type*/) { return reduce_order_names; }

namespace reduce_op {

using Function = ReduceFunction;  // by the numbers of the kernels (reductions.cuh)

Function function_of(const Problem& problem);
bool is_extreme(Function function);
bool has_moments(Function function);
bool is_atomic(const Problem& problem);

/// The type in which elements are compared and added: narrow ones are converted to f32 or i32.
DType number_dtype(const Problem& problem);

/// True if sums and products of another type are computed, and written, as f64.
bool is_wide(const Problem& problem);

/// True if the tuned templates keep places of extremes as 32 bits, beside an element of 4 bytes.
bool has_short_places(const Problem& problem);
/// Template::constants and Template::preamble of the tuned templates.
Values tuned_constants(const Problem& problem);
std::string tuned_preamble(const Problem& problem);

/// Adds the last arguments of kernels that compute moments: the factors of a mean and a variance.
void add_ratios(std::vector<KernelArgument>& arguments, const Problem& problem);

/// The numbers of an output: one, or a pair.
std::int64_t results(Function function);

using Dims = StridedAxis;

DType output_dtype(const Problem& problem);

/// The bytes of a partial, which a block leaves to others: a type with twice the digits, for a sum of
/// floating-point numbers; a value and its place; two sums. The base's places have 64 bits.
std::int64_t partial_bytes(const Problem& problem, bool of_base = false);

/// The most partial sums that an atomic sum adds to an output, each in the output's precision.
inline constexpr std::int64_t most_atomic_additions = 2048;

void reference(const Problem& problem, std::span<const std::vector<double>> arguments, int output,
               std::int64_t begin, std::int64_t end, std::span<double> value,
               std::span<double> permitted_error);

Template base();
Template all();
Template rows();
Template columns();
Template flat();
Template staged();

// ---- shared by the tuned templates

inline constexpr CategoricalAxis FINISH("FINISH");

Axis load_axis();
Axis items_axis();
Axis vector_axis(const Problem& problem);  ///< for contiguous elements

// The rules that a config must keep.
Rule early_rule();
/// Adds what elements of less than 4 bytes need, for a template whose threads add ITEMS loads at once.
std::vector<Rule> with_narrow_rules(std::vector<Rule> rules, const Problem& problem);
Rule finish_rule(bool atomic);

// The rules that make a config worth trying.
Rule flight_rule(const Problem& problem);
Rule half_rule(const Problem& problem);

std::int64_t vector_bytes(const Problem& problem, const Config& config);

}  // namespace reduce_op
}  // namespace tunesmith

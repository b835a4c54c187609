// SPDX-License-Identifier: Apache-2.0
// What the files of the op reduce share: the shape of a problem, the types, and the axes and rules that
// several of its templates have.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "generator/op.h"
#include "templates/axes.h"

namespace tunesmith::reduce_op {

// As in the kernels (reduction.cuh, general.cuh).
enum class Function : std::int32_t {
  sum,
  min,
  max,
  mean,
  argmin,
  argmax,
  var,
  std,
  prod,
  any,
  all,
  count_nonzero,
  ptp,
  norm1,
  norm2,
  norminf,
  min_max,
  mean_var
};

const std::vector<std::string>& function_categories();
Function function_of(const Problem& problem);
bool is_extreme(Function function);
bool has_moments(Function function);
bool is_atomic(const Problem& problem);
bool is_integer(DType dtype);

/// Whether sums and products of another type are computed, and written, as f64.
bool is_wide(const Problem& problem);

/// Whether the bodies NAME_general.cu serve it: the others have the text that the stored times are of, and
/// know nothing but values of the arrays' own type.
bool is_general(const Problem& problem);

/// As Template::body and Template::preamble of the tuned templates.
std::function<std::string(const Problem&)> body_of(std::string name);
std::string general_preamble(const Problem& problem);

/// Whether places of extremes are kept as 32 bits, beside an element of 4 bytes, by the tuned templates.
bool has_short_places(const Problem& problem);
/// As Template::constants of the tuned templates, and of those that have one body for all functions.
Values general_constants(const Problem& problem);
Values all_constants(const Problem& problem);
std::string all_preamble(const Problem& problem);

/// The last arguments of the general kernels: what a mean and a variance are multiplied by.
void add_ratios(std::vector<KernelArgument>& arguments, const Problem& problem);

/// Numbers of an output: one, or a pair.
std::int64_t results(Function function);

// An array is seen as outer x length x inner, with strides for the first two.
struct Dims {
  explicit Dims(const Problem& problem);

  bool empty() const { return outer == 0 || length == 0 || inner == 0; }
  std::int64_t outputs() const { return outer * inner; }
  std::int64_t span() const;  ///< elements of x, those that the strides skip included

  std::int64_t outer, length, inner;
  std::int64_t stride, outer_stride;  // elements
};

DType output_dtype(const Problem& problem);

/// Of what a block leaves to others: a type with twice the digits, for a sum of floating-point numbers; a
/// value and its place; two sums. The base's places have 64 bits.
std::int64_t partial_bytes(const Problem& problem, bool of_base = false);

/// An atomic sum adds at most so many partial sums to an output, each in the output's precision.
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

// ---- what the tuned templates share

inline constexpr CategoricalAxis FINISH("FINISH");

std::string refuses_empty(const Dims& d);
std::string refuses_apart(const Dims& d);

Axis load_axis();
Axis items_axis();
Axis vector_axis(const Problem& problem);  ///< for contiguous elements

// What a config must keep.
Rule vector_rule(const Dims& d);
Rule early_rule();
Rule finish_rule(bool atomic);

// What makes it worth trying.
Rule flight_rule(const Problem& problem);
Rule register_rule(const Problem& problem);
Rule half_rule(const Problem& problem);

std::int64_t vector_bytes(const Problem& problem, const Config& config);

}  // namespace tunesmith::reduce_op

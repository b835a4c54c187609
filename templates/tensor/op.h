// What tensor's templates share. Private to this folder.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "generator/op.h"
#include "templates/axes.h"
#include "templates/tensor/expression.h"
#include "templates/tensor/layout.h"
#include "templates/tensor/nest.h"

namespace tunesmith::tensor_op {

inline constexpr std::array<std::string_view, most_arrays> array_names = {"x0", "x1", "x2", "x3", "x4", "x5"};
constexpr int output_argument = static_cast<int>(most_arrays);
constexpr std::string_view argument_name(int array) {  ///< -1: the output
  return array < 0 ? "out" : array_names[static_cast<std::size_t>(array)];
}

constexpr const char* same_dtype = "same";  ///< as out_dtype: the inputs'
inline const std::vector<std::string> out_dtypes = {"f32", "f64", "i32", "i64", "f16", "bf16"};

/// Elements of 8 bits are computed in i32, those of 16 in f32, all others in their own type.
DType compute_dtype(const Problem& problem);
DType out_dtype(const Problem& problem);

/// Of a kernel: the types Compute and Out, and how what is computed becomes an element.
std::string types_code(const Problem& problem);

/// Layouts of the inputs and, last, the output, as the problem has them.
Layout array_layout(const Problem& problem, int array);  ///< -1: the output

/// From a first element to the last that the layout has, both included.
std::int64_t memory(const Layout& layout);

/// Of an argument's memory.
std::int64_t array_bytes(const Problem& problem, int argument);

/// What a caller wrote, with names of their own, as the op's parameters (Op::rewritten).
Problem rewritten(const Problem& given);

/// Takes the names of arrays, joined by commas, or no_arrays. Throws UsageError.
void set_zero_outside(Expression& expression, std::string_view names);
constexpr const char* no_arrays = "none";
std::string zero_outside_text(const Expression& expression);  ///< as a problem stores it

/// Why values that are allowed one by one are not allowed together.
std::string check(const Problem& problem);

void reference(const Problem& problem, std::span<const std::vector<double>> arguments, int output,
               std::int64_t begin, std::int64_t end, std::span<double> value,
               std::span<double> permitted_error);

/// As Op::sample.
void usual_tensors(Random& random, Problem& problem);

/// Of the function and its finish, as the base's kernel reads it.
std::size_t program_words(const Expression& expression);
constexpr std::size_t most_program_words = 40;
constexpr std::size_t most_bounds = 4;  ///< dimensions of accesses that leave their arrays

/// The least of an axis's values for which `effect` is as for `value`: the one that stands for them all.
std::int64_t least_alike(std::span<const std::int64_t> values, std::int64_t value, const auto& effect) {
  const auto& its = effect(value);
  std::int64_t least = value;
  for (const std::int64_t each : values)
    if (each < least && effect(each) == its) least = each;
  return least;
}

Template base();
Template contract();
Template contract_any();
Template loops();
Template permute();
Template separable();

}  // namespace tunesmith::tensor_op

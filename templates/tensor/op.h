// SPDX-License-Identifier: Apache-2.0
// Functions that tensor's templates share. Private to this folder.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "generator/op.h"
#include "templates/axes.h"
#include "templates/tensor/notation/expression.h"
#include "templates/tensor/notation/layout.h"
#include "templates/tensor/notation/nest.h"
#include "templates/tensor/notation/problem.h"

namespace tunesmith::tensor_op {

inline const std::vector<std::string> out_dtypes = {"f32", "f64", "i32", "i64", "f16", "bf16"};

/// Elements of 8 bits are computed in i32, those of 16 in f32, all others in their own type.
DType compute_dtype(const Problem& problem);
DType out_dtype(const Problem& problem);

/// A kernel's code for the types Compute and Out, and for the conversion of a computed value to an element.
std::string types_code(const Problem& problem);

/// The error of products of f32 that a problem accepts: full is that of a rounding of f32, the others that of
/// factors that are rounded to the 11 bits of TF32, or to the 8 of BF16. Stored problems have full or tf32:
/// nothing is computed with fewer bits.
enum class Accuracy : std::uint8_t { full, tf32, bf16 };
constexpr auto names_of(Accuracy) { return std::to_array<std::string_view>({"full", "tf32", "bf16"}); }
/// True if the factors of products may be rounded.
bool may_round_factors(const Problem& problem);
/// The error of products of rounded factors, in units of the terms' magnitudes, beyond that of sums in tensor
/// cores: each factor is off by 2^-11, and a tile of 64 terms may be summed apart.
constexpr double error_of_rounded_factors = 0x1p-10 + 0x1p-17;

/// The bytes of an argument's memory.
std::int64_t array_bytes(const Problem& problem, int argument);

/// Says why values that are allowed one by one are not allowed together; empty if they are.
std::string check(const Problem& problem);

void reference(const Problem& problem, std::span<const std::vector<double>> arguments, int output,
               std::int64_t begin, std::int64_t end, std::span<double> value,
               std::span<double> permitted_error);

/// As Op::sizes and Op::kind.
Values sizes(const Problem& problem);
std::string kind(const Problem& problem);

/// Draws a problem, as Op::sample.
void usual_tensors(Random& random, Problem& problem);

/// The words of the program of the function and its finish, as the base's kernel reads it.
std::size_t program_words(const Expression& expression);
constexpr std::size_t most_program_words = 40;
constexpr std::size_t most_bounds = 4;  ///< dimensions of accesses that leave their arrays

/// The least of an axis's values that has the same `effect` as `value`; it stands for all of these.
std::int64_t least_alike(std::span<const std::int64_t> values, std::int64_t value, const auto& effect) {
  const auto& its = effect(value);
  std::int64_t least = value;
  for (const std::int64_t each : values)
    if (each < least && effect(each) == its) least = each;
  return least;
}

Template base();
Template contract();
/// True if contract multiplies the elements of a layer that reads beyond its image in the device's tensor
/// cores.
bool multiplies_borders(const Problem& problem, const DeviceFacts& device);
/// True if contract has another way for products of rounded factors. It depends on the expression and the
/// dtype alone.
bool has_rounded_products(const Problem& problem);
/// True if contract_factors has a first guess: the terms are products of factors, and worth to be copied.
bool multiplies_factors(const Problem& problem, const DeviceFacts& device);
Template contract_factors();
Template contract_any();
Template loops();
Template permute();
Template separable();

}  // namespace tunesmith::tensor_op

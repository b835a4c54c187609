// SPDX-License-Identifier: Apache-2.0
// The table of an expression's operations, with the errors of their results, and the named functions.

#include "language/expression.h"

namespace tunesmith::elementwise_op {
namespace {

// In the order of Operation; inputs and numbers have no name. The errors of functions are those of the CUDA
// C++ Programming Guide (appendix on mathematical functions), the larger one if its editions differ. The
// error of hypot is our own: the roundings of a square and a sum, halved by the root, and the rounding of the
// root.
constexpr std::array<OperationFacts, 49> table = {{
    {"", 0, false, false, 0, 0},
    {"", 0, false, false, 0, 0},
    {"negate", 1, false, false, 0, 0},
    {"add", 2, false, false, 0.5, 0.5},
    {"subtract", 2, false, false, 0.5, 0.5},
    {"multiply", 2, false, false, 0.5, 0.5},
    {"divide", 2, false, false, 0.5, 0.5},
    {"remainder_of", 2, false, false, 0, 0},
    {"less", 2, false, false, 0, 0},
    {"less_equal", 2, false, false, 0, 0},
    {"greater", 2, false, false, 0, 0},
    {"greater_equal", 2, false, false, 0, 0},
    {"equal", 2, false, false, 0, 0},
    {"not_equal", 2, false, false, 0, 0},
    {"logical_not", 1, false, false, 0, 0},
    {"logical_and", 2, false, false, 0, 0},
    {"logical_or", 2, false, false, 0, 0},
    {"choose", 3, false, false, 0, 0},
    {"abs", 1, true, false, 0, 0},
    {"min", 2, true, false, 0, 0},
    {"max", 2, true, false, 0, 0},
    {"sqrt", 1, true, true, 0.5, 0.5},
    {"rsqrt", 1, true, true, 2, 1.5},
    {"cbrt", 1, true, true, 1, 1},
    {"exp", 1, true, true, 2, 1},
    {"exp2", 1, true, true, 2, 1},
    {"expm1", 1, true, true, 1, 1},
    {"log", 1, true, true, 1, 1},
    {"log2", 1, true, true, 1, 1},
    {"log10", 1, true, true, 3, 2},
    {"log1p", 1, true, true, 2, 1},
    {"sin", 1, true, true, 2, 2},
    {"cos", 1, true, true, 2, 2},
    {"tan", 1, true, true, 4, 2},
    {"asin", 1, true, true, 4, 2},
    {"acos", 1, true, true, 3, 2},
    {"atan", 1, true, true, 2, 2},
    {"sinh", 1, true, true, 3, 2},
    {"cosh", 1, true, true, 2, 2},
    {"tanh", 1, true, true, 2, 2},
    {"erf", 1, true, true, 2, 2},
    {"erfc", 1, true, true, 6, 5},
    {"floor", 1, true, true, 0, 0},
    {"ceil", 1, true, true, 0, 0},
    {"trunc", 1, true, true, 0, 0},
    {"rint", 1, true, true, 0, 0},
    {"pow", 2, true, true, 8, 2},
    {"atan2", 2, true, true, 3, 2},
    {"hypot", 2, true, true, 1.5, 1.5},
}};
static_assert(table.size() == static_cast<std::size_t>(Operation::hypot) + 1);

// The functions of the original Numba kernels; a term that occurs twice is computed once. gaussian_pdf
// divides once, for all elements if sigma is one number; its factors are -1 / (2 ln 2) and 1 / sqrt(2 pi).
constexpr std::array<NamedFunction, 4> named = {{
    {"add", "a + b"},
    {"hypot", "hypot(a, b)"},
    {"gaussian_pdf", "exp2(-0.7213475204444817 * pow((a - b) * (1 / c), 2)) * (1 / c * 0.3989422804014327)"},
    {"polar_distance", "sqrt(pow(a * cos(b) - c * cos(d), 2) + pow(a * sin(b) - c * sin(d), 2))"},
}};

}  // namespace

const OperationFacts& facts(Operation operation) { return table[static_cast<std::size_t>(operation)]; }
std::span<const OperationFacts> operations() { return table; }
std::span<const NamedFunction> named_functions() { return named; }

DType compute_dtype(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16 ? DType::f32 : dtype; }

}  // namespace tunesmith::elementwise_op

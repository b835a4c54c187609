// SPDX-License-Identifier: Apache-2.0
// Checks that a dtype has the functions and numbers of an expression.

#include <cmath>
#include <limits>

#include "generator/number_text.h"
#include "language/expression.h"

namespace tunesmith::elementwise_op {
namespace {

double largest_float() { return static_cast<double>(std::numeric_limits<float>::max()); }

}  // namespace

std::string refuses(const Expression& expression, DType dtype) {
  const DType compute = compute_dtype(dtype);
  const bool whole = compute == DType::i32 || compute == DType::i64;
  for (const Node& node : expression.nodes) {
    if (whole && facts(node.operation).real) {
      return "The function " + std::string(facts(node.operation).name) +
             ", which it uses, is one of real numbers; the dtype has to be f32, f64, f16 or bf16, not " +
             std::string(name(dtype)) + ".";
    }
  }
  for (const Node& node : expression.nodes) {
    if (node.operation != Operation::number) continue;
    const std::string subject = "The number " +
                                (node.whole ? std::to_string(*node.whole) : printed("%.10g", node.number)) +
                                ", which it uses, ";
    if (whole) {
      const std::int64_t least = compute == DType::i64 ? std::numeric_limits<std::int64_t>::min()
                                                       : std::numeric_limits<std::int32_t>::min();
      if (!node.whole || *node.whole < least || *node.whole > -(least + 1)) {
        return subject + "is no " + std::string(name(dtype)) +
               "; numbers have to be whole, without point or exponent, and in the type's range.";
      }
    } else if (compute == DType::f32 && std::abs(node.number) > largest_float()) {
      return subject + "is beyond the range of f32, in which the function is computed.";
    }
  }
  return "";
}

}  // namespace tunesmith::elementwise_op

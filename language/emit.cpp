// SPDX-License-Identifier: Apache-2.0
// Writes an expression as C++: a function of one element, with one fixed statement per operation.

#include <algorithm>
#include <array>
#include <limits>

#include "generator/number_text.h"
#include "language/expression.h"

namespace tunesmith::elementwise_op {
namespace {

std::string variable(int node) { return "v" + std::to_string(node); }

bool is_one(const Node& node) { return node.operation == Operation::number && node.number == 1; }

}  // namespace

std::string literal(const Node& node, DType compute) {
  switch (compute) {
    case DType::i32:
    case DType::i64: {
      const std::string suffix = compute == DType::i64 ? "ll" : "";
      const std::int64_t value = node.whole.value();
      const std::int64_t least = compute == DType::i64 ? std::numeric_limits<std::int64_t>::min()
                                                       : std::numeric_limits<std::int32_t>::min();
      // The least integer has no literal of its own.
      if (value == least) return std::to_string(least + 1) + suffix + " - 1";
      return std::to_string(value) + suffix;
    }
    case DType::f64:
      return printed("%a", node.number);
    default:
      return printed("%af", static_cast<double>(static_cast<float>(node.number)));
  }
}

std::string apply_code(DType compute) {
  std::string text = "using Compute = " + std::string(cuda_type(compute)) +
                     ";\n__device__ __noinline__ Compute apply(int operation, Compute x, Compute y, Compute "
                     "z) {\n  switch (operation) {\n";
  for (std::size_t n = 0; n < operations().size(); ++n) {
    const OperationFacts& known = operations()[n];
    if (known.operands == 0 || (known.real && is_whole(compute))) continue;
    static constexpr std::array<const char*, 3> operands = {"x", "x, y", "x, y, z"};
    text += "    case " + std::to_string(n) + ":\n      return elementwise::" + std::string(known.name) +
            "(" + operands[static_cast<std::size_t>(known.operands) - 1] + ");\n";
  }
  return text + "    default:\n      return 0;\n  }\n}\n";
}

std::string code(const Expression& expression, DType dtype) {
  const DType compute = compute_dtype(dtype);
  const std::string type(cuda_type(compute));
  std::string text = "using Compute = " + type +
                     ";\nconstexpr int ARITY = " + std::to_string(expression.inputs) +
                     ";\n__device__ __forceinline__ Compute apply(const Compute (&input)[ARITY]) {\n";
  const std::vector<Node>& nodes = expression.nodes;
  std::vector<char> done(nodes.size(), 0);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (done[i] != 0) continue;
    const Node& node = nodes[i];
    const std::string left = "  const Compute " + variable(static_cast<int>(i)) + " = ";
    if (node.operation == Operation::input) {
      text += left + "input[" + std::to_string(node.input) + "];\n";
      continue;
    }
    if (node.operation == Operation::number) {
      text += left + literal(node, compute) + ";\n";
      continue;
    }
    if (node.operation == Operation::sin || node.operation == Operation::cos) {
      // Sine and cosine of the same angle share most of their work.
      const Operation other = node.operation == Operation::sin ? Operation::cos : Operation::sin;
      const auto partner = std::find_if(nodes.begin(), nodes.end(), [&](const Node& candidate) {
        return candidate.operation == other && candidate.operands == node.operands;
      });
      if (partner != nodes.end()) {
        const auto p = static_cast<std::size_t>(partner - nodes.begin());
        const std::string mine = variable(static_cast<int>(i));
        const std::string its = variable(static_cast<int>(p));
        const bool sine = node.operation == Operation::sin;
        text += "  Compute " + mine + ", " + its + ";\n  elementwise::sin_cos(" + variable(node.operands[0]) +
                ", " + (sine ? mine : its) + ", " + (sine ? its : mine) + ");\n";
        done[p] = 1;
        continue;
      }
    }
    if (node.operation == Operation::divide && is_one(nodes[static_cast<std::size_t>(node.operands[0])]) &&
        (compute == DType::f32 || compute == DType::f64)) {
      text += left + "elementwise::reciprocal(" + variable(node.operands[1]) + ");\n";
      continue;
    }
    const OperationFacts& known = facts(node.operation);
    text += left + "elementwise::" + std::string(known.name) + "(";
    for (int n = 0; n < known.operands; ++n)
      text += (n > 0 ? ", " : "") + variable(node.operands[static_cast<std::size_t>(n)]);
    text += ");\n";
  }
  return text + "  return " + variable(static_cast<int>(nodes.size()) - 1) + ";\n}\n";
}

}  // namespace tunesmith::elementwise_op

// SPDX-License-Identifier: Apache-2.0
// Takes functions of accesses apart and puts them together, for the rewrites.

#include <algorithm>

#include "templates/tensor/derive/derivation.h"

namespace tunesmith::tensor_op {

using elementwise_op::Node;
using elementwise_op::Operation;

namespace {

const Node& at(const elementwise_op::Expression& function, int place) {
  return function.nodes[static_cast<std::size_t>(place)];
}

template <typename Visit>
void each_input(const elementwise_op::Expression& function, int root, Visit visit) {
  std::vector<char> seen(function.nodes.size(), 0);
  std::vector<int> open = {root};
  while (!open.empty()) {
    const int place = open.back();
    open.pop_back();
    if (std::exchange(seen[static_cast<std::size_t>(place)], char{1}) != 0) continue;
    if (at(function, place).operation == Operation::input) visit(at(function, place).input);
    for (const int operand : at(function, place).operands)
      if (operand >= 0) open.push_back(operand);
  }
}

void add_factors(const elementwise_op::Expression& function, int root, Term& term) {
  const Node& node = at(function, root);
  if (node.operation == Operation::multiply) {
    add_factors(function, node.operands[0], term);
    add_factors(function, node.operands[1], term);
  } else if (node.operation == Operation::negate) {
    term.negative = !term.negative;
    add_factors(function, node.operands[0], term);
  } else {
    term.factors.push_back(root);
  }
}

void add_terms(const elementwise_op::Expression& function, int root, bool negative,
               std::vector<Term>& terms) {
  const Node& node = at(function, root);
  if (node.operation == Operation::add || node.operation == Operation::subtract) {
    add_terms(function, node.operands[0], negative, terms);
    add_terms(function, node.operands[1], negative != (node.operation == Operation::subtract), terms);
  } else if (node.operation == Operation::negate) {
    add_terms(function, node.operands[0], !negative, terms);
  } else {
    Term& term = terms.emplace_back(Term{negative, {}});
    add_factors(function, root, term);
  }
}

}  // namespace

Indices named(const Access& access) {
  Indices all = 0;
  for (const Affine& dimension : access.dimensions)
    for (std::size_t i = 0; i < dimension.factors.size(); ++i)
      if (dimension.factors[i] != 0) all |= bit(i);
  return all;
}

Indices Body::named(int root) const {
  Indices all = 0;
  each_input(function, root,
             [&](int input) { all |= tensor_op::named(accesses[static_cast<std::size_t>(input)]); });
  return all;
}

bool Body::reads(int root) const {
  bool found = false;
  each_input(function, root, [&](int) { found = true; });
  return found;
}

std::vector<Term> terms_of(const elementwise_op::Expression& function, int root) {
  std::vector<Term> terms;
  add_terms(function, root, false, terms);
  return terms;
}

int Composer::access(const Access& access) {
  const auto found = std::find_if(accesses_.begin(), accesses_.end(),
                                  [&](const Access& other) { return other.same(access); });
  const auto place = static_cast<int>(found - accesses_.begin());
  if (found == accesses_.end()) accesses_.push_back(access);
  return builder_.add(Node{.operation = Operation::input, .input = place});
}

int Composer::number(std::int64_t whole) {
  return builder_.add(
      Node{.operation = Operation::number, .number = static_cast<double>(whole), .whole = whole});
}

int Composer::part(const Body& from, int root) {
  Node node = at(from.function, root);
  if (node.operation == Operation::input) return access(from.accesses[static_cast<std::size_t>(node.input)]);
  for (int& operand : node.operands)
    if (operand >= 0) operand = part(from, operand);
  return builder_.add(node);
}

int Composer::product(int left, int right) {
  if (left < 0 || right < 0) return std::max(left, right);
  return builder_.add(Operation::multiply, 0, {left, right, -1});
}

int Composer::product(const Body& from, std::span<const int> factors, int left) {
  for (const int factor : factors) left = product(left, part(from, factor));
  return left;
}

int Composer::sum(int left, int right, bool negative) {
  if (left < 0) return negative ? negated(right) : right;
  return builder_.add(negative ? Operation::subtract : Operation::add, 0, {left, right, -1});
}

int Composer::negated(int node) { return builder_.add(Operation::negate, 0, {node, -1, -1}); }

Body Composer::finish(int root) {
  Body body;
  body.function = builder_.finish(root, 0);
  for (Node& node : body.function.nodes) {
    if (node.operation != Operation::input) continue;
    body.accesses.push_back(accesses_[static_cast<std::size_t>(node.input)]);
    node.input = static_cast<int>(body.accesses.size()) - 1;
  }
  body.function.inputs = static_cast<int>(body.accesses.size());
  return body;
}

}  // namespace tunesmith::tensor_op

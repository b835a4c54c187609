// SPDX-License-Identifier: Apache-2.0
#include "language/builder.h"

#include "language/scanner.h"

namespace tunesmith::elementwise_op {

int Builder::add(Node node) {
  node.non_negative = is_non_negative(node);
  const Key key = {node.operation, node.operands, node.input, node.number, node.whole};
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  if (nodes_.size() >= most_operations) {
    fail(node.position, "The expression has more than " + std::to_string(most_operations) +
                            " different operations; split it up.");
  }
  const int place = static_cast<int>(nodes_.size());
  nodes_.push_back(node);
  known_.emplace(key, place);
  return place;
}

int Builder::add(Operation operation, std::size_t position, std::array<int, 3> operands) {
  if (operation == Operation::pow && at(operands[1]).operation == Operation::number &&
      at(operands[1]).number == 2) {
    return add(Operation::multiply, position, {operands[0], operands[0], -1});
  }
  return add(Node{.operation = operation, .operands = operands, .position = position});
}

int Builder::insert(const Expression& body, std::span<const int> arguments, std::size_t position) {
  std::vector<int> place(body.nodes.size());
  for (std::size_t i = 0; i < body.nodes.size(); ++i) {
    Node node = body.nodes[i];
    node.position = position;
    if (node.operation == Operation::input) {
      place[i] = arguments[static_cast<std::size_t>(node.input)];
      continue;
    }
    for (int& operand : node.operands) {
      if (operand >= 0) operand = place[static_cast<std::size_t>(operand)];
    }
    place[i] = add(node);
  }
  return place.back();
}

Expression Builder::finish(int root, int inputs) const {
  std::vector<char> needed(nodes_.size(), 0);
  needed[static_cast<std::size_t>(root)] = 1;
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    if (needed[i] == 0) continue;
    for (const int operand : nodes_[i].operands) {
      if (operand >= 0) needed[static_cast<std::size_t>(operand)] = 1;
    }
  }
  Expression result;
  result.inputs = inputs;
  std::vector<int> place(nodes_.size(), -1);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (needed[i] == 0) continue;
    Node node = nodes_[i];
    for (int& operand : node.operands) {
      if (operand >= 0) operand = place[static_cast<std::size_t>(operand)];
    }
    place[i] = static_cast<int>(result.nodes.size());
    result.nodes.push_back(node);
  }
  return result;
}

bool Builder::is_non_negative(const Node& node) const {
  const auto operand = [&](std::size_t n) { return at(node.operands[n]).non_negative; };
  switch (node.operation) {
    case Operation::input:
      return node.non_negative;  // a reduction's input is non-negative if its argument is
    case Operation::number:
      return node.number >= 0;
    case Operation::abs:
    case Operation::exp:
    case Operation::exp2:
    case Operation::cosh:
    case Operation::erfc:
    case Operation::sqrt:
    case Operation::rsqrt:
    case Operation::hypot:
      return true;
    case Operation::multiply:
      return node.operands[0] == node.operands[1] || (operand(0) && operand(1));
    case Operation::add:
    case Operation::divide:
    case Operation::min:
      return operand(0) && operand(1);
    case Operation::max:
      return operand(0) || operand(1);
    case Operation::choose:
      return operand(1) && operand(2);
    default:
      return false;
  }
}

}  // namespace tunesmith::elementwise_op

// SPDX-License-Identifier: Apache-2.0
// Builds the list of operations for the parser: each operation once, the result last. Private to this folder.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>

#include "language/expression.h"

namespace tunesmith::elementwise_op {

/// Adds operations; an existing equal one is reused. An operation comes after its operands. Throws
/// SyntaxError (scanner.h) if there are too many.
class Builder {
 public:
  int add(Node node);  ///< returns its index
  int add(Operation operation, std::size_t position, std::array<int, 3> operands);

  /// Inserts the nodes of `body` with `arguments` for its inputs; returns the index of its result.
  int insert(const Expression& body, std::span<const int> arguments, std::size_t position);

  const std::vector<Node>& nodes() const { return nodes_; }

  /// Returns only the nodes that the node at `root` needs, which comes last; pow(x, 2), for example, leaves
  /// an unused 2.
  Expression finish(int root, int inputs) const;

 private:
  using Key = std::tuple<Operation, std::array<int, 3>, int, double, std::optional<std::int64_t>>;

  const Node& at(int place) const { return nodes_[static_cast<std::size_t>(place)]; }
  bool is_non_negative(const Node& node) const;

  std::vector<Node> nodes_;
  std::map<Key, int> known_;
};

}  // namespace tunesmith::elementwise_op

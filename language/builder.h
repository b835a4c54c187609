// SPDX-License-Identifier: Apache-2.0
// The list of operations that the parser makes: each operation once, the result last. Private to this folder.
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

/// Adds operations; an equal one that is there already is taken instead. What is added lies behind its
/// operands. Throws SyntaxError (scanner.h) where there are too many.
class Builder {
 public:
  int add(Node node);  ///< its place
  int add(Operation operation, std::size_t position, std::array<int, 3> operands);

  /// The nodes of `body` with `arguments` for its inputs; the place of its result.
  int insert(const Expression& body, std::span<const int> arguments, std::size_t position);

  const std::vector<Node>& nodes() const { return nodes_; }

  /// What the node at `root` needs, which is last then; pow(x, 2) leaves a 2 that nothing needs.
  Expression finish(int root, int inputs) const;

 private:
  using Key = std::tuple<Operation, std::array<int, 3>, int, double, std::optional<std::int64_t>>;

  const Node& at(int place) const { return nodes_[static_cast<std::size_t>(place)]; }
  bool is_non_negative(const Node& node) const;

  std::vector<Node> nodes_;
  std::map<Key, int> known_;
};

}  // namespace tunesmith::elementwise_op

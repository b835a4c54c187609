// SPDX-License-Identifier: Apache-2.0
// The selection network of a rectangle of neighbouring outputs, made for a window and a rank.
// rank_filter/network uses it.
#pragma once

#include <string>

#include "templates/rank_filter/op.h"

namespace tunesmith::rank_filter_op {

/// outputs_x columns and outputs_y rows of outputs that share sorted parts of their windows.
struct NetworkShape {
  std::int64_t outputs_x, outputs_y;
  auto operator<=>(const NetworkShape&) const = default;  // NOLINT(modernize-use-nullptr)
};

struct NetworkWriting {
  std::int64_t shift;          ///< places before a thread's first column
  std::int64_t vector;         ///< words that are read together
  std::int64_t percent_added;  ///< share of the operations that are pairs made by additions
};

/// The function `select` of network.cu.
std::string network_text(const Problem& problem, const NetworkShape& shape, const NetworkWriting& writing);

/// The number of minima and maxima of two in the network, for all of its outputs together.
std::int64_t network_operations(const Problem& problem, const NetworkShape& shape);

}  // namespace tunesmith::rank_filter_op

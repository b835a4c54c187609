// SPDX-License-Identifier: Apache-2.0
// Draws elementwise problems that users typically have: functions, shapes, and inputs that are broadcast to
// them.

#include "generator/sample.h"

#include <algorithm>

#include "templates/elementwise/op.h"
#include "templates/layout_text.h"

namespace tunesmith::elementwise_op {
namespace {

const std::vector<std::string>& expressions() {
  static const std::vector<std::string> list = {"a - b",
                                                "a * b",
                                                "a / b",
                                                "a * b + c",
                                                "a * 2 + 1",
                                                "max(a, 0)",
                                                "max(a, b)",
                                                "a < b ? a : b",
                                                "sqrt(a * a + b * b)",
                                                "exp(a)",
                                                "tanh(a)",
                                                "sin(a) * cos(b)",
                                                "1 / (1 + exp(-a))",
                                                "(a - b) * c + d"};
  return list;
}

std::vector<std::int64_t> shape(Random& random) {
  const auto size = [&](std::int64_t least, std::int64_t most) { return draw_size(random, least, most); };
  switch (random.below(10)) {
    case 0:
    case 1:
    case 2:
      return {size(2, 16384), size(2, 16384)};
    case 3:
      return {size(16, 4096), size(16, 4096), 3};
    case 4:
      return {size(2, 256), size(2, 2048), size(2, 4096)};
    case 5:
      return {size(2, 128), size(2, 512), size(4, 256), size(4, 256)};
    default:
      return {size(100, std::int64_t{1} << 28)};
  }
}

// An input: mostly of the output's shape; otherwise a number, a row, a column, one number per plane, or rows
// with gaps.
std::string input(Random& random, std::vector<std::int64_t> extents, bool first) {
  const std::size_t rank = extents.size();
  if (!first && draw_chance(random, 12)) return "1";
  if (rank == 1) return "dense";
  if (rank == 2 && draw_chance(random, 4)) {
    const std::int64_t pitch = extents[1] + 1 + static_cast<std::int64_t>(random.below(64));
    return text_of({extents, {pitch, 1}});
  }
  if (!draw_chance(random, first ? 8 : 40)) return "dense";
  if (draw_chance(random, 50)) return std::to_string(extents.back());
  std::fill(extents.begin() + 1 + static_cast<std::ptrdiff_t>(random.below(rank - 1)), extents.end(), 1);
  return joined(extents);
}

}  // namespace

void usual_arrays(Random& random, Problem& problem) {
  if (draw_chance(random, 45)) problem.set("function", draw(random, expressions()));
  const std::vector<std::int64_t> extents = shape(random);
  problem.set("shape", joined(extents));
  for (std::size_t k = 0; k < static_cast<std::size_t>(expression_of(problem).inputs); ++k)
    problem.set(input_names[k], input(random, extents, k == 0));
}

}  // namespace tunesmith::elementwise_op

// SPDX-License-Identifier: Apache-2.0
// Draws problems such as users have: the rows of attention, of layers' activations, of tables.

#include "generator/sample.h"

#include "templates/rows/op.h"

namespace tunesmith::rows_op {
namespace {

const std::vector<std::string>& others() {
  static const std::vector<std::string> list = {"y = x / sum(x)",
                                                "y = x - mean(x)",
                                                "y = (x - mean(x)) / sqrt(mean((x - mean(x)) ** 2))",
                                                "y = (x - min(x)) / (max(x) - min(x))",
                                                "y = sqrt(sum((x - z) ** 2))",
                                                "y = sum(x * z) * z"};
  return list;
}

}  // namespace

void usual_rows(Random& random, Problem& problem) {
  const bool is_word = draw_chance(random, 75);
  const std::string text =
      is_word ? std::string(words()[random.below(words().size())].name) : draw(random, others());
  const ParseResult parsed = parse(text);
  problem.set("expression", canonical_text(text));
  const std::int64_t columns = problem.integer("columns");
  for (std::size_t k = 0; k < most_inputs; ++k) {
    std::string layout(dense);
    if (k < parsed.expression.inputs.size()) {
      const std::string& name = parsed.expression.inputs[k];
      if (name == "gamma" || name == "beta") layout = "per_column";
      if (name == "x" && draw_chance(random, 6)) layout += ":" + std::to_string(round_up(columns + 1, 8));
    }
    problem.set("x" + std::to_string(k), layout);
  }
}

}  // namespace tunesmith::rows_op

// A block or less per row, with the expression known at launch: what serves every problem.

#include <algorithm>
#include <array>
#include <bit>

#include "templates/rows/op.h"

namespace tunesmith::rows_op {
namespace {

Space space(const Problem& /*problem*/) { return Space({{BLOCK, {128, 256, 512}, "threads per block"}}); }

// A row's threads have four columns each, or one where that leaves the device half empty; up to a block.
std::int64_t team_of(const Shape& shape, std::int64_t block, const DeviceFacts& device) {
  const std::int64_t threads = multiprocessors_to_fill(device) * std::int64_t{2048};
  const std::int64_t columns = shape.rows * shape.columns > threads ? 4 : 1;
  std::int64_t team = 4;
  while (team < block && team * columns < shape.columns) team *= 2;
  return team;
}

Work work(const Problem& problem, const Config& config, const DeviceFacts& device) {
  const Shape& shape = shape_of(problem);
  const Expression& e = shape.expression;
  const bool has_narrow = std::any_of(e.outputs.begin(), e.outputs.end(), [&](const Output& output) {
    return !shape.varies_along_row(output.value);
  });
  // Without columns there may be a value for each row: a sum of nothing.
  if (shape.rows == 0 || (shape.columns == 0 && !has_narrow)) return {};
  std::vector<std::int64_t> words;
  std::vector<std::int64_t> place(e.nodes.size());
  for (std::size_t n = 0; n < e.nodes.size(); ++n) {
    const Node& node = e.nodes[n];
    std::int64_t word = static_cast<std::int64_t>(node.operation);
    if (node.operation == Operation::input) {
      word |= static_cast<std::int64_t>(node.input) << 8;
      if (!is_array(node)) {
        const Reduction& reduction = e.reductions[static_cast<std::size_t>(node.input - most_inputs)];
        word |= static_cast<std::int64_t>(reduction.function) << 16 |
                place[static_cast<std::size_t>(reduction.argument)] << 24;
      }
    } else if (node.operation == Operation::number) {
      words.push_back(word);
      word = std::bit_cast<std::int64_t>(node.number);
    } else {
      for (std::size_t k = 0; k < node.operands.size(); ++k)
        if (node.operands[k] >= 0) word |= place[static_cast<std::size_t>(node.operands[k])] << (8 + 8 * k);
    }
    place[n] = static_cast<std::int64_t>(words.size());
    words.push_back(word);
  }
  std::int32_t moves = 0, wide = 0;
  std::int64_t results = -1;  // 255 in every byte
  for (std::size_t k = 0; k < shape.inputs.size(); ++k) {
    const Kind kind = shape.inputs[k].kind;
    if (kind == Kind::matrix || kind == Kind::per_column) moves |= 1 << k;
  }
  for (std::size_t k = 0; k < most_outputs; ++k) {
    const bool is_there = k < e.outputs.size();
    if (is_there && shape.varies_along_row(e.outputs[k].value)) wide |= 1 << k;
    if (is_there) results ^= (255 ^ place[static_cast<std::size_t>(e.outputs[k].value)]) << (8 * k);
  }
  std::vector<KernelArgument> arguments = kernel_arguments(problem);
  const std::int64_t team = team_of(shape, config[BLOCK], device);
  arguments.emplace_back(int32(team));
  arguments.emplace_back(moves);
  arguments.emplace_back(int32(std::ssize(words)));
  arguments.emplace_back(results);
  arguments.emplace_back(wide);
  words.resize(most_program_words, 0);
  for (const std::int64_t word : words) arguments.emplace_back(word);
  // What fills the device; they walk the rows in strides.
  const std::int64_t most_blocks = multiprocessors_to_fill(device) * std::int64_t{16};
  return {.steps = {Launch{.kernel = "rows_base",
                           .grid = {std::min(ceil_divide(shape.rows, config[BLOCK] / team), most_blocks)},
                           .block = {config[BLOCK]},
                           .arguments = std::move(arguments)}}};
}

}  // namespace

std::size_t program_words(const Expression& expression) {
  std::size_t words = 0;
  for (const Node& node : expression.nodes) words += node.operation == Operation::number ? 2 : 1;
  return words;
}

Template base() {
  return {.name = "base",
          .what = "A block or less per row, with the expression known at launch; serves every problem.",
          .kernels = {"rows_base"},
          .preamble =
              [](const Problem& problem) {
                return elementwise_op::apply_code(elementwise_op::compute_dtype(dtype_of(problem)));
              },
          .space = space,
          .work = work};
}

}  // namespace tunesmith::rows_op

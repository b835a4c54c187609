// SPDX-License-Identifier: Apache-2.0
// The template `base`: the loops as they are written, with extents, strides and function known at launch. It
// serves every problem.

#include <bit>
#include <numeric>

#include "templates/tensor/op.h"

namespace tunesmith::tensor_op {
namespace {

Space space(const Problem& /*problem*/) {
  return Space({block_axis({256, 128, 512}), {BLOCKS, {4096, 1024, 65536}, "blocks of the grid, at most"}});
}

bool is_plain_product(const Expression& e) {
  const std::vector<int> factors = product_of(e.function);
  if (e.finish.is_there() || factors.size() != e.accesses.size()) return false;
  for (std::size_t k = 0; k < factors.size(); ++k)
    if (factors[k] != static_cast<int>(k)) return false;
  return true;
}

// The numbers of struct Bounds in base.cu. Factors have no more than 22 bits, extents 41.
std::vector<std::int64_t> bounds_of(const Nest& nest) {
  std::vector<std::int64_t> numbers;
  std::size_t left = most_bounds;
  const auto add = [&](std::int64_t access, const Bound& bound) {
    numbers.push_back(bound.start);
    numbers.push_back(bound.extent | access << 48);
    std::vector<std::int64_t> strides(bound.strides.rbegin(), bound.strides.rend());
    strides.resize(most_indices);
    for (std::size_t d = 0; d < most_indices; d += 2)
      numbers.push_back((strides[d] & 0xffffffff) | strides[d + 1] << 32);
    --left;
  };
  for (std::size_t k = 0; k < nest.inputs.size(); ++k)
    for (const Bound& bound : nest.inputs[k].bounds) add(static_cast<std::int64_t>(k), bound);
  while (left > 0) add(most_arrays, Bound());
  return numbers;
}

// The numbers of struct Nest in base.cu: the innermost dimension first, reduced ones before free ones.
std::vector<std::int64_t> numbers_of(const Nest& nest, const std::vector<View>& views) {
  std::vector<std::int64_t> numbers = {nest.outputs(), nest.terms()};
  const auto add = [&](const std::vector<std::int64_t>& each, std::int64_t none) {
    for (std::size_t d = 0; d < most_indices; ++d)
      numbers.push_back(d < each.size() ? each[each.size() - 1 - d] : none);
  };
  add(nest.extents, 1);
  numbers.push_back(nest.output.start);
  add(nest.output.strides, 0);
  for (const View& view : views) numbers.push_back(view.start);
  for (const View& view : views) add(view.strides, 0);
  return numbers;
}

// The arguments of a launch: the accesses' arrays, the output and the nest. A missing access reads the first
// element of the first access's array.
std::vector<KernelArgument> arguments_of(const Nest& nest, Reduction reduction, std::int32_t out_type) {
  std::vector<KernelArgument> arguments;
  std::vector<View> views = nest.inputs;
  views.resize(most_arrays, View{.array = views.front().array, .start = 0, .strides = {}});
  for (const View& view : views) arguments.emplace_back(ArgumentPointer{view.array});
  arguments.emplace_back(ArgumentPointer{output_argument});
  arguments.emplace_back(numbers_of(nest, views));
  arguments.emplace_back(static_cast<std::int32_t>(nest.rank() - nest.free));
  arguments.emplace_back(static_cast<std::int32_t>(nest.rank()));
  arguments.emplace_back(static_cast<std::int32_t>(reduction));
  arguments.emplace_back(out_type);
  return arguments;
}

// Appends a function to the words. Its inputs are accesses; the last one may be the reduced value.
void add_program(std::vector<std::int64_t>& words, const language::Expression& function,
                 const std::vector<int>& inputs, DType compute) {
  std::vector<std::int64_t> result(function.nodes.size());
  for (std::size_t n = 0; n < function.nodes.size(); ++n) {
    const language::Node& node = function.nodes[n];
    std::int64_t word = static_cast<std::int64_t>(node.operation);
    if (node.operation == language::Operation::input) {
      word |= static_cast<std::int64_t>(inputs[static_cast<std::size_t>(node.input)]) << 8;
    } else if (node.operation == language::Operation::number) {
      words.push_back(word);
      word = is_whole(compute) ? node.whole.value() : std::bit_cast<std::int64_t>(node.number);
    } else {
      for (std::size_t k = 0; k < node.operands.size(); ++k)
        if (node.operands[k] >= 0) word |= result[static_cast<std::size_t>(node.operands[k])] << (8 + 8 * k);
    }
    result[n] = static_cast<std::int64_t>(words.size());
    words.push_back(word);
  }
}

Work work(const Problem& problem, const Config& config) {
  const Nest nest = fused(nest_of(problem));
  if (nest.outputs() == 0) return {};
  const Expression& e = expression_of(problem);
  const auto type = std::find(out_dtypes.begin(), out_dtypes.end(), problem.string("out_dtype"));
  const bool is_same = type == out_dtypes.end();
  std::vector<KernelArgument> arguments = arguments_of(
      nest, e.reduction, is_same ? 0 : static_cast<std::int32_t>(1 + (type - out_dtypes.begin())));
  const bool is_product = is_plain_product(e) && nest.bounds() == 0;
  if (is_product) {
    arguments.emplace_back(static_cast<std::int32_t>(e.accesses.size()));
  } else {
    std::vector<std::int64_t> words;
    std::vector<int> of_terms(e.accesses.size()), of_finish = {static_cast<int>(most_arrays)};
    std::iota(of_terms.begin(), of_terms.end(), 0);
    of_terms.resize(static_cast<std::size_t>(e.function.inputs));
    of_finish.insert(of_finish.end(), e.finish.accesses.begin(), e.finish.accesses.end());
    std::int32_t reads = 0;
    for (const int input : of_terms) reads |= 1 << input;
    for (const int input : e.finish.accesses) reads |= 1 << (8 + input);
    add_program(words, e.function, of_terms, compute_dtype(problem));
    arguments.emplace_back(reads);
    arguments.emplace_back(static_cast<std::int32_t>(words.size()));
    add_program(words, e.finish.function, of_finish, compute_dtype(problem));
    arguments.emplace_back(static_cast<std::int32_t>(words.size()));
    arguments.emplace_back(static_cast<std::int32_t>(nest.bounds()));
    words.resize(most_program_words, 0);
    arguments.emplace_back(std::move(words));
    arguments.emplace_back(bounds_of(nest));
  }
  return {.steps = {Launch{.kernel = is_product ? "tensor_base_product" : "tensor_base",
                           .grid = {std::min(ceil_divide(nest.outputs(), config[BLOCK]), config[BLOCKS])},
                           .block = {config[BLOCK]},
                           .arguments = std::move(arguments)}}};
}

}  // namespace

std::size_t program_words(const Expression& e) {
  std::size_t words = 0;
  for (const language::Expression* const function : {&e.function, &e.finish.function})
    for (const language::Node& node : function->nodes)
      words += node.operation == language::Operation::number ? 2 : 1;
  return words;
}

Template base() {
  return {
      .name = "base",
      .what = "The loops as they are written, a thread for each element of the output; serves every problem.",
      .kernels = {"tensor_base_product", "tensor_base"},
      .preamble = [](const Problem& problem) { return language::apply_code(compute_dtype(problem)); },
      .space = space,
      .work = work};
}

}  // namespace tunesmith::tensor_op

// The loops as they are written, with extents, strides and function known at launch: what serves every
// problem.

#include <bit>

#include "templates/tensor/op.h"

namespace tunesmith::tensor_op {
namespace {

constexpr IntegerAxis BLOCK("BLOCK"), BLOCKS("BLOCKS");

Space space(const Problem& /*problem*/) {
  return Space({{BLOCK, {256, 128, 512}, "threads per block"},
                {BLOCKS, {4096, 1024, 65536}, "blocks of the grid, at most"}});
}

// The operations that a program may name, for every expression alike.
std::string preamble(const Problem& problem) {
  const DType dtype = dtype_of(problem);
  // Bytes are only copied, and what is computed of none has to compile all the same.
  const DType compute = dtype == DType::u8 ? DType::i32 : elementwise_op::compute_dtype(dtype);
  std::string text = "using Compute = " + std::string(cuda_type(compute)) +
                     ";\n__device__ __noinline__ Compute apply(int operation, Compute x, Compute y, Compute "
                     "z) {\n  switch (operation) {\n";
  const auto operations = elementwise_op::operations();
  for (std::size_t n = 0; n < operations.size(); ++n) {
    const elementwise_op::OperationFacts& known = operations[n];
    if (known.operands == 0 || (known.real && is_whole(compute))) continue;
    static constexpr std::array<const char*, 3> operands = {"x", "x, y", "x, y, z"};
    text += "    case " + std::to_string(n) + ":\n      return elementwise::" + std::string(known.name) +
            "(" + operands[static_cast<std::size_t>(known.operands) - 1] + ");\n";
  }
  return text + "    default:\n      return 0;\n  }\n}\n";
}

bool is_plain_product(const Expression& e) {
  const std::vector<int> factors = product_of(e.function);
  if (factors.size() != e.accesses.size()) return false;
  for (std::size_t k = 0; k < factors.size(); ++k)
    if (factors[k] != static_cast<int>(k)) return false;
  return true;
}

// The accesses' arrays and the output, numbers of the nest, and extents and strides, the innermost first,
// reduced ones before free ones. An access that is not there reads the first element of the first one's
// array.
std::vector<KernelArgument> arguments_of(const Nest& nest, Reduction reduction) {
  std::vector<KernelArgument> arguments;
  arguments.reserve((most_arrays + 2) * (most_indices + 2) + most_program_words);  // some are left over
  std::vector<View> views = nest.inputs;
  views.resize(most_arrays, View{.array = views.front().array, .start = 0, .strides = {}});
  for (const View& view : views) arguments.emplace_back(ArgumentPointer{view.array});
  arguments.emplace_back(ArgumentPointer{output_argument});
  arguments.emplace_back(nest.outputs());
  arguments.emplace_back(nest.terms());
  arguments.emplace_back(static_cast<std::int32_t>(nest.rank() - nest.free));
  arguments.emplace_back(static_cast<std::int32_t>(nest.rank()));
  arguments.emplace_back(static_cast<std::int32_t>(reduction));
  arguments.emplace_back(nest.output.start);
  for (const View& view : views) arguments.emplace_back(view.start);
  const auto add = [&](const std::vector<std::int64_t>& each, std::int64_t none) {
    for (std::size_t d = 0; d < most_indices; ++d)
      arguments.emplace_back(d < each.size() ? each[each.size() - 1 - d] : none);
  };
  add(nest.extents, 1);
  add(nest.output.strides, 0);
  for (const View& view : views) add(view.strides, 0);
  return arguments;
}

std::vector<std::int64_t> program_of(const Expression& e, DType compute) {
  std::vector<std::int64_t> words;
  std::vector<std::int64_t> result(e.function.nodes.size());
  for (std::size_t n = 0; n < e.function.nodes.size(); ++n) {
    const elementwise_op::Node& node = e.function.nodes[n];
    std::int64_t word = static_cast<std::int64_t>(node.operation);
    if (node.operation == elementwise_op::Operation::input) {
      word |= node.input << 8;
    } else if (node.operation == elementwise_op::Operation::number) {
      words.push_back(word);
      word = is_whole(compute) ? node.whole.value() : std::bit_cast<std::int64_t>(node.number);
    } else {
      for (std::size_t k = 0; k < node.operands.size(); ++k)
        if (node.operands[k] >= 0) word |= result[static_cast<std::size_t>(node.operands[k])] << (8 + 8 * k);
    }
    result[n] = static_cast<std::int64_t>(words.size());
    words.push_back(word);
  }
  return words;
}

Work work(const Problem& problem, const Config& config) {
  const Nest nest = fused(nest_of(problem));
  if (nest.outputs() == 0) return {};
  const Expression& e = expression_of(problem);
  std::vector<KernelArgument> arguments = arguments_of(nest, e.reduction);
  const bool is_product = is_plain_product(e);
  if (is_product) {
    arguments.emplace_back(static_cast<std::int32_t>(e.accesses.size()));
  } else {
    std::vector<std::int64_t> words = program_of(e, elementwise_op::compute_dtype(dtype_of(problem)));
    arguments.emplace_back(static_cast<std::int32_t>(words.size()));
    words.resize(most_program_words, 0);
    for (const std::int64_t word : words) arguments.emplace_back(word);
  }
  return {.steps = {Launch{.kernel = is_product ? "tensor_base_product" : "tensor_base",
                           .grid = {std::min(ceil_divide(nest.outputs(), config[BLOCK]), config[BLOCKS])},
                           .block = {config[BLOCK]},
                           .arguments = std::move(arguments)}}};
}

}  // namespace

std::size_t program_words(const Expression& e) {
  std::size_t words = e.function.nodes.size();
  for (const elementwise_op::Node& node : e.function.nodes)
    if (node.operation == elementwise_op::Operation::number) ++words;
  return words;
}

Template base() {
  return {
      .name = "base",
      .what = "The loops as they are written, a thread for each element of the output; serves every problem.",
      .kernels = {"tensor_base_product", "tensor_base"},
      .preamble = preamble,
      .space = space,
      .work = work};
}

}  // namespace tunesmith::tensor_op

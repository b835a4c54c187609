// SPDX-License-Identifier: Apache-2.0
// rows/base: a team of threads per row, with the expression known at launch. It serves every problem.

#include <algorithm>
#include <array>
#include <bit>

#include "templates/rows/op.h"

namespace tunesmith::rows_op {
namespace {

// The kinds of operands and the bits of an instruction, as in base.cu.
enum class Operand { before, input, row_input, place, slot, number, none };
constexpr std::int64_t none_there = 255;
constexpr int operation_reduce = 0, operation_result = 1;
constexpr int first_operand = 8, operand_bits = 10, first_destination = 38, first_sweep = 46;
constexpr std::size_t words_at_launch = 108;
// Arrays, which program_words() counts, take no words here; results may take some.
static_assert(words_at_launch >= most_program_words + most_outputs);

// Operations that are computed for several elements without a call for each.
constexpr std::array frequent = {Operation::add, Operation::subtract, Operation::multiply, Operation::divide,
                                 Operation::exp, Operation::min,      Operation::max};

std::string frequent_code() {
  std::string text =
      "template <int N>\n__device__ __forceinline__ bool apply_frequent(int operation, Compute (&x)[N], "
      "const Compute (&y)[N]) {\n  switch (operation) {\n";
  for (const Operation operation : frequent) {
    const language::OperationFacts& known = language::facts(operation);
    text += "    case " + std::to_string(static_cast<int>(operation)) +
            ":\n#pragma unroll\n      for (int e = 0; e < N; ++e) x[e] = elementwise::" +
            std::string(known.name) + (known.operands == 1 ? "(x[e]" : "(x[e], y[e]") +
            ");\n      return true;\n";
  }
  return text + "    default:\n      return false;\n  }\n}\n";
}

struct Program {
  std::vector<std::int64_t> words;
  std::size_t row_words = 0, element_words = 0;  // where the instructions of rows and of elements begin
  std::uint64_t functions = 0, sweeps_of = 0;    // of the reductions, 4 bits each
  int places = 0, slots = 0;                     // of a thread: values of its row, and of its elements
};

// Writes the expression as instructions: a row's own values in the order of the sweeps that need them, and
// elements' values in the order of the nodes. A value that only the next instruction needs stays where it is;
// other values have a slot up to their last use.
class Writer {
 public:
  Writer(const Shape& shape, DType compute)
      : shape_(shape), e_(shape.expression), where_(e_.nodes.size(), operand(Operand::none, 0)) {
    number_reductions();
    for (std::size_t i = 0; i < e_.nodes.size(); ++i) {
      const Node& node = e_.nodes[i];
      if (is_array(node)) {
        where_[i] = operand(varies(i) ? Operand::input : Operand::row_input, node.input);
      } else if (node.operation == Operation::number) {
        where_[i] = operand(Operand::number, static_cast<int>(made_.words.size()));
        made_.words.push_back(compute == DType::f64
                                  ? std::bit_cast<std::int64_t>(node.number)
                                  : std::bit_cast<std::int32_t>(static_cast<float>(node.number)));
      }
    }
    made_.row_words = made_.words.size();
    write_row_values();
    made_.element_words = made_.words.size();
    write_elements();
  }

  const Program& made() const { return made_; }

 private:
  static std::size_t at(int place) { return static_cast<std::size_t>(place); }
  static std::int64_t operand(Operand kind, int number) {
    return static_cast<std::int64_t>(kind) | std::int64_t{number} << 3;
  }

  bool varies(std::size_t node) const { return shape_.varies[node] != 0; }
  static bool is_commutative(Operation operation) {
    return operation == Operation::add || operation == Operation::multiply || operation == Operation::min ||
           operation == Operation::max;
  }
  bool is_computed(std::size_t node) const { return e_.nodes[node].operands[0] >= 0; }
  static std::int64_t sweep_bit(int sweep) { return std::int64_t{1} << sweep; }

  void write(int operation, const std::array<std::int64_t, 3>& operands, std::int64_t destination,
             std::int64_t sweeps) {
    std::int64_t word = operation | destination << first_destination | sweeps << first_sweep;
    for (std::size_t k = 0; k < operands.size(); ++k)
      word |= operands[k] << (first_operand + operand_bits * static_cast<int>(k));
    made_.words.push_back(word);
  }
  void write(int operation, std::int64_t of, std::size_t destination, std::int64_t sweeps) {
    write(operation, {of, where_none, where_none}, static_cast<std::int64_t>(destination), sweeps);
  }

  void number_reductions() {
    for (int sweep = 0; sweep < shape_.passes; ++sweep) {
      for (const int r : shape_.reductions_of(sweep)) {
        const Reduction& reduction = e_.reductions[at(r)];
        const std::size_t n = order_.size();
        made_.functions |= static_cast<std::uint64_t>(reduction.function) << (4 * n);
        made_.sweeps_of |= static_cast<std::uint64_t>(sweep) << (4 * n);
        where_[at(reduction.result)] = operand(Operand::place, made_.places);
        made_.places += 2;  // the total of 16 steps, and the total of all steps before them
        order_.push_back(r);
      }
    }
  }

  void write_row_values() {
    for (int sweep = 0; sweep <= shape_.passes; ++sweep) {
      for (std::size_t i = 0; i < e_.nodes.size(); ++i) {
        if (varies(i) || !is_computed(i) || shape_.passes_before[i] != sweep) continue;
        write(static_cast<int>(e_.nodes[i].operation), operands_of(i), made_.places, sweep_bit(sweep));
        where_[i] = operand(Operand::place, made_.places++);
      }
      for (std::size_t k = 0; k < e_.outputs.size(); ++k) {
        const std::size_t value = at(e_.outputs[k].value);
        if (!varies(value) && shape_.passes_before[value] == sweep)
          write(operation_result, where_[value], k, sweep_bit(sweep));
      }
    }
  }

  std::array<std::int64_t, 3> operands_of(std::size_t node) const {
    std::array<std::int64_t, 3> found = {where_none, where_none, where_none};
    for (std::size_t k = 0; k < found.size(); ++k)
      if (const int below = e_.nodes[node].operands[k]; below >= 0) found[k] = where_[at(below)];
    return found;
  }

  // Writes the reductions and results of the node, which is at `of`.
  void write_uses(std::size_t node, std::int64_t of) {
    for (std::size_t n = 0; n < order_.size(); ++n) {
      if (at(e_.reductions[at(order_[n])].argument) == node)
        write(operation_reduce, of, n, sweep_bit(static_cast<int>(made_.sweeps_of >> (4 * n) & 15)));
    }
    for (std::size_t k = 0; k < e_.outputs.size(); ++k)
      if (varies(node) && at(e_.outputs[k].value) == node)
        write(operation_result, of, k, sweep_bit(shape_.passes));
  }

  std::vector<std::int64_t> sweeps_of_nodes() const {
    std::vector<std::int64_t> sweeps(e_.nodes.size(), 0);
    for (int sweep = 0; sweep <= shape_.passes; ++sweep) {
      std::vector<int> roots;
      for (const int r : shape_.reductions_of(sweep)) roots.push_back(e_.reductions[at(r)].argument);
      for (const Output& output : e_.outputs)
        if (sweep == shape_.passes && varies(at(output.value))) roots.push_back(output.value);
      for (const int node : shape_.needed(roots)) sweeps[at(node)] |= sweep_bit(sweep);
    }
    return sweeps;
  }

  void write_elements() {
    const std::vector<std::int64_t> sweeps = sweeps_of_nodes();
    std::vector<std::size_t> computed;
    for (std::size_t i = 0; i < e_.nodes.size(); ++i) {
      if (!varies(i) || !is_computed(i)) {
        write_uses(i, where_[i]);
      } else if (sweeps[i] != 0) {
        computed.push_back(i);
      }
    }
    // True if the value before the n-th is its first operand, or may be by commuting.
    const auto follows = [&](std::size_t n) {
      const Node& node = e_.nodes[computed[n]];
      const auto is_before = [&](int operand) {
        return n > 0 && operand == static_cast<int>(computed[n - 1]);
      };
      return is_before(node.operands[0]) || (is_commutative(node.operation) && is_before(node.operands[1]));
    };
    // By node: the last place in `computed` that needs it from a slot.
    std::vector<std::size_t> last(e_.nodes.size(), 0);
    for (std::size_t n = 0; n < computed.size(); ++n)
      for (const int below : e_.nodes[computed[n]].operands)
        if (below >= 0 && !(follows(n) && at(below) == computed[n - 1])) last[at(below)] = n;
    std::vector<std::size_t> taken;  // by slot: the last place in `computed` that needs its value
    for (std::size_t n = 0; n < computed.size(); ++n) {
      const std::size_t node = computed[n];
      std::array<std::int64_t, 3> operands = operands_of(node);
      if (follows(n)) {
        for (std::size_t k = 0; k < operands.size(); ++k)
          if (e_.nodes[node].operands[k] == static_cast<int>(computed[n - 1]))
            operands[k] = operand(Operand::before, 0);
        if (operands[0] != operand(Operand::before, 0)) std::swap(operands[0], operands[1]);
      }
      std::int64_t destination = none_there;
      if (last[node] >
          n) {  // a slot may become free with this very instruction, which reads before it writes
        const auto free = std::find_if(taken.begin(), taken.end(), [n](std::size_t end) { return end <= n; });
        destination = free - taken.begin();
        if (free == taken.end()) taken.push_back(0);
        taken[static_cast<std::size_t>(destination)] = last[node];
        where_[node] = operand(Operand::slot, static_cast<int>(destination));
      }
      write(static_cast<int>(e_.nodes[node].operation), operands, destination, sweeps[node]);
      write_uses(node, operand(Operand::before, 0));
    }
    made_.slots = static_cast<int>(taken.size());
  }

  static constexpr std::int64_t where_none = static_cast<std::int64_t>(Operand::none);

  const Shape& shape_;
  const Expression& e_;
  Program made_;
  std::vector<int> order_;  // the reductions, those of earlier sweeps first
  std::vector<std::int64_t> where_;
};

// For f64, 1024 threads have too few registers.
Space space(const Problem& problem) {
  const bool is_wide = dtype_of(problem) == DType::f64;
  return Space({{BLOCK, is_wide ? std::vector<Value>{512, 256} : std::vector<Value>{1024, 512, 256},
                 "most threads per block"}});
}

// A row's threads, whole warps or a power of two, hold all of the row at once, up to a block. A block has as
// many threads as leave room for other blocks, or for its threads' values.
struct Layout {
  std::int64_t threads, team, shared_bytes;
};
Layout layout_of(const Shape& shape, const Program& program, DType compute, std::int64_t most,
                 const DeviceFacts& device) {
  const std::int64_t elements = compute == DType::f64 ? 4 : 8;
  constexpr std::int64_t most_bytes = 40 << 10, usual = 128, warp = 32;
  const std::int64_t bytes_of_thread = (program.places + elements * program.slots) * bytes(compute);
  if (shape.rows > multiprocessors_to_fill(device)) most = std::min<std::int64_t>(most, 256);
  while (most > warp && most * bytes_of_thread > most_bytes) most /= 2;
  std::int64_t team = 1;
  while (team < warp && team * elements < shape.columns) team *= 2;
  if (team == warp) team = std::min(most, round_up(ceil_divide(shape.columns, elements), warp));
  const std::int64_t threads = team * std::max<std::int64_t>(1, std::min(usual, most) / team);
  return {.threads = threads, .team = team, .shared_bytes = threads * bytes_of_thread};
}

Work work(const Problem& problem, const Config& config, const DeviceFacts& device) {
  const Shape& shape = shape_of(problem);
  const Expression& e = shape.expression;
  const auto is_wide = [&](const Output& output) { return shape.varies_along_row(output.value); };
  // Without columns a result may still have a value for each row: a sum of nothing.
  if (shape.rows == 0 || (shape.columns == 0 && std::all_of(e.outputs.begin(), e.outputs.end(), is_wide)))
    return {};
  const DType compute = language::compute_dtype(dtype_of(problem));
  const Program program = Writer(shape, compute).made();
  const Layout layout = layout_of(shape, program, compute, config[BLOCK], device);
  std::vector<KernelArgument> arguments = kernel_arguments(problem);
  const bool walks_for_results = std::any_of(e.outputs.begin(), e.outputs.end(), is_wide);
  for (const std::size_t number : {static_cast<std::size_t>(layout.team), program.row_words,
                                   program.element_words, program.words.size(), e.reductions.size()})
    arguments.emplace_back(int32(static_cast<std::int64_t>(number)));
  arguments.emplace_back(static_cast<std::int64_t>(program.functions));
  arguments.emplace_back(static_cast<std::int64_t>(program.sweeps_of));
  for (const std::int64_t number :
       {std::int64_t{shape.passes}, std::int64_t{shape.passes + (walks_for_results ? 1 : 0)},
        std::int64_t{program.places}})
    arguments.emplace_back(int32(number));
  std::vector<std::int64_t> words = program.words;
  words.resize(words_at_launch, 0);
  arguments.emplace_back(std::move(words));
  // The blocks are as many as fill the device; they walk the rows in strides.
  const std::int64_t most_blocks = multiprocessors_to_fill(device) * std::int64_t{16};
  const std::int64_t rows_at_once = layout.threads / layout.team;
  return {.steps = {Launch{.kernel = "rows_base",
                           .grid = {std::min(ceil_divide(shape.rows, rows_at_once), most_blocks)},
                           .block = {layout.threads},
                           .dynamic_shared_bytes = layout.shared_bytes,
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
          .what = "A team of threads per row, with the expression known at launch; serves every problem.",
          .kernels = {"rows_base"},
          .preamble =
              [](const Problem& problem) {
                return language::apply_code(language::compute_dtype(dtype_of(problem))) + frequent_code();
              },
          .space = space,
          .work = work};
}

}  // namespace tunesmith::rows_op

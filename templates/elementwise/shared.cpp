// What elementwise's templates share: rules of a thread's work, kernel arguments, kinds of inputs.

#include "templates/elementwise/op.h"

namespace tunesmith::elementwise_op {

// A plan asks for either some ten times or more.
const Expression& expression_of(const Problem& problem) {
  thread_local std::pair<std::string, Expression> last;
  const std::string& function = problem.word("function");
  if (last.first != function) last = {function, parse(function).expression};
  return last.second;
}

const Layout& layout_of(const Problem& problem) {
  thread_local std::pair<Problem, Layout> last;
  if (last.first != problem) {
    last.first = {};  // an exception leaves no layout of another problem
    last.second = layout_of(problem, expression_of(problem).inputs);
    last.first = problem;
  }
  return last.second;
}

bool is_scalar(const InputLayout& input) {
  return input.used && std::all_of(input.strides.begin(), input.strides.end(),
                                   [](std::int64_t stride) { return stride == 0; });
}

std::string refuses_gaps(const Problem& problem) {
  const Layout& layout = layout_of(problem);
  for (std::size_t k = 0; k < layout.inputs.size(); ++k) {
    const InputLayout& input = layout.inputs[k];
    if (input.used && !input.is_output_like && !is_scalar(input)) {
      return "The input " + std::string(input_names[k]) +
             " is repeated along some dimensions only, or has gaps; the template broadcast serves that.";
    }
  }
  return "";
}

Axis vector_axis(const Problem& problem) {
  std::vector<Value> values;
  for (std::int64_t n = 16 / bytes(dtype_of(problem)); n >= 1; n /= 2) values.emplace_back(n);
  return {VECTOR, values, "elements of an access"};
}

// A hostile expression may have 512 operations, a function of real numbers some dozens of instructions.
std::vector<Rule> thread_must(const Problem& problem) {
  std::int64_t operations = 0;
  for (const Node& node : expression_of(problem).nodes) {
    const OperationFacts& known = facts(node.operation);
    operations += known.called && known.real ? 16 : 1;
  }
  return {
      {"Unrolled code has at most 4096 operations, a function of real numbers counted as 16; more would take "
       "the compiler minutes.",
       [=](const Config& c) {
         const std::int64_t unrolled = c[ITEMS] * c[VECTOR];
         return unrolled == 1 || operations * unrolled <= 4096;
       }}};
}

std::vector<Rule> thread_worth(const Problem& problem) {
  std::int64_t distinct = 0;  // elements of the inputs
  for (const InputLayout& input : layout_of(problem).inputs) distinct += input.distinct;
  const std::int64_t bytes_each = expression_of(problem).inputs * bytes(dtype_of(problem));
  return {
      {"A thread holds at most 256 bytes of inputs, or 64 where a multiprocessor has room for 2048 threads: "
       "with more it spills registers.",
       [=](const Config& c) {
         const std::int64_t held = bytes_each * c[ITEMS] * c[VECTOR];
         return held <= (c[RESIDENT_THREADS] == 2048 ? 64 : 256) || c[ITEMS] * c[VECTOR] == 1;
       }},
      half_rule(distinct * bytes(dtype_of(problem))),
      trigger_rule()};
}

std::vector<KernelArgument> pointers() {
  std::vector<KernelArgument> arguments;
  for (int k = 0; k <= most_inputs; ++k) arguments.emplace_back(ArgumentPointer{k});
  return arguments;
}

void add_strides(std::vector<KernelArgument>& arguments, const Layout& layout) {
  for (const InputLayout& input : layout.inputs) {
    for (std::size_t dim = 0; dim < most_dimensions; ++dim)
      arguments.emplace_back(dim < input.strides.size() ? input.strides[dim] : std::int64_t{0});
  }
}

std::int64_t alignment_bytes(const Problem& problem, const Config& config) {
  return config[VECTOR] * bytes(dtype_of(problem));
}

}  // namespace tunesmith::elementwise_op

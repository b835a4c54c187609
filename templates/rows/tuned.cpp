// The axes, rules and arguments that several of the templates share.

#include <algorithm>

#include "templates/rows/op.h"

namespace tunesmith::rows_op {

std::string refuses_empty(const Problem& problem) {
  const Shape& shape = shape_of(problem);
  if (shape.empty())
    return "There are rows=" + std::to_string(shape.rows) + " of columns=" + std::to_string(shape.columns) +
           "; take the base template.";
  if (shape.columns < index_limit) return "";
  return "A row of columns=" + std::to_string(shape.columns) +
         " is longer than the 2^30 that this template's indices reach; take the base template.";
}

Axis load_axis() {
  return {LOAD, categories({"plain", "streaming", "no_allocate"}),
          "hint of the loads of matrices: none, first to leave the caches, past the first-level cache"};
}

Axis resident_axis() { return resident_warps_axis({32, 16, 48, 64}); }

Axis vector_axis(const Problem& problem) {
  std::vector<Value> values;
  for (std::int64_t vector = 16 / bytes(dtype_of(problem)); vector > 0; vector /= 2)
    values.emplace_back(vector);
  return {VECTOR, std::move(values), "elements per access"};
}

Rule vector_rule(const Problem& problem) {
  return {"Rows of all matrices begin at the same place between multiples of VECTOR.",
          [congruent = shape_of(problem).congruent](const Config& c) { return c[VECTOR] <= congruent; }};
}

std::int64_t least_items(const Problem& problem, std::int64_t threads, std::int64_t vector) {
  const Shape& shape = shape_of(problem);
  const std::int64_t before = vector > shape.aligned ? vector - 1 : 0;
  return ceil_divide(shape.columns + before, std::max<std::int64_t>(1, threads * vector));
}

std::int64_t held_bytes(const Problem& problem, std::int64_t elements) {
  const Shape& shape = shape_of(problem);
  const auto matrices = std::count_if(shape.inputs.begin(), shape.inputs.end(),
                                      [](const InputLayout& input) { return input.kind == Kind::matrix; });
  // Of 16 bits too: what is computed of an element has 32.
  return std::max<std::int64_t>(1, matrices) * elements * std::max<std::int64_t>(4, bytes(dtype_of(problem)));
}

std::vector<KernelArgument> kernel_arguments(const Problem& problem) {
  const Shape& shape = shape_of(problem);
  std::vector<KernelArgument> arguments;
  for (int k = 0; k < most_inputs + most_outputs; ++k) arguments.emplace_back(ArgumentPointer{k});
  for (std::size_t k = 0; k < most_inputs; ++k) {
    const bool is_there = k < shape.inputs.size();
    const bool is_per_row = is_there && shape.inputs[k].kind == Kind::per_row;
    arguments.emplace_back(is_per_row ? 1 : is_there ? shape.inputs[k].stride : std::int64_t{0});
  }
  arguments.emplace_back(shape.rows);
  arguments.emplace_back(shape.columns);
  return arguments;
}

std::int64_t alignment_bytes(const Problem& problem, const Config& config) {
  return config[VECTOR] * bytes(dtype_of(problem));
}

std::int64_t usual_vector(const Problem& problem) {
  return std::min(16 / bytes(dtype_of(problem)), shape_of(problem).congruent);
}

bool suits_cluster(const Problem& problem, const DeviceFacts& device) {
  if (device.compute_capability < 90) return false;
  const std::int64_t row_bytes = held_bytes(problem, shape_of(problem).columns);
  const bool are_few = shape_of(problem).rows < multiprocessors_to_fill(device) && row_bytes > 1024 * 16;
  const std::int64_t vector = usual_vector(problem), items = least_items(problem, 8 * 1024, vector);
  return (row_bytes > 1024 * 64 || are_few) && items <= 8 && held_bytes(problem, items * vector) <= 128;
}

std::string usual_store(const Problem& problem) {
  const Shape& shape = shape_of(problem);
  return shape.rows * shape.columns * bytes(dtype_of(problem)) >= std::int64_t{16} << 20 ? "streaming"
                                                                                         : "plain";
}

std::int64_t resident_warps(std::int64_t wanted, std::int64_t block) {
  const auto blocks = [&](std::int64_t warps) { return std::max<std::int64_t>(1, warps * 32 / block); };
  std::int64_t least = 16;
  while (blocks(least) < blocks(wanted)) least += 16;
  return least;
}

}  // namespace tunesmith::rows_op

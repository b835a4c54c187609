// SPDX-License-Identifier: Apache-2.0
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

std::string refuses_grid(const Problem& problem, std::int64_t blocks, std::string_view instead) {
  const std::int64_t rows = shape_of(problem).rows;
  if (rows * blocks < std::int64_t{1} << 31) return "";
  return "A grid of 2^31 blocks or more for rows=" + std::to_string(rows) +
         " is more than a GPU takes; take " + std::string(instead) + ".";
}

Axis load_axis() { return tunesmith::load_axis({"plain", "streaming", "no_allocate"}); }

Axis resident_axis() { return resident_warps_axis({32, 16, 48, 64}); }

Axis vector_axis(const Problem& problem) {
  return {VECTOR, halves(16 / bytes(dtype_of(problem))), "elements per access"};
}

Rule vector_rule(const Problem& problem) {
  return {"Rows of all matrices begin at the same place between multiples of VECTOR.",
          [congruent = shape_of(problem).congruent](const Config& c) { return c[VECTOR] <= congruent; }};
}

std::string usual_start(const Problem& problem) {
  const Shape& shape = shape_of(problem);
  return shape.rows * shape.columns <= 1 << 20 ? "overlapped" : "plain";
}

Rule start_rule(const Problem& problem) {
  return {"START=overlapped is for what takes a few microseconds, and combined with plain accesses.",
          [is_short = usual_start(problem) == "overlapped"](const Config& c) {
            return c[START] == "plain" || (is_short && c[LOAD] == "plain" && c[STORE] == "plain");
          }};
}

std::int64_t least_items(const Problem& problem, std::int64_t threads, std::int64_t vector) {
  const Shape& shape = shape_of(problem);
  const std::int64_t before = vector > shape.aligned ? vector - 1 : 0;
  return ceil_divide(shape.columns + before, std::max<std::int64_t>(1, threads * vector));
}

std::int64_t matrices_of(const Problem& problem) {
  const Shape& shape = shape_of(problem);
  return std::count_if(shape.inputs.begin(), shape.inputs.end(),
                       [](const InputLayout& input) { return input.kind == InputKind::matrix; });
}

std::int64_t held_bytes(const Problem& problem, std::int64_t elements) {
  // Elements of 16 bits take 4 bytes too: the values computed from them have 32 bits.
  return std::max<std::int64_t>(1, matrices_of(problem)) * elements *
         std::max<std::int64_t>(4, bytes(dtype_of(problem)));
}

std::int64_t most_held(const Problem& problem, std::int64_t vector, std::int64_t most_bytes) {
  std::int64_t items = most_items;
  while (items > 1 && held_bytes(problem, items * vector) > most_bytes) items /= 2;
  return items;
}

std::vector<KernelArgument> kernel_arguments(const Problem& problem) {
  const Shape& shape = shape_of(problem);
  std::vector<KernelArgument> arguments;
  arguments.reserve(most_inputs + most_outputs + most_inputs + 2);
  for (int k = 0; k < most_inputs + most_outputs; ++k) arguments.emplace_back(ArgumentPointer{k});
  for (std::size_t k = 0; k < most_inputs; ++k) {
    const bool is_there = k < shape.inputs.size();
    const bool is_per_row = is_there && shape.inputs[k].kind == InputKind::per_row;
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
  const Shape& shape = shape_of(problem);
  return std::min(16 / bytes(dtype_of(problem)), shape.aligned >= 4 ? shape.aligned : shape.congruent);
}

bool holds_row(const Problem& problem, std::int64_t threads, std::int64_t vector, std::int64_t most_bytes) {
  const std::int64_t items = least_items(problem, threads, vector);
  return items <= most_items && held_bytes(problem, items * vector) <= most_bytes;
}

bool is_wide(const Problem& problem) {
  const Shape& shape = shape_of(problem);
  return std::any_of(shape.expression.outputs.begin(), shape.expression.outputs.end(),
                     [&](const Output& output) { return shape.varies_along_row(output.value); });
}

std::int64_t row_bytes(const Problem& problem) {
  return matrices_of(problem) * shape_of(problem).columns * bytes(dtype_of(problem));
}

// Blocks of more than 512 threads are alone on a multiprocessor: if there are a few more rows than
// multiprocessors, these rows wait for a second turn. A cluster costs a microsecond, which pays off where few
// multiprocessors would have work otherwise; longer rows than a cluster holds are split, if they are few.
Suited suited(const Problem& problem, const DeviceFacts& device) {
  const std::int64_t vector = usual_vector(problem), full = multiprocessors_to_fill(device);
  const std::int64_t rows = shape_of(problem).rows;
  const auto holds = [&](std::int64_t threads) { return holds_row(problem, threads, vector, 128); };
  constexpr std::int64_t block = 1024;
  const bool are_few = rows * 2 <= full && row_bytes(problem) >= std::int64_t{48} << 10;
  if (device.compute_capability >= 90 && are_few && holds(8 * block)) return Suited::cluster;
  if (are_few && !holds(block)) return Suited::split;
  const bool are_in_turns = rows > full && rows < 4 * full;
  if (holds(are_in_turns ? 512 : block)) return Suited::registers;
  if (holds(block) || !is_wide(problem) || two_rows_are_kept(problem, device)) return Suited::sweeps;
  return device.compute_capability >= 90 && holds(16 * block) ? Suited::cluster : Suited::sweeps;
}

bool two_rows_are_kept(const Problem& problem, const DeviceFacts& device) {
  const std::int64_t tile_bytes = std::int64_t{bytes(dtype_of(problem)) == 2 ? 16 : 32} << 10;
  constexpr std::int64_t other_bytes = 3 << 10;  // totals, and what the system takes of each block
  const bool fit =
      2 * (round_up(row_bytes(problem), tile_bytes) + other_bytes) <= device.shared_bytes_per_multiprocessor;
  return fit && is_wide(problem) && shape_of(problem).passes > 0 && matrices_of(problem) > 0;
}

std::string usual_store(const Problem& problem) {
  const Shape& shape = shape_of(problem);
  return shape.rows * shape.columns * bytes(dtype_of(problem)) >= std::int64_t{8} << 20 ? "streaming"
                                                                                        : "plain";
}

// Rows that begin within vectors of 8 elements take more registers, and arithmetic in double.
std::int64_t usual_resident_warps(const Problem& problem, std::int64_t vector, std::int64_t block) {
  const bool takes_few = bytes(dtype_of(problem)) < 8 && (vector < 8 || vector <= shape_of(problem).aligned);
  return takes_few && block <= 512 && usual_store(problem) == "streaming" ? 32 : 16;
}

}  // namespace tunesmith::rows_op

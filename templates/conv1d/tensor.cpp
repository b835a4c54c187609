// SPDX-License-Identifier: Apache-2.0
// The template `tensor` (tensor.cu): its space and work.

#include <algorithm>

#include "templates/conv1d/op.h"
#include "templates/shared_layout.h"

namespace tunesmith::conv1d_op {
namespace {

#include "templates/conv1d/tensor_layout.inl"

constexpr IntegerAxis HELD("HELD");
constexpr IntegerAxis PRODUCTS("PRODUCTS");
constexpr IntegerAxis WARPS("WARPS");

// Products of the shortest sum whose permitted error covers that of the split (the body derives it).
constexpr std::int64_t fewest_terms = 32;

std::int64_t tile(const Config& c) { return c[WARPS] * 128 * c[PRODUCTS]; }
TensorLayout layout_of(const Problem& problem, const Config& c) {
  return tensor_layout(problem.integer("taps"), tile(c));
}

// Vectors of samples that a thread stages.
std::int64_t rounds(const Problem& problem, const Config& c) {
  return ceil_divide(2 * layout_of(problem, c).units, 32 * c[WARPS]);
}

// Registers of a thread: sums, taps, matrices and about 20 more.
std::int64_t registers_needed(const Config& c) { return 8 * c[PRODUCTS] + 4 * c[HELD] + 8 + 20; }

// The registers that RESIDENT_WARPS warps leave for each thread, of a multiprocessor's 65536.
std::int64_t registers_there(const Config& c) { return 65536 / 32 / c[RESIDENT_WARPS]; }

Space space_for(const Problem& problem, bool any_taps) {
  const std::int64_t steps = tensor_steps(problem.integer("taps"));
  std::vector<Axis> axes = {
      {WARPS, {4, 2, 8}, "warps of a block"},
      {PRODUCTS, {6, 8, 4}, "products of 128 outputs of a warp"},
      {HELD, {5, 4, 3, 2, 1}, "steps of 16 taps whose taps are in registers at a time"},
      start_axis(),
      trigger_axis(),
      resident_warps_axis({16, 20, 24, 12}),
  };
  std::vector<Rule> must = {
      {"A thread holds at most 10 vectors of samples in registers on their way to shared memory.",
       [=](const Config& c) { return any_taps || rounds(problem, c) <= 10; }},
      {"The registers that RESIDENT_WARPS leave a thread are as many as its sums and taps need.",
       [](const Config& c) { return registers_needed(c) <= registers_there(c); }},
  };
  std::vector<Rule> worth = {
      {"The taps of 3 to 5 steps are held, or all if there are fewer.",
       [=](const Config& c) {
         const std::int64_t most = ceil_divide(steps, 4);
         return c[HELD] <= most && c[HELD] >= std::min<std::int64_t>(3, most);
       }},
      trigger_rule(),
  };
  return Space(std::move(axes), std::move(must), std::move(worth));
}

Space tensor_space(const Problem& problem) { return space_for(problem, false); }

Work tensor_work(const Problem& problem, const Config& config) {
  const Dims d(problem);
  if (d.batch == 0) return Work{};
  return Work{
      .steps = {Launch{.kernel = "conv1d_tensor",
                       .grid = {ceil_divide(d.output_length, tile(config)), std::min(d.batch, grid_limit)},
                       .block = {32 * config[WARPS]},
                       .dynamic_shared_bytes = 4 * layout_of(problem, config).words,
                       .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, ArgumentPointer{2},
                                     int32(d.batch), d.length, d.output_length, d.left},
                       .overlaps_previous = config[START] == "overlapped"}}};
}

std::string tensor_refuses(const Problem& problem) {
  if (dtype_of(problem) != DType::f32) {
    return "The tensor template splits f32 only, not " + std::string(name(dtype_of(problem))) +
           "; take another template.";
  }
  const std::int64_t taps = problem.integer("taps");
  const std::int64_t terms = std::min(taps, problem.integer("length"));
  if (terms >= fewest_terms) return too_many_taps(problem);
  return "With taps=" + std::to_string(taps) + " and length=" + std::to_string(problem.integer("length")) +
         " a sum has at most " + std::to_string(terms) +
         " products; the error that it permits covers the tensor template's split only from " +
         std::to_string(fewest_terms) + " products on. Take another template.";
}

}  // namespace

Template tensor() {
  return {.name = "tensor",
          .what =
              "f32 with many taps as Toeplitz matrix products on tensor cores, each number split into two "
              "halves; within the error bound of a plain f32 sum.",
          .kernels = {"conv1d_tensor"},
          .compiled_in = {"dtype", "function", "taps"},
          .minimum_compute_capability = 80,
          .refuses = tensor_refuses,
          .space = tensor_space,
          .work = tensor_work};
}

// The same template with the number and direction of the taps as arguments. Its own body, tensor_any.cu,
// reads samples twice if there is no register for them.
Template tensor_any() {
  Template tmpl = tensor();
  tmpl.name = "tensor_any";
  tmpl.what = "`tensor` for any number of taps: one binary serves them all.";
  tmpl.kernels = {"conv1d_tensor_any"};
  tmpl.compiled_in = {"dtype"};
  tmpl.space = [](const Problem& problem) { return space_for(problem, true); };
  tmpl.work = [](const Problem& problem, const Config& config) {
    const Dims d(problem);
    Work work = tensor_work(problem, config);
    if (work.steps.empty()) return work;
    Launch& launch = std::get<Launch>(work.steps.front());
    launch.kernel = "conv1d_tensor_any";
    launch.arguments.emplace_back(int32(d.taps));
    launch.arguments.emplace_back(std::int32_t{d.turned});
    return work;
  };
  return tmpl;
}

}  // namespace tunesmith::conv1d_op

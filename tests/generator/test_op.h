// SPDX-License-Identifier: Apache-2.0
// A small op for the generator's tests: output[i] = factor * input[i], for a grid of blocks.
#pragma once

#include "generator/op.h"
#include "generator/render.h"

namespace tunesmith {

inline constexpr IntegerAxis BLOCK("BLOCK");
inline constexpr IntegerAxis VECTOR("VECTOR");
inline constexpr CategoricalAxis STORE_MODE("STORE_MODE");

inline Op scale_op() {
  const auto extents = [](const Problem& problem) { return std::vector<std::int64_t>{problem.integer("n")}; };
  const auto space = [](const Problem& problem) {
    const std::int64_t widest = problem.integer("n") % 4 == 0 ? 4 : 1;
    return Space({{BLOCK, {32, 64}, "threads per block"},
                  {VECTOR, {1, widest}, "elements an access"},
                  {STORE_MODE, {"plain", "streaming"}, "how outputs are stored"}},
                 {});
  };
  const auto work = [](const Problem& problem, const Config& config) {
    const std::int64_t block = config[BLOCK];
    Launch launch{.kernel = "scale_base",
                  .grid = {(problem.integer("n") + block - 1) / block},
                  .block = {block},
                  .arguments = {ArgumentPointer{0}, ArgumentPointer{1}}};
    return Work{.steps = {launch}};
  };
  Op op;
  op.name = "scale";
  op.what = "output[i] = factor * input[i]";
  op.parameters = {
      {.name = "n", .what = "elements", .maximum = 1 << 20},
      {.name = "factor", .what = "multiplier", .minimum = -4, .maximum = 4, .initial = Value(2)},
      {.name = "rounding", .what = "mode", .categories = {"nearest", "down"}, .initial = "nearest"},
      {.name = "dtype", .what = "element type", .categories = {"f32", "f64"}, .initial = "f32"}};
  op.arguments = {{"input", Role::input, extents}, {"output", Role::output, extents}};
  op.templates = {
      {.name = "base", .what = "", .kernels = {"scale_base"}, .space = space, .work = work},
      {.name = "fixed",
       .what = "",
       .kernels = {"scale_fixed"},
       .compiled_in = {"dtype", "rounding", "factor"},
       .minimum_compute_capability = 80,
       .refuses =
           [](const Problem& problem) {
             return problem.integer("factor") == 0 ? std::string("A factor of 0 is not worth a kernel.") : "";
           },
       .space = space,
       .work = work}};
  return op;
}

inline Files scale_files() {
  return {
      {"scale/base.cu",
       "#include \"common/b.cuh\"\n#include \"common/a.cuh\"\nextern \"C\" __global__ void "
       "ENTRY(scale_base)(const T* input, T* output) {}\n"},
      {"scale/fixed.cu", "extern \"C\" __global__ void ENTRY(scale_fixed)(const T* input, T* output) {}\n"},
      {"common/a.cuh", "#pragma once\nconstexpr int a = 1;\n"},
      {"common/b.cuh", "#pragma once\n#include \"common/a.cuh\"\nconstexpr int b = a;\n"},
      {"common/host_shim.h", "#pragma once\n#define TUNESMITH_HOST\n#define TUNESMITH_HOST_ENTRY(name)\n"}};
}

}  // namespace tunesmith

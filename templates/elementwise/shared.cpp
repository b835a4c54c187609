// SPDX-License-Identifier: Apache-2.0
// Definitions that elementwise's templates share: rules of a thread's work, kernel arguments, kinds of
// inputs.

#include <utility>

#include "templates/elementwise/op.h"

namespace tunesmith::elementwise_op {
namespace {

// The multiplier and shift that divide a number below 2^31 (shape.inl).
std::pair<std::int32_t, std::int32_t> divisor_of(std::int64_t extent) {
  int shift = 0;
  while ((std::int64_t{1} << shift) < extent) ++shift;
  const auto multiplier =
      static_cast<std::uint32_t>((((std::int64_t{1} << shift) - extent) << 32) / extent + 1);
  return {static_cast<std::int32_t>(multiplier), shift};
}

}  // namespace

const Expression& expression_of(const Problem& problem) {
  return problem.derived(+[](const Problem& its) { return parse(its.string("function")).expression; });
}

const Layout& layout_of(const Problem& problem) {
  return problem.derived(+[](const Problem& its) { return layout_of(its, expression_of(its).inputs); });
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

std::string refuses_dense(const Problem& problem) {
  if (!refuses_gaps(problem).empty()) return "";
  return "Every input is dense or of one element; the template contiguous serves that.";
}

bool fits_32_bits(const Layout& layout) {
  return layout.elements < index_limit &&
         std::all_of(layout.inputs.begin(), layout.inputs.end(),
                     [](const InputLayout& input) { return input.memory < index_limit; });
}

Axis vector_axis(const Problem& problem) {
  return {VECTOR, halves(16 / bytes(dtype_of(problem))), "elements of an access"};
}

// A hostile expression may have 512 operations, and a function of real numbers may take dozens of
// instructions.
Rule index_must(const Problem& problem) {
  const bool small = fits_32_bits(layout_of(problem));
  return {"INDEX=32 reaches arrays of fewer than 2^31 elements.",
          [=](const Config& c) { return small || c[INDEX] == 64; }};
}

Rule index_worth(const Problem& problem) {
  const bool small = fits_32_bits(layout_of(problem));
  return {"INDEX=64 is for what INDEX=32 does not reach: it divides without multiplying.",
          [=](const Config& c) { return !small || c[INDEX] == 32; }};
}

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

void add_shape(std::vector<KernelArgument>& arguments, const Layout& layout) {
  const auto extent = [&](std::size_t dim) {
    return dim < layout.extents.size() ? layout.extents[dim] : std::int64_t{1};
  };
  for (std::size_t dim = 0; dim < most_dimensions; ++dim) arguments.emplace_back(extent(dim));
  for (std::size_t dim = 0; dim + 1 < most_dimensions; ++dim) {
    const auto [multiplier, shift] =
        extent(dim) < index_limit ? divisor_of(extent(dim)) : std::pair<std::int32_t, std::int32_t>();
    arguments.emplace_back(multiplier);
    arguments.emplace_back(shift);
  }
  add_strides(arguments, layout);
}

std::int64_t alignment_bytes(const Problem& problem, const Config& config) {
  return config[VECTOR] * bytes(dtype_of(problem));
}

}  // namespace tunesmith::elementwise_op

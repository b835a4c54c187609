// SPDX-License-Identifier: Apache-2.0
// How near two problems of `tensor` are: numbers that its kernels' times depend on, whatever the expression,
// and the kind within which times are compared.
#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "templates/tensor/contract/groups.h"
#include "templates/tensor/op.h"

namespace tunesmith::tensor_op {
namespace {

// Beyond what fills any device, or hides any latency, more of the same changes no choice: such sizes are as
// near as can be.
constexpr std::int64_t many_outputs = 1 << 18, many_terms = 1 << 14, long_side = 1 << 12, long_run = 1 << 8,
                       many_batches = 1 << 10;

// A property that a problem has or has not counts as four octaves, which the fitted weights make more or
// less.
std::int64_t octaves_of(bool has_it) { return has_it ? 16 : 1; }

// The index whose steps move a view least, and how far.
struct Nearest {
  int index = -1;
  std::int64_t stride = 0;
};
Nearest nearest_of(const Nest& nest, const View& view) {
  Nearest nearest;
  for (std::size_t i = 0; i < nest.rank(); ++i) {
    const std::int64_t stride = std::abs(view.strides[i]);
    if (stride == 0 || (nearest.index >= 0 && stride >= nearest.stride)) continue;
    nearest = {static_cast<int>(i), stride};
  }
  return nearest;
}

// The elements of the widest vector, of at most `most`, that lies in one piece wherever the indices lead.
std::int64_t widest_vector(const Nest& nest, const View& view, std::int64_t most) {
  const Nearest nearest = nearest_of(nest, view);
  if (nearest.stride != 1) return 1;
  std::int64_t grain = std::gcd(nest.extent(nearest.index), view.start);
  for (std::size_t i = 0; i < nest.rank(); ++i)
    if (static_cast<int>(i) != nearest.index) grain = std::gcd(grain, view.strides[i]);
  return grain == 0 ? most : std::gcd(grain, most);
}

std::int64_t window_terms(const Problem& problem) {
  const Expression& e = expression_of(problem);
  const std::vector<std::int64_t> extents = extents_of(problem.string("extents")).value();
  std::int64_t terms = 1;
  for (std::size_t i = 0; i < e.indices.size(); ++i)
    if (is_window(e, i)) terms *= std::max<std::int64_t>(extents[i], 1);
  return terms;
}

}  // namespace

// The sizes of a contraction's groups if the expression has two accesses; else all outputs count as columns.
// Where the operands' neighbours lie decides how tiles are read, and the widest vectors how fast. For a
// problem without terms all numbers are 1.
Values sizes(const Problem& problem) {
  const Expression& e = expression_of(problem);
  const Nest& given = nest_of(problem);
  const bool is_empty = given.outputs() == 0 || given.terms() == 0 || given.inputs.empty();
  const Nest nest = is_empty ? Nest() : fused(given);
  std::int64_t m = 1, n = nest.outputs(), k = nest.terms(), batch = 1, digits_k = 1;
  bool first_along = false, second_along = false;
  View first = nest.inputs.empty() ? View() : nest.inputs.front();
  View second = nest.inputs.empty() ? View() : nest.inputs[std::min<std::size_t>(nest.inputs.size(), 2) - 1];
  if (!is_empty && e.function.inputs == 2) {
    const Groups groups(nest, {});
    first = groups.first;
    second = groups.second;
    m = size_of(groups.m);
    n = size_of(groups.n);
    k = size_of(groups.k);
    batch = size_of(groups.batch);
    digits_k = std::ssize(groups.k);
    first_along = first_along_k(groups);
    second_along = second_along_k(groups);
  }
  const std::int64_t read = 16 / bytes(dtype_of(problem)), written = 16 / bytes(out_dtype(problem));
  const Nearest in = nearest_of(nest, first), out = nearest_of(nest, nest.output);
  return {{"outputs", std::min(nest.outputs(), many_outputs)},
          {"terms", std::min(nest.terms(), many_terms)},
          {"m", std::min(m, long_side)},
          {"n", std::min(n, long_side)},
          {"k", std::min(k, many_terms)},
          {"batch", std::min(batch, many_batches)},
          {"digits", std::max<std::int64_t>(static_cast<std::int64_t>(nest.rank()), 1)},
          {"digits_k", digits_k},
          {"window", window_terms(problem)},
          {"accesses", std::max<std::int64_t>(std::ssize(e.accesses), 1)},
          {"first_along", octaves_of(first_along)},
          {"second_along", octaves_of(second_along)},
          {"first_vector", widest_vector(nest, first, read)},
          {"second_vector", widest_vector(nest, second, read)},
          {"out_vector", widest_vector(nest, nest.output, written)},
          {"run_in", std::min(nest.extent(in.index), long_run)},
          {"run_out", std::min(nest.extent(out.index), long_run)},
          {"turned", octaves_of(in.index != out.index)}};
}

std::string kind(const Problem& problem) {
  const Expression& e = expression_of(problem);
  const char* const reduction = e.free == e.indices.size()      ? "no reduction"
                                : e.reduction == Reduction::sum ? "sum"
                                : e.reduction == Reduction::max ? "max"
                                                                : "min";
  return problem.string("dtype") + ", " + reduction + (may_round_factors(problem) ? ", rounded factors" : "");
}

}  // namespace tunesmith::tensor_op

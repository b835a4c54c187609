#include "templates/tensor/nest.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <utility>

#include "templates/tensor/op.h"

namespace tunesmith::tensor_op {
namespace {

Nest made(const Problem& problem) {
  const Expression& e = expression_of(problem);
  const std::vector<std::int64_t> extents = extents_of(problem.string("extents")).value();
  Nest nest;
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < e.indices.size(); ++i) {
    if (extents[i] == 1) continue;
    kept.push_back(i);
    nest.extents.push_back(extents[i]);
    nest.names.emplace_back(1, static_cast<char>('a' + i));
    if (!e.is_reduced(i)) ++nest.free;
  }
  const auto view = [&](const Access& access) {
    const Layout layout = array_layout(problem, access.array);
    View made;
    if (e.is_zero_outside(access.array)) made.bounds = bounds_of(access, layout, extents);
    made.array = access.array < 0 ? output_argument : access.array;
    made.strides.resize(kept.size());
    const auto reads_nothing = [&](const Affine& dimension) {
      const Reach reach = reach_of(dimension, extents);
      return reach.least > reach.most;
    };
    if (std::any_of(access.dimensions.begin(), access.dimensions.end(), reads_nothing)) return made;
    for (std::size_t d = 0; d < access.dimensions.size(); ++d) {
      const Affine& dimension = access.dimensions[d];
      made.start += dimension.offset * layout.strides[d];
      for (std::size_t n = 0; n < kept.size(); ++n)
        made.strides[n] += dimension.factors[kept[n]] * layout.strides[d];
    }
    for (Bound& bound : made.bounds) {
      std::vector<std::int64_t> strides;
      for (const std::size_t i : kept) strides.push_back(bound.strides[i]);
      bound.strides = std::move(strides);
    }
    return made;
  };
  for (const Access& access : e.accesses) nest.inputs.push_back(view(access));
  nest.output = view(e.output);
  return nest;
}

std::int64_t product(const std::vector<std::int64_t>& extents, std::size_t from, std::size_t to) {
  return std::accumulate(extents.begin() + static_cast<std::ptrdiff_t>(from),
                         extents.begin() + static_cast<std::ptrdiff_t>(to), std::int64_t{1},
                         std::multiplies<>());
}

}  // namespace

std::vector<std::vector<std::int64_t>*> View::all_strides() {
  std::vector<std::vector<std::int64_t>*> all = {&strides};
  for (Bound& bound : bounds) all.push_back(&bound.strides);
  return all;
}

std::vector<Bound> bounds_of(const Access& access, const Layout& layout,
                             const std::vector<std::int64_t>& extents) {
  std::vector<Bound> bounds;
  for (std::size_t d = 0; d < access.dimensions.size(); ++d) {
    const Affine& dimension = access.dimensions[d];
    const Reach reach = reach_of(dimension, extents);
    if (reach.least < 0 || reach.most >= layout.extents[d])
      bounds.push_back({dimension.offset, layout.extents[d], dimension.factors});
  }
  return bounds;
}

std::size_t Nest::bounds() const {
  std::size_t count = 0;
  for (const View& view : inputs) count += view.bounds.size();
  return count;
}

std::int64_t Nest::outputs() const { return product(extents, 0, free); }
std::int64_t Nest::terms() const { return product(extents, free, extents.size()); }

const Expression& expression_of(const Problem& problem) {
  thread_local std::pair<std::array<std::string, 3>, Expression> last;
  const std::array texts = {problem.string("expression"), problem.string("finish"),
                            problem.string("zero_outside")};
  if (last.first != texts) {
    last.first = {};  // an exception leaves no expression of another text
    last.second = parse(texts[0], texts[1]).expression;
    set_zero_outside(last.second, texts[2]);
    last.first = texts;
  }
  return last.second;
}

const Nest& nest_of(const Problem& problem) {
  thread_local std::pair<Problem, Nest> last;
  if (last.first != problem) {
    last.first = {};
    last.second = made(problem);
    last.first = problem;
  }
  return last.second;
}

Nest fused(const Nest& nest) {
  std::vector<std::size_t> order(nest.rank());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // By what moves farthest: the output, and of reduced indices the first access that moves.
  const auto step = [&](std::size_t i) {
    if (!nest.is_reduced(i)) return nest.output.strides[i];
    for (const View& view : nest.inputs)
      if (view.strides[i] != 0) return std::abs(view.strides[i]);
    return std::int64_t{0};
  };
  const auto free_end = order.begin() + static_cast<std::ptrdiff_t>(nest.free);
  const auto farther = [&](std::size_t a, std::size_t b) { return step(a) > step(b); };
  std::stable_sort(order.begin(), free_end, farther);
  std::stable_sort(free_end, order.end(), farther);

  Nest given = nest, result;
  result.inputs = nest.inputs;
  result.output = nest.output;
  const auto all_strides = [](Nest& of) {
    std::vector<std::vector<std::int64_t>*> all = of.output.all_strides();
    for (View& view : of.inputs)
      for (std::vector<std::int64_t>* const strides : view.all_strides()) all.push_back(strides);
    return all;
  };
  const std::vector<std::vector<std::int64_t>*> from = all_strides(given), to = all_strides(result);
  for (std::vector<std::int64_t>* const strides : to) strides->clear();
  for (const std::size_t i : order) {
    const bool first = result.extents.empty() || (nest.is_reduced(i) && result.extents.size() == result.free);
    bool together = !first;
    for (std::size_t k = 0; together && k < to.size(); ++k)
      together = to[k]->back() == (*from[k])[i] * nest.extents[i];
    if (!together) {
      result.extents.push_back(1);
      result.names.emplace_back();
      for (std::vector<std::int64_t>* const strides : to) strides->push_back(0);
      if (!nest.is_reduced(i)) ++result.free;
    }
    result.extents.back() *= nest.extents[i];
    result.names.back() += nest.names[i];
    for (std::size_t k = 0; k < to.size(); ++k) to[k]->back() = (*from[k])[i];
  }
  return result;
}

}  // namespace tunesmith::tensor_op

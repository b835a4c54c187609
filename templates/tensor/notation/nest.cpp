// SPDX-License-Identifier: Apache-2.0
#include "templates/tensor/notation/nest.h"

#include <algorithm>
#include <utility>

#include "templates/tensor/notation/problem.h"

namespace tunesmith::tensor_op {
namespace {

Expression parsed(const Problem& problem) {
  Expression e = parse(problem.string("expression"), problem.string("finish")).expression;
  set_zero_outside(e, problem.string("zero_outside"));
  return e;
}

Nest made(const Problem& problem) {
  const Expression& e = expression_of(problem);
  Nest nest;
  nest.extents = extents_of(problem.string("extents")).value();
  nest.free = e.free;
  for (std::size_t i = 0; i < nest.rank(); ++i) nest.names.emplace_back(1, static_cast<char>('a' + i));
  const auto view = [&](const Access& access) {
    View its =
        view_of(access, array_layout(problem, access.array), nest.extents, e.is_zero_outside(access.array));
    for (const Affine& dimension : access.dimensions) {
      const Reach reach = reach_of(dimension, nest.extents);
      if (reach.least > reach.most)
        its = {
            .array = its.array, .strides = std::vector(nest.rank(), std::int64_t{0}), .bounds = its.bounds};
    }
    return its;
  };
  for (const Access& access : e.accesses) nest.inputs.push_back(view(access));
  nest.output = view(e.output);
  nest.erase_ones();
  return nest;
}

}  // namespace

std::vector<std::vector<std::int64_t>*> View::all_strides() {
  std::vector<std::vector<std::int64_t>*> all = {&strides};
  for (Bound& bound : bounds) all.push_back(&bound.strides);
  return all;
}

View view_of(const Access& access, const ArrayLayout& layout, const std::vector<std::int64_t>& extents,
             bool is_zero_outside) {
  View view = {.array = access.array < 0 ? output_argument : access.array, .strides = {}};
  view.strides.resize(extents.size());
  for (std::size_t d = 0; d < access.dimensions.size(); ++d) {
    const Affine& dimension = access.dimensions[d];
    const Reach reach = reach_of(dimension, extents);
    if (is_zero_outside && (reach.least < 0 || reach.most >= layout.extents[d]))
      view.bounds.push_back({dimension.offset, layout.extents[d], dimension.factors});
    view.start += dimension.offset * layout.strides[d];
    for (std::size_t i = 0; i < extents.size(); ++i)
      view.strides[i] += dimension.factors[i] * layout.strides[d];
  }
  return view;
}

std::vector<std::vector<std::int64_t>*> Nest::all_strides() {
  std::vector<std::vector<std::int64_t>*> all = output.all_strides();
  for (View& view : inputs)
    for (std::vector<std::int64_t>* const strides : view.all_strides()) all.push_back(strides);
  return all;
}

void Nest::insert(std::size_t at, std::string name, std::int64_t extent) {
  const auto place = static_cast<std::ptrdiff_t>(at);
  extents.insert(extents.begin() + place, extent);
  names.insert(names.begin() + place, std::move(name));
  for (std::vector<std::int64_t>* const strides : all_strides()) strides->insert(strides->begin() + place, 0);
}

void Nest::erase(std::size_t index) {
  const auto place = static_cast<std::ptrdiff_t>(index);
  if (!is_reduced(index)) --free;
  extents.erase(extents.begin() + place);
  names.erase(names.begin() + place);
  for (std::vector<std::int64_t>* const strides : all_strides()) strides->erase(strides->begin() + place);
}

void Nest::erase_ones() {
  for (std::size_t i = rank(); i-- > 0;)
    if (extents[i] == 1) erase(i);
}

std::size_t Nest::bounds() const {
  std::size_t count = 0;
  for (const View& view : inputs) count += view.bounds.size();
  return count;
}

std::int64_t Nest::outputs() const { return volume(std::span(extents).first(free)); }
std::int64_t Nest::terms() const { return volume(std::span(extents).subspan(free)); }

const Expression& expression_of(const Problem& problem) { return problem.derived(parsed); }
const Nest& nest_of(const Problem& problem) { return problem.derived(made); }

Nest fused(const Nest& nest) {
  // Sorts free indices by the stride of the output, reduced indices by that of the first access that they
  // move.
  const std::vector<std::size_t> order = sorted_by(nest.rank(), [&](std::size_t i) {
    if (!nest.is_reduced(i)) return std::pair(false, -nest.output.strides[i]);
    for (const View& view : nest.inputs)
      if (view.strides[i] != 0) return std::pair(true, -std::abs(view.strides[i]));
    return std::pair(true, std::int64_t{0});
  });

  Nest given = nest, result;
  result.inputs = nest.inputs;
  result.output = nest.output;
  const std::vector<std::vector<std::int64_t>*> from = given.all_strides(), to = result.all_strides();
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

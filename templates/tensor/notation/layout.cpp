// SPDX-License-Identifier: Apache-2.0
#include "templates/tensor/notation/layout.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace tunesmith::tensor_op {
namespace {

// Limits a place so that sums of places do not overflow. Factors are at most 2^20 and extents 2^40, so a
// place beyond the limit is beyond every array anyway.
std::int64_t cut(std::int64_t place) {
  constexpr std::int64_t most = std::int64_t{1} << 61;
  return std::clamp(place, -most, most);
}

std::string place_along(const Expression& e, const Access& access, std::size_t dimension) {
  return "dimension " + std::to_string(dimension) + " of " +
         e.arrays[static_cast<std::size_t>(access.array)] + " " + place_of(e, access);
}

}  // namespace

std::int64_t volume(std::span<const std::int64_t> extents) {
  return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
}

std::string refuses_extents(const std::string& text) {
  return tunesmith::refuses_extents(text, 0, most_indices);
}

std::string refuses_layout(const std::string& text) {
  return tunesmith::refuses_layout(text, 0, most_indices);
}

std::string stored_layout(const std::string& text, const std::vector<std::int64_t>& least) {
  if (text == "dense" || !refuses_layout(text).empty()) return text;
  ArrayLayout layout = layout_of(text, least);
  const std::vector<std::int64_t> dense = dense_strides(layout.extents);
  const bool is_empty = std::count(layout.extents.begin(), layout.extents.end(), 0) > 0;
  for (std::size_t d = 0; d < dense.size(); ++d)
    if (is_empty || layout.extents[d] == 1) layout.strides[d] = dense[d];
  if (layout.strides != dense) return text_of(layout);
  return layout.extents == least ? "dense" : joined(layout.extents);
}

Reach reach_of(const Affine& dimension, const std::vector<std::int64_t>& extents) {
  Reach reach = {dimension.offset, dimension.offset};
  for (std::size_t i = 0; i < dimension.factors.size(); ++i) {
    if (dimension.factors[i] == 0) continue;
    if (extents[i] == 0) return {0, -1};
    std::int64_t& end = dimension.factors[i] < 0 ? reach.least : reach.most;
    end = cut(end + dimension.factors[i] * (extents[i] - 1));
  }
  return reach;
}

double elements_read(const std::vector<Access>& accesses, int array,
                     const std::vector<std::int64_t>& extents) {
  const auto size = [](const Reach& reach) { return static_cast<double>(reach.most - reach.least + 1); };
  std::vector<Reach> together;
  double reached = 0;
  for (const Access& access : accesses) {
    if (access.array != array) continue;
    double spanned = 1, iterations = 1;
    for (std::size_t d = 0; d < access.dimensions.size(); ++d) {
      const Reach own = reach_of(access.dimensions[d], extents);
      spanned *= size(own);
      if (d == together.size()) together.push_back(own);
      together[d] = {std::min(together[d].least, own.least), std::max(together[d].most, own.most)};
    }
    for (std::size_t i = 0; i < extents.size(); ++i)
      if (access.is_moved_by(i)) iterations *= static_cast<double>(extents[i]);
    reached += std::min(spanned, iterations);
  }
  double spanned = 1;
  for (const Reach& reach : together) spanned *= size(reach);
  return std::min(spanned, reached);
}

std::vector<std::int64_t> least_extents(const Expression& e, int array,
                                        const std::vector<std::int64_t>& extents) {
  const auto& accesses = e.accesses;
  const std::size_t rank = e.rank_of(array);
  std::vector<std::int64_t> least(rank, 0);
  const auto add = [&](const Access& access) {
    if (access.array != array) return;
    for (std::size_t d = 0; d < rank; ++d)
      least[d] = std::max(least[d], reach_of(access.dimensions[d], extents).most + 1);
  };
  std::for_each(accesses.begin(), accesses.end(), add);
  add(e.output);
  return least;
}

Extents infer_extents(const Expression& e, std::vector<std::int64_t> given,
                      const std::vector<const std::vector<std::int64_t>*>& shapes) {
  Extents result;
  std::vector<std::string> source(e.indices.size(), "what was given");
  const auto shape_of = [&](const Access& access) { return shapes[static_cast<std::size_t>(access.array)]; };
  // The arrays that are zero outside come last: they settle only what no other array does.
  std::vector<const Access*> accesses;
  for (const bool may_be_left : {false, true})
    for (const Access& access : e.accesses)
      if (e.is_zero_outside(access.array) == may_be_left) accesses.push_back(&access);
  for (const Access* const each : accesses) {
    const Access& access = *each;
    const std::vector<std::int64_t>* const shape = shape_of(access);
    if (shape == nullptr) continue;
    if (shape->size() != access.dimensions.size()) {
      result.error = "The array " + e.arrays[static_cast<std::size_t>(access.array)] + " has the shape " +
                     joined(*shape) + ", but " + std::to_string(access.dimensions.size()) +
                     " indices in the expression.";
      return result;
    }
    for (std::size_t d = 0; d < shape->size(); ++d) {
      const auto alone = access.dimensions[d].index();
      if (!alone) continue;
      const std::size_t i = *alone;
      if (given[i] < 0) {
        given[i] = (*shape)[d];
        source[i] = place_along(e, access, d);
      } else if (given[i] != (*shape)[d] && !e.is_zero_outside(access.array)) {
        result.error = "The index " + e.indices[i].name + " has the extent " + std::to_string(given[i]) +
                       " by " + source[i] + " and " + std::to_string((*shape)[d]) + " by " +
                       place_along(e, access, d) + "; they must agree.";
        return result;
      }
    }
  }
  // An index that alone is still open along a dimension gets the largest extent that fits. This repeats as
  // long as it settles an index.
  for (bool settled = true; settled;) {
    settled = false;
    std::vector<std::int64_t> fits(e.indices.size(), -1);
    for (const Access& access : e.accesses) {
      const std::vector<std::int64_t>* const shape = shape_of(access);
      if (shape == nullptr || e.is_zero_outside(access.array)) continue;
      for (std::size_t d = 0; d < shape->size(); ++d) {
        const Affine& dimension = access.dimensions[d];
        std::int64_t above = (*shape)[d] - 1 - dimension.offset, below = dimension.offset;
        std::size_t open = e.indices.size();
        bool one = true;
        for (std::size_t i = 0; i < e.indices.size(); ++i) {
          if (dimension.factors[i] == 0) continue;
          if (given[i] < 0) {
            one = one && open == e.indices.size();
            open = i;
          } else {
            const std::int64_t steps = dimension.factors[i] * std::max<std::int64_t>(given[i] - 1, 0);
            steps > 0 ? above = cut(above - steps) : below = cut(below + steps);
          }
        }
        if (!one || open == e.indices.size()) continue;
        const std::int64_t factor = dimension.factors[open];
        const std::int64_t room = factor > 0 ? above : below;
        const std::int64_t extent = room < 0 ? 0 : room / std::abs(factor) + 1;
        fits[open] = fits[open] < 0 ? extent : std::min(fits[open], extent);
      }
    }
    for (std::size_t i = 0; i < e.indices.size(); ++i) {
      if (given[i] >= 0 || fits[i] < 0) continue;
      given[i] = fits[i];
      settled = true;
    }
  }
  for (std::size_t i = 0; i < e.indices.size(); ++i) {
    if (given[i] >= 0) continue;
    result.error =
        "The index " + e.indices[i].name +
        " has no extent: it stands alone along no dimension of an array whose shape is known; give " +
        e.indices[i].name + "=EXTENT. It is first named at character " +
        std::to_string(e.indices[i].position + 1) + ".";
    return result;
  }
  result.values = std::move(given);
  return result;
}

}  // namespace tunesmith::tensor_op

// SPDX-License-Identifier: Apache-2.0
#include "templates/tensor/notation/layout.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <numeric>

#include "templates/tensor/notation/nest.h"

namespace tunesmith::tensor_op {
namespace {

// Factors are at most 2^20 and extents 2^40: what is cut off here is beyond every array all the same.
std::int64_t cut(std::int64_t place) {
  constexpr std::int64_t most = std::int64_t{1} << 61;
  return std::clamp(place, -most, most);
}

std::string place_along(const Expression& e, const Access& access, std::size_t dimension) {
  return "dimension " + std::to_string(dimension) + " of " +
         e.arrays[static_cast<std::size_t>(access.array)] + " " + place_of(e, access);
}

}  // namespace

std::optional<std::vector<std::int64_t>> extents_of(std::string_view text) {
  std::vector<std::int64_t> found;
  if (text.empty()) return found;
  for (;;) {
    std::int64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [next, failure] = std::from_chars(text.data(), end, number);
    if (failure != std::errc() || number < 0 || number > most_elements) return std::nullopt;
    found.push_back(number);
    if (next == end) return found;
    if (*next != 'x') return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(next - text.data()) + 1);
  }
}

std::optional<std::vector<std::int64_t>> shape_of(std::string_view layout) {
  return extents_of(layout.substr(0, layout.find(':')));
}

std::string joined(const std::vector<std::int64_t>& extents) {
  std::string text;
  for (const std::int64_t extent : extents) text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}

std::vector<std::int64_t> dense_strides(std::span<const std::int64_t> extents) {
  std::vector<std::int64_t> strides(extents.size());
  std::int64_t step = 1;
  for (std::size_t d = extents.size(); d-- > 0;) {
    strides[d] = step;
    const std::int64_t extent = std::max<std::int64_t>(extents[d], 1);
    step = extent > most_elements / step ? most_elements : step * extent;
  }
  return strides;
}

std::int64_t volume(std::span<const std::int64_t> extents) {
  return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
}

std::string refuses_extents(const std::string& text) {
  const auto extents = extents_of(text);
  if (!extents) return "An extent is a whole number from 0 to 2^40; extents are joined by x, as in 8x100x50.";
  if (extents->size() > most_indices)
    return "It has " + std::to_string(extents->size()) + " extents; at most " + std::to_string(most_indices) +
           " are allowed.";
  return "";
}

std::string refuses_layout(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (std::string why = refuses_extents(text.substr(0, colon)); !why.empty()) return why;
  if (colon == std::string::npos) return "";
  const auto strides = extents_of(std::string_view(text).substr(colon + 1));
  if (!strides || strides->size() != shape_of(text)->size())
    return "Behind the colon stands a stride for each extent, a whole number of elements from 0 to 2^40, as "
           "in 24x64:80x1.";
  return "";
}

Layout layout_of(std::string_view text, const std::vector<std::int64_t>& least) {
  if (text == "dense") return {least, dense_strides(least)};
  const std::size_t colon = text.find(':');
  Layout layout;
  layout.extents = shape_of(text).value();
  layout.strides = colon == std::string_view::npos ? dense_strides(layout.extents)
                                                   : extents_of(text.substr(colon + 1)).value();
  return layout;
}

std::string stored_layout(const std::string& text, const std::vector<std::int64_t>& least) {
  if (text == "dense" || !refuses_layout(text).empty()) return text;
  Layout layout = layout_of(text, least);
  const std::vector<std::int64_t> dense = dense_strides(layout.extents);
  const bool is_empty = std::count(layout.extents.begin(), layout.extents.end(), 0) > 0;
  for (std::size_t d = 0; d < dense.size(); ++d)
    if (is_empty || layout.extents[d] == 1) layout.strides[d] = dense[d];
  if (layout.strides != dense) return joined(layout.extents) + ":" + joined(layout.strides);
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
  // An array that may be left settles only what no other one does.
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
  // Along a dimension with one index that is still open: what fits. Again, as long as that settles some.
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

// SPDX-License-Identifier: Apache-2.0
// Decides which part of an expression's function plays which role in a chain of windows.

#include <algorithm>
#include <bit>

#include "templates/choice.h"
#include "templates/tensor/derive/forms.h"
#include "templates/tensor/op.h"
#include "templates/tensor/separable/separable.h"

namespace tunesmith::tensor_op {
namespace {

using Factors = std::vector<int>;

Indices moved(const View& view) {
  Indices all = 0;
  for (std::size_t i = 0; i < view.strides.size(); ++i)
    if (view.strides[i] != 0) all |= bit(i);
  return all;
}

Body product(const Body& all, const Factors& factors) {
  Composer composer;
  return composer.finish(composer.product(all, factors));
}

Body only(const Access& access) {
  Composer composer;
  return composer.finish(composer.access(access));
}

// True if an index of the output and a reduced one stand together, as in y+i.
bool is_in_windows(const Expression& e, const Access& access) {
  return std::any_of(access.dimensions.begin(), access.dimensions.end(), [&](const Affine& dimension) {
    const auto first_reduced = dimension.factors.begin() + static_cast<std::ptrdiff_t>(e.free);
    const auto moves = [](std::int64_t factor) { return factor != 0; };
    return std::any_of(dimension.factors.begin(), first_reduced, moves) &&
           std::any_of(first_reduced, dimension.factors.end(), moves);
  });
}

// Splits a function of one access in windows and one that is in none into both accesses and the function of
// their elements.
void split(const Expression& e, Separable& result) {
  const Body function = result.element;
  const Access *element = nullptr, *mask = nullptr;
  for (const Access& access : function.accesses) {
    const Access*& its = is_in_windows(e, access) ? element : mask;
    if (its != nullptr && !its->same(access)) return;
    its = &access;
  }
  if (element == nullptr || mask == nullptr) return;
  result.element = only(*element);
  result.mask = only(*mask);
  result.term = function;
  for (Access& access : result.term.accesses)
    access = {static_cast<int>(most_arrays) + (is_in_windows(e, access) ? 0 : 1), {}};
}

Separable refused(std::string why) {
  Separable none;
  none.why_not = std::move(why);
  return none;
}

}  // namespace

const View& view_of(const Problem& problem, const Access& access) {
  const Expression& e = expression_of(problem);
  const auto found = std::find_if(e.accesses.begin(), e.accesses.end(),
                                  [&](const Access& each) { return each.same(access); });
  return nest_of(problem).inputs[static_cast<std::size_t>(found - e.accesses.begin())];
}

Separable separable_of(const Problem& problem) {
  const Expression& e = expression_of(problem);
  const Nest& nest = nest_of(problem);
  const Body all = {e.function, e.accesses};
  const bool is_sum = e.reduction == Reduction::sum;
  std::vector<Term> terms;
  if (is_sum) terms = terms_of(all.function, all.root());
  if (terms.size() != 1) terms = {{false, {all.root()}}};

  // A factor belongs to the window, to a mask or one reduced index, or to the output's indices.
  const Indices free = (Indices{1} << nest.free) - 1;
  Factors element, finish, mask;
  std::vector<Factors> weights(nest.rank());
  for (const int factor : terms.front().factors) {
    Indices its = 0;
    bool in_windows = false;
    for (const Access& access : product(all, {factor}).accesses) {
      its |= moved(view_of(problem, access));
      in_windows = in_windows || is_in_windows(e, access);
    }
    const Indices reduced = its & ~free;
    if (is_sum && reduced == 0) {
      finish.push_back(factor);
    } else if (is_sum && (its & free) == 0 && std::popcount(reduced) == 1) {
      weights[static_cast<std::size_t>(std::countr_zero(reduced))].push_back(factor);
    } else {
      (is_sum && !in_windows ? mask : element).push_back(factor);
    }
  }
  if (element.empty()) return refused("Nothing is read in windows, as by y+i; take another template.");

  Separable result;
  result.element = product(all, element);
  bool regroups = !finish.empty();
  if (mask.empty()) {
    split(e, result);
  } else {
    for (Factors& its : weights) {
      mask.insert(mask.end(), its.begin(), its.end());
      its.clear();
    }
    result.mask = product(all, mask);
    regroups = terms.front().factors.size() > 2;
  }
  std::vector<View> views;
  for (const Access& access : result.element.accesses) views.push_back(view_of(problem, access));
  std::vector<Separable::Direction> windows;
  std::vector<char> is_used(nest.free, 0);
  bool has_weights = false;
  for (std::size_t r = nest.free; r < nest.rank(); ++r) {
    std::size_t f = 0;
    const auto overlap = [&](const View& view) { return view.strides[f] == view.strides[r]; };
    const auto moves = [&](const View& view) { return view.strides[f] != 0; };
    while (f < nest.free && (is_used[f] != 0 || !std::all_of(views.begin(), views.end(), overlap) ||
                             !std::any_of(views.begin(), views.end(), moves)))
      ++f;
    if (f == nest.free) {
      return refused("The reduced index " + nest.names[r] +
                     " does not stand with an index of the output, as in y+i, in all that is read in "
                     "windows; take another template.");
    }
    const std::int64_t longest = nest.rank() - nest.free == 1 ? longest_lone_window : longest_window;
    if (nest.extents[r] > longest) {
      return refused(
          "The window along " + nest.names[r] + " has " + std::to_string(nest.extents[r]) +
          " elements; this template is for at most 128 along each dimension, or 1024 along one alone.");
    }
    is_used[f] = 1;
    windows.push_back({static_cast<int>(f), static_cast<int>(r), nest.extents[f], nest.extents[r],
                       weights[r].empty() ? Body() : product(all, weights[r])});
    has_weights = has_weights || !weights[r].empty();
  }
  if (windows.empty() || windows.size() > 3) {
    return refused("There are windows along " + std::to_string(windows.size()) +
                   " dimensions; this template is for one to three.");
  }
  // Along one dimension two factors are multiplied in the order in which they are written.
  const bool is_as_written = windows.size() == 1 && terms.front().factors.size() <= 2;
  if (((has_weights && !is_as_written) || regroups) && choice<May>(problem, "may") != May::distribute) {
    return refused(
        "This template multiplies in another order than the expression, or outside of its sum; allow it by "
        "may=distribute.");
  }

  // x is the direction of the output's neighbours; of the other windows, a block marches along the outermost.
  const auto step = [&](int index) { return nest.output.stride(index); };
  std::sort(windows.begin(), windows.end(),
            [&](const auto& a, const auto& b) { return step(a.free) < step(b.free); });
  int nearest = 0;
  for (int i = 0; i < static_cast<int>(nest.free); ++i)
    if (step(i) < step(nearest)) nearest = i;
  if (windows.front().free != nearest) {
    if (windows.size() == 3) {
      return refused(
          "There are windows along three dimensions, of which none is the output's last one; this "
          "template is for two of those.");
    }
    windows.insert(windows.begin(), {nearest, -1, nest.extent(nearest), 1});
  } else if (windows.size() == 1) {  // a block marches along the longest other dimension
    Separable::Direction march;
    for (int i = 0; i < static_cast<int>(nest.free); ++i) {
      const std::int64_t extent = nest.extent(i);
      if (i != nearest && (march.free < 0 || extent > march.extent)) march = {i, -1, extent, 1};
    }
    windows.push_back(march);
  }
  if (result.has_mask()) {
    Indices its = 0;
    for (const Access& access : result.mask.accesses) its |= moved(view_of(problem, access));
    if (has_weights || windows.size() > 2 || windows.front().reduced < 0 || windows.back().reduced < 0 ||
        (its & (bit(static_cast<std::size_t>(windows[0].free)) |
                bit(static_cast<std::size_t>(windows[1].free)))) != 0) {
      return refused(
          "A mask is for windows along two dimensions, of which one is the output's last, and is the same "
          "all over both; take another template.");
    }
    // Planes that share one mask come before others, and many planes before few.
    const auto planes = [&](int i) {
      const auto index = static_cast<std::size_t>(i);
      return std::pair((its & bit(index)) == 0, nest.extents[index]);
    };
    Separable::Direction& y = result.directions[Separable::y];
    for (int i = 0; i < static_cast<int>(nest.free); ++i) {
      if (i == windows[0].free || i == windows[1].free) continue;
      if (y.free < 0 || planes(i) > planes(y.free)) y.free = i;
    }
    y.extent = nest.extent(y.free);
  }
  result.directions[Separable::x] = windows.front();
  result.directions[Separable::march] = windows.back();
  if (windows.size() == 3) result.directions[Separable::y] = windows[1];
  for (int i = 0; i < static_cast<int>(nest.free); ++i) {
    if (std::none_of(result.directions.begin(), result.directions.end(),
                     [&](const auto& each) { return each.free == i; }))
      result.batch.push_back(i);
  }
  if (!finish.empty() || terms.front().negative) {
    Composer composer;
    int value = composer.product(all, finish, composer.access({static_cast<int>(most_arrays), {}}));
    if (terms.front().negative) value = composer.negated(value);
    result.finish = composer.finish(value);
  }
  return result;
}

}  // namespace tunesmith::tensor_op

// SPDX-License-Identifier: Apache-2.0
#include "templates/tensor/contract/groups.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "generator/work.h"

namespace tunesmith::tensor_op {
namespace {

std::int64_t nearest(const Group& group, Stride stride) {
  std::int64_t nearest = std::numeric_limits<std::int64_t>::max();
  for (const Digit& digit : group) nearest = std::min(nearest, distance_of(digit.*stride));
  return nearest;
}

// Counts first a run of `span` neighbours in the output, then the second operand's neighbours, then the other
// runs, then the rest. Returns nothing if the output's and the operand's neighbours are the same or there are
// none.
std::optional<Counted> in_runs(const Group& group, std::int64_t span) {
  Group rest = ordered(group, &Digit::out, &Digit::second).digits;
  const auto other = std::min_element(rest.begin(), rest.end(), [&](const Digit& a, const Digit& b) {
    return distance_of(a.second) < distance_of(b.second);
  });
  if (other == rest.begin() || rest.front().out == 0 || other->second == 0) return std::nullopt;
  Digit run = rest.front(), runs = rest.front();
  run.extent = span;
  runs.extent = ceil_divide(runs.extent, span);
  for (const Stride its : {&Digit::first, &Digit::second, &Digit::out}) runs.*its *= span;
  for (std::int64_t& its : runs.finish) its *= span;
  Counted counted = {{run, *other, runs}, rest.front().extent};
  rest.erase(other);
  counted.digits.insert(counted.digits.end(), rest.begin() + 1, rest.end());
  return counted;
}

Counted counted_rows(const Groups& groups, const Group& rows, Stride operand) {
  return along_k(groups, rows, operand) ? ordered(rows, &Digit::out, operand)
                                        : ordered(rows, operand, &Digit::out);
}

// Makes one move of those that follow each other in the array and in the packed copy. `moves` are in the
// order of the packed copy.
void join(std::vector<Move>& moves) {
  std::vector<Move> joined;
  for (const Move& move : moves) {
    Move* const before = joined.empty() ? nullptr : &joined.back();
    const bool follows = before != nullptr && before->before == 0 && before->behind == 0 &&
                         move.from == before->from * before->extent && move.to == before->to * before->extent;
    if (!follows) {
      joined.push_back(move);
      continue;
    }
    before->before = move.before * before->extent;
    before->behind = move.behind * before->extent;
    before->extent *= move.extent;
  }
  moves = std::move(joined);
}

// The second move is the nearest in the array, or the longest if the nearest is the first move, or so short
// that it would fill little of a block's tile.
void order(std::vector<Move>& moves) {
  constexpr std::int64_t least = 16;
  join(moves);
  if (moves.size() < 2) return;
  const auto nearest = std::min_element(moves.begin(), moves.end(), [](const Move& a, const Move& b) {
    return distance_of(a.from) < distance_of(b.from);
  });
  const auto longest = std::max_element(moves.begin() + 1, moves.end(),
                                        [](const Move& a, const Move& b) { return a.extent < b.extent; });
  const bool is_nearest = nearest != moves.begin() && nearest->extent >= std::min(least, longest->extent);
  std::iter_swap(moves.begin() + 1, is_nearest ? nearest : longest);
}

// Makes the index as long as whole vectors, with zeros at its end.
void pad(Digit& digit, std::int64_t vector) {
  digit.padding = round_up(digit.extent, vector) - digit.extent;
  digit.extent += digit.padding;
}

void pack(Groups& groups, Group& rows, Stride stride, View& view, std::int64_t vector, bool terms_first,
          Packing& packing) {
  rows = ordered(rows, &Digit::out, stride).digits;
  std::int64_t pitch = 1;
  for (Group* group : {terms_first ? &groups.k : &rows, terms_first ? &rows : &groups.k, &groups.batch}) {
    for (Digit& digit : *group) {
      if (group == &groups.batch && digit.*stride == 0) continue;  // one for all
      packing.moves.push_back({digit.extent, digit.*stride, pitch, 0, digit.padding});
      digit.*stride = pitch;
      pitch *= digit.extent;
    }
    pitch = round_up(pitch, vector);
  }
  packing.start = std::exchange(view.start, 0);
  packing.elements = pitch;
  order(packing.moves);
}

// A dimension of an operand's array, as the digits tell that step along it: they have a bound in common, or
// their strides overlap.
struct Dimension {
  std::int64_t stride = 0, span = 0;  // that all steps are multiples of; from the first to the last place
  std::vector<Digit*> digits = {};
  std::int64_t start = 0, pitch = 0, bound = 0;  // of the bound, whose places are `pitch` apart; 0: none

  std::int64_t extent() const { return span / stride + 1; }
  // The distance of its places in the array, and their number.
  std::int64_t unit() const { return pitch > 0 ? pitch : stride; }
  std::int64_t places() const { return pitch > 0 ? bound : extent(); }
  void add(Digit& digit, Stride its) {
    stride = std::gcd(stride, digit.*its);
    span += digit.*its * (digit.extent - 1);
    digits.push_back(&digit);
  }
  // Where the place is in the array's dimension, if that has a bound.
  Move move(std::int64_t to) const {
    Move move = {extent(), stride, to};
    if (pitch == 0) return move;
    const std::int64_t step = stride / pitch, last = bound - 1 - start;
    move.before = std::clamp<std::int64_t>(start < 0 ? ceil_divide(-start, step) : 0, 0, move.extent);
    const std::int64_t end = last < 0 ? 0 : std::min(move.extent, last / step + 1);
    move.behind = move.extent - std::max(move.before, end);
    return move;
  }
};

// The dimensions of an operand's array, the nearest first; none if digits step back or across each other.
std::vector<Dimension> dimensions_of(Groups& groups, Group& rows, Stride stride, const View& view) {
  std::vector<Digit*> digits;
  for (Group* group : {&rows, &groups.k, &groups.batch}) {
    for (Digit& digit : *group) {
      if (digit.*stride < 0) return {};
      if (digit.*stride > 0 && digit.extent > 1) digits.push_back(&digit);
    }
  }
  std::sort(digits.begin(), digits.end(),
            [&](const Digit* a, const Digit* b) { return a->*stride < b->*stride; });
  std::vector<Dimension> dimensions;
  for (const Bound& bound : view.bounds) {
    Dimension dimension = {.start = bound.start, .bound = bound.extent};
    for (Digit*& digit : digits) {
      const std::int64_t step = digit == nullptr ? 0 : bound.strides[digit->index];
      if (step == 0) continue;
      if (step < 0 || digit->*stride % step != 0) return {};
      const std::int64_t pitch = digit->*stride / step;
      if (dimension.pitch != 0 && dimension.pitch != pitch) return {};
      dimension.pitch = pitch;
      dimension.add(*digit, stride);
      digit = nullptr;
    }
    if (dimension.digits.empty()) return {};
    dimensions.push_back(std::move(dimension));
  }
  const std::size_t bounded = dimensions.size();
  for (Digit* digit : digits) {
    if (digit == nullptr) continue;
    if (dimensions.size() == bounded || digit->*stride > dimensions.back().span) dimensions.emplace_back();
    dimensions.back().add(*digit, stride);
  }
  std::sort(dimensions.begin(), dimensions.end(),
            [](const Dimension& a, const Dimension& b) { return a.stride < b.stride; });
  return dimensions;
}

// The dimension of one index, which is K's, and within its bounds: the longest such. Null if there is none,
// or no dimension has two indices.
const Dimension* channels_of(const Groups& groups, const std::vector<Dimension>& dimensions) {
  const Dimension* channels = nullptr;
  bool has_windows = false;
  for (const Dimension& dimension : dimensions) {
    has_windows = has_windows || dimension.digits.size() > 1;
    const Digit* const digit = dimension.digits.front();
    const bool of_k = digit >= groups.k.data() && digit < groups.k.data() + groups.k.size();
    if (dimension.digits.size() > 1 || !of_k || dimension.pitch != 0) continue;
    if (channels == nullptr || dimension.extent() > channels->extent()) channels = &dimension;
  }
  return has_windows ? channels : nullptr;
}

// Packs a windowed operand as its array is, but with whole vectors of channels nearest.
void pack_channels(Groups& groups, Group& rows, Stride stride, View& view, std::int64_t vector, bool borders,
                   Packing& packing) {
  const std::vector<Dimension> dimensions = dimensions_of(groups, rows, stride, view);
  packing.start = view.start;
  view.start = 0;
  const Dimension* const channels = channels_of(groups, dimensions);
  Digit& channel = *channels->digits.front();
  pad(channel, vector);
  packing.moves.push_back({channel.extent, channels->stride, 1, 0, channel.padding});
  channel.*stride = 1;
  std::int64_t pitch = channel.extent;
  for (const Dimension& dimension : dimensions) {
    if (&dimension == channels) continue;
    const std::int64_t unit = borders ? dimension.stride : dimension.unit();
    const Move move = borders ? dimension.move(pitch) : Move{dimension.places(), unit, pitch};
    if (!borders) {
      packing.start -= dimension.start * unit;
      view.start += dimension.start * pitch;
    }
    packing.moves.push_back(move);
    for (Digit* digit : dimension.digits) digit->*stride = digit->*stride / unit * pitch;
    pitch *= move.extent;
  }
  packing.elements = pitch;
  order(packing.moves);
}

}  // namespace

std::int64_t size_of(const Group& group) {
  return std::accumulate(group.begin(), group.end(), std::int64_t{1},
                         [](std::int64_t size, const Digit& digit) { return size * digit.extent; });
}

std::int64_t distance_of(std::int64_t stride) {
  return stride == 0 ? std::numeric_limits<std::int64_t>::max() : std::abs(stride);
}

Groups::Groups(const Nest& nest, const std::vector<int>& finish)
    : first(nest.inputs.at(0)), second(nest.inputs.at(1)), out(nest.output) {
  for (std::size_t i = 0; i < nest.rank(); ++i) {
    Digit digit = {nest.extents[i], first.strides[i], second.strides[i], out.strides[i]};
    digit.index = i;
    for (std::size_t f = 0; f < finish.size(); ++f)
      digit.finish.at(f) = nest.inputs[static_cast<std::size_t>(finish[f])].strides[i];
    if (nest.is_reduced(i)) {
      k.push_back(digit);
    } else if (digit.first != 0 && digit.second != 0) {
      batch.push_back(digit);
    } else {
      (digit.first != 0 ? m : n).push_back(digit);
    }
  }
  // The output's nearest elements are made neighbours in N: vectors are stored along it.
  if (nearest(m, &Digit::out) < nearest(n, &Digit::out)) {
    swapped = true;
    std::swap(m, n);
    std::swap(first, second);
    for (Group* group : {&m, &n, &k, &batch}) {
      for (Digit& digit : *group) std::swap(digit.first, digit.second);
    }
  }
  for (Group* group : {&m, &n, &k, &batch}) {
    if (group->empty()) group->emplace_back();
  }
  count_channels_apart(m, &Digit::first);
  count_channels_apart(n, &Digit::second);
  count_rows_apart();
}

// Of an image without borders a window's neighbouring pixels are one index with their channels, although rows
// of the product step by a pixel. They are counted apart where channels fill whole boxes.
void Groups::count_channels_apart(const Group& rows, Stride stride) {
  constexpr std::int64_t least = 64;
  for (std::size_t d = 0; d < k.size(); ++d) {
    if (k[d].*stride != 1) continue;
    for (const Digit& row : rows) {
      const std::int64_t channels = row.*stride;
      if (channels % least != 0 || channels <= 0 || channels >= k[d].extent || k[d].extent % channels != 0)
        continue;
      Digit pixels = k[d];
      pixels.extent /= channels;
      for (const Stride its : {&Digit::first, &Digit::second}) pixels.*its *= channels;
      k[d].extent = channels;
      k.insert(k.begin() + static_cast<std::ptrdiff_t>(d) + 1, pixels);
      return;
    }
  }
}

// Rows of N that are in one piece in the output and in the second operand, but begin anywhere, are moved in
// pieces of 16 bytes and stored whole if N has no other index: these are then the batch. Not of windows,
// whose images are read otherwise.
void Groups::count_rows_apart() {
  constexpr std::int64_t aligned = 4, least = 256;  // shorter rows fill too little of their tiles
  const auto row = std::find_if(n.begin(), n.end(), [](const Digit& digit) {
    return digit.out == 1 && digit.second == 1 && digit.extent % aligned != 0 && digit.extent >= least;
  });
  if (row == n.end() || n.size() == 1 || windowed_operand(*this) >= 0) return;
  for (const Digit& digit : n)
    if (&digit != &*row && digit.extent > 1) batch.push_back(digit);
  n = {*row};
  if (batch.size() > 1) std::erase_if(batch, [](const Digit& digit) { return digit.extent == 1; });
}

Groups groups_of(const Problem& problem) {
  return {fused(nest_of(problem)), expression_of(problem).finish.accesses};
}

bool along_k(const Groups& groups, const Group& rows, Stride stride) {
  return nearest(groups.k, stride) < nearest(rows, stride);
}
bool first_along_k(const Groups& groups) { return along_k(groups, groups.m, &Digit::first); }
bool second_along_k(const Groups& groups) { return along_k(groups, groups.n, &Digit::second); }

Counted ordered(Group group, Stride stride, Stride then) {
  std::stable_sort(group.begin(), group.end(), [&](const Digit& a, const Digit& b) {
    return std::pair(distance_of(a.*stride), distance_of(a.*then)) <
           std::pair(distance_of(b.*stride), distance_of(b.*then));
  });
  return {std::move(group)};
}

Counted counted_m(const Groups& groups) { return counted_rows(groups, groups.m, &Digit::first); }
std::optional<Counted> counted_n(const Groups& groups, std::int64_t span) {
  if (span == 1) return counted_rows(groups, groups.n, &Digit::second);
  return second_along_k(groups) ? std::nullopt : in_runs(groups.n, span);
}

Counted counted_k(const Groups& groups, std::string_view order) {
  return order == "first" ? ordered(groups.k, &Digit::first, &Digit::second)
                          : ordered(groups.k, &Digit::second, &Digit::first);
}
bool has_one_order_k(const Groups& groups) {
  return counted_k(groups, "first").digits == counted_k(groups, "second").digits;
}

std::int64_t widest(const Groups& groups, const Counted& group, Stride stride, std::int64_t start,
                    std::int64_t widest, bool of_first) {
  // The first digits may lie side by side, as the rows of a dense image do.
  Group near;
  std::int64_t places = 1;
  for (const Digit& digit : group.digits) {
    if (digit.*stride != places || ((of_first || group.in_runs > 0) && !near.empty())) break;
    near.push_back(digit);
    places *= digit.extent;
  }
  const auto fits = [&](std::int64_t vector) {
    if (vector == 1) return true;
    if (near.empty() || places % vector != 0 || group.in_runs % vector != 0 || start % vector != 0)
      return false;
    const auto is_off = [&](const Digit& digit) { return digit.*stride % vector != 0; };
    std::int64_t off = 0;  // the digits that may start within a vector: those side by side alone may
    for (const Group* const its : {&groups.m, &groups.n, &groups.k, &groups.batch})
      off += std::count_if(its->begin(), its->end(), is_off);
    return off == std::count_if(near.begin(), near.end(), is_off);
  };
  while (!fits(widest)) widest /= 2;
  return widest;
}

int windowed_operand(const Groups& groups) {
  Groups its = groups;
  const auto has_channels = [&](Group& rows, Stride stride, const View& view, const View& other) {
    return other.bounds.empty() && channels_of(its, dimensions_of(its, rows, stride, view)) != nullptr;
  };
  const bool first = has_channels(its.m, &Digit::first, its.first, its.second),
             second = has_channels(its.n, &Digit::second, its.second, its.first);
  return first == second ? -1 : second ? 1 : 0;
}

std::optional<Image> image_of(const Groups& groups, bool second) {
  Groups its = groups;
  Group& rows = second ? its.n : its.m;
  const Stride stride = second ? &Digit::second : &Digit::first;
  const View& view = second ? its.second : its.first;
  if (size_of(its.batch) > 1) return std::nullopt;
  rows = counted_rows(its, rows, stride).digits;
  its.k = counted_k(its, "first").digits;
  const std::vector<Dimension> dimensions = dimensions_of(its, rows, stride, view);
  const Dimension* const channels = channels_of(its, dimensions);
  if (channels == nullptr || channels != dimensions.data() || channels->digits.front() != its.k.data() ||
      channels->stride != 1)
    return std::nullopt;
  Image image = {.start = view.start, .channels = channels->extent()};
  // The rows and terms of each dimension are the next ones.
  std::size_t row = 0, term = 1;
  for (std::size_t d = 1; d < dimensions.size(); ++d) {
    const Dimension& dimension = dimensions[d];
    if (row == rows.size() || image.images > 1) return std::nullopt;
    const Digit* const its_row = &rows[row++];
    const bool has_windows = dimension.digits.size() == 2;
    if (has_windows && term == its.k.size()) return std::nullopt;
    const Digit* const its_term = has_windows ? &its.k[term++] : its_row;
    for (const Digit* const digit : dimension.digits)
      if (digit != its_row && digit != its_term) return std::nullopt;
    image.start -= dimension.start * dimension.unit();
    if (has_windows) {
      image.dimensions.push_back({.extent = dimension.places(),
                                  .stride = dimension.unit(),
                                  .first = dimension.start,
                                  .windows = its_row->extent,
                                  .step = its_row->*stride / dimension.unit(),
                                  .in_window = its_term->extent,
                                  .step_in_window = its_term->*stride / dimension.unit()});
    } else {
      if (dimension.pitch > 0 || dimension.digits.size() != 1) return std::nullopt;
      image.images = its_row->extent;
      image.image_stride = dimension.stride;
    }
  }
  if (row != rows.size() || term != its.k.size()) return std::nullopt;
  return image;
}

PackedGroups::PackedGroups(Groups given, Packs packs, std::int64_t vector, bool terms_first, bool borders)
    : groups(std::move(given)) {
  if (packs == Packs::none) return;
  if (packs == Packs::channels) {
    const bool is_second = windowed_operand(groups) == 1;
    Group& windowed = is_second ? groups.n : groups.m;
    Group& other = is_second ? groups.m : groups.n;
    const Stride stride = is_second ? &Digit::second : &Digit::first,
                 others = is_second ? &Digit::first : &Digit::second;
    pack_channels(groups, windowed, stride, is_second ? groups.second : groups.first, vector, borders,
                  is_second ? second : first);
    groups.k = ordered(groups.k, stride, others).digits;
    pack(groups, other, others, is_second ? groups.first : groups.second, vector, terms_first,
         is_second ? first : second);
    return;
  }
  groups.k = packs_second(packs) ? ordered(groups.k, &Digit::first, &Digit::second).digits
                                 : ordered(groups.k, &Digit::second, &Digit::first).digits;
  if (terms_first && packs == Packs::both) pad(groups.k.front(), vector);
  if (packs_first(packs)) pack(groups, groups.m, &Digit::first, groups.first, vector, terms_first, first);
  if (packs_second(packs)) pack(groups, groups.n, &Digit::second, groups.second, vector, terms_first, second);
  if (packs != Packs::both) return;
  const Digit all = {size_of(groups.k), groups.k.front().first, groups.k.front().second, 0};
  groups.k.assign(groups.k.size(), Digit());
  groups.k.front() = all;
}

}  // namespace tunesmith::tensor_op

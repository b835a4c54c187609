// SPDX-License-Identifier: Apache-2.0
// The groups of a contraction's indices: counted through, they reach what the line's loops reach.
#include "templates/tensor/contract/groups.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernel_file/find_op.h"
#include "templates/tensor/notation/problem.h"
#include "tests/rounds.h"

namespace tunesmith::tensor_op::contract_groups_test {
namespace {

Problem problem_of(const std::string& words) {
  return complete_problem(find_op("tensor"), Problem::parse(words));
}
Groups groups_in(const std::string& words) { return groups_of(problem_of(words)); }

// Where a term reads the first and the second operand, what its output is, and what the finish reads there.
using Term = std::array<std::int64_t, 4>;

Term& operator+=(Term& term, const Term& by) {
  for (std::size_t n = 0; n < term.size(); ++n) term[n] += by[n];
  return term;
}
Term times(const Digit& digit, std::int64_t place) {
  return {place * digit.first, place * digit.second, place * digit.out, place * digit.finish[0]};
}

std::vector<Term> sorted(std::vector<Term> terms) {
  std::sort(terms.begin(), terms.end());
  return terms;
}

// The line's loops as they are written, with the arrays' layouts, but for terms that are zeros out of bounds.
std::vector<Term> terms_of(const Problem& problem) {
  const Expression& e = expression_of(problem);
  const std::vector<std::int64_t> extents = extents_of(problem.string("extents")).value();
  const auto place_of = [&](const Access& access, const std::vector<std::int64_t>& indices) {
    const std::vector<std::int64_t> strides = array_layout(problem, access.array).strides;
    std::int64_t place = 0;
    for (std::size_t d = 0; d < access.dimensions.size(); ++d) {
      std::int64_t here = access.dimensions[d].offset;
      for (std::size_t i = 0; i < indices.size(); ++i) here += access.dimensions[d].factors[i] * indices[i];
      place += here * strides[d];
    }
    return place;
  };
  const auto is_inside = [&](const Access& access, const std::vector<std::int64_t>& indices) {
    const std::vector<std::int64_t> its = array_layout(problem, access.array).extents;
    for (std::size_t d = 0; d < access.dimensions.size(); ++d) {
      std::int64_t here = access.dimensions[d].offset;
      for (std::size_t i = 0; i < indices.size(); ++i) here += access.dimensions[d].factors[i] * indices[i];
      if (here < 0 || here >= its[d]) return false;
    }
    return true;
  };
  std::vector<Term> terms;
  std::vector<std::int64_t> indices(extents.size(), 0);
  for (;;) {
    if (is_inside(e.accesses[0], indices) && is_inside(e.accesses[1], indices))
      terms.push_back({place_of(e.accesses[0], indices), place_of(e.accesses[1], indices),
                       place_of(e.output, indices),
                       e.finish.accesses.empty()
                           ? 0
                           : place_of(e.accesses[static_cast<std::size_t>(e.finish.accesses[0])], indices)});
    std::size_t i = extents.size();
    while (i > 0 && ++indices[i - 1] == extents[i - 1]) indices[--i] = 0;
    if (i == 0) return sorted(terms);
  }
}

// The places of a group in the order in which a kernel counts them (nest.inl), without those that lie beyond
// an index that is counted in runs of `span`.
std::vector<Term> places_of(const Counted& group, std::int64_t span = 1) {
  std::vector<Term> places;
  for (std::int64_t at = 0; at < group.size(); ++at) {
    Term place = {};
    std::int64_t rest = at, in_run = 0;
    bool inside = true;
    for (std::size_t d = 0; d < group.digits.size(); ++d) {
      const Digit& digit = group.digits[d];
      const std::int64_t its = rest % digit.extent;
      rest /= digit.extent;
      place += times(digit, its);
      if (span > 1 && d == 0) in_run = its;
      if (span > 1 && d == 2) inside = in_run + its * span < group.in_runs;
    }
    if (inside) places.push_back(place);
  }
  return places;
}

// Returns the terms that the groups reach together, with the operands as the function has them.
std::vector<Term> terms_of(const Groups& groups, const std::vector<Term>& m, const std::vector<Term>& n,
                           const std::vector<Term>& k, std::int64_t finish_start) {
  std::vector<Term> terms;
  for (const Term& batch : places_of({groups.batch}))
    for (const Term& term : k)
      for (const Term& row : m)
        for (const Term& column : n) {
          Term all = {groups.first.start, groups.second.start, groups.out.start, finish_start};
          for (const Term* const part : {&batch, &term, &row, &column}) all += *part;
          if (groups.swapped) std::swap(all[0], all[1]);
          terms.push_back(all);
        }
  return sorted(terms);
}

std::int64_t finish_start(const Problem& problem) {
  const std::vector<int>& accesses = expression_of(problem).finish.accesses;
  return accesses.empty() ? 0 : nest_of(problem).inputs[static_cast<std::size_t>(accesses[0])].start;
}

// A product of two arrays over indices of every kind, in any order, with pitches, offsets, and now and then
// with a finish.
class DrawnLine {
 public:
  explicit DrawnLine(std::uint64_t seed) : random_(seed) {
    std::string first, second, out;
    const std::size_t indices = 1 + below(6);
    for (std::size_t i = 0; i < indices; ++i) {
      const char name = static_cast<char>('a' + i);
      extents_[name] = 1 + static_cast<std::int64_t>(below(i < 4 ? 5 : 3));
      const std::size_t kind = below(6);  // M, N, K, the batch, reduced in one operand
      if (kind != 1 && kind != 5) first += name;
      if (kind != 0 && kind != 4) second += name;
      if (kind < 2 || kind == 3) out += name;
    }
    const bool reduces = out.size() < indices;
    const std::string finish = out.substr(0, below(out.size() + 1));
    words_ = "expression=\"" + access("out", out) + (reduces ? " += " : " = ") + access("x", first) + " * " +
             access("w", second) + "\"";
    if (reduces && below(3) == 0) words_ += " finish=\"max(out + " + access("bias", finish) + ", 0)\"";
    for (const auto& [name, extent] : extents_)
      words_ += " " + std::string(1, name) + "=" + std::to_string(extent);
    words_ += layouts_;
  }
  const std::string& words() const { return words_; }

 private:
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_() % bound); }

  std::string access(const std::string& array, std::string names) {
    if (names.empty()) return array;
    std::shuffle(names.begin(), names.end(), random_);
    std::string text, shape, strides;
    std::int64_t stride = 1;
    for (std::size_t d = names.size(); d-- > 0;) {
      const std::int64_t offset = array != "out" && below(5) == 0 ? 2 : 0,
                         extent = extents_[names[d]] + offset;
      text = std::string(1, names[d]) + (offset > 0 ? "+2" : "") + (text.empty() ? "" : ",") + text;
      shape = std::to_string(extent) + (shape.empty() ? "" : "x") + shape;
      strides = std::to_string(stride) + (strides.empty() ? "" : "x") + strides;
      stride *= extent + static_cast<std::int64_t>(below(3) == 0 ? below(4) : 0);
    }
    if (below(2) == 0) layouts_ += " " + array + "=" + shape + ":" + strides;
    return array + "[" + text + "]";
  }

  std::mt19937_64 random_;
  std::map<char, std::int64_t> extents_;
  std::string words_, layouts_;
};

TEST(TensorGroups, OfAMatrixProductAreItsIndices) {
  const Groups groups = groups_in("expression=\"c[i,j] += a[i,k] * b[k,j]\" i=3 j=5 k=7");
  EXPECT_EQ(groups.m, (Group{{3, 7, 0, 5}}));
  EXPECT_EQ(groups.n, (Group{{5, 0, 1, 1}}));
  EXPECT_EQ(groups.k, (Group{{7, 1, 5, 0}}));
  EXPECT_EQ(groups.batch, (Group{{1, 0, 0, 0}}));
  EXPECT_FALSE(groups.swapped);
  EXPECT_TRUE(first_along_k(groups));
  EXPECT_FALSE(second_along_k(groups));
  EXPECT_TRUE(has_one_order_k(groups));
}

TEST(TensorGroups, HaveTheOutputsNeighboursInN) {
  const Groups groups = groups_in("expression=\"c[j,i] += a[i,k] * b[k,j]\" i=3 j=5 k=7");
  EXPECT_TRUE(groups.swapped);
  EXPECT_EQ(groups.m, (Group{{5, 1, 0, 3}}));  // j, of the second operand
  EXPECT_EQ(groups.n, (Group{{3, 0, 7, 1}}));
  EXPECT_EQ(groups.k, (Group{{7, 5, 1, 0}}));
}

TEST(TensorGroups, OfABatchMoveAllThreeArrays) {
  const Groups groups = groups_in("expression=\"c[b,i,j] += a[b,i,k] * x[b,k,j]\" b=2 i=3 j=5 k=7");
  EXPECT_EQ(groups.batch, (Group{{2, 21, 35, 15}}));
  EXPECT_EQ(groups.m, (Group{{3, 7, 0, 5}}));
  EXPECT_EQ(groups.n, (Group{{5, 0, 1, 1}}));
}

TEST(TensorGroups, AreOneDigitWhereIndicesAreSteppedOverAsOne) {
  const Groups groups = groups_in("expression=\"c[i,j,l] += a[i,k] * b[k,j,l]\" i=3 j=5 k=7 l=2");
  EXPECT_EQ(groups.n, (Group{{10, 0, 1, 1}}));
  EXPECT_EQ(groups.k, (Group{{7, 1, 10, 0}}));
}

TEST(TensorGroups, AreCountedInRunsOfTheOutputsNeighbours) {
  const Groups groups = groups_in("expression=\"c[i,j,l] += a[i,k] * b[k,l,j]\" i=3 j=5 k=7 l=6");
  const std::optional<Counted> n = counted_n(groups, 4);
  ASSERT_TRUE(n);
  EXPECT_EQ(n->digits, (Group{{4, 0, 5, 1}, {5, 0, 1, 6}, {2, 0, 20, 4}}));
  EXPECT_EQ(n->in_runs, 6);
  EXPECT_EQ(n->size(), 40);
  EXPECT_EQ(places_of(*n, 4).size(), 30U);  // the second run has two of four
  EXPECT_FALSE(counted_n(groups_in("expression=\"c[i,j] += a[i,k] * b[k,j]\" i=3 j=5 k=7"), 4))
      << "The operand has the output's neighbours.";
}

// An operand that is packed is read where the packing has put its elements, each in a place of its own; and
// an operand is zero where it has a term that does not exist.
void expect_packed_terms(const Groups& groups, Packs packs, std::int64_t start,
                         const std::vector<Term>& expected, bool terms_first = false) {
  SCOPED_TRACE("packed: " + std::string(names_of(packs).at(static_cast<std::size_t>(packs))));
  const PackedGroups its(groups, packs, 4, terms_first);
  std::map<std::int64_t, std::int64_t> from[2];
  std::set<std::int64_t> zeros[2];
  const auto packing_of = [&](bool is_second) -> const Packing& {
    return is_second ? its.second : its.first;
  };
  for (const bool is_second : {false, true}) {
    const Packing& packing = packing_of(is_second);
    EXPECT_EQ(packing.elements > 0, is_second ? packs_second(packs) : packs_first(packs));
    if (packing.elements == 0) continue;
    std::int64_t begin = is_second ? groups.second.start : groups.first.start, first = 0;
    Group moves, existing;
    for (const Move& move : packing.moves) {
      moves.push_back({move.extent, move.from, move.to, 0});
      existing.push_back({move.extent - move.before - move.behind, move.from, move.to, 0});
      begin += move.before * move.from;
      first += move.before * move.to;
    }
    for (const Term& place : places_of({moves})) {
      EXPECT_TRUE(zeros[is_second].insert(place[1]).second) << "two elements in a place";
      EXPECT_LT(place[1], packing.elements);
    }
    for (const Term& place : places_of({existing})) {
      from[is_second][first + place[1]] = begin + place[0];
      zeros[is_second].erase(first + place[1]);
    }
  }
  std::vector<Term> terms;
  for (Term term : terms_of(its.groups, places_of({its.groups.m}), places_of({its.groups.n}),
                            places_of({its.groups.k}), start)) {
    int missing = 0;
    for (const bool is_second : {false, true}) {
      if (packing_of(is_second).elements == 0) continue;
      std::int64_t& place = term[is_second != groups.swapped ? 1 : 0];
      const auto found = from[is_second].find(place);
      if (found != from[is_second].end()) {
        place = found->second;
      } else {
        EXPECT_TRUE(zeros[is_second].contains(place)) << "Nothing is at " << place;
        ++missing;
      }
    }
    if (missing == 0) terms.push_back(term);
  }
  EXPECT_EQ(sorted(terms), expected);
}

// TUNESMITH_TEST_GROUPS: how many lines.
TEST(TensorGroups, OfDrawnLinesReachEachTermOnce) {
  std::size_t swapped = 0, in_runs = 0, packed = 0;
  const std::uint64_t drawn = rounds_of("TUNESMITH_TEST_GROUPS", 60);
  for (std::uint64_t seed = 1; seed <= drawn; ++seed) {
    const DrawnLine line(seed);
    SCOPED_TRACE(line.words());
    const Problem problem = problem_of(line.words());
    const std::vector<Term> expected = terms_of(problem);
    const Groups groups = groups_of(problem);
    const std::int64_t start = finish_start(problem);
    swapped += groups.swapped ? 1 : 0;
    const std::vector<Term> m = places_of(counted_m(groups)),
                            k = places_of(counted_k(groups, seed % 2 == 0 ? "first" : "second"));
    for (const std::int64_t span : {1, 2, 4, 8}) {
      const std::optional<Counted> n = counted_n(groups, span);
      if (!n) continue;
      in_runs += span > 1 ? 1 : 0;
      EXPECT_EQ(terms_of(groups, m, places_of(*n, span), k, start), expected) << "in runs of " << span;
    }
    for (const Packs packs : {Packs::first, Packs::second, Packs::both}) {
      expect_packed_terms(groups, packs, start, expected);
      expect_packed_terms(groups, packs, start, expected, true);
      const PackedGroups its(groups, packs, 4, true);
      EXPECT_TRUE(first_along_k(its.groups) || !packs_first(packs));
      EXPECT_TRUE(second_along_k(its.groups) || !packs_second(packs));
      EXPECT_TRUE(size_of(its.groups.k) % 4 == 0 || packs != Packs::both);
      ++packed;
    }
  }
  EXPECT_GT(swapped, drawn / 10);
  EXPECT_GT(in_runs, drawn / 20);
  EXPECT_EQ(packed, 3 * drawn);
}

TEST(TensorGroups, OfWindowsArePackedWithChannelsNearest) {
  for (const char* const words :
       {"expression=\"out[n,o,y,x] += image[n,c,y+i,x+j] * w[o,c,i,j]\" n=2 o=3 y=4 x=5 c=3 i=2 j=3",
        "expression=\"out[n,o,y,x] += w[o,c,i,j] * image[n,c,2*y+i,2*x+j]\" n=1 o=2 y=3 x=4 c=4 i=3 j=3",
        "expression=\"out[n,o,x] += image[n,c,x+2*j] * w[o,c,j]\" n=2 o=3 x=7 c=5 j=3",
        "expression=\"out[n,o,y,x] += image[n,c,y+i-1,x+j-1] * w[o,c,i,j]\" zero_outside=image n=2 o=3 y=4 "
        "x=5 c=3 i=3 j=3 image=2x3x4x5",
        "expression=\"out[n,o,y,x] += image[n,c,2*y+i-3,x+2*j-2] * w[o,c,i,j]\" zero_outside=image n=1 o=2 "
        "y=3 x=6 c=5 i=7 j=3 image=1x5x5x6",
        "expression=\"out[g,o,y,x] += image[g,c,y+i,x+j] * w[g,o,c,i,j]\" g=3 o=2 y=3 x=4 c=2 i=2 j=2"}) {
    SCOPED_TRACE(words);
    const Problem problem = problem_of(words);
    const Groups groups = groups_of(problem);
    ASSERT_GE(windowed_operand(groups), 0);
    expect_packed_terms(groups, Packs::channels, finish_start(problem), terms_of(problem));
    expect_packed_terms(groups, Packs::channels, finish_start(problem), terms_of(problem), true);
    const PackedGroups its(groups, Packs::channels, 4);
    const bool is_second = windowed_operand(groups) == 1;
    EXPECT_EQ((is_second ? its.second : its.first).elements % 4, 0);
    EXPECT_TRUE(is_second ? second_along_k(its.groups) : first_along_k(its.groups));
    EXPECT_EQ(its.groups.k.front().extent % 4, 0);
  }
  for (const char* const words : {"expression=\"c[i,j] += a[i,k] * b[k,j]\" i=3 j=5 k=7",
                                  "expression=\"out[y,x] += image[y+i,x+j] * w[i,j]\" y=4 x=5 i=2 j=3"})
    EXPECT_EQ(windowed_operand(groups_in(words)), -1) << words;
}

// The places in memory that windows read of an image, by rows and terms; -1: outside of it.
using WindowPlaces = std::vector<std::vector<std::int64_t>>;
WindowPlaces places_of(const Image& image) {
  WindowPlaces places;
  std::int64_t windows = image.images, pixels = 1;
  for (const Image::Dimension& its : image.dimensions) {
    windows *= its.windows;
    pixels *= its.in_window;
  }
  for (std::int64_t window = 0; window < windows; ++window) {
    places.emplace_back();
    for (std::int64_t term = 0; term < pixels * image.channels; ++term) {
      std::int64_t rest_of_row = window, rest = term / image.channels,
                   at = image.start + term % image.channels;
      bool inside = true;
      for (const Image::Dimension& its : image.dimensions) {
        const std::int64_t here =
            its.first + rest_of_row % its.windows * its.step + rest % its.in_window * its.step_in_window;
        inside = inside && here >= 0 && here < its.extent;
        at += here * its.stride;
        rest_of_row /= its.windows;
        rest /= its.in_window;
      }
      places.back().push_back(inside ? at + rest_of_row * image.image_stride : -1);
    }
  }
  return places;
}

// The same by the groups' strides; what is outside by the bounds of the operand's view.
WindowPlaces places_of(const Groups& groups, bool second) {
  const Stride stride = second ? &Digit::second : &Digit::first;
  const View& view = second ? groups.second : groups.first;
  const Group rows = (second ? *counted_n(groups, 1) : counted_m(groups)).digits,
              terms = counted_k(groups, "first").digits;
  WindowPlaces places;
  for (std::int64_t window = 0; window < size_of(rows); ++window) {
    places.emplace_back();
    for (std::int64_t term = 0; term < size_of(terms); ++term) {
      std::int64_t at = view.start;
      std::vector<std::int64_t> in_bounds;
      for (const Bound& bound : view.bounds) in_bounds.push_back(bound.start);
      for (const auto& [group, number] : {std::pair(&rows, window), std::pair(&terms, term)}) {
        std::int64_t rest = number;
        for (const Digit& digit : *group) {
          const std::int64_t its = rest % digit.extent;
          rest /= digit.extent;
          at += its * digit.*stride;
          for (std::size_t b = 0; b < in_bounds.size(); ++b)
            in_bounds[b] += its * view.bounds[b].strides[digit.index];
        }
      }
      bool inside = true;
      for (std::size_t b = 0; b < in_bounds.size(); ++b)
        inside = inside && in_bounds[b] >= 0 && in_bounds[b] < view.bounds[b].extent;
      places.back().push_back(inside ? at : -1);
    }
  }
  return places;
}

TEST(TensorGroups, OfWindowsReadTheImageThatIsTold) {
  for (const char* const words :
       {"expression=\"out[n,y,x,o] += image[n,y+i,x+j,c] * w[o,i,j,c]\" n=2 o=3 y=4 x=5 c=64 i=2 j=3",
        "expression=\"out[n,y,x,o] += image[n,2*y+i-1,3*x+2*j-2,c] * w[o,i,j,c]\" zero_outside=image n=2 o=3 "
        "y=4 x=5 c=6 i=3 j=3 image=2x8x13x6",
        "expression=\"out[n,o,y,x] += image[n,y+3*i-4,2*x+j-2,c] * w[o,i,j,c]\" zero_outside=image n=1 o=3 "
        "y=5 x=4 c=2 i=3 j=2 image=1x4x9x2:500x100x10x1",
        "expression=\"out[n,y,o] += image[n,2*y+i-5,c] * w[o,i,c]\" zero_outside=image n=3 o=2 y=4 c=5 i=7 "
        "image=3x9x5",
        "expression=\"out[n,z,y,x,o] += image[n,z+h,y+i-1,x+j,c] * w[o,h,i,j,c]\" zero_outside=image n=2 z=2 "
        "y=3 x=2 o=2 h=2 i=3 j=2 c=64"}) {
    SCOPED_TRACE(words);
    const Groups groups = groups_in(words);
    const bool second = windowed_operand(groups) == 1;
    const std::optional<Image> image = image_of(groups, second);
    ASSERT_TRUE(image);
    EXPECT_EQ(places_of(*image), places_of(groups, second));
    // Packed without borders the image is as large as its array, and windows read the same of it.
    const PackedGroups its(groups, Packs::channels, 8, false, false);
    const std::optional<Image> packed = image_of(its.groups, second);
    ASSERT_TRUE(packed);
    const WindowPlaces places = places_of(*packed);
    EXPECT_EQ(places, places_of(its.groups, second));
    const Packing& packing = second ? its.second : its.first;
    std::map<std::int64_t, std::int64_t> from;  // where a place of the packed image comes from
    std::vector<std::int64_t> at(packing.moves.size(), 0);
    for (bool ends = false; !ends;) {
      std::int64_t source = packing.start, to = 0;
      bool exists = true;
      for (std::size_t d = 0; d < at.size(); ++d) {
        const Move& move = packing.moves[d];
        EXPECT_EQ(move.before, 0);
        exists = exists && at[d] < move.extent - move.behind;
        source += at[d] * move.from;
        to += at[d] * move.to;
      }
      from[to] = exists ? source : -2;
      std::size_t d = 0;
      while (d < at.size() && ++at[d] == packing.moves[d].extent) at[d++] = 0;
      ends = d == at.size();
    }
    EXPECT_EQ(std::ssize(from), packing.elements);
    const WindowPlaces given = places_of(*image);
    for (std::size_t row = 0; row < given.size(); ++row) {
      const std::int64_t channels = packed->channels;  // with zeros
      for (std::int64_t term = 0; term < std::ssize(places[row]); ++term) {
        const std::int64_t place = places[row][static_cast<std::size_t>(term)], channel = term % channels;
        const std::int64_t expected =
            channel >= image->channels
                ? -2
                : given[row][static_cast<std::size_t>(term / channels * image->channels + channel)];
        ASSERT_TRUE(place == -1 ? expected < 0 : from.at(place) == expected) << row << " " << term;
      }
    }
  }
  for (const char* const words :
       {"expression=\"out[n,o,y,x] += image[n,c,y+i,x+j] * w[o,c,i,j]\" n=2 o=3 y=4 x=5 c=6 i=2 j=3",
        "expression=\"out[n,y,x,o] += image[n,y+i,x,c] * w[o,i,c]\" n=2 o=3 y=4 x=5 c=6 i=2 "
        "image=2x5x5x6:210x42x6x1",
        "expression=\"out[n,y,x,o] += image[n,y+x+i,c] * w[o,i,c]\" n=2 o=3 y=4 x=5 c=6 i=2",
        "expression=\"out[g,n,y,o] += image[g,n,y+i,c] * w[g,o,i,c]\" g=2 n=2 o=3 y=4 c=6 i=2"}) {
    SCOPED_TRACE(words);
    const Groups groups = groups_in(words);
    EXPECT_FALSE(image_of(groups, windowed_operand(groups) == 1));
  }
}

// Where the groups say that so many neighbours of the first digit lie side by side and aligned, they do.
TEST(TensorGroups, OfDrawnLinesHaveVectorsThatLieInOnePiece) {
  std::size_t wide = 0;
  const std::uint64_t drawn = rounds_of("TUNESMITH_TEST_GROUPS", 60);
  for (std::uint64_t seed = 1; seed <= drawn; ++seed) {
    const DrawnLine line(seed);
    SCOPED_TRACE(line.words());
    const Groups groups = groups_in(line.words());
    const bool along = first_along_k(groups);
    const Counted counted = along ? counted_k(groups, "first") : counted_m(groups);
    const std::int64_t vector = widest(groups, counted, &Digit::first, groups.first.start, 4);
    ASSERT_GE(vector, 1);
    wide += vector > 1 ? 1 : 0;
    const std::vector<Term> places = places_of(counted),
                            others = places_of(along ? counted_m(groups) : counted_k(groups, "first"));
    ASSERT_EQ(std::ssize(places) % vector, 0);
    for (const Term& batch : places_of({groups.batch}))
      for (const Term& other : others)
        for (std::size_t at = 0; at < places.size(); ++at) {
          const std::int64_t in_vector = static_cast<std::int64_t>(at) % vector;
          const std::int64_t place = groups.first.start + batch[0] + other[0] + places[at][0];
          if (in_vector == 0) {
            ASSERT_EQ(place % vector, 0);
          } else {
            ASSERT_EQ(places[at][0], places[at - 1][0] + 1);
          }
        }
  }
  EXPECT_GT(wide, drawn / 20);
}

}  // namespace
}  // namespace tunesmith::tensor_op::contract_groups_test

// SPDX-License-Identifier: Apache-2.0
// The boxes of permute: taken one after the other, as rows of the input and of the output, they reach what
// the loops over all dimensions reach, and each element has a place of its own in shared memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "templates/shared_layout.h"
#include "tests/rounds.h"

namespace tunesmith::tensor_op::permute_boxes_test {
namespace {

#include "templates/tensor/permute/permute_layout.inl"

using Move = std::pair<long long, long long>;  // from an element of the input to one of the output

// Dense arrays but for `pitch` elements more between the rows of each; dimensions 0, 1, … of the output from
// the innermost on, of the input in `order`.
Permutation permutation_of(const std::vector<long long>& extents, const std::vector<int>& order,
                           int element_bytes, long long input_pitch = 0, long long output_pitch = 0) {
  Permutation p = {};
  p.rank = static_cast<int>(extents.size());
  p.input_bytes = p.output_bytes = element_bytes;
  std::copy(extents.begin(), extents.end(), p.extents);
  long long input = 1, output = 1;
  for (int n = 0; n < p.rank; ++n) {
    const int d = order[static_cast<std::size_t>(n)];
    p.input_order[n] = d;
    p.input_strides[d] = input;
    input = input * p.extents[d] + (n == 0 ? input_pitch : 0);
    p.output_order[n] = n;
    p.output_strides[n] = output;
    output = output * p.extents[n] + (n == 0 ? output_pitch : 0);
  }
  return p;
}

std::string text_of(const Permutation& p, const Box& box) {
  std::string text;
  for (int d = 0; d < p.rank; ++d)
    text += " " + std::to_string(p.extents[d]) + "(" + std::to_string(box.tiles[d]) + ", strides " +
            std::to_string(p.input_strides[d]) + " " + std::to_string(p.output_strides[d]) + ")";
  return text + ", starts " + std::to_string(p.input_start) + " " + std::to_string(p.output_start) + ", " +
         std::to_string(p.input_bytes) + " bytes";
}

// Calls visit(indices) for all indices below `extents`, the first fastest.
template <typename Visit>
void each(const std::vector<long long>& extents, Visit visit) {
  std::vector<long long> indices(extents.size(), 0);
  if (std::find(extents.begin(), extents.end(), 0) != extents.end()) return;
  for (;;) {
    visit(indices);
    std::size_t i = 0;
    while (i < extents.size() && ++indices[i] == extents[i]) indices[i++] = 0;
    if (i == extents.size()) return;
  }
}

std::vector<long long> first_of(const long long (&all)[most_box_dimensions], int rank) {
  return {all, all + rank};
}

Move start_of(const Permutation& p) { return {p.input_start, p.output_start}; }
void step(const Permutation& p, Move& move, int dimension, long long by) {
  move.first += by * p.input_strides[dimension];
  move.second += by * p.output_strides[dimension];
}

std::vector<Move> moves_of(const Permutation& p) {
  std::vector<Move> moves;
  each(first_of(p.extents, p.rank), [&](const std::vector<long long>& indices) {
    Move move = start_of(p);
    for (int d = 0; d < p.rank; ++d) step(p, move, d, indices[static_cast<std::size_t>(d)]);
    moves.push_back(move);
  });
  std::sort(moves.begin(), moves.end());
  return moves;
}

// All boxes, row by row of one of the arrays, as the kernel's corner_of() and spot_of() take them.
std::vector<Move> moves_by_rows(const Permutation& p, const Box& box, const Rows& rows, bool reads) {
  const int* const order = reads ? p.input_order : p.output_order;
  std::vector<long long> pieces;
  for (int d = 0; d < p.rank; ++d) pieces.push_back((p.extents[d] + box.tiles[d] - 1) / box.tiles[d]);
  std::vector<Move> moves;
  each(pieces, [&](const std::vector<long long>& block) {
    Move corner = start_of(p);
    long long room[most_box_dimensions] = {};
    for (int d = 0; d < p.rank; ++d) {
      const long long at = block[static_cast<std::size_t>(d)] * box.tiles[d];
      room[d] = std::min(box.tiles[d], p.extents[d] - at);
      step(p, corner, d, at);
    }
    const int last = order[rows.dimensions - 1];
    const long long length = rows.elements / box.tiles[last] * room[last];
    for (long long row = 0; row < rows.count; ++row) {
      Move begin = corner;
      bool inside = true;
      long long rest = row;
      for (int n = rows.dimensions; n < p.rank; ++n) {
        const int d = order[n];
        inside = inside && rest % box.tiles[d] < room[d];
        step(p, begin, d, rest % box.tiles[d]);
        rest /= box.tiles[d];
      }
      for (long long element = 0; inside && element < length; ++element) {
        Move move = begin;
        long long place = element;
        for (int n = 0; n < rows.dimensions; ++n) {
          step(p, move, order[n], place % box.tiles[order[n]]);
          place /= box.tiles[order[n]];
        }
        // One behind the other, which vectors need.
        const long long stride = (reads ? p.input_strides : p.output_strides)[order[0]];
        EXPECT_EQ((reads ? move.first - begin.first : move.second - begin.second), element * stride);
        moves.push_back(move);
      }
    }
  });
  std::sort(moves.begin(), moves.end());
  return moves;
}

// Where a box's elements lie in shared memory, if its corner lies at a multiple of a vector.
void check_places(const Permutation& p, const Box& box, const Rows& rows, const Places& places,
                  long long vector) {
  std::set<long long> taken;
  each(first_of(box.tiles, p.rank), [&](const std::vector<long long>& indices) {
    long long place = 0, from = 0, in_row = 0;
    for (int n = 0; n < p.rank; ++n) {
      const int d = p.input_order[n];
      const long long by = indices[static_cast<std::size_t>(d)];
      place += by * places.strides[d];
      from += by * p.input_strides[d];
      if (n < rows.dimensions) in_row += by;
    }
    EXPECT_TRUE(taken.insert(place).second) << "two elements at " << place;
    if (in_row > 0) return;
    // A row's vectors begin where the array's do, if it is not put there piece by piece.
    const long long at = rows.shifted ? place - from : place;
    EXPECT_EQ(at % places.piece, 0) << "place " << place;
  });
  EXPECT_GE(*taken.begin(), 0);
  EXPECT_LE(*taken.rbegin() + (rows.shifted ? vector : 1), places.all);
  EXPECT_EQ(places.all % vector, 0);
  EXPECT_EQ(vector % places.piece, 0);
}

void check_shares(const Rows& rows, const Shares& shares, long long block) {
  if (shares.steady) {
    EXPECT_LE(rows.slots * shares.rows, block);
    EXPECT_GE(shares.rows * shares.passes, rows.count);
    EXPECT_LT(shares.rows * (shares.passes - 1), rows.count);
  } else {
    EXPECT_GE(shares.passes * block, rows.count * rows.slots);
    EXPECT_LT((shares.passes - 1) * block, rows.count * rows.slots);
  }
}

void check_series(const Permutation& p, const Box& box, const Rows& rows, const Series& series,
                  long long vector) {
  if (series.dimension < 0) return;
  const long long tile = box.tiles[series.dimension];
  EXPECT_EQ(p.output_strides[series.dimension] * series.step % vector, 0);
  std::vector<int> taken(static_cast<std::size_t>(tile), 0);
  for (long long start = 0; start < series.starts; ++start)
    for (long long row = 0; row < series.rows; ++row)
      if (const long long at = start + row * series.step; at < tile) ++taken[static_cast<std::size_t>(at)];
  EXPECT_EQ(taken, std::vector<int>(taken.size(), 1));
  EXPECT_GE(std::find(p.output_order, p.output_order + p.rank, series.dimension) - p.output_order,
            rows.dimensions);
}

TEST(TensorPermuteBoxes, OfATransposeAreSquareAndPadded) {
  const Permutation p = permutation_of({4096, 4096}, {1, 0}, 4);
  const Box box = box_of(p, 64, 64, 2048);
  EXPECT_EQ(first_of(box.tiles, 2), (std::vector<long long>{64, 64}));
  EXPECT_EQ(padded_dimension(p), 0);
  const Rows in = rows_of(p, box, true, 4, p.rank, 0), out = rows_of(p, box, false, 4, p.rank, -1);
  for (const Rows& rows : {in, out}) {
    EXPECT_EQ(rows.dimensions, 1);
    EXPECT_EQ(rows.elements, 64);
    EXPECT_EQ(rows.count, 64);
    EXPECT_EQ(rows.slots, 16);
    EXPECT_TRUE(rows.whole);
    EXPECT_FALSE(rows.shifted);
  }
  const Places places = places_of(p, box, in, 4, 1);
  EXPECT_EQ(first_of(places.strides, 2), (std::vector<long long>{65, 1}));
  EXPECT_EQ(places.piece, 1);
  EXPECT_EQ(places.all, 63 * 65 + 64 + 1);  // to whole vectors
  EXPECT_TRUE(shares_of(in, 256).steady);
  EXPECT_EQ(shares_of(in, 256).passes, 4);
}

// Dimensions that both arrays have in common are read and written as one.
TEST(TensorPermuteBoxes, HaveCommonDimensionsInOneRow) {
  const Permutation p = permutation_of({8, 30, 20}, {0, 2, 1}, 4);
  const Box box = box_of(p, 64, 64, 2048);
  EXPECT_EQ(first_of(box.tiles, 3), (std::vector<long long>{8, 30, 10}));
  EXPECT_EQ(grain_of(p, true), 8);
  EXPECT_EQ(padded_dimension(p), 1);
  EXPECT_EQ(rows_of(p, box, true, 4, p.rank, 1).elements, 8 * 10);
  EXPECT_EQ(rows_of(p, box, false, 4, p.rank, -1).elements, 8 * 30 * 10);
}

// The input's rows begin at multiples of 32 bytes and are shorter; the output's are one behind the other.
TEST(TensorPermuteBoxes, AreNoLongerThanAnExtentThatIsNoMultiple) {
  const Permutation p = permutation_of({18, 17, 12}, {0, 1, 2}, 1, 14);
  const Box box = box_of(p, 16, 64, 2048);
  EXPECT_EQ(box.tiles[0], 18);
  EXPECT_EQ(moves_by_rows(p, box, rows_of(p, box, false, 4, p.rank, -1), false), moves_of(p));
}

// TUNESMITH_TEST_BOXES: how many permutations.
TEST(TensorPermuteBoxes, OfDrawnPermutationsReachEachElementOnce) {
  std::mt19937_64 random(1);
  const auto below = [&](std::uint64_t bound) { return static_cast<long long>(random() % bound); };
  const auto power = [&](std::uint64_t most) { return 1ll << below(most + 1); };
  std::size_t shifted = 0, several = 0, series_taken = 0;
  const std::uint64_t drawn = rounds_of("TUNESMITH_TEST_BOXES", 400);
  for (std::uint64_t round = 0; round < drawn; ++round) {
    std::vector<long long> extents;
    static constexpr std::array<std::uint64_t, 5> most = {400, 70, 20, 9, 5};
    const auto rank = static_cast<std::size_t>(1 + below(most.size()));
    while (extents.size() < rank) extents.push_back(1 + below(most[rank - 1]));
    std::vector<int> order(extents.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    // Rows without a pitch, at multiples of 32 elements, or anywhere.
    const auto pitch_of = [&](long long row) {
      const long long kind = below(4);
      return kind == 0 ? below(9) : kind == 1 ? (32 - row % 32) % 32 : 0;
    };
    const long long input_pitch = pitch_of(extents[static_cast<std::size_t>(order.front())]),
                    output_pitch = pitch_of(extents.front());
    Permutation p = permutation_of(extents, order, static_cast<int>(power(3)), input_pitch, output_pitch);
    if (below(4) == 0) p.input_start = below(9);
    if (below(4) == 0) p.output_start = below(9);
    const long long most_vector = 16 / p.input_bytes;
    const auto vector_of = [&] {
      long long vector = power(4);
      while (vector > most_vector) vector /= 2;
      return vector;
    };
    const long long vector_in = vector_of(), vector_out = vector_of(), pad = below(2) * power(2),
                    block = 32 * power(3);
    const Box box = box_of(p, 16 * power(3), 16 * power(3), 64 * power(5));
    SCOPED_TRACE(text_of(p, box) + ", vectors " + std::to_string(vector_in) + " " +
                 std::to_string(vector_out) + ", pad " + std::to_string(pad) + ", threads " +
                 std::to_string(block));
    for (int d = 0; d < p.rank; ++d) {
      ASSERT_GE(box.tiles[d], 1);
      ASSERT_LE(box.tiles[d], p.extents[d]);
    }
    const Rows in = rows_of(p, box, true, vector_in, p.rank, pad > 0 ? padded_dimension(p) : -1),
               out = rows_of(p, box, false, vector_out, p.rank, -1);
    const std::vector<Move> expected = moves_of(p);
    EXPECT_EQ(moves_by_rows(p, box, in, true), expected) << "read";
    EXPECT_EQ(moves_by_rows(p, box, out, false), expected) << "written";
    check_places(p, box, in, places_of(p, box, in, vector_in, pad), vector_in);
    check_shares(in, shares_of(in, block), block);
    check_shares(out, shares_of(out, block), block);
    const Series series = series_of(p, box, out, vector_out, block);
    check_series(p, box, out, series, vector_out);
    shifted += in.shifted ? 1 : 0;
    several += in.dimensions > 1 ? 1 : 0;
    series_taken += series.dimension >= 0 ? 1 : 0;
    if (testing::Test::HasFailure()) return;
  }
  for (const std::size_t seen : {shifted, several, series_taken}) EXPECT_GT(seen, drawn / 20);
}

}  // namespace
}  // namespace tunesmith::tensor_op::permute_boxes_test

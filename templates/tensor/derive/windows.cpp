// SPDX-License-Identifier: Apache-2.0
// The rewrites of sums over a window: the values stay the same where a reduced index moves together with free
// ones.

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>

#include "templates/tensor/derive/derivation.h"
#include "templates/tensor/notation/layout.h"

namespace tunesmith::tensor_op {
namespace {

// The free indices' steps that leave every access where it is while `index` steps by 1; 0 for a step that is
// not determined. Found by elimination, with a row of whole numbers without a common factor for each
// dimension's equation. Returns nothing if there are no such steps, they are no whole numbers, or numbers
// exceed `most`.
std::optional<std::vector<std::int64_t>> steps_of(const LoopNest& loops, std::size_t index) {
  constexpr std::int64_t most = std::int64_t{1} << 30;
  using Row = std::vector<std::int64_t>;
  std::vector<Row> rows;
  for (const Access& access : loops.body.accesses) {
    for (const Affine& dimension : access.dimensions) {
      Row& row = rows.emplace_back(dimension.factors);
      row.resize(loops.free);
      row.push_back(-dimension.factors[index]);
    }
  }
  std::vector<std::int64_t> steps(loops.free);
  std::vector<std::size_t> columns;  // of the first rows, in which the other rows have 0
  for (std::size_t column = 0; column < loops.free; ++column) {
    const auto next = rows.begin() + std::ssize(columns);
    const auto found = std::find_if(next, rows.end(), [=](const Row& row) { return row[column] != 0; });
    if (found == rows.end()) continue;
    std::iter_swap(next, found);
    columns.push_back(column);
    for (Row& row : rows) {
      const std::int64_t factor = row[column];
      if (&row == &*next || factor == 0) continue;
      std::int64_t common = 0;
      for (std::size_t k = 0; k < row.size(); ++k) {
        row[k] = row[k] * (*next)[column] - (*next)[k] * factor;
        common = std::gcd(common, row[k]);
      }
      for (std::int64_t& each : row) {
        each /= std::max<std::int64_t>(common, 1);
        if (std::abs(each) > most) return std::nullopt;
      }
    }
  }
  for (std::size_t n = 0; n < rows.size(); ++n) {
    const std::int64_t value = rows[n].back(), divisor = n < columns.size() ? rows[n][columns[n]] : 0;
    if (divisor == 0 ? value != 0 : value % divisor != 0) return std::nullopt;
    if (divisor != 0) steps[columns[n]] = value / divisor;
  }
  return steps;
}

// A LoopNest whose function is constant where a reduced index moves by 1 and free ones by some steps: the
// value at index i is that at index 0 of shifted free indices, so that the sum over i is a window's.
class Windows {
 public:
  explicit Windows(const LoopNest& loops) : loops_(loops), shifted_(loops) {
    back_.resize(loops.free);
    for (std::size_t o = 0; o < loops.free; ++o) {
      back_[o].factors.resize(loops.extents.size());
      back_[o].factors[o] = 1;
    }
  }

  /// Adds the index if the function is constant in this way and shifted reads stay inside what the loops
  /// read; returns whether it did.
  bool add(std::size_t index) {
    const auto steps = steps_of(loops_, index);
    if (!steps) return false;
    LoopNest shifted = shifted_;
    std::vector<Affine> back = back_;
    for (std::size_t o = 0; o < loops_.free; ++o) {
      const std::int64_t reach = (*steps)[o] * (loops_.extents[index] - 1);
      if (std::abs(reach) > most_extent) return false;
      const std::int64_t least = std::min<std::int64_t>(-reach, 0);
      shifted.extents[o] += std::abs(reach);
      back[o].factors[index] = -(*steps)[o];
      back[o].offset -= least;
      for (Access& access : shifted.body.accesses)
        for (Affine& dimension : access.dimensions) dimension.offset += dimension.factors[o] * least;
    }
    for (std::size_t a = 0; a < shifted.body.accesses.size(); ++a) {
      for (std::size_t d = 0; d < shifted.body.accesses[a].dimensions.size(); ++d) {
        Affine& dimension = shifted.body.accesses[a].dimensions[d];
        dimension.factors[index] = 0;
        const Reach before = reach_of(loops_.body.accesses[a].dimensions[d], loops_.extents);
        const Reach after = reach_of(dimension, shifted.extents);
        if (after.least < before.least || after.most > before.most) return false;
      }
    }
    shifted_ = std::move(shifted);
    back_ = std::move(back);
    indices_ |= bit(index);
    return true;
  }

  Indices indices() const { return indices_; }

  /// Rewrites the loops as windows over one array, which is summed over the other reduced indices.
  std::optional<Rewrite> rewrite(LoopsTable& table) const {
    const Indices others = loops_.reduced() & ~indices_;
    const LoopsTable::Array array = table.array(shifted_.body, shifted_, others);
    if (table[array.loops].copies()) return std::nullopt;
    Access access = array.access;
    for (Affine& dimension : access.dimensions) {
      Affine to{std::vector<std::int64_t>(loops_.extents.size()), dimension.offset};
      for (std::size_t o = 0; o < loops_.free; ++o) {
        for (std::size_t i = 0; i < to.factors.size(); ++i)
          to.factors[i] += dimension.factors[o] * back_[o].factors[i];
        to.offset += dimension.factors[o] * back_[o].offset;
      }
      dimension = std::move(to);
    }
    Composer composer;
    Body body = composer.finish(composer.access(access));
    return Rewrite{{array.loops}, table.outer(loops_, std::move(body), indices_)};
  }

 private:
  static constexpr std::int64_t most_extent = std::int64_t{1} << 32;  // so that no product overflows

  const LoopNest& loops_;
  LoopNest shifted_;
  std::vector<Affine> back_;  // each shifted index, by the loops' own indices
  Indices indices_ = 0;
};

}  // namespace

std::vector<Rewrite> window_rewrites(LoopsTable& table, int number) {
  const LoopNest& loops = table[number];
  std::vector<Rewrite> found;
  Windows together(loops);
  for (std::size_t i = loops.free; i < loops.extents.size(); ++i) {
    Windows alone(loops);
    if (!alone.add(i)) continue;
    if (const auto rewrite = alone.rewrite(table)) found.push_back(*rewrite);
    together.add(i);
  }
  if (std::popcount(together.indices()) > 1)
    if (const auto rewrite = together.rewrite(table)) found.push_back(*rewrite);
  return found;
}

}  // namespace tunesmith::tensor_op

// Sums over a window: of values that stay the same where a reduced index moves with free ones.

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>

#include "templates/tensor/derivation.h"
#include "templates/tensor/layout.h"

namespace tunesmith::tensor_op {
namespace {

// In lowest terms.
struct Fraction {
  std::int64_t above = 0, below = 1;
};

class LinearSystem {
 public:
  /// Rows are the dimensions of all accesses; the unknowns the free indices' steps while `index` steps by 1.
  LinearSystem(const Loops& loops, std::size_t index) : unknowns_(loops.free) {
    for (const Access& access : loops.body.accesses) {
      for (const Affine& dimension : access.dimensions) {
        std::vector<Fraction>& row = rows_.emplace_back();
        for (std::size_t i = 0; i < loops.free; ++i) row.push_back({dimension.factors[i], 1});
        row.push_back({-dimension.factors[index], 1});
      }
    }
  }

  /// A solution in whole numbers, with 0 for what is not determined.
  std::optional<std::vector<std::int64_t>> solution() {
    std::vector<std::int64_t> steps(unknowns_);
    std::vector<std::size_t> column_of;
    for (std::size_t column = 0; column < unknowns_ && column_of.size() < rows_.size(); ++column)
      if (eliminate(column, column_of.size())) column_of.push_back(column);
    if (!fits_) return std::nullopt;
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      const Fraction value = rows_[row].back();
      if (row >= column_of.size()) {
        if (value.above != 0) return std::nullopt;
        continue;
      }
      if (value.below != 1) return std::nullopt;
      steps[column_of[row]] = value.above;
    }
    return steps;
  }

 private:
  bool eliminate(std::size_t column, std::size_t to) {
    std::size_t from = to;
    while (from < rows_.size() && rows_[from][column].above == 0) ++from;
    if (from == rows_.size()) return false;
    std::swap(rows_[from], rows_[to]);
    const Fraction pivot = rows_[to][column];
    for (Fraction& value : rows_[to]) value = reduced(value.above, value.below, pivot.below, pivot.above);
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      const Fraction factor = rows_[row][column];
      if (row == to || factor.above == 0) continue;
      for (std::size_t k = 0; k <= unknowns_; ++k) {
        const Fraction taken = reduced(rows_[to][k].above, rows_[to][k].below, factor.above, factor.below);
        Fraction& value = rows_[row][k];
        value =
            reduced(value.above * taken.below - taken.above * value.below, value.below * taken.below, 1, 1);
      }
    }
    return true;
  }

  // The product of two fractions.
  Fraction reduced(std::int64_t above, std::int64_t below, std::int64_t other_above,
                   std::int64_t other_below) {
    constexpr std::int64_t most = std::int64_t{1} << 30;
    std::int64_t common = std::gcd(above, below);
    above /= common, below /= common;
    common = std::gcd(other_above, other_below);
    other_above /= common, other_below /= common;
    for (const std::int64_t each : {above, below, other_above, other_below})
      if (std::abs(each) > most) fits_ = false;
    if (!fits_) return {};
    above *= other_above, below *= other_below;
    common = std::gcd(above, below) * (below < 0 ? -1 : 1);
    above /= common, below /= common;
    fits_ = std::abs(above) <= most && below <= most;
    return fits_ ? Fraction{above, below} : Fraction{};
  }

  std::size_t unknowns_;
  std::vector<std::vector<Fraction>> rows_;
  bool fits_ = true;
};

// Loops whose function is constant where a reduced index moves by 1 and free ones by some steps: the value at
// index i is that at index 0 of shifted free indices, so that the sum over i is a window's.
class Windows {
 public:
  explicit Windows(const Loops& loops) : loops_(loops), shifted_(loops) {
    back_.resize(loops.free);
    for (std::size_t o = 0; o < loops.free; ++o) {
      back_[o].factors.resize(loops.extents.size());
      back_[o].factors[o] = 1;
    }
  }

  /// Whether it is so for the index, and shifted reads stay inside of what the loops read.
  bool add(std::size_t index) {
    const auto steps = LinearSystem(loops_, index).solution();
    if (!steps) return false;
    Loops shifted = shifted_;
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

  /// A window over one array, which is summed over the other reduced indices.
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

  const Loops& loops_;
  Loops shifted_;
  std::vector<Affine> back_;  // a shifted index, of the loops' own
  Indices indices_ = 0;
};

}  // namespace

std::vector<Rewrite> window_rewrites(LoopsTable& table, int number) {
  const Loops& loops = table[number];
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

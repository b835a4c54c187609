// SPDX-License-Identifier: Apache-2.0
// The indices of a contraction in groups, and the order in which a kernel counts each group. Private to this
// folder.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "generator/problem.h"
#include "templates/tensor/notation/nest.h"

namespace tunesmith::tensor_op {

constexpr std::size_t most_digits = 16;  ///< as in nest.inl

constexpr std::size_t most_finish_accesses = 3;

/// An index of the nest as contract.cu sees it: its extent, and how far it moves the operands, the output and
/// the accesses of the finish.
struct Digit {
  std::int64_t extent = 1, first = 0, second = 0, out = 0;
  std::array<std::int64_t, most_finish_accesses> finish = {};
  std::int64_t padding = 0;  ///< of a term, at the end of the extent, where packed operands have zeros
  std::size_t index = 0;     ///< of the nest, as bounds count them

  bool operator==(const Digit& other) const {  // wherever they come from
    return extent == other.extent && first == other.first && second == other.second && out == other.out &&
           finish == other.finish && padding == other.padding;
  }
};
using Group = std::vector<Digit>;
using Stride = std::int64_t Digit::*;

std::int64_t size_of(const Group& group);

/// The key of a stride in an order: a stride of 0 comes last.
std::int64_t distance_of(std::int64_t stride);

/// M moves the first operand and the output, N the second and the output or only the output, the batch all of
/// them, or the second operand and the output if N's rows are counted apart; K is reduced. Each group has at
/// least one digit.
struct Groups {
  Group m, n, k, batch;
  View first, second, out;
  bool swapped = false;  ///< the first operand is the function's second

  Groups(const Nest& nest, const std::vector<int>& finish);  ///< places in nest.inputs

 private:
  void count_channels_apart(const Group& rows, Stride stride);
  void count_rows_apart();
};
Groups groups_of(const Problem& problem);

/// True if an operand's nearest elements are neighbours in K.
bool along_k(const Groups& groups, const Group& rows, Stride stride);
bool first_along_k(const Groups& groups);
bool second_along_k(const Groups& groups);

/// A group in the order in which a kernel counts it.
struct Counted {
  Group digits;
  std::int64_t in_runs = 0;  ///< the extent of the index that is counted in runs, of the first digit's extent

  std::int64_t size() const { return size_of(digits); }
};
Counted ordered(Group group, Stride stride, Stride then);

/// The rows that an operand shares with the output: in the operand's order if its neighbours are among them,
/// else in the output's. counted_n() may also count in runs of `span` neighbours in the output, with the
/// operand's neighbours next; it returns nothing if there are no such runs.
Counted counted_m(const Groups& groups);
std::optional<Counted> counted_n(const Groups& groups, std::int64_t span);
/// The terms, in the order of one of the operands.
Counted counted_k(const Groups& groups, std::string_view order);
bool has_one_order_k(const Groups& groups);

/// The most neighbours of the group, up to `widest`, that lie side by side and aligned wherever the other
/// digits lead: places of the first digit, or, unless `of_first`, also of those behind it that follow it
/// without gaps.
std::int64_t widest(const Groups& groups, const Counted& group, Stride stride, std::int64_t start,
                    std::int64_t widest, bool of_first = false);

/// The operands that are packed. `channels`: both, and the one that is read through windows as its array is,
/// not a place for each term; the neighbours are K's index that only steps over windows (channels), in whole
/// vectors.
enum class Packs : std::uint8_t { none, first, second, both, channels };
constexpr auto names_of(Packs) {
  return std::to_array<std::string_view>({"none", "first", "second", "both", "channels"});
}
constexpr bool packs_first(Packs packs) { return packs != Packs::none && packs != Packs::second; }
constexpr bool packs_second(Packs packs) { return packs != Packs::none && packs != Packs::first; }

/// How far an index moves an operand in its array and in its packed copy. Of the extent the first `before`
/// and the last `behind` places are not in the array, and zeros.
struct Move {
  std::int64_t extent = 1, from = 0, to = 0, before = 0, behind = 0;
};
/// An operand that is packed in the workspace: the rows in the output's order, then the terms, or the terms
/// and then the rows; then the batch.
struct Packing {
  std::vector<Move> moves;    ///< first the nearest in the packed copy, then the nearest in the array
  std::int64_t start = 0;     ///< of the moves in the array
  std::int64_t elements = 0;  ///< 0: it is not packed
};
/// The operand that is read through windows and has channels, if one is: -1 no, 0 the first, 1 the second. It
/// alone may leave its array's bounds.
int windowed_operand(const Groups& groups);

/// The groups after operands are packed, and how they are packed. The terms' rows, or, with `terms_first`,
/// the rows' terms, begin at multiples of `vector` elements. Behind a row's terms may be any elements, which
/// are multiplied with zeros; where both operands are packed so, the terms' first index ends with zeros in
/// whole vectors. `channels` needs a windowed operand, of whose image it packs what windows read, with zeros
/// beyond the array; without `borders` just the array, beyond which windows still read.
struct PackedGroups {
  Groups groups;
  Packing first = {}, second = {};

  PackedGroups(Groups given, Packs packs, std::int64_t vector, bool terms_first = false, bool borders = true);
};

/// The image of a windowed operand: pixels of channels that are neighbours.
struct Image {
  /// A dimension along which windows step, and whose places within a window are terms.
  struct Dimension {
    std::int64_t extent = 1, stride = 1;  ///< of pixels; in elements
    std::int64_t first = 0;               ///< the place of the first window's first pixel; below 0: before it
    std::int64_t windows = 1, step = 1;   ///< so many, so many places apart
    std::int64_t in_window = 1, step_in_window = 1;  ///< likewise the pixels of a window
  };
  std::int64_t start = 0, channels = 1;
  std::vector<Dimension> dimensions = {};  ///< the nearest first
  /// The images, if there are several: a last dimension, of which each window has one place.
  std::int64_t images = 1, image_stride = 1;
};
/// The image of the first or second operand if rows and terms are counted through it: a row is a window, its
/// terms are the channels and then the pixels of a window, both in the order of the dimensions. Nothing: they
/// are not, or there is a batch.
std::optional<Image> image_of(const Groups& groups, bool second);

}  // namespace tunesmith::tensor_op

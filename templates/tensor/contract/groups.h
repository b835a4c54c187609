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
  /// At the end of the extent: of a term, where packed operands have zeros; of a row, places that the output
  /// does not have (spread()).
  std::int64_t padding = 0;
  std::size_t index = 0;  ///< of the nest, as bounds count them

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
/// them; K is reduced. Each group has at least one digit.
struct Groups {
  Group m, n, k, batch;
  View first, second, out;
  bool swapped = false;  ///< the first operand is the function's second

  Groups(const Nest& nest, const std::vector<int>& finish);  ///< places in nest.inputs
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

/// The most neighbours of the group's first digit, up to `widest`, that lie side by side and aligned wherever
/// the other digits lead.
std::int64_t widest(const Groups& groups, const Counted& group, Stride stride, std::int64_t start,
                    std::int64_t widest);

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
  std::int64_t elements = 0;  ///< 0: it is not packed
};
/// The operand that is read through windows and has channels, if one is: -1 no, 0 the first, 1 the second. It
/// alone may leave its array's bounds.
int windowed_operand(const Groups& groups);

/// The groups after operands are packed, and how they are packed. The terms' rows, or, with `terms_first`,
/// the rows' terms, begin at multiples of `vector` elements. Behind a row's terms may be any elements, which
/// are multiplied with zeros; where both operands are packed so, the terms' first index ends with zeros in
/// whole vectors. `channels` needs a windowed operand; with `whole_rows` its image's rows are padded to a
/// multiple of `vector` pixels.
struct PackedGroups {
  Groups groups;
  Packing first = {}, second = {};

  PackedGroups(Groups given, Packs packs, std::int64_t vector, bool terms_first = false,
               bool whole_rows = false);
};

/// Counts the rows of a windowed operand, the first or the second, through its whole image, so that they are
/// one dimension of it: each digit gets as many places as reach the next digit's step, of which the output
/// has those before the padding. Returns false if they do not follow each other so, in the order in which a
/// kernel counts them, or K's first digit is not the image's nearest, in multiples of `terms`.
bool spread(Groups& groups, bool second, std::int64_t terms);

}  // namespace tunesmith::tensor_op

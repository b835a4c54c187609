// SPDX-License-Identifier: Apache-2.0
#include "templates/tensor/contract/width_table.h"

#include <algorithm>
#include <optional>

namespace tunesmith::tensor_op::contraction {

WidthTable::WidthTable(const Problem& problem, const Groups& given)
    : has_bytes_(has_bytes(problem)),
      loaded_(widest_load(problem, false)),
      stored_(widest_store(problem, false)) {
  for (std::size_t number = 0; number < (has_bytes_ ? 2 : 1) * number_of_packs; ++number) {
    const std::size_t pack = number % number_of_packs;
    const auto packs = static_cast<Packs>(pack);
    if (packs == Packs::channels && windowed_operand(given) < 0) continue;
    const bool of_bytes = number >= number_of_packs;
    const PackedGroups its = packed(problem, given, packs, of_bytes);
    const Groups& groups = its.groups;
    elements_.at(pack) = std::max({elements_.at(pack), its.first.elements, its.second.elements});
    const auto width = [&](const std::optional<Counted>& counted, Stride stride, const View& view,
                           std::int64_t limit, bool of_first = false) {
      if (!counted || counted->size() > most_in_group) return std::int64_t{0};
      // An array smaller than the widest vector need not be aligned.
      if (array_bytes(problem, view.array) < 16) limit = 1;
      return widest(groups, *counted, stride, view.start, limit, of_first);
    };
    // A packed operand's rows follow each other, whatever their indices, and end at a multiple of a vector.
    const auto packed_width = [](const std::optional<Counted>& counted, std::int64_t limit) {
      return counted && counted->size() <= most_in_group ? limit : std::int64_t{0};
    };
    const std::int64_t loaded = widest_load(problem, true), stored = widest_store(problem, true);
    const bool a_along = first_along_k(groups), b_along = second_along_k(groups);
    const Counted m = counted_m(groups);
    for (const std::int64_t span : spans) {
      const std::optional<Counted> n = counted_n(groups, span);
      for (const bool second : {false, true}) {
        const Counted k = counted_k(groups, second ? "second" : "first");
        table_.at(place(pack, span, second, of_bytes)) = {
            packs_first(packs) ? packed_width(a_along ? k : m, loaded)
                               : width(a_along ? k : m, &Digit::first, groups.first, loaded),
            packs_second(packs) ? packed_width(b_along ? k : n, loaded)
                                : width(b_along ? k : n, &Digit::second, groups.second, loaded),
            width(n, &Digit::out, groups.out, stored),
            width(n, &Digit::out, groups.out, stored, true),
            a_along,
            b_along};
      }
    }
  }
}

WidthTable::Widths WidthTable::of(const Config& c) const {
  const bool of_bytes = has_bytes_ && multiplies_matrices(c);
  Widths its = at(c, false, of_bytes);
  if (its.a_along_k || its.b_along_k) its = at(c, c[ORDER_K] == "second", of_bytes);
  if (!multiplies_matrices(c)) {
    its.a = std::min(its.a, loaded_);
    its.b = std::min(its.b, loaded_);
  }
  if (!multiplies_matrices(c) || splits_floats(c)) {
    its.out = std::min(its.out, stored_);
    its.joined = std::min(its.joined, stored_);
  }
  if (loads_pieces(c)) its.a = its.b = 8;
  // Asynchronous copies turn terms into rows one element at a time. For tensor cores they leave the terms
  // where they are.
  const bool turns = c[STAGES] > 1 && !uses_tensor_cores(c) && !multiplies_matrices(c);
  if (turns && its.a_along_k) its.a = 1;
  if (turns && its.b_along_k) its.b = 1;
  return its;
}

}  // namespace tunesmith::tensor_op::contraction

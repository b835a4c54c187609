// SPDX-License-Identifier: Apache-2.0
// The widths of accesses that a contraction's arrays allow. Private to this folder.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "templates/tensor/contract/contract_config.h"
#include "templates/tensor/contract/groups.h"

namespace tunesmith::tensor_op::contraction {

// The widest legal accesses, by the operands that are packed and the order in which N and K are counted.
class WidthTable {
 public:
  struct Widths {
    std::int64_t a = 0, b = 0, out = 0;  // 0: N cannot be counted so
    std::int64_t joined = 0;             // of the output, by way of shared memory: within N's first index
    std::int64_t out_by(std::string_view way) const { return way == "shared" ? joined : out; }
    bool a_along_k = false, b_along_k = false;
  };

  WidthTable(const Problem& problem, const Groups& given);

  // A walk through the space decides a rule from the axes that the rule reads, so these functions read no
  // more axes than they need.
  bool counts_n(const Config& c) const { return at(c, false, false).out > 0; }
  Widths of(const Config& c) const;
  // The widths for products of matrices, without runs in N.
  Widths of(Packs packs, bool second) const {
    return table_[place(static_cast<std::size_t>(packs), 1, second, has_bytes_)];
  }
  // The elements of the larger packed operand.
  std::int64_t packed_elements(const Config& c) const {
    return elements_[static_cast<std::size_t>(packs_of(c))];
  }

 private:
  static constexpr std::array<std::int64_t, 4> spans = {1, 4, 8, 16};
  static constexpr std::size_t span_places = 17;
  static std::size_t place(std::size_t pack, std::int64_t span, bool second, bool of_bytes) {
    return ((of_bytes ? number_of_packs + pack : pack) * 2 + (second ? 1U : 0U)) * span_places +
           static_cast<std::size_t>(span);
  }
  const Widths& at(const Config& c, bool second, bool of_bytes) const {
    return table_[place(static_cast<std::size_t>(packs_of(c)), c[SPAN_N], second, of_bytes)];
  }

  bool has_bytes_;  // matrices of bytes are packed in another way than numbers, and stand behind these
  std::array<Widths, number_of_packs* 2 * 2 * span_places> table_ = {};
  std::array<std::int64_t, number_of_packs> elements_ = {};
  std::int64_t loaded_, stored_;  // the widest load and store of what is multiplied as numbers
};

}  // namespace tunesmith::tensor_op::contraction

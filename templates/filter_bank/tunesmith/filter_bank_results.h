// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tunesmith {

/// What filter_bank() makes of its filters: each one's image, their sum, or the root of the sum of their
/// squares.
enum class FilterBankResults : std::int32_t { each, sum, norm };

/// The words of problems, in that order.
constexpr std::array<std::string_view, 3> names_of(FilterBankResults /*any*/) {
  return {"each", "sum", "norm"};
}

}  // namespace tunesmith

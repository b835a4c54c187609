// SPDX-License-Identifier: Apache-2.0
// The kinds of output of filter_bank(), for its public header and for its problems.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tunesmith {

/// The output of filter_bank(): each filter's image, the filters' sum, or the root of the sum of their
/// squares.
enum class FilterBankResults : std::int32_t { each, sum, norm };

/// The names in problems, in the order of the values.
constexpr std::array<std::string_view, 3> names_of(FilterBankResults /*any*/) {
  return {"each", "sum", "norm"};
}

}  // namespace tunesmith

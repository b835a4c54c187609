// SPDX-License-Identifier: Apache-2.0
// The boundaries by number and by name: for contracts, typed functions and, by the same numbers, kernels.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tunesmith {

/// What stands outside an image or a signal. common/boundary.cuh has the same numbers, which conv1d's
/// boundary_test.cpp compares.
enum class Boundary : std::int32_t { zero, constant, nearest, reflect, mirror, wrap };

/// By number; the names are those of scipy.ndimage's modes.
inline constexpr std::array<std::string_view, 6> boundary_names = {"zero",    "constant", "nearest",
                                                                   "reflect", "mirror",   "wrap"};

/// Whether an enumeration of a public header has the boundaries in this order.
template <typename Public>
constexpr bool has_all_boundaries() {
  const auto same = [](Public its, Boundary ours) { return static_cast<int>(its) == static_cast<int>(ours); };
  return same(Public::zero, Boundary::zero) && same(Public::constant, Boundary::constant) &&
         same(Public::nearest, Boundary::nearest) && same(Public::reflect, Boundary::reflect) &&
         same(Public::mirror, Boundary::mirror) && same(Public::wrap, Boundary::wrap);
}

}  // namespace tunesmith

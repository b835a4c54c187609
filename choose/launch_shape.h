// SPDX-License-Identifier: Apache-2.0
// The launches of a variant on a problem, as coordinates of its time beside those of the problem: a
// template's guess or way has another tile for each size, so that near problems may have very different
// launches.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "choose/timing_table.h"
#include "generator/op.h"

namespace tunesmith {

/// The names of the weights (TimingTable::weights) of a LaunchShape's numbers, in their order.
inline constexpr std::array<std::string_view, launch_numbers_in_shape> launch_weights = {
    "threads of all launches", "operations of a thread", "number of launches", "threads of a block"};

/// True if a table's times have these coordinates: one of the weights is above 0. A missing one is 0.
bool uses_launch_shapes(const Weights& weights);

LaunchShape launch_shape(const Op& op, const Problem& problem, const Work& work);

/// Gives each time of the table its launch shape, from what its variant is on the anchor in this version.
void find_launch_shapes(const Op& op, const DeviceFacts& device, TimingTable& table);

}  // namespace tunesmith

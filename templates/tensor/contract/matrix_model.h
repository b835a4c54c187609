// SPDX-License-Identifier: Apache-2.0
// The model by which the first guess of `contract` chooses tiles for matrix units. Private to this folder.
#pragma once

#include <cstdint>
#include <optional>

#include "generator/rates.h"
#include "generator/values.h"
#include "templates/tensor/contract/contract_config.h"
#include "templates/tensor/contract/groups.h"

namespace tunesmith::tensor_op::contraction {

/// Of the values of RESIDENT_WARPS that give the same number of blocks the smallest, which names them all.
std::int64_t name_of_warps(std::int64_t threads, std::int64_t warps);

/// The config for elements of 8 or 16 bits that needs the fewest clocks by the model; of a way, if one is
/// given (Template::ways): mma, wgmma, or wgmma with boxes. Nothing: no shape is legal.
std::optional<Values> best_of_matrices(const Problem& problem, const Groups& groups,
                                       const DeviceFacts& device, const Rates& rates, const Values& way = {});

/// The same for floats that are multiplied by halves in warpgroups, by one of two where the problem accepts
/// that. With `clocks` of ordinary multiplications only if that takes less time.
std::optional<Values> best_of_halves(const Problem& problem, const Groups& groups, const DeviceFacts& device,
                                     const Rates& rates, std::optional<double> clocks = {});

}  // namespace tunesmith::tensor_op::contraction

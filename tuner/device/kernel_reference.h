// SPDX-License-Identifier: Apache-2.0
// References of ops that bring none as a function (user_kernel.h): a kernel or a host function is compiled
// and run here, once for a problem; a program of the caller's is asked.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "generator/op.h"
#include "tuner/device/check_data.h"

namespace tunesmith {

/// On which device, as DeviceId::text() has it; the host, if nobody says. For this process.
void run_references_on(const std::string& device);
/// A ReferenceProgram's words, in place of what the ops describe; empty: none. For this process.
void ask_for_references(const std::string& program);

/// Likewise, of a program that gives input arrays, in place of those that are made.
void ask_for_inputs(const std::string& program);

/// Puts what that program gives, if there is one, in the place of an own op's `inputs`.
void take_inputs(const Op& op, const Problem& problem, std::uint64_t seed,
                 std::vector<std::vector<double>>& inputs);

/// The relative error that is permitted where a description says nothing: of sums of some thousand products
/// 128 units of rounding, and 8 of the short types, which are mostly summed in f32.
double default_tolerance(DType dtype);

/// What the kernel writes to the argument `output`. What it does not write nobody may write: such elements
/// hold what outputs hold before a launch. Throws Error where it does not compile, or it or its launch fails.
ExpectedOutput kernel_reference_of(const Op& op, const Problem& problem,
                                   std::span<const std::vector<double>> inputs, int output);

}  // namespace tunesmith

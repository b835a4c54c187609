// SPDX-License-Identifier: Apache-2.0
// References of ops that have no reference function (user_kernel.h): compiles and runs a kernel or a host
// function, once for a problem, or asks a program of the caller's.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "generator/op.h"
#include "tuner/device/check_data.h"

namespace tunesmith {

/// In the error of a reference on the host that accessed memory which belongs to none of its arrays.
constexpr std::string_view host_fault_words = "the kernel accessed memory that is not there";

/// The device on which references run, as DeviceId::text() has it; by default the host. For this process.
void run_references_on(const std::string& device);
/// The words of a ReferenceProgram, which replaces the references of the ops; empty: none. For this process.
void ask_for_references(const std::string& program);

/// The words of a program that gives input arrays, which replace the generated ones; empty: none. For this
/// process.
void ask_for_inputs(const std::string& program);

/// Replaces an own op's `inputs` by those that the program gives, if there is a program.
void take_inputs(const Op& op, const Problem& problem, std::uint64_t seed,
                 std::vector<std::vector<double>>& inputs);

/// The values that the kernel writes to the argument `output`, of each of its fields. Elements that it does
/// not write must not be written by a variant: they hold what outputs hold before a launch. Throws Error if
/// it does not compile, or if it or its launch fails.
std::vector<ExpectedOutput> kernel_reference_of(const Op& op, const Problem& problem,
                                                std::span<const std::vector<double>> inputs, int output);

}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
// Whether a launch gives a kernel what its parameters take, and whether it may overlap: arguments are matched
// by position, and a missing or wrong one would have the kernel read memory that nobody set. Knows no device:
// the executables say what the loaded binary reports of its kernels.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "generator/op.h"

namespace tunesmith {

enum class ParameterKind { unknown, pointer, integer, floating, array };

/// A kernel's parameter, as its binary reports it. CUDA knows the size only; of a struct, which takes an
/// array, so does the host.
struct ParameterFacts {
  std::int64_t bytes = 0;
  ParameterKind kind = ParameterKind::unknown;
};

/// Why the arguments of a launch do not fit the parameters, as a sentence, or nothing: number and sizes must
/// agree, and kinds where they are known.
std::optional<std::string> parameter_mismatch(const std::string& kernel,
                                              std::span<const KernelArgument> given,
                                              std::span<const ParameterFacts> taken);

/// Why a launch cannot be given numbers where its work says so (Launch::numbers), likewise.
std::optional<std::string> place_mismatch(const Launch& launch);

/// Whether a launch is given the attribute of programmatic dependent launch. Code that was compiled for an
/// architecture before 9.0 (`code_capability` 90) has no wait, on whatever GPU it runs; and a kernel can
/// overlap a kernel before it, but not a copy or a filling.
bool may_overlap(const Launch& launch, bool after_kernel, int code_capability);

}  // namespace tunesmith

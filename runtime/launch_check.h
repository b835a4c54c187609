// SPDX-License-Identifier: Apache-2.0
// Checks that a launch's arguments fit a kernel's parameters, and if the launch may overlap. Arguments are
// matched by position, and a missing or wrong one would make the kernel read memory that was never set. Knows
// no device: the executables pass what the loaded binary reports of its kernels.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "generator/op.h"

namespace tunesmith {

enum class ParameterKind { unknown, pointer, integer, floating, array };

/// A kernel's parameter, as its binary reports it. CUDA knows only the size; so does the host for a struct,
/// which takes an array.
struct ParameterFacts {
  std::int64_t bytes = 0;
  ParameterKind kind = ParameterKind::unknown;
};

/// Returns a sentence on why the arguments of a launch do not fit the parameters, or nothing. Number and
/// sizes must agree, and kinds if they are known.
std::optional<std::string> parameter_mismatch(const std::string& kernel,
                                              std::span<const KernelArgument> given,
                                              std::span<const ParameterFacts> taken);

/// Returns a sentence on why a launch cannot take numbers at the places that its work names
/// (Launch::numbers), or nothing.
std::optional<std::string> place_mismatch(const Launch& launch);

/// Returns a sentence on why a launch has too many arrays of which it copies boxes, or nothing.
std::optional<std::string> too_many_boxes(const Launch& launch);

/// Where a workspace's bytes begin that may hold anything, if they reach beyond this (Work::zeroed_bytes).
constexpr std::int64_t behind_zeros(std::int64_t zeroed_bytes) { return round_up(zeroed_bytes, 256); }

/// The bytes at the start of a work's workspace that stay zero.
constexpr std::int64_t bytes_kept_zero(const Work& work) {
  const std::int64_t others = behind_zeros(work.zeroed_bytes);
  return work.workspace_bytes > others ? others : work.zeroed_bytes;
}

/// True if a launch gets the attribute of programmatic dependent launch. Code compiled for an architecture
/// before 9.0 (`code_capability` 90) has no wait, on any GPU; and a kernel can overlap a kernel before it,
/// but not a copy or a fill.
bool may_overlap(const Launch& launch, bool after_kernel, int code_capability);

}  // namespace tunesmith

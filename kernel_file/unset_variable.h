// SPDX-License-Identifier: Apache-2.0
// Variables of device memory that a kernel reads and nothing fills: they would be zero, without a word.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tunesmith {

struct UnsetVariable {
  std::string name;
  bool is_constant = false;  ///< __constant__; else __device__ or __managed__
};

/// The first variable at file scope without an initialiser that the kernel reads, or what it calls, and that
/// none of them may write. `code` is blanked (kernel_source.h).
std::optional<UnsetVariable> unset_variable(std::string_view code, const std::string& kernel);

}  // namespace tunesmith

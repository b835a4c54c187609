// SPDX-License-Identifier: Apache-2.0
// Finds variables of device memory that a kernel reads and nothing fills: they would silently be zero.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tunesmith {

struct UnsetVariable {
  std::string name;
  bool is_constant = false;  ///< __constant__; else __device__ or __managed__
};

/// Returns the first variable at file scope without an initialiser that the kernel, or a function that it
/// calls, reads and none of them may write. `code` is blanked (kernel_source.h).
std::optional<UnsetVariable> unset_variable(std::string_view code, const std::string& kernel);

}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
// Finds variables of device memory that a kernel reads and nothing fills: they would silently be zero.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tunesmith {

/// A variable of device memory at file scope or in a namespace.
struct DeviceVariable {
  std::string name;
  std::string type;          ///< of an element, without qualifiers: "float"
  bool is_constant = false;  ///< __constant__; else __device__ or __managed__
  bool is_array = false;
  bool is_initialised = false;
  std::size_t begin = 0, end = 0;  ///< its declaration, perhaps of several variables; `end` is at the ;
};

/// Returns the variables that the text defines. `code` is blanked (kernel_source.h).
std::vector<DeviceVariable> device_variables(std::string_view code);

struct UnsetVariable {
  std::string name;
  bool is_constant = false;  ///< __constant__; else __device__ or __managed__
};

/// Returns the first variable at file scope without an initialiser that the kernel, or a function that it
/// calls, reads and none of them may write; those in `filled` are filled otherwise. `code` is blanked
/// (kernel_source.h).
std::optional<UnsetVariable> unset_variable(std::string_view code, const std::string& kernel,
                                            const std::vector<std::string>& filled = {});

}  // namespace tunesmith

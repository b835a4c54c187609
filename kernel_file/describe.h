// SPDX-License-Identifier: Apache-2.0
// Writes the description of a kernel, as far as its file says it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel_file/user_kernel.h"

namespace tunesmith {

/// Stands in a description for what a person must decide.
inline constexpr std::string_view open_value = "?";

/// Returns the description in TOML. `kernel` may be empty if the file has one kernel. `is_taken` tells if an
/// op has the name already. `beside`: the texts of files that the kernel's file does not include; a launch
/// and constants are sought there if it has none. `include`: folders from which it includes files. Throws
/// UsageError if there is no such kernel, or if it cannot be described.
std::string described(const KernelFile& file, const std::string& kernel,
                      const std::function<bool(const std::string&)>& is_taken,
                      const std::vector<std::string>& beside = {},
                      const std::vector<std::string>& include = {});

}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
// Reads the files of a user's kernel and other texts.
#pragma once

#include <filesystem>

#include "kernel_file/user_kernel.h"

namespace tunesmith {

/// Reads FILE.cu, FILE.toml in the same folder if it exists, and the files that FILE.cu includes from its own
/// folder. Throws UsageError.
KernelFile read_kernel_file(const std::filesystem::path& path);

/// Reads a file that a person names: a text of at most 4 MiB. Throws UsageError.
std::string read_text_file(const std::filesystem::path& path);

/// True if the name's ending is one of files of C++, such as kernels.cuh.
bool is_code_file(const std::filesystem::path& name);

}  // namespace tunesmith

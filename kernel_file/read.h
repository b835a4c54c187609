// SPDX-License-Identifier: Apache-2.0
// Reads the files of a user's kernel and other texts.
#pragma once

#include <filesystem>

#include "kernel_file/user_kernel.h"

namespace tunesmith {

/// FILE.cu; FILE.toml beside it, if there is one; and what it includes from its own folder. Throws
/// UsageError.
KernelFile read_kernel_file(const std::filesystem::path& path);

/// Of a file that a person names: a text of at most 4 MiB. Throws UsageError.
std::string read_text_file(const std::filesystem::path& path);

}  // namespace tunesmith

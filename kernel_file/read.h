// SPDX-License-Identifier: Apache-2.0
// Reads the files of a user's kernel and other texts.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kernel_file/user_kernel.h"

namespace tunesmith {

/// Reads FILE.cu, FILE.toml in the same folder if it exists, and the files that FILE.cu includes from its own
/// folder, from those that the description names, and from `folders`, which are relative to its own. Throws
/// UsageError.
KernelFile read_kernel_file(const std::filesystem::path& path, const std::vector<std::string>& folders = {});

/// Returns folders, relative to the file's own, in which files are that it includes and that are not found
/// otherwise. They are sought up to four folders above and in what lies in these.
std::vector<std::string> folders_of_absent_files(const std::filesystem::path& path);

/// Reads a file that a person names: a text of at most 4 MiB. Throws UsageError.
std::string read_text_file(const std::filesystem::path& path);

/// True if the name's ending is one of files of C++, such as kernels.cuh.
bool is_code_file(const std::filesystem::path& name);

}  // namespace tunesmith

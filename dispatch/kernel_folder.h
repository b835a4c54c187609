// SPDX-License-Identifier: Apache-2.0
// The files that `tunesmith export my.cu` writes beside my.cu, so that an application needs no database and
// no compiler:
//   my.tuned/devices.csv, …    winners and tables, as in generated/ (winners_file.h)
//   my.tuned/TARGET/HASH       a binary, named by its kernel's identity
//   my.tuned/files.csv         each of these files, and of those that my.cu is read from, with its SHA-256;
//                              the last line has that of the lines before it
#pragma once

#include <filesystem>
#include <string>

#include "choose/winners_file.h"
#include "kernel_file/user_kernel.h"

namespace tunesmith {

inline constexpr const char* list_of_files = "files.csv";

/// "folder/my.cu" -> "folder/my.tuned"
std::filesystem::path tuned_folder(const std::filesystem::path& kernel);

/// The files that the op is read from, by their names in the folder of its .cu.
Texts kernel_files(const KernelFile& text);

/// list_of_files; names are relative to the folder of the .cu.
std::string write_list(const Texts& files);

}  // namespace tunesmith

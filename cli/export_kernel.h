// SPDX-License-Identifier: Apache-2.0
// `tunesmith export my.cu`: writes a user's own kernel with its winners and their binaries, for an
// application to ship.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tunesmith {

struct KernelExportReport {
  std::filesystem::path kernel;  ///< the .cu that an application names
  std::size_t winners = 0, tables = 0, binaries = 0;
  std::vector<std::string> targets;
  std::vector<std::string> notes;  ///< sentences on what was left out, and why
};

/// Writes the files of dispatch/kernel_folder.h and replaces those of an earlier export of the kernel.
/// `device` is a part of a device's name in any case, or its whole target; empty: all. Binaries missing in
/// the database are compiled. Throws UsageError if the op is not a user's own or nothing matches, Error if
/// the folder cannot be written, StoreError if the database cannot be read.
KernelExportReport export_kernel(const std::string& op, const std::filesystem::path& database,
                                 const std::string& device, const std::filesystem::path& folder);

}  // namespace tunesmith

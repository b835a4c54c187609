// SPDX-License-Identifier: Apache-2.0
// Finds the folder for temporary files.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "generator/error.h"

namespace tunesmith {

/// Returns TMPDIR, else /tmp. Throws Error if that is no folder.
inline std::filesystem::path temporary_folder() {
  std::error_code error;
  std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  if (!error) return folder;
  const char* const given = std::getenv("TMPDIR");
  throw Error("The folder for temporary files" + (given == nullptr ? "" : " " + std::string(given)) +
              " cannot be used (" + error.message() + "); set TMPDIR to a folder that can be written.");
}

}  // namespace tunesmith

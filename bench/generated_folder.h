// SPDX-License-Identifier: Apache-2.0
// Reads a folder that "tunesmith export" wrote, such as generated/.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/files.h"

namespace tunesmith {

/// Gives the texts of the folder's files by name; of a file that is not there none.
class GeneratedFolder {
 public:
  explicit GeneratedFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}
  std::string operator()(std::string_view name) const {
    const std::filesystem::path path = folder_ / name;
    return std::filesystem::exists(path) ? read_file(path) : std::string();
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace tunesmith

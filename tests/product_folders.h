// SPDX-License-Identifier: Apache-2.0
// The folders of the product's sources, for tests that read them.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace tunesmith {

/// The folders at the top of the repository that the build adds, except tests, examples and benchmarks.
inline std::vector<std::string> product_folders(const std::filesystem::path& repository) {
  std::vector<std::string> folders;
  for (const auto& entry : std::filesystem::directory_iterator(repository)) {
    const std::string name = entry.path().filename();
    if (name != "tests" && name != "examples" && name != "bench" &&
        std::filesystem::exists(entry.path() / "CMakeLists.txt"))
      folders.push_back(name);
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
// Tests that every thread of the library and the tuner is made by generator/threads.h, so that it blocks
// signals, and that a failure to make one is survived. tests/dispatch/threads_test.cpp tests what such
// threads do.
#include "generator/threads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>

#include "tests/product_folders.h"
#include "tests/source_folder.h"

namespace tunesmith {
namespace {

namespace fs = std::filesystem;

TEST(Threads, AreMadeInOnePlace) {
  const std::regex forbidden(R"(\bjthread\b|std::thread\b(?!::)|pthread_create|std::async|thrd_create)");
  // The first makes threads, the second keeps them, the third is the build's own program.
  const std::regex exempt("/(generator/threads|dispatch/background_compiler|dispatch/pack)\\.(h|cpp)$");
  const std::regex test("/(test|[^/]*_test)\\.cpp$");
  int read = 0;
  for (const std::string& folder : product_folders(source_folder)) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(source_folder) / folder)) {
      const std::string path = entry.path();
      if (!path.ends_with(".cpp") && !path.ends_with(".h")) continue;
      if (std::regex_search(path, exempt) || std::regex_search(path, test)) continue;
      ++read;
      std::ifstream file(path);
      int number = 0;
      for (std::string line; std::getline(file, line);) {
        ++number;
        line.resize(std::min(line.find("//"), line.size()));
        if (line.find("thr") == std::string::npos && line.find("async") == std::string::npos) continue;
        EXPECT_FALSE(std::regex_search(line, forbidden))
            << path << ":" << number << ": " << line
            << "\n  use make_thread() or run_in_threads() of generator/threads.h";
      }
    }
  }
  EXPECT_GT(read, 100);
}

}  // namespace
}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
// Tests two versions of the shared library in one process, each used through a library of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>

extern "C" const char* run_this();
extern "C" const char* run_next();

namespace {

using testing::HasSubstr;
using testing::StartsWith;

// The files of this process that hold the library.
std::set<std::string> loaded_libraries() {
  std::ifstream maps("/proc/self/maps");
  std::set<std::string> files;
  for (std::string line; std::getline(maps, line);) {
    const std::size_t path = line.find('/');
    if (path != std::string::npos && line.find("libtunesmith.so") != std::string::npos)
      files.insert(line.substr(path));
  }
  return files;
}

TEST(TwoVersions, WorkInOneProcess) {
  // The results of the masks 1 2 3 4 on ones, and of 3 + 4.
  const std::string numbers = ": 10.000000 7.000000\n";
  for (int round = 0; round < 2; ++round) {
    const std::string of_this = run_this();
    const std::string of_next = run_next();
    EXPECT_THAT(of_this, StartsWith(THIS_VERSION " " THIS_VERSION + numbers));
    EXPECT_THAT(of_next, StartsWith(NEXT_VERSION " " NEXT_VERSION + numbers));
    EXPECT_THAT(of_this, HasSubstr("nosuch"));
    EXPECT_THAT(of_next, HasSubstr("nosuch"));
    EXPECT_NE(of_this.substr(of_this.find('\n')), of_next.substr(of_next.find('\n')));  // the namespaces
  }
  EXPECT_EQ(loaded_libraries().size(), 2U);
}

}  // namespace

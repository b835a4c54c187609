// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/product_folders.h"
#include "tests/source_folder.h"

namespace tunesmith {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_of(const std::string& folder, const std::set<std::string>& extensions) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(source_folder) / folder))
    if (extensions.contains(entry.path().extension()) || entry.path().filename() == "CMakeLists.txt")
      files.push_back(entry.path());
  return files;
}

TEST(Sources, NameTheirLicense) {
  std::vector<std::string> folders = product_folders(source_folder);
  for (const char* folder : {"bench", "cmake", "examples", "scripts", "tests"}) folders.emplace_back(folder);
  int read = 0;
  for (const std::string& folder : folders) {
    for (const fs::path& path :
         files_of(folder, {".cpp", ".h", ".cu", ".cuh", ".inl", ".py", ".sh", ".cmake"})) {
      std::ifstream file(path);
      std::string first, second;
      std::getline(file, first);
      std::getline(file, second);
      EXPECT_NE((first + second).find("SPDX-License-Identifier: Apache-2.0"), std::string::npos) << path;
      ++read;
    }
  }
  EXPECT_GT(read, 1000);
}

// A comment is a sentence with a subject, and begins with that.
TEST(Sources, BeginCommentsWithASubject) {
  constexpr int most = 20;  // may only become fewer
  std::vector<std::string> folders = product_folders(source_folder);
  for (const char* folder : {"bench", "examples", "scripts", "tests"}) folders.emplace_back(folder);
  const std::regex begins("(//+<?|#|\"\"\") *(What|Of|Whether) ");
  std::string found;
  int comments = 0;
  for (const std::string& folder : folders) {
    for (const fs::path& path : files_of(folder, {".cpp", ".h", ".cu", ".cuh", ".inl", ".py", ".sh"})) {
      std::ifstream file(path);
      for (std::string text; std::getline(file, text);) {
        if (text.find_first_of("/#\"") == std::string::npos || !std::regex_search(text, begins)) continue;
        ++comments;
        found += path.string() + ": " + text + "\n";
      }
    }
  }
  EXPECT_LE(comments, most) << found;
}

// The floors are those of the table of folders in CONVENTIONS.md. The command line and Python are above all
// others.
TEST(Sources, IncludeNoFolderBelowTheirs) {
  const std::map<std::string, std::set<std::string>> allowed = {
      {"generator", {}},
      {"language", {"generator"}},
      {"kernel_file", {"generator"}},
      {"db", {"generator"}},
      {"runtime", {"generator"}},
      {"choose", {"generator", "kernel_file", "db"}},
      {"dispatch", {"generator", "kernel_file", "db", "runtime", "choose"}},
      {"templates", {"generator", "language", "dispatch"}},
      {"tuner", {"generator", "kernel_file", "db", "runtime", "choose"}}};
  const std::regex line(R"(^#include "([a-z_]+)/)"), test(R"((^|/)(test|[^/]*_test|test_[^/]*)\.(cpp|h)$)");
  int read = 0;
  for (const auto& [folder, below] : allowed) {
    for (const fs::path& path : files_of(folder, {".cpp", ".h"})) {
      if (std::regex_search(path.string(), test)) continue;
      std::ifstream file(path);
      std::smatch match;
      for (std::string text; std::getline(file, text);) {
        if (!std::regex_search(text, match, line)) continue;
        const std::string included = match[1];
        if (included == folder || (!allowed.contains(included) && included != "cli" && included != "python"))
          continue;
        ++read;
        EXPECT_TRUE(below.contains(included)) << path << ": " << text;
        const bool is_typed = path.filename().string().starts_with("dispatch");
        EXPECT_TRUE(folder != "templates" || included != "dispatch" || is_typed) << path << ": " << text;
      }
    }
  }
  EXPECT_GT(read, 300);
}

// A room of the tuner includes its own files and those of rooms before it.
TEST(Sources, OfTheTunerIncludeNoRoomBehindTheirs) {
  const std::vector<std::string> rooms = {"process", "search", "device", "check", "run"};
  const std::regex line(R"re(^#include "tuner/([a-z]+)/)re");
  int read = 0;
  for (std::size_t room = 0; room < rooms.size(); ++room) {
    for (const fs::path& path : files_of("tuner/" + rooms[room], {".cpp", ".h"})) {
      std::ifstream file(path);
      std::smatch match;
      for (std::string text; std::getline(file, text);) {
        if (!std::regex_search(text, match, line)) continue;
        ++read;
        for (std::size_t behind = room + 1; behind < rooms.size(); ++behind)
          EXPECT_NE(match[1], rooms[behind]) << path << ": " << text;
      }
    }
  }
  EXPECT_GT(read, 100);
}

}  // namespace
}  // namespace tunesmith

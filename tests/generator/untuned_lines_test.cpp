// SPDX-License-Identifier: Apache-2.0
// Tests that the C++ that names configs without measurements (Template::untuned) does not grow: speed is for
// tables to know.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tests/source_folder.h"

namespace tunesmith {
namespace {

namespace fs = std::filesystem;

// The most lines of each op; those of ways (Template::ways), between which a table chooses, count too. The
// aim is 15 for each and 250 in all: make a number smaller whenever you can.
const std::map<std::string, int> most_lines = {
    {"conv1d", 29},          {"conv_covariance", 12}, {"filter_bank", 41}, {"histogram", 24},
    {"joint_histogram", 31}, {"rank_filter", 146},    {"reduce", 50},      {"rows", 79},
    {"scan", 164},           {"tensor", 445},         {"transpose", 5}};

std::vector<std::string> lines_of(const fs::path& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// The lines from `at` on until its braces are closed.
int braced_lines(const std::vector<std::string>& lines, std::size_t at) {
  std::ptrdiff_t depth = 0;
  bool has_begun = false;
  for (std::size_t i = at; i < lines.size(); ++i) {
    const auto open = std::ranges::count(lines[i], '{');
    depth += open - std::ranges::count(lines[i], '}');
    has_begun = has_begun || open > 0;
    if (has_begun && depth <= 0) return static_cast<int>(i - at + 1);
  }
  return 0;
}

TEST(UntunedLines, DoNotGrow) {
  std::map<std::string, int> found;
  const fs::path templates = fs::path(source_folder) / "templates";
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(templates)) {
    const fs::path& path = entry.path();
    if (path.extension() != ".cpp" || path.stem().string().ends_with("test")) continue;
    const std::vector<std::string> lines = lines_of(path);
    for (std::size_t i = 0; i < lines.size(); ++i)
      if (lines[i].find("> untuned") != std::string::npos || lines[i].starts_with("Guess untuned") ||
          lines[i].find(".untuned = [") != std::string::npos)
        found[fs::relative(path, templates).begin()->string()] += braced_lines(lines, i);
  }
  EXPECT_GE(found.size(), most_lines.size()) << "the functions are written in another way";
  for (const auto& [op, lines] : found) {
    const auto most = most_lines.find(op);
    EXPECT_LE(lines, most == most_lines.end() ? 15 : most->second)
        << op << ": a table, or a rate in generated/*.rates.csv, is the place of what makes a guess faster";
  }
}

}  // namespace
}  // namespace tunesmith

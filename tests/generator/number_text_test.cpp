// SPDX-License-Identifier: Apache-2.0
// Tests that numbers as text do not follow the process's locale. The suites run once more in a locale with a
// decimal comma (tests/locale), so this file has only the parts that they do not reach, and a check that no
// source prints in another way.
#include "generator/number_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <regex>
#include <string_view>
#include <vector>

#include "tests/product_folders.h"
#include "tests/source_folder.h"

namespace tunesmith {
namespace {

TEST(NumberText, HasAPointAndNoGroups) {
  EXPECT_EQ(printed("%.2f %g %a", 1234567.5, 0.25, 1.25), "1234567.50 0.25 0x1.4p+0");
  EXPECT_EQ(printed("%s", std::string(1000, 'x').c_str()), std::string(1000, 'x'));
  EXPECT_EQ(printed("%.0f", 1e300).size(), 301u);
}

TEST(NumberText, IsReadWithAPoint) {
  EXPECT_EQ(nearest_number("1.5e3"), 1500);
  EXPECT_EQ(nearest_number("1.5e-400"), 0) << "not 1, as where the point ends a number";
  EXPECT_EQ(nearest_number("-1.5e400"), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(nearest_number("none"), 0);
  EXPECT_EQ(parsed_number<double>("1.5e3"), 1500);
  EXPECT_EQ(parsed_number<double>("-inf"), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(parsed_number<double>("nan").value()));
}

TEST(NumberText, IsANumberAsAWholeOrNone) {
  EXPECT_EQ(parsed_number<int>("-12"), -12);
  EXPECT_EQ(parsed_number<std::int64_t>("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  for (const char* text : {"", "-", "1 ", " 1", "+1", "1x", "0x1", "1.5", "five", "2147483648"})
    EXPECT_FALSE(parsed_number<int>(text)) << text;
  for (const char* text : {"", "five", "1 ", "1,5", "+1", "0x1", "1e400", "1e-400"})
    EXPECT_FALSE(parsed_number<double>(text)) << text;
  std::string_view text = "2.5s";
  EXPECT_EQ(take_number<double>(text), 2.5);
  EXPECT_EQ(text, "s");
  EXPECT_FALSE(take_number<int>(text));
  EXPECT_EQ(text, "s");
}

TEST(NumberText, IsAListOfNumbersOrNone) {
  using Numbers = std::vector<std::int64_t>;
  EXPECT_EQ(parsed_numbers("24x0x7", 'x'), (Numbers{24, 0, 7}));
  EXPECT_EQ(parsed_numbers("", 'x'), Numbers());
  for (const char* text : {"x", "1x", "x1", "1xx2", "1x-2", "1,2", "1x9223372036854775808"})
    EXPECT_FALSE(parsed_numbers(text, 'x')) << text;
}

TEST(NumberText, IsANumberAsAWhole) {
  EXPECT_EQ(parsed_number<double>("-2.5e-3"), -2.5e-3);
  EXPECT_TRUE(std::isinf(parsed_number<double>("inf").value()));
  EXPECT_TRUE(std::isnan(parsed_number<double>("nan").value()));
  for (const char* text : {"", "five", "1 ", "1,5", "+1", "0x1"})
    EXPECT_FALSE(parsed_number<double>(text)) << text;
}

TEST(NumberText, IsTheShortestThatReadsBack) {
  EXPECT_EQ(ShortestText().get(), "");
  for (const double number : {0.1, -0.0, 1e300, 5e-324, 1.0 / 3, -2.2250738585072014e-308}) {
    const ShortestText text(number);
    EXPECT_EQ(parsed_number<double>(text.get()), number) << text.string();
    EXPECT_EQ(std::signbit(*parsed_number<double>(text.get())), std::signbit(number)) << text.string();
  }
  EXPECT_EQ(ShortestText(0.1).string(), "0.1");
}

// The forbidden functions follow the locale: printf, strtod and their kin, and a stream with a print format.
// Streams that print whole numbers are found by the suites that run in such a locale. from_chars does not
// follow it, but is forbidden too, so that texts are read as numbers in only one way.
TEST(NumberText, NothingElsePrintsOrReadsNumbers) {
  const std::regex forbidden(
      R"(\b(v?s?n?printf|strto(d|f|ld)|ato[fil]|std::sto(d|f|ld)|sscanf|setprecision|std::fixed|put_money|from_chars)\b)");
  for (const std::string& folder : product_folders(source_folder)) {
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(std::filesystem::path(source_folder) / folder)) {
      const std::filesystem::path& path = entry.path();
      if (path.extension() != ".cpp" && path.extension() != ".h") continue;
      if (path.stem() == "number_text" || path.parent_path().filename() == "host") continue;
      std::ifstream file(path);
      int number = 0;
      for (std::string line; std::getline(file, line);) {
        ++number;
        EXPECT_FALSE(std::regex_search(line.substr(0, line.find("//")), forbidden))
            << path.string() << ":" << number << ": " << line
            << "\n  has another way: use printed(), parsed_number() and their kin of generator/number_text.h";
      }
    }
  }
}

}  // namespace
}  // namespace tunesmith

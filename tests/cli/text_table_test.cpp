// SPDX-License-Identifier: Apache-2.0
#include "cli/text_table.h"

#include <gtest/gtest.h>

#include <limits>

namespace tunesmith {
namespace {

TextTable sample() {
  TextTable table({"config", "us", "n", "note"});
  table.add({std::string("A=1"), 12.3456, std::int64_t{7}, Cell()});
  table.add({std::string("W=\"a, b\""), Cell(), std::int64_t{1000}, Cell()});
  return table;
}

TEST(TextTable, AlignsColumnsAndLeavesEmptyOnesOut) {
  EXPECT_EQ(sample().text(),
            "config       us     n\n"
            "A=1       12.35     7\n"
            "W=\"a, b\"         1000\n");
}

TEST(TextTable, CountsCharactersNotBytes) {
  TextTable table({"name", "n"});
  table.add({std::string("größe"), std::int64_t{1}});
  EXPECT_EQ(table.text(), "name   n\ngröße  1\n");
}

TEST(TextTable, ALineBeginsWithTheIndentAndEndsWithoutBlanks) {
  TextTable table({"", "naïve", "x"});
  table.add({std::string("é"), std::string("a"), Cell()});
  table.add({std::string("aa"), Cell(), std::string("μs")});
  EXPECT_EQ(table.text(2),
            "      naïve  x\n"
            "  é   a\n"
            "  aa         μs\n");
}

TEST(TextTable, ARowGoesOnWhereALineIsTooShort) {
  TextTable table({"op", "problem", "us", "config"});
  table.add({std::string("conv2d"), std::string("height=40"), 1.5, std::string("BLOCK_X=32")});
  table.add({std::string("scan"), std::string("n=7"), 123.4, std::string("A=1")});
  const std::string one_line =
      "op      problem       us  config\n"
      "conv2d  height=40  1.500  BLOCK_X=32\n"
      "scan    n=7        123.4  A=1\n";
  EXPECT_EQ(table.text(), one_line);
  EXPECT_EQ(table.text(0, 36), one_line) << "it fits";
  EXPECT_EQ(table.text(0, 35),
            "op      problem       us\n    config\n"
            "conv2d  height=40  1.500\n    BLOCK_X=32\n"
            "scan    n=7        123.4\n    A=1\n");
  EXPECT_EQ(table.text(1, 5),
            " op\n     problem\n        us\n     config\n"
            " conv2d\n     height=40\n     1.500\n     BLOCK_X=32\n"
            " scan\n     n=7\n     123.4\n     A=1\n");
}

TEST(TextTable, CsvKeepsEveryDigitAndQuotes) {
  EXPECT_EQ(sample().csv(), "config,us,n,note\nA=1,12.3456,7,\n\"W=\"\"a, b\"\"\",,1000,\n");
}

TEST(TextTable, JsonEscapesAndHasNull) {
  EXPECT_EQ(sample().json(),
            "[\n  {\"config\": \"A=1\", \"us\": 12.3456, \"n\": 7, \"note\": null},\n"
            "  {\"config\": \"W=\\\"a, b\\\"\", \"us\": null, \"n\": 1000, \"note\": null}\n]\n");
  TextTable odd({"x"});
  EXPECT_EQ(odd.json(), "[]\n");
  odd.add({std::string("tab\there")});
  odd.add({std::numeric_limits<double>::infinity()});
  EXPECT_EQ(odd.json(), "[\n  {\"x\": \"tab\\u0009here\"},\n  {\"x\": null}\n]\n");
}

}  // namespace
}  // namespace tunesmith

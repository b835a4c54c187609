// SPDX-License-Identifier: Apache-2.0
// Tests problems in TOML: their contents, and the sentence for a mistake in a file, with its line.
#include "kernel_file/toml_problems.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "generator/error.h"
#include "generator/random.h"
#include "tests/rounds.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;

const std::string good =
    "op = \"tensor\"\n"
    "expression = \"out[y,x] += image[y+i,x+j] * w[i,j]\"\n"
    "dtype = [\"f32\", \"f64\"]\n"
    "[extents]\n"
    "i = [3, 5, 7]\n"
    "j = 3\n"
    "[arrays]\n"
    "image = \"100x200\"\n";

std::string error(const std::string& text) {
  try {
    toml_problems(text, "here.toml");
    return "";
  } catch (const UsageError& wrong) {
    return wrong.what();
  }
}

TEST(TomlProblems, AListIsAProblemForEachValue) {
  const TomlProblems read = toml_problems(good, "here.toml");
  EXPECT_EQ(read.op, "tensor");
  ASSERT_EQ(read.problems.size(), 6U);
  EXPECT_EQ(
      read.problems[0],
      Problem::parse("expression=\"out[y,x] += image[y+i,x+j] * w[i,j]\" dtype=f32 i=3 j=3 image=100x200"));
  EXPECT_EQ(
      read.problems[5],
      Problem::parse("expression=\"out[y,x] += image[y+i,x+j] * w[i,j]\" dtype=f64 i=7 j=3 image=100x200"));
  EXPECT_EQ(toml_problems("op = 'reduce'", "").problems, std::vector<Problem>(1));
}

TEST(TomlProblems, WhatIsWrongIsASentenceWithItsLine) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "here.toml: It names no op; write op = \"tensor\""},
      {"op = 3", "here.toml, line 1: op is 3; give a text in quotes."},
      {"op = 'a'\nn = 0.5", "here.toml, line 2: n is 0.5; give a whole number, a text in quotes, or a list"},
      {"op = 'a'\nn = []", "line 2: n is an empty list; give a list of values."},
      {"op = 'a'\nn = [[1]]", "line 2: n is a list; give a whole number"},
      {"op = 'a'\n[t]\n[t.u]\nn = 1", "line 3: u is a table; give a whole number"},
      {"op = 'a'\nn = 1\n[t]\nn = 2", "line 4: n has a value already; give it once."},
      {"op = 'a'\nn = ", "here.toml, line 2: The file is not TOML"},
  };
  for (const auto& [text, expected] : cases)
    EXPECT_THAT(error(text), HasSubstr(expected)) << text << "\n" << error(text);
  std::string many = "op = 'a'\n";
  for (const char* name : {"a", "b", "c", "d"}) many += std::string(name) + " = [1, 2, 3, 4, 5, 6]\n";
  EXPECT_THAT(error(many), HasSubstr("line 5: Its lists make more than 1000 problems"));
}

TEST(TomlProblems, AnyTextIsAnswered) {
  const std::uint64_t rounds = fuzz_rounds(1000);
  Random random(7);
  std::uint64_t read = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    std::string text = good;
    for (std::uint64_t edits = 1 + random.below(3); edits > 0; --edits) {
      const std::size_t at = random.below(text.size()), size = 1 + random.below(16);
      if (random.below(2) == 0) {
        text[at] = static_cast<char>(random.below(256));
      } else {
        text.insert(at, text.substr(random.below(text.size()), size));
      }
    }
    try {
      read += toml_problems(text, "here.toml").problems.empty() ? 0 : 1;
    } catch (const UsageError& wrong) {
      EXPECT_TRUE(std::string(wrong.what()).starts_with("here.toml")) << wrong.what();
    }
  }
  EXPECT_GT(read, rounds / 20) << "some files still are problems";
}

}  // namespace
}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
#include "generator/printable.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "generator/shell.h"

namespace tunesmith {
namespace {

TEST(Printable, ShowsControlCharactersAndLeavesTheRest) {
  EXPECT_EQ(printable("a\tb\nc µs Ωmega 漢字 🙂"), "a\tb\nc µs Ωmega 漢字 🙂");
  EXPECT_EQ(printable("\x1b[31m\x07\r\x7f"), "\\x1b[31m\\x07\\x0d\\x7f");
  EXPECT_EQ(printable(std::string("\0", 1)), "\\x00");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b31m")
      << "U+009B begins a command as ESC [ does";
  EXPECT_EQ(printable("\x9b"
                      "31m"),
            "\\x9b31m");
  EXPECT_EQ(printable("\xc2\xa0"), "\xc2\xa0");
  EXPECT_EQ(printable("\xe6\xbc"), "\\xe6\\xbc") << "cut off";
  EXPECT_EQ(printable("\xe0\x80\x9b"), "\\xe0\\x80\\x9b") << "ESC, longer than needed";
  EXPECT_EQ(printable("\xff\xc0\x80"), "\\xff\\xc0\\x80");
}

TEST(ShellWord, IsWhatAShellReadsBack) {
  EXPECT_EQ(shell_word("conv2d"), "conv2d");
  EXPECT_EQ(shell_word("height=1 width=2"), "\"height=1 width=2\"");
  const std::vector<std::string> words = {"",
                                          "expression=\"out[a] += x0[a,b] * x1[b]\" extents=3x4",
                                          "finish=\"it's $HOME `date` \\ !x\"",
                                          "two\nlines",
                                          "it's",
                                          "~",
                                          "a*b",
                                          "{a,b}",
                                          "--problem",
                                          "'"};
  std::string command = "printf '%s\\0'";
  for (const std::string& word : words) command += " " + shell_word(word);
  std::FILE* const shell = popen(command.c_str(), "r");
  ASSERT_NE(shell, nullptr);
  std::string read;
  for (int c = std::fgetc(shell); c != EOF; c = std::fgetc(shell)) read += static_cast<char>(c);
  EXPECT_EQ(pclose(shell), 0);
  std::string expected;
  for (const std::string& word : words) expected += word + '\0';
  EXPECT_EQ(read, expected) << command;
}

TEST(Printable, NoBytesMakeACommand) {
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (auto size = random() % 8; size > 0; --size) text += static_cast<char>(random());
    const std::string shown = printable(text);
    EXPECT_TRUE(std::none_of(shown.begin(), shown.end(), [](char c) {
      const auto byte = static_cast<unsigned char>(c);
      return (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f;
    }));
    for (std::size_t at = 1; at < shown.size(); ++at) {
      const auto byte = static_cast<unsigned char>(shown[at]);
      EXPECT_FALSE(byte >= 0x80 && byte < 0xa0 && static_cast<unsigned char>(shown[at - 1]) == 0xc2);
    }
    EXPECT_EQ(printable(shown), shown);
  }
}

}  // namespace
}  // namespace tunesmith

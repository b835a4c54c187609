// SPDX-License-Identifier: Apache-2.0
#include "db/process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace tunesmith {
namespace {

std::vector<std::string> words_of(const std::string& tag) {
  std::istringstream words(tag);
  return {std::istream_iterator<std::string>(words), {}};
}

std::string tag_of(const std::vector<std::string>& words) {
  std::string tag;
  for (const auto& word : words) tag += (tag.empty() ? "" : " ") + word;
  return tag;
}

TEST(ProcessTest, ATagNamesBootNamespaceIdAndStart) {
  const auto words = words_of(process_tag(getpid()));
  ASSERT_EQ(words.size(), 4U);
  EXPECT_EQ(words[2], std::to_string(getpid()));
  EXPECT_EQ(process_tag(getpid()), tag_of(words));
}

TEST(ProcessTest, AProcessIsDeadOnceItHasEnded) {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  const auto tag = process_tag(child);
  EXPECT_FALSE(is_dead(tag));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(is_dead(tag));
  EXPECT_EQ(process_tag(child), "");
}

TEST(ProcessTest, AnIdThatIsUsedAgainOrABootThatIsOverMeansDead) {
  auto words = words_of(process_tag(getpid()));
  ASSERT_EQ(words.size(), 4U);
  EXPECT_FALSE(is_dead(tag_of(words)));
  const auto start = std::exchange(words[3], "1");
  EXPECT_TRUE(is_dead(tag_of(words)));
  words[3] = start;
  words[0] = "an-earlier-boot";
  EXPECT_TRUE(is_dead(tag_of(words)));
}

TEST(ProcessTest, WhatCannotBeKnownIsNotDead) {
  auto words = words_of(process_tag(getpid()));
  ASSERT_EQ(words.size(), 4U);
  words[1] = "pid:[1]";  // another container's
  words[3] = "1";
  EXPECT_FALSE(is_dead(tag_of(words)));
  EXPECT_FALSE(is_dead(""));
  EXPECT_FALSE(is_dead("boot"));
}

}  // namespace
}  // namespace tunesmith

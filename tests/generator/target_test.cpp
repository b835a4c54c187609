// SPDX-License-Identifier: Apache-2.0
#include "generator/target.h"

#include <gtest/gtest.h>

namespace tunesmith {
namespace {

TEST(Capability, IsWrittenWithAPoint) {
  EXPECT_EQ(capability_text(90), "9.0");
  EXPECT_EQ(capability_text(75), "7.5");
  EXPECT_EQ(capability_text(121), "12.1");
  for (const int number : {50, 75, 86, 90, 100, 121}) {
    EXPECT_EQ(parse_capability(capability_text(number)), number);
  }
}

TEST(Capability, OtherTextsAreNone) {
  for (const char* text :
       {"", "9", "9.", ".5", "9.0a", "9,0", "90", "9.10", "-9.0", "9.-1", " 9.0", "x.y", "900.0"}) {
    EXPECT_EQ(parse_capability(text), std::nullopt) << text;
  }
}

TEST(Target, ReadsBackWhatItWrites) {
  for (const char* word :
       {"host", "sm_75", "sm_80", "sm_90", "sm_90a", "sm_100f", "sm_120a", "compute_75", "compute_90a"}) {
    const auto target = Target::parse(word);
    ASSERT_TRUE(target) << word;
    EXPECT_EQ(target->text(), word);
  }
}

TEST(Target, KnowsItsParts) {
  EXPECT_EQ(Target::parse("host"), Target{});
  EXPECT_EQ(Target::parse("sm_90a"), (Target{Target::Kind::gpu, 90, 'a'}));
  EXPECT_EQ(Target::parse("sm_103f"), (Target{Target::Kind::gpu, 103, 'f'}));
  EXPECT_EQ(Target::parse("compute_75"), (Target{Target::Kind::ptx, 75, 0}));
  EXPECT_TRUE(Target::parse("compute_75")->is_virtual());
  EXPECT_FALSE(Target::parse("sm_75")->is_virtual());
  EXPECT_FALSE(Target{}.is_virtual());
}

TEST(Target, OtherWordsAreNone) {
  for (const char* word : {"", "sm_", "sm_10", "sm_9999", "sm_90x", "sm_90aa", "sm_90 ", "sm_-90", "sm90",
                           "compute_", "compute_x", "metal", "Host", "hosts"}) {
    EXPECT_EQ(Target::parse(word), std::nullopt) << word;
  }
}

TEST(Target, OfAGpuHasTheInstructionsOfItsArchitecture) {
  EXPECT_EQ(Target::of_gpu(75).text(), "sm_75");
  EXPECT_EQ(Target::of_gpu(89).text(), "sm_89");
  EXPECT_EQ(Target::of_gpu(90).text(), "sm_90a");
  EXPECT_EQ(Target::of_gpu(120).text(), "sm_120a");
}

}  // namespace
}  // namespace tunesmith

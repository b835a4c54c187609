// SPDX-License-Identifier: Apache-2.0
#include "generator/values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generator/error.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;

std::string complaint(std::string_view text) {
  try {
    Values::parse(text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Values, ReadsIntegersAndWords) {
  const Values values = Values::parse("  BLOCK_X=32\tSMEM_LAYOUT=padded  OFFSET=-7\n");
  EXPECT_EQ(values.integer("BLOCK_X"), 32);
  EXPECT_EQ(values.string("SMEM_LAYOUT"), "padded");
  EXPECT_EQ(values.integer("OFFSET"), -7);
  EXPECT_EQ(values.text(), "BLOCK_X=32 SMEM_LAYOUT=padded OFFSET=-7");
  EXPECT_TRUE(Values::parse(" \n").empty());
}

TEST(Values, OnlyAWholeDecimalNumberIsAnInteger) {
  EXPECT_EQ(to_value("007"), Value(std::int64_t{7}));
  EXPECT_EQ(to_value("9223372036854775807"), Value(std::int64_t{9223372036854775807}));
  for (const char* word : {"0x10", "1.5", "3x3", "+1", "-", "", "9223372036854775808", " 1"}) {
    EXPECT_EQ(to_value(word), Value(std::string(word))) << word;
  }
}

TEST(Values, RoundTripsEveryKindOfWord) {
  for (const char* word : {"plain", "two words", "", "quo\"te", "back\\slash", "a=b", "12", "-3", "tab\there",
                           "\\\"", "ünïcode"}) {
    Values values;
    values.set("expression", std::string(word));
    values.set("n", std::int64_t{5});
    EXPECT_EQ(Values::parse(values.text()), values) << values.text();
  }
}

TEST(Values, AQuotedNumberStaysAWord) {
  EXPECT_EQ(Values::parse("name=\"12\"").string("name"), "12");
  EXPECT_THROW((void)Values::parse("name=\"12\"").integer("name"), Error);
}

TEST(Values, SetReplacesInPlace) {
  Values values = {{"a", std::int64_t{1}}, {"b", "x"}};
  values.set("a", std::int64_t{2});
  EXPECT_EQ(values.text(), "a=2 b=x");
  EXPECT_NE(values, Values::parse("b=x a=2")) << "the order belongs to the value";
}

TEST(Values, SaysWhatIsWrongWithTheText) {
  EXPECT_THAT(complaint("height"), HasSubstr("name=value"));
  EXPECT_THAT(complaint("=3"), HasSubstr("name=value"));
  EXPECT_THAT(complaint("height= width=3"), HasSubstr("The value of height is empty"));
  EXPECT_THAT(complaint("height="), HasSubstr("The value of height is empty"));
  EXPECT_THAT(complaint("n=1 n=2"), HasSubstr("given twice"));
  EXPECT_THAT(complaint("name=\"open"), HasSubstr("no closing quote"));
}

TEST(Values, MissingNamesAndOtherKindsAreErrors) {
  const Values values = Values::parse("height=3 mode=convolution");
  EXPECT_THROW((void)values.integer("width"), Error);
  EXPECT_THROW((void)values.integer("mode"), Error);
  EXPECT_THROW((void)values.string("height"), Error);
  EXPECT_EQ(values.find("width"), nullptr);
}

}  // namespace
}  // namespace tunesmith

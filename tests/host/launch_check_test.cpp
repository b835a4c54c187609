// SPDX-License-Identifier: Apache-2.0
// Tests the comparison of a launch's arguments with a kernel's parameters.
#include "runtime/launch_check.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <tuple>
#include <vector>

namespace tunesmith {
namespace {

using enum ParameterKind;

std::optional<std::string> mismatch(const std::vector<KernelArgument>& given,
                                    const std::vector<ParameterFacts>& taken) {
  return parameter_mismatch("scale", given, taken);
}

const std::vector<KernelArgument> one_of_each = {
    ArgumentPointer{0}, WorkspacePointer{16}, std::int32_t{1}, std::int64_t{2}, 3.0f, 4.0};

TEST(LaunchCheck, AgreesWhereNumberSizesAndKindsAgree) {
  EXPECT_EQ(mismatch(one_of_each,
                     {{8, pointer}, {8, pointer}, {4, integer}, {8, integer}, {4, floating}, {8, floating}}),
            std::nullopt);
  EXPECT_EQ(mismatch({}, {}), std::nullopt);
}

TEST(LaunchCheck, WithoutKindsTheSizesDecide) {
  EXPECT_EQ(mismatch(one_of_each, {{8}, {8}, {4}, {8}, {4}, {8}}), std::nullopt);
  EXPECT_EQ(mismatch({1.0f}, {{4}}), std::nullopt);
  EXPECT_EQ(mismatch({ArgumentPointer{0}, std::int32_t{1}}, {{8}, {8}}),
            "Parameter 2 of 2 of the kernel scale is an 8-byte value, but its launch gives a 4-byte integer; "
            "make the two agree, in the work of its template or in the kernel.");
}

TEST(LaunchCheck, SaysHowManyAreMissingOrTooMany) {
  EXPECT_EQ(
      mismatch({ArgumentPointer{0}}, {{8, pointer}, {4, integer}}),
      "The kernel scale takes 2 parameters, but its launch gives 1 argument; in the work of its template, "
      "give one argument per parameter, in the kernel's order.");
  EXPECT_EQ(
      mismatch({ArgumentPointer{0}, std::int32_t{1}}, {{8, pointer}}),
      "The kernel scale takes 1 parameter, but its launch gives 2 arguments; in the work of its template, "
      "give one argument per parameter, in the kernel's order.");
  EXPECT_NE(mismatch({}, {{4, integer}}), std::nullopt);
}

TEST(LaunchCheck, NamesTheParameterThatHasAnotherTypeAndBothTypes) {
  const std::vector<ParameterFacts> types = {{8, pointer},  {4, integer},  {8, integer},
                                             {4, floating}, {8, floating}, {2, unknown}};
  const std::vector<std::string> names = {"a pointer", "a 4-byte integer", "an 8-byte integer",
                                          "a float",   "a double",         "a 2-byte value"};
  const std::vector<KernelArgument> values = {ArgumentPointer{0}, std::int32_t{1}, std::int64_t{2}, 3.0f,
                                              4.0};
  for (std::size_t takes = 0; takes < types.size(); ++takes) {
    for (std::size_t gives = 0; gives < values.size(); ++gives) {
      const auto why = mismatch({WorkspacePointer{0}, values[gives]}, {{8, pointer}, types[takes]});
      if (takes == gives) {
        EXPECT_EQ(why, std::nullopt);
      } else {
        EXPECT_EQ(why, "Parameter 2 of 2 of the kernel scale is " + names[takes] + ", but its launch gives " +
                           names[gives] +
                           "; make the two agree, in the work of its template or in the kernel.");
      }
    }
  }
}

TEST(LaunchCheck, AnIntMayBeGivenToANarrowerIntegerThatHoldsIt) {
  for (const auto& [bytes, value, fits] :
       std::initializer_list<std::tuple<int, int, bool>>{{1, -128, true},
                                                         {1, 255, true},
                                                         {1, 256, false},
                                                         {1, -129, false},
                                                         {2, 65535, true},
                                                         {2, 65536, false}}) {
    EXPECT_EQ(!mismatch({std::int32_t{value}}, {{bytes, integer}}), fits) << bytes << " " << value;
    EXPECT_EQ(!mismatch({std::int32_t{value}}, {{bytes}}), fits) << "a device that tells no kinds";
  }
  EXPECT_TRUE(mismatch({1.0F}, {{2, integer}}));
  EXPECT_TRUE(mismatch({std::int32_t{1}, std::int32_t{1}}, {{4, integer}, {2, unknown}})) << "a half";
}

TEST(LaunchCheck, AnArrayIsForAStructOfItsSize) {
  const std::vector<std::int32_t> narrow(6);
  const std::vector<std::int64_t> wide(3);
  EXPECT_EQ(mismatch({narrow, wide}, {{24}, {24}}), std::nullopt);
  EXPECT_EQ(mismatch({std::vector<std::int64_t>(1)}, {{8}}), std::nullopt);
  EXPECT_EQ(
      mismatch({std::int32_t{1}, narrow}, {{4, integer}, {20}}),
      "Parameter 2 of 2 of the kernel scale is a 20-byte value, but its launch gives an array of 24 bytes; "
      "make the two agree, in the work of its template or in the kernel.");
  for (const ParameterFacts& one : {ParameterFacts{8, pointer}, {8, integer}, {8, floating}, {0}})
    EXPECT_NE(mismatch({std::vector<std::int64_t>(1)}, {one}), std::nullopt);
  EXPECT_NE(mismatch({std::vector<std::int32_t>()}, {{1}}), std::nullopt) << "no struct is so small";
}

TEST(LaunchCheck, AnArrayOfBoxesIsAStructOfItsOwn) {
  EXPECT_EQ(mismatch({BoxedArray()}, {{128}}), std::nullopt);
  EXPECT_EQ(mismatch({BoxedArray()}, {{8, pointer}}),
            "Parameter 1 of 1 of the kernel scale is a pointer, but its launch gives an array of 128 bytes; "
            "make the two agree, in the work of its template or in the kernel.");
  Launch launch = {.kernel = "scale",
                   .arguments = {std::int32_t{1}, BoxedArray(), BoxedArray(), BoxedArray()}};
  EXPECT_EQ(parameter_bytes(launch), 64 + 3 * 128);
  EXPECT_EQ(too_many_boxes(launch), std::nullopt);
  launch.arguments.emplace_back(BoxedArray());
  EXPECT_EQ(too_many_boxes(launch), "The kernel scale copies boxes of 4 arrays; at most 3 are supported.");
}

TEST(LaunchCheck, NumbersStandForDoublesAndIntegersAlone) {
  const auto why = [](const std::vector<int>& numbers) {
    std::vector<KernelArgument> arguments = one_of_each;
    arguments.emplace_back(std::vector<std::int32_t>(1));
    return place_mismatch({.kernel = "scale", .arguments = std::move(arguments), .numbers = numbers});
  };
  EXPECT_EQ(why({}), std::nullopt);
  EXPECT_EQ(why({-1, -1, 11, -1, -1, 0}), std::nullopt);
  EXPECT_EQ(why({-1, -1, -1, -1, -1, 12}),
            "Argument 6 of the kernel scale has place 12 among the numbers of a launch; in the work of its "
            "template, give places of 0 to 11 to doubles and 4-byte integers alone.");
  for (const std::vector<int>& wrong :
       {std::vector<int>{0}, {-1, 0}, {-1, -1, -1, 0}, {-1, -1, -1, -1, 0}, {-1, -1, -1, -1, -1, -1, 0}})
    EXPECT_NE(why(wrong), std::nullopt) << wrong.size();
  EXPECT_NE(why({-1, -1, -1, -1, -1, -1, -1, 0}), std::nullopt) << "behind the last argument";
}

TEST(LaunchCheck, OverlapFollowsTheArchitectureOfTheCode) {
  const Launch plain = {.kernel = "scale"};
  const Launch overlapped = {.kernel = "scale", .overlaps_previous = true};
  for (const int code : {90, 100, 120}) {
    EXPECT_TRUE(may_overlap(overlapped, true, code)) << code;
    EXPECT_FALSE(may_overlap(overlapped, false, code)) << "behind a copy";
    EXPECT_FALSE(may_overlap(plain, true, code));
  }
  for (const int code : {0, 75, 80, 89}) EXPECT_FALSE(may_overlap(overlapped, true, code)) << code;
}

}  // namespace
}  // namespace tunesmith

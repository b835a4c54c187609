// SPDX-License-Identifier: Apache-2.0
#include "choose/nearest.h"

#include <gtest/gtest.h>

#include <string>

namespace tunesmith {
namespace {

constexpr IntegerAxis BLOCK("BLOCK");
constexpr IntegerAxis VECTOR("VECTOR");
constexpr CategoricalAxis LAYOUT("LAYOUT");

Space space() {
  return Space({{BLOCK, {32, 64, 128, 256}, ""}, {VECTOR, {1, 2, 4}, ""}, {LAYOUT, {"flat", "padded"}, ""}},
               {{"4 is for flat, and for small blocks.",
                 [](const Config& config) {
                   return config[VECTOR] < 4 || (config[LAYOUT] == "flat" && config[BLOCK] < 128);
                 }},
                {"Padded blocks are small.",
                 [](const Config& config) { return config[LAYOUT] == "flat" || config[BLOCK] < 256; }}});
}

std::string nearest(const std::string& values, const Nearness& nearness) {
  const auto config = nearest_legal(space(), Values::parse(values), nearness);
  return config ? config->text() : "";
}

TEST(Nearest, WhatIsLegalStays) {
  for (const Nearness& nearness : {one_number, a_guess})
    EXPECT_EQ(nearest("BLOCK=64 VECTOR=4 LAYOUT=flat", nearness), "BLOCK=64 VECTOR=4 LAYOUT=flat");
}

TEST(Nearest, OneAxisChangesByTheLeast) {
  for (const Nearness& nearness : {one_number, a_guess})
    EXPECT_EQ(nearest("BLOCK=256 VECTOR=2 LAYOUT=padded", nearness),
              nearness.other_word > 1 ? "BLOCK=128 VECTOR=2 LAYOUT=padded" : "BLOCK=256 VECTOR=2 LAYOUT=flat")
        << "half the block is an octave away, and another word less for a guess";
  EXPECT_EQ(nearest("BLOCK=32 VECTOR=4 LAYOUT=padded", one_number), "BLOCK=32 VECTOR=2 LAYOUT=padded");
}

TEST(Nearest, AGuessMayBeOfAnEarlierVersion) {
  const std::string moved = "BLOCK=30 VECTOR=3 LAYOUT=flat";  // its values are on no axis
  EXPECT_EQ(nearest(moved, one_number), "") << "two axes would change";
  EXPECT_EQ(nearest(moved, a_guess), "BLOCK=32 VECTOR=4 LAYOUT=flat");
  EXPECT_EQ(nearest("BLOCK=64 VECTOR=2 LAYOUT=flat GONE=1", one_number), "");
  EXPECT_EQ(nearest("BLOCK=64 VECTOR=2 LAYOUT=flat GONE=1", a_guess), "BLOCK=64 VECTOR=2 LAYOUT=flat");
  EXPECT_EQ(nearest("BLOCK=64 VECTOR=2", a_guess), "BLOCK=64 VECTOR=2 LAYOUT=flat") << "an axis came later";
}

TEST(Nearest, TwoAxesOfAGuessMayChange) {
  EXPECT_EQ(nearest("BLOCK=256 VECTOR=4 LAYOUT=padded", one_number), "");
  EXPECT_EQ(nearest("BLOCK=256 VECTOR=4 LAYOUT=padded", a_guess), "BLOCK=256 VECTOR=1 LAYOUT=flat");
}

}  // namespace
}  // namespace tunesmith

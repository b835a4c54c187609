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

// A space whose widest vector depends on the problem, and in which SPLIT has no effect for small blocks.
Space space_of(std::int64_t widest) {
  constexpr IntegerAxis SPLIT("SPLIT");
  return Space(
      {{BLOCK, {32, 64, 128, 256}, ""}, {VECTOR, {1, 2, 4}, ""}, {SPLIT, {1, 2, 4}, ""}},
      {{"A vector is as wide as the arrays allow, or a single element.",
        [=](const Config& config) { return config[VECTOR] == 1 || config[VECTOR] == widest; }},
       {"Blocks of single elements are small.",
        [](const Config& config) { return config[VECTOR] > 1 || config[BLOCK] < 256; }},
       conditional(
           SPLIT, 1, [](const Config& config) { return config[BLOCK] > 64; }, "Small blocks are whole.")},
      {}, [=](const Config& config) {
        return config[VECTOR] == 1 ? Values() : Values{{"VECTOR", widest}};
      });
}

std::string adapted_text(std::int64_t widest, const std::string& values) {
  const auto config = adapted(space_of(widest), Values::parse(values));
  return config ? config->text() : "";
}

TEST(Adapted, AConfigOfAnotherProblemMeansTheSame) {
  EXPECT_EQ(adapted_text(4, "BLOCK=128 VECTOR=4 SPLIT=2"), "BLOCK=128 VECTOR=4 SPLIT=2");
  EXPECT_EQ(adapted_text(2, "BLOCK=128 VECTOR=4 SPLIT=2"), "BLOCK=128 VECTOR=2 SPLIT=2") << "translated";
  EXPECT_EQ(adapted_text(4, "BLOCK=128 VECTOR=1 SPLIT=2"), "BLOCK=128 VECTOR=1 SPLIT=2");
  EXPECT_EQ(adapted_text(4, "BLOCK=64 VECTOR=2 SPLIT=4"), "BLOCK=64 VECTOR=4 SPLIT=1") << "without effect";
  EXPECT_EQ(adapted_text(4, "BLOCK=500 VECTOR=16 SPLIT=8"), "BLOCK=256 VECTOR=4 SPLIT=4") << "on the axes";
  EXPECT_EQ(adapted_text(1, "BLOCK=256 VECTOR=4 SPLIT=2"), "BLOCK=128 VECTOR=1 SPLIT=2")
      << "one axis changes";
  EXPECT_EQ(adapted_text(4, "BLOCK=64 VECTOR=2"), "") << "an axis has no value";
}

TEST(Adapted, WhatAVariantOfATableIs) {
  Template tmpl;
  tmpl.name = "tiled";
  tmpl.space = [](const Problem&) { return space_of(2); };
  Op op;
  op.templates = {tmpl};
  const Values values = Values::parse("BLOCK=128 VECTOR=4 SPLIT=2");
  const auto text_of = [&](const Values& its) {
    const auto config = config_on(op, op.templates.front(), {}, {}, space_of(2), its);
    return config ? config->text() : "";
  };
  EXPECT_EQ(text_of(values), "") << "not legal";
  EXPECT_EQ(text_of({}), "");
  op.kind = [](const Problem&) { return std::string(); };
  EXPECT_EQ(text_of(values), "BLOCK=128 VECTOR=2 SPLIT=2");
  EXPECT_EQ(text_of({}), "");
  EXPECT_FALSE(is_guess(op, "tiled", {}));
  op.templates.front().untuned = [](const Problem&, const DeviceFacts&) {
    return std::optional(Values{{"BLOCK", std::int64_t{64}}});
  };
  EXPECT_TRUE(is_guess(op, "tiled", {}));
  EXPECT_FALSE(is_guess(op, "tiled", values));
  op.templates.front().work = [](const Problem&, const Config&, const DeviceFacts&) { return Work(); };
  EXPECT_EQ(text_of({}), "BLOCK=64 VECTOR=1 SPLIT=1") << "the template's own guess";
  op.templates.insert(op.templates.begin(), op.templates.front());
  op.templates.front().name = "earlier";
  const auto guess_of = [&](std::size_t n) {
    return config_on(op, op.templates[n], {}, {}, space_of(2), {}).has_value();
  };
  EXPECT_TRUE(guess_of(0));
  EXPECT_FALSE(guess_of(1)) << "another template's guess comes first";
  op.templates.front().untuned = [](const Problem&, const DeviceFacts&) { return std::optional<Values>(); };
  EXPECT_FALSE(guess_of(0));
  EXPECT_TRUE(guess_of(1));
}

}  // namespace
}  // namespace tunesmith

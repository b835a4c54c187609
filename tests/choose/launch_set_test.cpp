// SPDX-License-Identifier: Apache-2.0
// Tests which kernels serve a problem, on the op `smooth`: one template asks for aligned pointers, the base
// does not.
#include "choose/launch_set.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernel_file/find_op.h"

namespace tunesmith {
namespace {

using Reason = LaunchKernel::Reason;
using Answer = UnalignedRequest::Answer;

const Op& smooth() { return find_op("smooth"); }

Problem problem(const std::string& text = "n=1024 taps=3") {
  return complete_problem(smooth(), Problem::parse(text));
}

DeviceFacts gpu() {
  return {.kind = DeviceKind::cuda,
          .name = "A GPU",
          .target = "sm_90a",
          .compute_capability = 90,
          .memory_bytes = 1};
}

Candidate winner(const std::string& template_name, const std::string& config, double median_us,
                 const Problem& of = problem()) {
  Candidate made;
  made.device = gpu();
  made.op = "smooth";
  made.template_name = template_name;
  made.problem = of;
  made.config = Values::parse(config);
  made.median_us = median_us;
  made.has_binary = true;
  return made;
}

const std::string wide = "BLOCK=32 VECTOR=4 STATE=none";
const std::string other_wide = "BLOCK=64 VECTOR=4 STATE=none";
const std::string scalar = "BLOCK=64 VECTOR=1 STATE=none";

LaunchSet set_of(const std::vector<Candidate>& candidates) {
  return launch_set(smooth(), Chooser(smooth(), gpu(), candidates), problem(), gpu());
}

std::string text(const LaunchKernel& kernel) { return kernel.tmpl->name + " " + kernel.config.text(); }

// The kernels that are asked for in turn, if the first so many cannot be loaded.
std::vector<std::string> asked_for(const Op& op, const std::vector<Candidate>& candidates,
                                   std::size_t lacking, std::optional<std::size_t> favourite = {},
                                   const ReadyConfigs& ready = {}) {
  const Chooser chooser(op, gpu(), candidates);
  const Problem asked = problem();
  Choices choices(chooser, asked, true);
  std::vector<std::string> all;
  const auto can_be_had = [&](const LaunchKernel& kernel) {
    all.push_back(text(kernel));
    return all.size() > lacking;
  };
  first_kernel(op, choices, asked, gpu(), favourite, can_be_had, ready);
  return all;
}

TEST(LaunchSet, NothingKnownIsTheBase) {
  const LaunchSet set = set_of({});
  EXPECT_EQ(set.first.reason, Reason::base);
  EXPECT_EQ(text(set.first), "base BLOCK=32");
  EXPECT_FALSE(set.first.choice);
  EXPECT_FALSE(set.unaligned) << "it takes every pointer";
}

TEST(LaunchSet, ANearChoiceTakesOtherPointers) {
  const LaunchSet set = set_of({winner("vector", wide, 1), winner("vector", scalar, 1.1)});
  EXPECT_EQ(set.first.reason, Reason::choice);
  EXPECT_EQ(text(set.first), "vector " + wide);
  ASSERT_TRUE(set.unaligned);
  EXPECT_EQ(set.unaligned->reason, Reason::choice);
  EXPECT_EQ(text(*set.unaligned), "vector " + scalar);
  EXPECT_FALSE(set_of({winner("vector", scalar, 1)}).unaligned);
}

TEST(LaunchSet, ElseTheFirstWithNarrowerAccessBeforeASlowChoice) {
  const LaunchSet set = set_of({winner("vector", wide, 1), winner("base", "BLOCK=64", 9)});
  ASSERT_TRUE(set.unaligned);
  EXPECT_EQ(set.unaligned->reason, Reason::narrowed);
  EXPECT_EQ(text(*set.unaligned), "vector BLOCK=32 VECTOR=1 STATE=none");
}

TEST(LaunchSet, WhatIsSlowServesWhereNothingElseCanBeHad) {
  const std::vector<Candidate> candidates = {winner("vector", wide, 1), winner("base", "BLOCK=64", 9)};
  const Chooser chooser(smooth(), gpu(), candidates);
  const Problem asked = problem();
  const FirstKernel first{&find_template(smooth(), "vector"), Values::parse(wide), Match::exact, 0};
  const auto unaligned = [&](const UnalignedRequest& request) {
    Choices choices(chooser, asked, true);
    return unaligned_kernel(smooth(), choices, asked, gpu(), first, request);
  };
  const auto slow = unaligned({.ask = [](const LaunchKernel& kernel) {
    return kernel.reason == Reason::narrowed ? Answer::no : Answer::yes;
  }});
  ASSERT_TRUE(slow);
  EXPECT_EQ(slow->reason, Reason::next_choice);
  EXPECT_EQ(text(*slow), "base BLOCK=64");
  EXPECT_FALSE(unaligned({.ask = [](const LaunchKernel&) { return Answer::stop; }}));
  int asked_times = 0;
  const auto measured = unaligned({.ask =
                                       [&](const LaunchKernel& kernel) {
                                         ++asked_times;
                                         EXPECT_NE(kernel.reason, Reason::narrowed);
                                         return Answer::yes;
                                       },
                                   .only_choices = true});
  EXPECT_TRUE(measured);
  EXPECT_EQ(asked_times, 1);
  EXPECT_FALSE(unaligned({.ask = [](const LaunchKernel&) { return Answer::yes; },
                          .passes_over = [](const Choice&) { return true; },
                          .only_choices = true}));
}

TEST(LaunchSet, ChoicesComeInTheirOrderThenTheBase) {
  const std::vector<Candidate> candidates = {winner("vector", other_wide, 1.2), winner("vector", wide, 1)};
  EXPECT_EQ(asked_for(smooth(), candidates, 0), (std::vector<std::string>{"vector " + wide}));
  EXPECT_EQ(asked_for(smooth(), candidates, 9),
            (std::vector<std::string>{"vector " + wide, "vector " + other_wide, "base BLOCK=32"}));
  EXPECT_EQ(asked_for(smooth(), candidates, 9, 1),
            (std::vector<std::string>{"vector " + other_wide, "vector " + wide, "base BLOCK=32"}))
      << "a favourite comes before all others";
}

// A config packed for another problem stands in for a choice without a binary, the nearest first, before a
// choice that is expected to be slower.
TEST(LaunchSet, ANearConfigWithABinaryStandsIn) {
  const Template& vector = find_template(smooth(), "vector");
  const std::string constants = compiled_in(smooth(), vector, problem()).text();
  ReadyConfigs ready;
  read_ready_configs("vector," + constants + ",BLOCK=64 VECTOR=1 STATE=none\n" +      // two octaves narrower
                         "vector," + constants + ",BLOCK=64 VECTOR=4 STATE=none\n" +  // and twice the block
                         "vector,other=1,BLOCK=128 VECTOR=4 STATE=none\n",  // serves no such problem
                     ready);
  ASSERT_EQ(ready["vector"].size(), 3U);
  const std::vector<Candidate> candidates = {winner("vector", wide, 1), winner("base", "BLOCK=64", 9)};
  EXPECT_EQ(asked_for(smooth(), candidates, 0, {}, ready), (std::vector<std::string>{"vector " + wide}));
  EXPECT_EQ(asked_for(smooth(), candidates, 9, {}, ready),
            (std::vector<std::string>{"vector " + wide, "vector " + other_wide, "vector " + scalar,
                                      "base BLOCK=64", "base BLOCK=32"}));
  const std::vector<Candidate> near_base = {winner("vector", wide, 1), winner("base", "BLOCK=64", 1.01)};
  EXPECT_EQ(asked_for(smooth(), near_base, 1, {}, ready),
            (std::vector<std::string>{"vector " + wide, "base BLOCK=64"}))
      << "the base is expected to be faster";
}

// A template that is sensible without times stands before the base, and before a choice that is a slow base.
TEST(LaunchSet, ADefaultStandsBeforeTheBase) {
  Op op = smooth();
  op.templates[1].untuned = [](const Problem&, const DeviceFacts&) {
    return std::optional(Values::parse("BLOCK=64"));
  };
  const std::string guess = "vector BLOCK=64 VECTOR=1 STATE=none";
  EXPECT_EQ(asked_for(op, {}, 0), (std::vector<std::string>{guess}));
  EXPECT_EQ(asked_for(op, {}, 9), (std::vector<std::string>{guess, "base BLOCK=32"}));
  const std::vector<Candidate> slow_base = {winner("vector", wide, 1), winner("base", "BLOCK=64", 9)};
  EXPECT_EQ(asked_for(op, slow_base, 1),
            (std::vector<std::string>{"vector " + wide, "base BLOCK=64", guess}));
  const std::vector<Candidate> base_alone = {winner("base", "BLOCK=64", 9)};
  EXPECT_EQ(asked_for(op, base_alone, 0), (std::vector<std::string>{"base BLOCK=64"})) << "it is the best";
}

}  // namespace
}  // namespace tunesmith

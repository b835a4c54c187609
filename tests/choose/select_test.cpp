// SPDX-License-Identifier: Apache-2.0
// Tests the rules of the ranking, on a made-up op and made-up devices.
#include "choose/select.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tunesmith {
namespace {

using testing::HasSubstr;

constexpr IntegerAxis BLOCK("BLOCK");
constexpr CategoricalAxis STATE("STATE");
constexpr IntegerAxis VECTOR("VECTOR");

// Two templates: "plain" compiles in the dtype, "wide" also the taps; VECTOR asks for alignment and a width
// that it divides, BLOCK may be more than the device allows, STATE keeps something in the module.
Op test_op() {
  const auto work = [](const Problem&, const Config& config) {
    Work work;
    const bool is_wide = config.values().has("STATE");
    if (is_wide && config[STATE] == "constant") {
      work.steps.push_back(ConstantCopy{"copy", 0, 4});
    }
    Launch launch;
    launch.kernel = "kernel";
    launch.block.x = config[BLOCK];
    work.steps.push_back(launch);
    return work;
  };
  Template plain{.name = "plain",
                 .what = "",
                 .kernels = {"kernel"},
                 .space =
                     [](const Problem&) {
                       return Space({{BLOCK, {32, 64}, ""}}, {});
                     },
                 .work = work};
  Template wide{
      .name = "wide",
      .what = "",
      .kernels = {"kernel"},
      .compiled_in = {"dtype", "taps"},
      .refuses =
          [](const Problem& problem) {
            return problem.integer("taps") > 64 ? std::string("More than 64 taps do not fit.")
                                                : std::string();
          },
      .space =
          [](const Problem& problem) {
            const std::int64_t width = problem.integer("width");
            return Space({{BLOCK, {32, 2048}, ""}, {VECTOR, {1, 4}, ""}, {STATE, {"none", "constant"}, ""}},
                         {{"VECTOR divides the width.",
                           [width](const Config& config) { return width % config[VECTOR] == 0; }}});
          },
      .work = work,
      .alignment_bytes = [](const Problem& problem,
                            const Config& config) { return bytes(dtype_of(problem)) * config[VECTOR]; }};
  Template newer = plain;
  newer.name = "newer";
  newer.minimum_compute_capability = 100;
  Op op;
  op.name = "test";
  op.parameters = {{.name = "width", .what = ""},
                   {.name = "taps", .what = ""},
                   {.name = "mode", .what = "", .categories = {"a", "b"}},
                   {.name = "dtype", .what = "", .categories = {"f32", "f64"}}};
  op.flops = [](const Problem& problem) { return static_cast<double>(problem.integer("width")); };
  op.templates = {plain, wide, newer};
  return op;
}

DeviceFacts h200() {
  return {.kind = DeviceKind::cuda,
          .name = "NVIDIA H200",
          .target = "sm_90a",
          .compute_capability = 90,
          .multiprocessors = 132,
          .memory_bytes = 150};
}

DeviceFacts a100() {
  return {.kind = DeviceKind::cuda,
          .name = "NVIDIA A100",
          .target = "sm_80",
          .compute_capability = 80,
          .multiprocessors = 108,
          .memory_bytes = 80};
}

Problem problem(const std::string& text) { return Problem::parse(text); }

Candidate candidate(const std::string& template_name, const std::string& tuned, const std::string& config,
                    double median_us = 1) {
  Candidate made;
  made.device = h200();
  made.op = "test";
  made.template_name = template_name;
  made.problem = problem(tuned);
  made.config = Values::parse(config);
  made.median_us = median_us;
  made.has_binary = true;
  return made;
}

const Op op = test_op();
const std::string asked = "width=1000 taps=3 mode=a dtype=f32";
const std::string plain = "BLOCK=32";
const std::string vector = "BLOCK=32 VECTOR=4 STATE=none";
const std::string scalar = "BLOCK=32 VECTOR=1 STATE=none";

Selection run(const std::vector<Candidate>& candidates, bool may_compile = true,
              const std::string& what = asked) {
  return Chooser(op, h200(), candidates).select(problem(what), may_compile);
}

// The only candidate's refusal, or "" if it was chosen.
std::string why_not_taken(const Candidate& one, bool may_compile = true, const std::string& what = asked) {
  const Selection selection = run({one}, may_compile, what);
  EXPECT_EQ(selection.choices.size() + selection.refusals.size(), 1u);
  return selection.refusals.empty() ? "" : selection.refusals.front().why;
}

TEST(Select, NothingKnownIsNoChoice) {
  EXPECT_TRUE(run({}).choices.empty());
  EXPECT_TRUE(run({}).refusals.empty());
}

TEST(Select, OtherOpsAreNotMentioned) {
  Candidate other = candidate("plain", asked, plain);
  other.op = "another";
  EXPECT_TRUE(run({other}).choices.empty());
  EXPECT_TRUE(run({other}).refusals.empty());
}

TEST(Select, SameProblemIsExact) {
  const Selection selection = run({candidate("wide", asked, vector)});
  ASSERT_EQ(selection.choices.size(), 1u);
  EXPECT_EQ(selection.choices[0].match, Match::exact);
  EXPECT_EQ(selection.choices[0].expected_loss, 0);
  EXPECT_EQ(selection.choices[0].expected_us, 1);
  EXPECT_FALSE(selection.choices[0].must_compile);
  EXPECT_EQ(selection.choices[0].alignment_bytes, 16);
}

TEST(Select, WhatWonAnotherComputationIsNotTaken) {
  Op computing = op;
  computing.parameters[2].is_computation = true;  // mode
  const std::vector<Candidate> candidates = {candidate("plain", "width=1000 taps=3 mode=b dtype=f32", plain),
                                             candidate("plain", "width=9 taps=3 mode=a dtype=f32", plain)};
  const Selection selection = Chooser(computing, h200(), candidates).select(problem(asked), true);
  ASSERT_EQ(selection.choices.size(), 1u);
  EXPECT_EQ(selection.choices[0].candidate, 1u);
  ASSERT_EQ(selection.refusals.size(), 1u);
  EXPECT_EQ(selection.refusals[0].why, "It won another computation, which says nothing of this one.");
}

TEST(Select, MatchComesBeforeDistance) {
  Candidate same_problem_elsewhere = candidate("plain", asked, plain);
  same_problem_elsewhere.device = a100();
  const Selection selection =
      run({same_problem_elsewhere, candidate("plain", "width=9 taps=3 mode=a dtype=f32", plain),
           candidate("plain", asked, plain)});
  ASSERT_EQ(selection.choices.size(), 3u);
  EXPECT_EQ(selection.choices[0].match, Match::exact);
  EXPECT_EQ(selection.choices[1].match, Match::predicted);
  EXPECT_EQ(selection.choices[2].match, Match::other_device);
  EXPECT_EQ(selection.choices[2].candidate, 0u);
}

TEST(Select, OfWinnersTheOneOfTheProblemMostAlikeIsExpectedToLoseLeast) {
  // 500 and 2000 are an octave away, 1100 a seventh of one.
  const Selection selection = run({candidate("plain", "width=500 taps=3 mode=a dtype=f32", plain),
                                   candidate("plain", "width=1100 taps=3 mode=a dtype=f32", "BLOCK=64"),
                                   candidate("wide", "width=2000 taps=6 mode=a dtype=f32", scalar)});
  ASSERT_EQ(selection.choices.size(), 3u);
  EXPECT_EQ(selection.choices[0].candidate, 1u);
  EXPECT_GT(selection.choices[0].likeness, 0.9);
  EXPECT_EQ(selection.choices[1].candidate, 0u);
  EXPECT_EQ(selection.choices[2].candidate, 2u);
  EXPECT_LT(selection.choices[2].likeness, selection.choices[1].likeness);
  EXPECT_LT(selection.choices[0].expected_loss, selection.choices[1].expected_loss);
}

TEST(Select, AKnownTimeOutvotesLikeness) {
  // A candidate is slow where it was measured beside a fast one; the third is the best of a problem that is
  // not so near.
  std::vector<Candidate> candidates = {
      candidate("plain", "width=1100 taps=3 mode=a dtype=f32", plain, 100),
      candidate("wide", "width=1100 taps=3 mode=a dtype=f32", "BLOCK=32 VECTOR=4 STATE=none", 1),
      candidate("plain", "width=4000 taps=3 mode=a dtype=f32", "BLOCK=64", 2)};
  const Selection selection = run(candidates, true, "width=1001 taps=3 mode=a dtype=f32");
  ASSERT_EQ(selection.choices.size(), 3u);
  EXPECT_EQ(selection.choices[2].candidate, 0u) << "1.1 octaves nearer, and 100 times slower";
}

TEST(Select, AnExactRowThatIsSlowIsNotTakenForBeingExact) {
  // This happens if only the base takes unaligned pointers of the largest problem.
  const Selection selection =
      run({candidate("plain", asked, plain, 60000), candidate("wide", asked, vector, 240),
           candidate("wide", "width=900 taps=3 mode=a dtype=f32", scalar, 440)});
  ASSERT_EQ(selection.choices.size(), 3u);
  EXPECT_EQ(selection.choices[0].candidate, 1u);
  EXPECT_EQ(selection.choices[1].candidate, 2u);
}

TEST(Select, TimesUnderOtherConditionsAreNotCompared) {
  Candidate cold = candidate("wide", asked, vector, 50);
  cold.conditions.caches = Caches::cold;
  Candidate chained = candidate("wide", asked, scalar, 1);
  chained.conditions.launches = Launches::chained;
  for (const Choice& choice : run({cold, chained}).choices) EXPECT_EQ(choice.expected_loss, 0);
}

// A portfolio of two variants: one is fast on large widths, one on small ones; each was measured on all
// anchors.
TEST(Select, APortfoliosTimesDecide) {
  std::vector<std::shared_ptr<const Problem>> anchors;
  for (const int width : {16, 64, 256, 1024, 4096, 16384, 65536})
    anchors.push_back(std::make_shared<const Problem>(
        problem("width=" + std::to_string(width) + " taps=3 mode=a dtype=f32")));
  Candidate small = candidate("plain", asked, plain, 0);
  Candidate large = candidate("wide", asked, scalar, 0);
  for (std::size_t i = 0; i < anchors.size(); ++i) {
    const bool is_small = i < 4;
    small.times.push_back({anchors[i], is_small ? 1.0 : 2.0, 1});
    large.times.push_back({anchors[i], is_small ? 1.5 : 1.0, 1});
  }
  for (Candidate* one : {&small, &large}) {
    one->problem = {};
    one->source_hash.clear();
  }
  const std::vector<Candidate> candidates = {small, large};
  const Chooser chooser(op, h200(), candidates);
  for (const auto& [width, expected] :
       {std::pair(20, 0u), std::pair(500, 0u), std::pair(9000, 1u), std::pair(60000, 1u)}) {
    const Selection selection =
        chooser.select(problem("width=" + std::to_string(width) + " taps=5 mode=b dtype=f32"), false);
    ASSERT_EQ(selection.choices.size(), 2u);
    EXPECT_EQ(selection.choices[0].candidate, expected) << width;
    EXPECT_EQ(selection.choices[0].match, Match::predicted);
    EXPECT_LT(selection.choices[0].expected_loss, 0.3);
    EXPECT_NEAR(selection.choices[0].expected_us, 1, 0.3);
  }
  const Choice measured = chooser.select(problem("width=64 taps=3 mode=a dtype=f32"), false).choices.at(1);
  EXPECT_NEAR(measured.expected_loss, 0.5, 1e-9) << "what was measured is not estimated";
}

// A table is older than a template: a GPU with the same number of the same multiprocessors has measured the
// template.
TEST(Select, ATemplateThatThisDevicesTableDoesNotKnowIsJudgedByALikeDevices) {
  std::vector<std::shared_ptr<const Problem>> anchors;
  for (int width = 16; width < 70000; width *= 4)
    anchors.push_back(std::make_shared<const Problem>(
        problem("width=" + std::to_string(width) + " taps=3 mode=a dtype=f32")));
  const auto in_table = [&](const std::string& template_name, const std::string& config, double us) {
    Candidate one = candidate(template_name, asked, config, 0);
    one.problem = {};
    for (const auto& anchor : anchors) one.times.push_back({anchor, us, us});
    return one;
  };
  Candidate wide = in_table("wide", scalar, 5);
  wide.device.name = "NVIDIA H100";
  const auto chosen = [](std::vector<Candidate> candidates, const std::string& what = asked) {
    const Selection selection = run(candidates, true, what);
    EXPECT_EQ(selection.choices.size(), candidates.size());
    return selection.choices.at(0);
  };
  const Candidate own = in_table("plain", plain, 10);
  const Choice twice_as_fast = chosen({own, wide});
  EXPECT_EQ(twice_as_fast.candidate, 1u);
  EXPECT_EQ(twice_as_fast.match, Match::other_device) << "it was not measured here";
  EXPECT_NEAR(twice_as_fast.expected_us, 5, 0.5);

  EXPECT_EQ(chosen({in_table("plain", plain, 5.5), wide}).candidate, 0u) << "memories differ by more";
  EXPECT_EQ(chosen({own, in_table("wide", vector, 12), wide}).candidate, 0u) << "this device knows wide";
  EXPECT_EQ(chosen({candidate("plain", asked, plain, 10), own, wide}).match, Match::exact) << "it was tuned";
  Candidate smaller = wide, older = wide, cold = wide;
  smaller.device.multiprocessors = 114;
  older.device.target = "sm_80";
  cold.conditions.caches = Caches::cold;
  for (const Candidate& unlike : {smaller, older, cold}) EXPECT_EQ(chosen({own, unlike}).candidate, 0u);
  EXPECT_EQ(chosen({candidate("plain", "width=900 taps=3 mode=a dtype=f32", plain, 10), wide}).candidate, 0u)
      << "one winner is no table";
}

// The winner of one problem was made for it: it must be near to be preferred to variants with times on many
// problems.
TEST(Select, AWinnerOfOneProblemDoesNotServeOthersThatAreFar) {
  Candidate proven = candidate("plain", asked, plain, 0);
  proven.problem = {};
  proven.source_hash.clear();
  for (int width = 16; width < 20000; width *= 2) {
    proven.times.push_back({std::make_shared<const Problem>(
                                problem("width=" + std::to_string(width) + " taps=3 mode=a dtype=f32")),
                            1.1, 1});
  }
  const std::vector<Candidate> candidates = {
      proven, candidate("wide", "width=1000 taps=3 mode=a dtype=f32", scalar, 1)};
  const Chooser chooser(op, h200(), candidates);
  const auto first = [&](const std::string& width) {
    return chooser.select(problem("width=" + width + " taps=3 mode=a dtype=f32"), true).choices.at(0);
  };
  EXPECT_EQ(first("1000").candidate, 1u);
  EXPECT_EQ(first("1001").candidate, 1u);
  EXPECT_EQ(first("3000").candidate, 0u);
  EXPECT_NEAR(first("3000").expected_loss, 0.1, 0.1);
}

TEST(Select, AWordThatDiffersIsAnOctave) {
  EXPECT_NEAR(distance(op, problem(asked), problem("width=1000 taps=3 mode=b dtype=f32")), 1, 1e-12);
  EXPECT_EQ(distance(op, problem(asked), problem(asked)), 0);
}

TEST(Select, AnOpMaySayWhatItsSizesAre) {
  Op area = test_op();
  const Problem a = problem("width=8 taps=8 mode=a dtype=f32");
  EXPECT_DOUBLE_EQ(distance(area, a, problem("width=16 taps=4 mode=a dtype=f32")), std::sqrt(2.0));
  area.sizes = [](const Problem& problem) {
    return Values{{"area", problem.integer("width") * problem.integer("taps")}};
  };
  EXPECT_EQ(distance(area, a, problem("width=16 taps=4 mode=a dtype=f32")), 0);
  EXPECT_DOUBLE_EQ(distance(area, a, problem("width=32 taps=8 mode=a dtype=f32")), 2);
  EXPECT_DOUBLE_EQ(distance(area, a, problem("width=16 taps=4 mode=b dtype=f32")), 1) << "words count too";
}

TEST(Select, OtherConstantsMustBeCompiled) {
  const Candidate other = candidate("wide", "width=1000 taps=5 mode=a dtype=f32", vector);
  const Selection selection = run({other});
  ASSERT_EQ(selection.choices.size(), 1u);
  EXPECT_TRUE(selection.choices[0].must_compile);
  EXPECT_EQ(selection.choices[0].match, Match::predicted);
  EXPECT_EQ(why_not_taken(other, false),
            "It was compiled for other constants (taps=5), and compiling is not allowed.");
}

TEST(Select, WhatIsNotCompiledInNeedsNoCompiler) {
  EXPECT_EQ(why_not_taken(candidate("wide", "width=64 taps=3 mode=b dtype=f32", vector), false), "");
  EXPECT_EQ(why_not_taken(candidate("plain", "width=64 taps=5 mode=b dtype=f32", plain), false), "");
}

TEST(Select, WithoutABinaryItMustBeCompiled) {
  Candidate one = candidate("wide", asked, vector);
  one.has_binary = false;
  EXPECT_TRUE(run({one}).choices.at(0).must_compile);
  EXPECT_EQ(why_not_taken(one, false), "No binary is stored for it, and compiling is not allowed.");
}

TEST(Select, AnotherTargetMustBeCompiled) {
  Candidate one = candidate("wide", asked, vector);
  one.device = a100();
  EXPECT_TRUE(run({one}).choices.at(0).must_compile);
  EXPECT_EQ(run({one}).choices.at(0).match, Match::other_device);
  EXPECT_THAT(why_not_taken(one, false), HasSubstr("sm_80"));
}

TEST(Select, AnotherModelOfTheSameTargetNeedsNoCompiler) {
  Candidate one = candidate("wide", asked, vector);
  one.device.name = "NVIDIA H100";
  const Selection selection = run({one}, false);
  ASSERT_EQ(selection.choices.size(), 1u);
  EXPECT_EQ(selection.choices[0].match, Match::other_device);
}

TEST(Select, FewerMultiprocessorsAreAnotherModel) {
  DeviceFacts slice = h200();
  slice.multiprocessors = 16;
  EXPECT_FALSE(same_model(slice, h200()));
  DeviceFacts less_memory = h200();
  less_memory.memory_bytes = 149;
  EXPECT_TRUE(same_model(less_memory, h200()));
}

TEST(Select, Refusals) {
  Candidate on_host = candidate("plain", asked, plain);
  on_host.device = {.kind = DeviceKind::host, .name = "a CPU", .target = "host"};
  EXPECT_THAT(why_not_taken(on_host), HasSubstr("kind host"));

  EXPECT_EQ(why_not_taken(candidate("gone", asked, plain)), "test has no template gone in this version.");
  EXPECT_THAT(why_not_taken(candidate("newer", asked, plain)), HasSubstr("10.0"));

  Candidate failed = candidate("plain", asked, plain);
  failed.fault = "Its last measurement has the verdict crash.";
  EXPECT_EQ(why_not_taken(failed), failed.fault);
}

TEST(Select, TheActualProblemMustBeLegal) {
  // The winner was tuned on a width that 4 divides, and is asked for a width that it does not divide.
  const Candidate one = candidate("wide", asked, vector);
  EXPECT_EQ(why_not_taken(one), "");
  EXPECT_THAT(why_not_taken(one, false, "width=1001 taps=3 mode=a dtype=f32"),
              HasSubstr("VECTOR divides the width."));
  EXPECT_EQ(why_not_taken(one, true, "width=1000 taps=65 mode=a dtype=f32"), "More than 64 taps do not fit.");
}

TEST(Select, WithACompilerOneAxisMayChange) {
  Selection selection = run({candidate("wide", asked, vector)}, true, "width=1001 taps=3 mode=a dtype=f32");
  ASSERT_EQ(selection.choices.size(), 1u);
  EXPECT_EQ(selection.choices[0].match, Match::predicted);
  EXPECT_EQ(selection.choices[0].changed, "VECTOR=1");
  EXPECT_EQ(selection.choices[0].config.values(), Values::parse(scalar));
  EXPECT_EQ(selection.choices[0].alignment_bytes, 4);
  EXPECT_TRUE(selection.choices[0].must_compile);

  // A variant with a time of its own is not replaced by a changed one.
  selection = run({candidate("wide", asked, vector, 1), candidate("wide", asked, scalar, 2)}, true,
                  "width=1001 taps=3 mode=a dtype=f32");
  ASSERT_EQ(selection.choices.size(), 1u);
  EXPECT_EQ(selection.choices[0].candidate, 1u);
  EXPECT_EQ(selection.choices[0].changed, "");
  ASSERT_EQ(selection.refusals.size(), 1u);
  EXPECT_THAT(selection.refusals[0].why, HasSubstr("another known variant"));
}

TEST(Select, TheNearestValueIsTaken) {
  const Selection selection = run({candidate("plain", "width=9 taps=3 mode=a dtype=f32", "BLOCK=100")});
  ASSERT_EQ(selection.choices.size(), 1u);
  EXPECT_EQ(selection.choices[0].changed, "BLOCK=64");
}

TEST(Select, AConfigThatLeftTheSpaceIsRefused) {
  EXPECT_NE(why_not_taken(candidate("plain", asked, "BLOCK=48"), false), "");
  EXPECT_THAT(why_not_taken(candidate("plain", asked, "BLOCK=48")), HasSubstr("stale"));
  EXPECT_NE(why_not_taken(candidate("plain", asked, "BLOCK=32 GONE=1")), "");
  EXPECT_NE(why_not_taken(candidate("plain", asked, "")), "");
}

TEST(Select, TheDevicesLimitsHold) {
  EXPECT_THAT(why_not_taken(candidate("wide", asked, "BLOCK=2048 VECTOR=1 STATE=none")), HasSubstr("2048"));
}

TEST(Select, StateInTheModuleIsRefused) {
  EXPECT_THAT(why_not_taken(candidate("wide", asked, "BLOCK=32 VECTOR=1 STATE=constant")),
              HasSubstr("two streams"));
}

TEST(Select, TheUsersAndTheBuiltInWinnersCompeteByTime) {
  Candidate built_in = candidate("plain", asked, plain, 1);
  built_in.origin = Candidate::Origin::built_in;
  Candidate users = candidate("wide", asked, scalar, 2);
  EXPECT_EQ(run({built_in, users}).choices.at(0).candidate, 0u);
  users.median_us = 1;
  const Selection selection = run({built_in, users});
  ASSERT_EQ(selection.choices.size(), 2u);
  EXPECT_EQ(selection.choices[0].candidate, 1u);
}

TEST(Select, BetweenEqualsTheFasterComesFirst) {
  const Selection selection = run({candidate("wide", asked, scalar, 3), candidate("wide", asked, vector, 2)});
  ASSERT_EQ(selection.choices.size(), 2u);
  EXPECT_EQ(selection.choices[0].candidate, 1u);
}

TEST(Select, BetweenEqualsTheOneWithABinaryComesFirst) {
  Candidate without = candidate("wide", asked, scalar, 2);
  without.has_binary = false;
  const Selection selection = run({without, candidate("wide", asked, vector, 2)});
  ASSERT_EQ(selection.choices.size(), 2u);
  EXPECT_EQ(selection.choices[0].candidate, 1u);
}

TEST(Select, ADtypeLendsItsConfigsToAnother) {
  const Selection selection =
      run({candidate("plain", "width=1000 taps=3 mode=a dtype=f64", plain),
           candidate("wide", "width=1000 taps=3 mode=a dtype=f64", "BLOCK=2048 VECTOR=1 STATE=none")});
  ASSERT_EQ(selection.choices.size(), 1u) << "each is judged again";
  EXPECT_EQ(selection.choices[0].match, Match::predicted);
  EXPECT_TRUE(selection.choices[0].must_compile);
}

TEST(Select, EveryOrderOfTheCandidatesGivesTheSameRanking) {
  std::vector<Candidate> candidates;
  for (const int width : {500, 900, 1000, 1300, 4000}) {
    candidates.push_back(
        candidate("wide", "width=" + std::to_string(width) + " taps=3 mode=a dtype=f32", scalar));
  }
  const auto widths = [&] {
    std::vector<std::int64_t> found;
    for (const Choice& choice : run(candidates).choices) {
      found.push_back(candidates[choice.candidate].problem.integer("width"));
    }
    return found;
  };
  const auto expected = widths();
  EXPECT_EQ(expected, (std::vector<std::int64_t>{1000, 900, 1300, 500, 4000}));
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate& a, const Candidate& b) { return a.problem.text() < b.problem.text(); });
  do {
    ASSERT_EQ(widths(), expected);
  } while (std::next_permutation(
      candidates.begin(), candidates.end(),
      [](const Candidate& a, const Candidate& b) { return a.problem.text() < b.problem.text(); }));
}

}  // namespace
}  // namespace tunesmith

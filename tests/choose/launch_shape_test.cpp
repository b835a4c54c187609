// SPDX-License-Identifier: Apache-2.0
// Tests what a variant launches as coordinates of its times: on a made-up op whose launches follow from a
// number's last bit, which no coordinate of a problem shows.
#include "choose/launch_shape.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "choose/select.h"
#include "choose/time_model.h"
#include "choose/winners_file.h"
#include "generator/random.h"
#include "kernel_file/find_op.h"

namespace tunesmith {
namespace {

constexpr IntegerAxis THREADS("THREADS");

// "uneven" launches many blocks for an odd number and one for an even number, "even" always the same.
Op uneven_op() {
  const auto made = [](const char* name, auto blocks) {
    return Template{.name = name,
                    .what = "",
                    .kernels = {"kernel"},
                    .space =
                        [](const Problem&) {
                          return Space({{THREADS, {256}, ""}}, {});
                        },
                    .work =
                        [blocks](const Problem& problem, const Config& config) {
                          Launch launch;
                          launch.kernel = "kernel";
                          launch.grid.x = blocks(problem.integer("n"));
                          launch.block.x = config[THREADS];
                          Work work;
                          work.steps.push_back(launch);
                          return work;
                        }};
  };
  Op op;
  op.name = "uneven";
  op.parameters = {{.name = "n", .what = ""}, {.name = "dtype", .what = "", .categories = {"f32"}}};
  op.flops = [](const Problem& problem) { return static_cast<double>(problem.integer("n")); };
  op.templates = {made("even", [](std::int64_t) { return 64; }),
                  made("uneven", [](std::int64_t n) { return n % 2 == 0 ? 1 : 4096; })};
  return op;
}

const Op uneven = uneven_op();

Problem numbered(std::int64_t n) { return Problem{{"n", n}, {"dtype", "f32"}}; }

DeviceFacts made_up_gpu() {
  return {.kind = DeviceKind::cuda, .name = "a GPU", .target = "sm_90a", .compute_capability = 90};
}

TimingTable uneven_table(double uneven_on_even) {
  TimingTable table;
  table.op = uneven.name;
  const Values config = Values::parse("THREADS=256");
  table.variants = {{"even", config, ""}, {"uneven", config, ""}};
  Random random(5);
  for (int i = 0; i < 80; ++i) {
    TimingTable::Anchor& anchor = table.anchors.emplace_back();
    const std::int64_t n = 1000 + static_cast<std::int64_t>(random.below(100000));
    anchor.problem = numbered(n);
    anchor.us = {1.5, n % 2 == 0 ? uneven_on_even : 1.0};
    anchor.best_us = std::min(anchor.us[0], anchor.us[1]);
  }
  return table;
}

std::vector<Candidate> candidates_in(const TimingTable& table) {
  const auto weights = std::make_shared<const Weights>(table.weights);
  std::vector<Candidate> candidates;
  for (std::size_t v = 0; v < table.variants.size(); ++v) {
    Candidate& one = candidates.emplace_back();
    one.device = made_up_gpu();
    one.op = uneven.name;
    one.template_name = table.variants[v].template_name;
    one.config = table.variants[v].config;
    one.weights = weights;
    for (const TimingTable::Anchor& anchor : table.anchors)
      one.times.push_back({std::make_shared<const Problem>(anchor.problem), anchor.us[v], anchor.best_us,
                           anchor.factor[v], anchor.best_factor,
                           anchor.launch.empty() ? LaunchShape() : anchor.launch[v]});
  }
  return candidates;
}

// The part of other problems for which the faster variant is chosen.
double right_choices(TimingTable table) {
  solve_table(uneven, made_up_gpu(), table);
  const std::vector<Candidate> candidates = candidates_in(table);
  const Chooser chooser(uneven, made_up_gpu(), candidates);
  constexpr int count = 60;
  int right = 0;
  for (int i = 0; i < count; ++i) {
    const Problem asked = numbered(2001 + 1601 * i);
    const Selection selection = chooser.select(asked, true);
    EXPECT_EQ(selection.choices.size(), 2u);
    const bool is_odd = asked.integer("n") % 2 == 1;
    right += candidates[selection.choices.front().candidate].template_name == (is_odd ? "uneven" : "even");
    Choices lazy(chooser, asked, true);
    EXPECT_EQ(lazy.at(0)->candidate, selection.choices.front().candidate);
    EXPECT_NEAR(lazy.at(0)->expected_us, is_odd || !uses_launch_shapes(table.weights) ? 1.2 : 1.5, 0.5);
  }
  return right / static_cast<double>(count);
}

TEST(LaunchShape, IsInOctavesOfWhatIsLaunched) {
  Work work =
      uneven.templates[1].work(numbered(1 << 20), base_config(uneven, numbered(1 << 20)), made_up_gpu());
  EXPECT_EQ(launch_shape(uneven, numbered(1 << 20), work), (LaunchShape{{8 * 8, 12 * 8, 0, 8 * 8}}));
  Launch larger = std::get<Launch>(work.steps.front());
  larger.grid = {.x = 3, .y = 5, .z = 2};
  larger.block = {.x = 16, .y = 4, .z = 2};
  work.steps.emplace_back(Zero{});
  work.steps.emplace_back(larger);
  EXPECT_EQ(launch_shape(uneven, numbered(1 << 20), work), (LaunchShape{{96, 64, 8, 56}}))
      << "256 + 3840 threads, 256 operations of each, two launches, blocks of 128";
  EXPECT_EQ(launch_shape(uneven, numbered(5), Work()), LaunchShape()) << "nothing is launched";
}

TEST(LaunchShape, TellsFastFromSlowWhereNoProblemDoes) {
  TimingTable fitted = uneven_table(4);
  fit_table(uneven, made_up_gpu(), fitted);
  EXPECT_TRUE(uses_launch_shapes(fitted.weights));
  EXPECT_TRUE(is_fitted(fitted.weights));
  const TimingTable read = read_timing_table(write_timing_table(fitted), "the table");
  EXPECT_TRUE(uses_launch_shapes(read.weights)) << "the text keeps them";
  EXPECT_GT(right_choices(read), 0.95);
  TimingTable old = read;
  for (const std::string_view name : launch_weights) old.weights.erase(std::string(name));
  EXPECT_LT(right_choices(old), 0.8);
}

TEST(LaunchShape, MattersOnlyWhereItMakesChoicesBetter) {
  TimingTable same = uneven_table(1);
  fit_table(uneven, made_up_gpu(), same);
  EXPECT_FALSE(uses_launch_shapes(same.weights));
  EXPECT_TRUE(is_fitted(same.weights));
  EXPECT_GT(same.weights.size(), 4u);
}

// The key of a table's factors, of which factors follow that users have stored, is that of versions that knew
// no launch shapes.
TEST(LaunchShape, AnOldTableKeepsItsFactors) {
  TimingTable old;
  old.op = "transpose";
  old.variants.resize(1);
  old.weights = {{"height", 0.25}, {"noise", 0.01}, {"spread", 0.5}, {"model", 3}};
  for (const std::int64_t n : {100, 200, 400}) {
    TimingTable::Anchor& anchor = old.anchors.emplace_back();
    anchor.problem = complete_problem(find_op(old.op), Problem{{"height", n}, {"width", 3}});
    anchor.best_us = 2;
    anchor.us = {3};
  }
  EXPECT_TRUE(is_fitted(old.weights));
  EXPECT_EQ(solution_key(find_op(old.op), old), 18129598528172348882u);
  solve_table(find_op(old.op), made_up_gpu(), old);
  EXPECT_TRUE(old.anchors[0].launch.empty());
  EXPECT_EQ(write_factors(old).size(), 8 + 4 * 6u);
  old.weights["threads of a block"] = 0.1;
  EXPECT_FALSE(is_fitted(old.weights));
}

}  // namespace
}  // namespace tunesmith

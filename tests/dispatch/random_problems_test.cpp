// Problems that nobody tuned, drawn at random: what is chosen for them is never wrong.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "fixture.h"
#include "generator/random.h"

namespace tunesmith {
namespace {

TEST_F(DispatcherTest, RandomProblemsThroughTheNearestRule) {
  tune({.problem = "n=1000 taps=5", .config = "BLOCK=64 VECTOR=4"});
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=1"});
  tune({.problem = "n=100 taps=3", .config = "VECTOR=2"});
  tune({.problem = "n=20000 taps=3", .config = "VECTOR=4"});
  tune({.problem = "n=301 taps=4 dtype=f64", .config = "BLOCK=64 VECTOR=1"});
  tune({.problem = "n=3000 taps=4 dtype=f64", .config = "VECTOR=4"});
  Dispatcher dispatcher(options());
  Random random(20260101);
  int matches[4] = {};
  for (int i = 0; i < 200; ++i) {
    const auto n = static_cast<std::int64_t>(std::exp2(12 * (random.uniform() + 1) / 2)) +
                   static_cast<std::int64_t>(random.below(5));
    const auto taps = 1 + static_cast<std::int64_t>(random.below(11));
    const bool is_double = random.below(2) == 1;
    const Field fields[] = {{"n", n}, {"taps", taps}, {"dtype", is_double ? "f64" : "f32"}};
    const Plan plan = dispatcher.plan("smooth", fields);
    ++matches[static_cast<int>(plan.match())];
    const std::size_t element = is_double ? 8 : 4;
    check(plan, "smooth", element * random.below(4), random.next());
  }
  EXPECT_GT(matches[static_cast<int>(Match::predicted)], 50);
  EXPECT_GT(matches[static_cast<int>(Match::base)], 0);
}

// The same with every template of conv2d: random configs won random problems, others are asked for.
TEST_F(DispatcherTest, Conv2dRandomProblemsThroughTheNearestRule) {
  const Op& op = find_op("conv2d");
  Random random(7);
  double median_us = 1000;  // each new one is a better one
  const std::string shapes[] = {"height=24 width=40 mask_height=3 mask_width=3",
                                "height=20 width=21 mask_height=4 mask_width=3 mode=convolution",
                                "height=31 width=32 batch=2 mask_height=5 mask_width=5 dtype=f64"};
  for (const std::string& shape : shapes) {
    const Problem problem = complete_problem(op, Values::parse(shape));
    for (const Template& tmpl : op.templates) {
      if (why_not(tmpl, problem, host_facts())) continue;
      for (const Config& config : tmpl.space(problem).sample(2, random.next())) {
        const Work work = tmpl.work(problem, config);
        if (!reentrant(work) || exceeds(work, host_facts())) continue;
        tune({.op = "conv2d",
              .problem = shape,
              .template_name = tmpl.name,
              .config = config.text(),
              .median_us = median_us -= 1});
      }
    }
  }
  Dispatcher dispatcher(options());
  int nearest = 0;
  for (int i = 0; i < 60; ++i) {
    // Few kinds of masks, for each must be compiled; one that nobody tuned among them.
    static constexpr std::int64_t masks[][2] = {{3, 3}, {4, 3}, {5, 5}, {6, 6}};
    const auto& mask = masks[random.below(4)];
    const bool is_double = random.below(2) == 1;
    const auto side = [&] { return 1 + static_cast<std::int64_t>(random.below(50)); };
    const Field fields[] = {{"batch", 1 + static_cast<std::int64_t>(random.below(3))},
                            {"height", side()},
                            {"width", random.below(2) == 0 ? side() : side() / 4 * 4 + 4},
                            {"mask_height", mask[0]},
                            {"mask_width", mask[1]},
                            {"mode", random.below(2) == 0 ? "correlation" : "convolution"},
                            {"dtype", is_double ? "f64" : "f32"}};
    const Plan plan = dispatcher.plan("conv2d", fields);
    nearest += plan.match() == Match::predicted ? 1 : 0;
    check(plan, "conv2d", (is_double ? 8 : 4) * random.below(4), random.next());
  }
  EXPECT_GT(nearest, 40);
}

}  // namespace
}  // namespace tunesmith

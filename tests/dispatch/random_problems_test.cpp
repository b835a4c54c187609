// SPDX-License-Identifier: Apache-2.0
// Tests untuned problems, drawn at random: the variants that are chosen for them are never wrong.
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

// The same with every template of conv2d: random configs won random problems, and other problems are asked
// for.
TEST_F(DispatcherTest, Conv2dRandomProblemsThroughTheNearestRule) {
  EXPECT_GT(random_conv2d({.seed = 7,
                           .shapes = {"height=24 width=40 mask_height=3 mask_width=3",
                                      "height=20 width=21 mask_height=4 mask_width=3 mode=convolution",
                                      "height=31 width=32 batch=2 mask_height=5 mask_width=5 dtype=f64"},
                           .configs = 2,
                           .problems = 60,
                           .masks = {{3, 3}, {4, 3}, {5, 5}, {6, 6}},  // with one that is untuned
                           .largest = 50,
                           .one_in_f64 = 2}),
            40);
}

}  // namespace
}  // namespace tunesmith

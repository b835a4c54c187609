// SPDX-License-Identifier: Apache-2.0
// Tests the values of a run's modes, and their changes to the policy.
#include "tuner/run/mode.h"

#include <gtest/gtest.h>

#include "tuner/run/problem_session.h"

namespace tunesmith {
namespace {

TEST(ModeTest, OnlyATableRepeatsLoadsAndOnlyChecksTakeOneSample) {
  const Policy policy = policy_for(DeviceKind::cuda);
  ASSERT_GT(policy.list_loads, 1);
  ASSERT_GT(policy.samples, 1);
  for (const Mode& mode : {modes::tuning, modes::search, modes::finals, modes::table, modes::checks}) {
    const Policy adjusted = mode.adjusted(policy);
    EXPECT_EQ(adjusted.list_loads, mode.recorded == "table" ? policy.list_loads : 1);
    EXPECT_EQ(adjusted.samples, mode.shown == "check" ? 1 : policy.samples);
    EXPECT_EQ(adjusted.sample_target_us < policy.sample_target_us, mode.shown == "check");
    EXPECT_EQ(adjusted.give_up_factor > policy.give_up_factor, mode.recorded == "table");
    EXPECT_EQ(adjusted.final_rounds, policy.final_rounds);
  }
}

TEST(ModeTest, ASearchHearsOthersOnlyWhereThereAreSome) {
  const Problem problem;
  ProblemTask task{.problem = problem, .mode = modes::search};
  EXPECT_FALSE(task.hears_others());
  task.part.parts = 2;
  EXPECT_TRUE(task.hears_others());
  task.mode = modes::tuning;  // a shard's part: the parts write to files of their own
  EXPECT_TRUE(task.in_parts());
  EXPECT_FALSE(task.hears_others());
}

}  // namespace
}  // namespace tunesmith

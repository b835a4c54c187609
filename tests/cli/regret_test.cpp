// SPDX-License-Identifier: Apache-2.0
// Tests the report of `regret` on measured choices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/regret_table.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;
using testing::Not;

Regret regret(double ratio, double picked_us, double base_us) {
  Regret one;
  one.problem = "n=" + std::to_string(static_cast<int>(picked_us));
  one.picked = "a X=1";
  one.tuned = "b X=2";
  one.ratio = ratio;
  one.picked_us = picked_us;
  one.tuned_us = picked_us * ratio;
  one.base_us = base_us;
  return one;
}

TEST(Regret, SummarisesRatiosAndCountsWhatIsSlowerThanTheBase) {
  std::vector<Regret> all = {regret(1, 10, 40), regret(0.25, 20, 20), regret(0.5, 30, 15)};
  all[0].expected_us = 11;
  all[0].expected_loss = 0.1;
  const RegretSummary s = summary_of(all);
  EXPECT_NEAR(s.mean, 0.5, 1e-12);
  EXPECT_EQ(s.worst, 0.25);
  EXPECT_NEAR(s.fifth, 0.275, 1e-12);  // numpy.percentile([1, 0.25, 0.5], 5)
  EXPECT_NEAR(s.over_base, 1.25992, 1e-5);
  EXPECT_EQ(s.slower_than_base, 1);
  EXPECT_NEAR(s.claimed_loss, 0.1, 1e-12);
  EXPECT_NEAR(s.loss, 0, 1e-12);
  EXPECT_EQ(s.failed, 0);
}

TEST(Regret, SaysWhatTheBestOfThePortfolioWouldGive) {
  std::vector<Regret> all = {regret(0.5, 20, 40), regret(0.25, 40, 40), regret(0.1, 100, 40)};
  EXPECT_EQ(summary_of(all).portfolio, 0);
  EXPECT_THAT(regret_text(all), Not(HasSubstr("portfolio")));
  all[0].portfolio_us = 10;  // the tuned one
  all[1].portfolio_us = 40;  // the picked one
  EXPECT_NEAR(summary_of(all).portfolio, 0.5, 1e-12);
  EXPECT_THAT(regret_text(all), HasSubstr("With the best of the portfolio it would be 0.500."));
}

TEST(Regret, SaysWhatTryingSomeAtFirstUseWouldGive) {
  std::vector<Regret> all = {regret(0.5, 20, 40), regret(0.25, 40, 40), regret(0.1, 100, 40)};
  EXPECT_THAT(regret_text(all), Not(HasSubstr("first use")));
  all[0].tried_us = 10;  // the tuned one
  all[1].tried_us = 40;  // the picked one
  EXPECT_NEAR(summary_of(all).tried, 0.5, 1e-12);
  EXPECT_NEAR(summary_of(all).tried_fifth, 0.2875, 1e-12);
  EXPECT_THAT(regret_text(all), HasSubstr("With the 4 most promising tried at first use it would be 0.500"));
  EXPECT_THAT(regret_table(all).csv(), HasSubstr("tried_us"));
}

// A choice of which only the names and tuning's time are known.
Regret unmeasured(const std::string& picked) {
  Regret one;
  one.picked = picked;
  one.tuned = "b X=2";
  one.tuned_us = 10;
  return one;
}

TunedProblem won_by_b() {
  TunedProblem tuned;
  TunedWinner& winner = tuned.winners.emplace_back();
  winner.template_name = "b";
  winner.config = "X=2";
  winner.time.median_us = 10;
  return tuned;
}

TEST(Regret, APickHasTheTimeThatItHadInTheFinals) {
  TunedProblem tuned = won_by_b();
  tuned.finalists = {{"b", "X=2", 10, 1}, {"a", "X=1", 13, 1.25}};
  const Regret slower = with_times(unmeasured("a X=1"), tuned);
  EXPECT_EQ(slower.tuned, "b X=2");
  EXPECT_EQ(slower.picked_us, 13);
  EXPECT_EQ(slower.ratio, 0.8);
  EXPECT_EQ(with_times(unmeasured("b X=2"), tuned).ratio, 1);
  EXPECT_EQ(with_times(unmeasured("c X=1"), tuned).ratio, 0);
}

TEST(Regret, APickThatWonWithoutFinalsLosesNothing) {
  TunedProblem tuned = won_by_b();
  tuned.provisional = true;
  const Regret same = with_times(unmeasured("b X=2"), tuned);
  EXPECT_EQ(same.picked_us, 10);
  EXPECT_EQ(same.ratio, 1);
  EXPECT_EQ(with_times(unmeasured("a X=1"), tuned).ratio, 0);
}

TEST(Regret, APickThatWasMeasuredLateMayBeTheBest) {
  const Regret slower = with_late_pick(unmeasured("a X=1"), 20);
  EXPECT_EQ(slower.picked_us, 20);
  EXPECT_EQ(slower.ratio, 0.5);
  EXPECT_EQ(slower.tuned, "b X=2");
  const Regret faster = with_late_pick(unmeasured("a X=1"), 5);
  EXPECT_EQ(faster.ratio, 1);
  EXPECT_EQ(faster.tuned, "a X=1");
  EXPECT_EQ(faster.tuned_us, 5);
}

TEST(Regret, APickThatFailedIsCountedAndInNoMean) {
  const RegretSummary s = summary_of({regret(0, 0, 40), regret(0.9, 10, 20)});
  EXPECT_EQ(s.failed, 1);
  EXPECT_NEAR(s.mean, 0.9, 1e-12);
  EXPECT_THAT(regret_text({regret(0, 0, 40)}),
              HasSubstr("On 1 what was picked is wrong, failed or was not compiled in time"));
}

TEST(Regret, LosersAreNamedWorstFirstAndNoiseIsNoLoss) {
  const std::string text = regret_text({regret(0.99, 10, 40), regret(0.8, 20, 40), regret(0.3, 30, 40)});
  EXPECT_THAT(text, HasSubstr("worst 0.300"));
  EXPECT_LT(text.find("n=30"), text.find("n=20"));
  EXPECT_THAT(text, Not(HasSubstr("n=10")));
  const std::string csv =
      regret_table({regret(0.99, 10, 40), regret(0.8, 20, 40), regret(0.3, 30, 40)}).csv();
  EXPECT_LT(csv.find("n=30"), csv.find("n=10"));
}

TEST(Regret, IsBelowWhatIsAskedForOrNot) {
  const std::vector<Regret> all = {regret(1, 10, 40), regret(0.25, 20, 20)};  // in the mean 0.5
  EXPECT_EQ(why_below(all, 0.49), "");
  EXPECT_EQ(
      why_below(all, 0.51),
      "Dispatch reaches 0.500 of the tuned speed in the geometric mean, and --fail-below asks for 0.51.");
  EXPECT_THAT(why_below({regret(1, 10, 40), regret(0, 0, 40)}, 0.1),
              HasSubstr("1 of 2 picked variants are not right, and --fail-below asks for 0.1."));
}

}  // namespace
}  // namespace tunesmith

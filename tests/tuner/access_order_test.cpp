// SPDX-License-Identifier: Apache-2.0
// Tests what puts two accesses of a launch in order, step by step.
#include "tuner/check/access_order.h"

#include <gtest/gtest.h>

namespace tunesmith {
namespace {

class AccessOrderTest : public testing::Test {
 protected:
  AccessOrderTest() {
    order_.begin();
    order_.begin_block(0);
  }
  AccessOrder::Access access(std::uint16_t thread) { return {order_.block(), thread, order_.tick()}; }

  AccessOrder order_;
  const char word_ = 0;
};

TEST_F(AccessOrderTest, AThreadIsInOrderWithItselfAndOthersBehindABarrier) {
  const auto earlier = access(3);
  EXPECT_TRUE(order_.is_before(earlier, 3));
  EXPECT_FALSE(order_.is_before(earlier, 4));
  order_.barrier();
  EXPECT_TRUE(order_.is_before(earlier, 4));
  EXPECT_TRUE(order_.is_before(earlier, 300));
}

TEST_F(AccessOrderTest, AWarpsCollectivePutsItsLanesInOrderAndNoOthers) {
  const auto earlier = access(33);
  order_.collective(1, 0b110);  // lanes 1 and 2
  EXPECT_TRUE(order_.is_before(earlier, 34));
  EXPECT_FALSE(order_.is_before(earlier, 35));
  order_.collective(1, ~0u);
  EXPECT_TRUE(order_.is_before(earlier, 35));
  EXPECT_FALSE(order_.is_before(earlier, 64)) << "another warp";
  EXPECT_FALSE(order_.is_before(access(33), 35)) << "an access after it";
}

TEST_F(AccessOrderTest, BlocksAreInOrderByAFenceAndAWordThatBothUpdate) {
  const auto earlier = access(0);
  order_.fence(0, true);
  order_.release(&word_, 0);
  order_.begin_block(1);
  EXPECT_FALSE(order_.is_before(earlier, 0)) << "it has not looked at the word";
  order_.acquire(&word_, 0);
  EXPECT_TRUE(order_.is_before(earlier, 0));
}

TEST_F(AccessOrderTest, ManyBlocksHandTwoWordsOnInTurn) {
  const char other = 0;
  const auto earlier = access(0);
  for (std::uint32_t block = 0; block < 100; ++block) {
    if (block > 0) order_.begin_block(block);
    for (const char* const word : {&word_, &other}) order_.acquire(word, 0);
    order_.fence(0, true);
    for (const char* const word : {&word_, &other}) order_.release(word, 0);
  }
  const auto late = access(0);
  order_.fence(0, true);
  order_.release(&other, 0);
  order_.begin_block(100);
  order_.acquire(&other, 0);
  EXPECT_TRUE(order_.is_before(earlier, 0));
  EXPECT_TRUE(order_.is_before(late, 0));
}

TEST_F(AccessOrderTest, AWordWithoutAFenceBeforeItPutsNothingInOrder) {
  const auto earlier = access(0);
  order_.release(&word_, 0);
  order_.fence(0, true);
  order_.begin_block(1);
  order_.acquire(&word_, 0);
  EXPECT_FALSE(order_.is_before(earlier, 0));
}

TEST_F(AccessOrderTest, AFenceOfABlockIsNoneForAnother) {
  const auto earlier = access(0);
  order_.fence(0, false);
  order_.release(&word_, 0);
  order_.begin_block(1);
  order_.acquire(&word_, 0);
  EXPECT_FALSE(order_.is_before(earlier, 0));
}

TEST_F(AccessOrderTest, AFenceBehindABarrierIsForTheWholeBlock) {
  const auto earlier = access(7);
  order_.barrier();
  order_.fence(0, true);
  order_.release(&word_, 0);
  const auto later = access(7);
  order_.begin_block(1);
  order_.acquire(&word_, 5);
  EXPECT_TRUE(order_.is_before(earlier, 0));
  EXPECT_FALSE(order_.is_before(later, 0));
}

TEST_F(AccessOrderTest, WhatABlockHasLearnedItHandsOn) {
  const char other = 0;
  const auto earlier = access(0);
  order_.fence(0, true);
  order_.release(&word_, 0);
  order_.begin_block(1);
  order_.acquire(&word_, 0);
  order_.fence(0, true);
  order_.release(&other, 0);
  order_.begin_block(2);
  order_.acquire(&other, 0);
  EXPECT_TRUE(order_.is_before(earlier, 0));
}

TEST_F(AccessOrderTest, TheNextLaunchKnowsNothingOfTheLast) {
  order_.fence(0, true);
  order_.release(&word_, 0);
  order_.begin();
  order_.begin_block(0);
  const auto earlier = access(0);
  order_.begin_block(1);
  order_.acquire(&word_, 0);
  EXPECT_FALSE(order_.is_before(earlier, 0));
}

}  // namespace
}  // namespace tunesmith

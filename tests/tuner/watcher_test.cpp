// SPDX-License-Identifier: Apache-2.0
// Tests the watcher's judgement of accesses that are reported by hand.
#include "tuner/check/watcher.h"

#include <gmock/gmock.h>

#include <array>

namespace tunesmith {
namespace {

using testing::HasSubstr;

class Watched : public testing::Test {
 protected:
  void SetUp() override {
    const auto bytes = static_cast<std::int64_t>(sizeof(x_));
    watcher_.begin({}, {{"x", address(0), bytes, 4}, {"count", reinterpret_cast<char*>(&count_), 4, 4}}, true,
                   1'000'000);
    next_block();
  }
  const char* address(int element) const {
    return reinterpret_cast<const char*>(x_.data()) + 4 * std::int64_t{element};
  }
  void next_block(long long of = 9) { hooks().next_block(hooks().self, of); }
  void barrier() { hooks().barrier(hooks().self, 64); }
  void fence(int thread) { hooks().fence(hooks().self, thread, 1); }
  bool access(const void* at, AccessKind kind, int thread) {
    return hooks().access(hooks().self, at, 4, static_cast<int>(kind), thread) != 0;
  }
  bool read(int element, int thread) { return access(address(element), AccessKind::read, thread); }
  bool write(int element, int thread, float value) {
    const bool goes_on = access(address(element), AccessKind::write, thread);
    if (goes_on) x_.at(static_cast<std::size_t>(element)) = value;
    return goes_on;
  }
  bool count(int thread) { return access(&count_, AccessKind::atomic, thread); }
  bool announce(int element, int thread, float value) {
    const bool goes_on = access(address(element), AccessKind::volatile_write, thread);
    if (goes_on) x_.at(static_cast<std::size_t>(element)) = value;
    return goes_on;
  }
  bool look(int element, int thread) { return access(address(element), AccessKind::volatile_read, thread); }
  void show_old_values() {
    watcher_.older = Watcher::Older::all;
    watcher_.begin({}, {{"x", address(0), static_cast<std::int64_t>(sizeof(x_)), 4}}, true, 1'000'000);
    next_block();
  }
  Watcher::FindingKind found() {
    watcher_.end();
    return watcher_.finding().kind;
  }
  const Watch& hooks() const { return *watcher_.hooks(); }

  std::array<float, 8> x_ = {};
  unsigned count_ = 0;
  Watcher watcher_;
};

TEST_F(Watched, ABarrierPutsThreadsInOrder) {
  write(0, 0, 1);
  barrier();
  EXPECT_TRUE(read(0, 40));
  barrier();
  write(0, 3, 2);
  EXPECT_EQ(found(), Watcher::FindingKind::none);
}

// A module's own variables lie around those that are arrays of the kernel, and around shared memory.
TEST_F(Watched, OwnVariablesAreNoArrays) {
  std::array<char, 64> module = {};
  const auto at = [&](int byte) { return module.data() + byte; };
  watcher_.begin({.start = at(0),
                  .end = at(64),
                  .shared_start = at(32),
                  .shared_end = at(48),
                  .arrays = {{"tile", at(36), 8}},
                  .variables = {{"weights", at(8), 8}}},
                 {}, true, 1'000'000);
  next_block();
  for (const int own : {0, 4, 16, 28, 48, 60, 0}) {
    EXPECT_TRUE(access(at(own), AccessKind::read, 1)) << own;
    EXPECT_TRUE(access(at(own), AccessKind::write, 2)) << own;
    *at(own) = static_cast<char>(*at(own) + 1);
  }
  EXPECT_TRUE(access(at(36), AccessKind::write, 1));
  EXPECT_TRUE(access(at(8), AccessKind::write, 1));
  *at(8) = 1;
  EXPECT_FALSE(access(at(8), AccessKind::read, 40));
  EXPECT_EQ(found(), Watcher::FindingKind::race);
  EXPECT_THAT(watcher_.finding().sentence, HasSubstr("weights"));
}

TEST_F(Watched, SharedMemoryBesideItsArraysIsOutside) {
  std::array<char, 64> module = {};
  watcher_.begin({.start = module.data(),
                  .end = module.data() + 64,
                  .shared_start = module.data() + 32,
                  .shared_end = module.data() + 48,
                  .arrays = {{"tile", module.data() + 36, 8}},
                  .variables = {}},
                 {}, true, 1'000'000);
  next_block();
  EXPECT_TRUE(access(module.data() + 28, AccessKind::read, 0));
  EXPECT_FALSE(access(module.data() + 44, AccessKind::read, 0));
  EXPECT_EQ(found(), Watcher::FindingKind::outside);
  EXPECT_THAT(watcher_.finding().sentence, HasSubstr("tile"));
}

TEST_F(Watched, WithoutABarrierItIsARace) {
  write(5, 0, 1);
  EXPECT_FALSE(read(5, 40));
  EXPECT_EQ(found(), Watcher::FindingKind::race);
  EXPECT_THAT(watcher_.finding().sentence, HasSubstr("Thread 0 of block 0 writes element 5 of x"));
  EXPECT_THAT(watcher_.finding().sentence, HasSubstr("thread 40 reads without a __syncthreads()"));
}

TEST_F(Watched, AStoreBehindALoadOfAnotherThreadIsARace) {
  read(5, 0);
  write(5, 40, 1);
  EXPECT_EQ(found(), Watcher::FindingKind::race);
}

TEST_F(Watched, ACollectivePutsTheLanesThatMetInOrder) {
  write(0, 1, 1);
  hooks().collective(hooks().self, 0, 0b110);
  EXPECT_TRUE(read(0, 2));
  EXPECT_FALSE(read(0, 3));
}

TEST_F(Watched, AStoreOfWhatIsThereDisturbsNobody) {
  x_[0] = 7;
  read(0, 0);
  write(0, 40, 7);
  EXPECT_EQ(found(), Watcher::FindingKind::none);
}

TEST_F(Watched, WhoStoresTheSameValueReadsItsOwn) {
  write(0, 0, 7);
  write(0, 40, 7);
  EXPECT_TRUE(read(0, 40));
  EXPECT_FALSE(read(0, 41));
}

TEST_F(Watched, AnotherValueIsNoRepetition) {
  write(0, 0, 7);
  write(0, 40, 7);
  write(0, 0, 8);
  EXPECT_EQ(found(), Watcher::FindingKind::race);
  EXPECT_THAT(watcher_.finding().sentence, HasSubstr("Thread 40 of block 0 writes element 0 of x"));
}

TEST_F(Watched, BlocksHaveNoOrder) {
  write(0, 0, 1);
  next_block();
  EXPECT_FALSE(read(0, 0));
  EXPECT_THAT(watcher_.finding().sentence, HasSubstr("Block 1 reads element 0 of x, which block 0 writes"));
}

TEST_F(Watched, AFenceAndAnAtomicOperationOrderBlocks) {
  write(0, 0, 1);
  fence(0);
  count(0);
  next_block();
  count(0);
  EXPECT_TRUE(read(0, 40));
  EXPECT_EQ(found(), Watcher::FindingKind::none);
}

TEST_F(Watched, AFenceBehindABarrierCoversTheBlock) {
  write(0, 40, 1);
  barrier();
  fence(0);
  count(0);
  next_block();
  count(0);
  EXPECT_TRUE(read(0, 9));
}

TEST_F(Watched, WithoutTheFenceTheyHaveNone) {
  write(0, 0, 1);
  count(0);
  next_block();
  count(0);
  EXPECT_FALSE(read(0, 40));
}

TEST_F(Watched, AtomicOperationsDoNotDisturbEachOther) {
  for (int thread = 0; thread < 64; ++thread) EXPECT_TRUE(count(thread));
  next_block();
  EXPECT_TRUE(count(0));
  EXPECT_EQ(found(), Watcher::FindingKind::none);
}

// Blocks add to a sum atomically, and the last of two blocks reads it.
TEST_F(Watched, TheLastBlockReadsWhatOthersAddedBehindAFence) {
  for (const bool fenced : {true, false}) {
    SetUp();
    count_ = 0;
    access(address(0), AccessKind::atomic, 3);
    if (fenced) fence(3);
    barrier();
    count(0);
    count_ = 1;
    next_block(2);
    EXPECT_TRUE(read(0, 0)) << "a block looks before it updates";
    count(0);
    EXPECT_EQ(read(0, 0), fenced);
    EXPECT_EQ(found(), fenced ? Watcher::FindingKind::none : Watcher::FindingKind::race);
  }
}

// An operation that is atomic in a block is not so beside another block.
TEST_F(Watched, AnOperationOfABlockIsAtomicThereOnly) {
  for (int thread = 0; thread < 64; ++thread)
    EXPECT_TRUE(access(&count_, AccessKind::atomic_in_block, thread));
  next_block();
  EXPECT_FALSE(access(&count_, AccessKind::atomic_in_block, 0));
  EXPECT_THAT(watcher_.finding().sentence, HasSubstr("is atomic among the threads of one block only"));
}

// Thread 40 waits for a signal at which threads 1 and 9 arrive.
TEST_F(Watched, ASignalOrdersThoseWhoArriveBeforeThoseWhoWait) {
  const int signal = 0;
  const auto arrive = [&](int thread) { hooks().signal(hooks().self, &signal, thread, 0); };
  const auto wait = [&](int thread) { hooks().signal(hooks().self, &signal, thread, 1); };
  write(0, 1, 1);
  write(1, 9, 1);
  write(2, 7, 1);
  write(3, 12, 1);
  hooks().collective(hooks().self, 0, 0b1010);  // threads 1 and 3
  hooks().collective(hooks().self, 0, 1 << 9 | 1 << 7);
  arrive(1);
  arrive(9);
  write(4, 1, 1);
  wait(40);
  EXPECT_TRUE(read(0, 40) && read(1, 40));
  EXPECT_TRUE(read(2, 40)) << "thread 9 has met it before";
  EXPECT_FALSE(read(3, 40)) << "nobody who arrived has met it";
  SetUp();
  write(0, 1, 2);
  arrive(1);
  write(4, 1, 2);
  wait(40);
  hooks().collective(hooks().self, 1, 1 << 8 | 1 << 9);  // threads 40 and 41
  EXPECT_TRUE(read(0, 41)) << "thread 40 tells it";
  EXPECT_FALSE(read(4, 40)) << "it is written behind the arrival";
  SetUp();
  write(0, 1, 3);
  arrive(1);
  wait(40);
  EXPECT_FALSE(read(0, 41)) << "it has not waited";
}

TEST_F(Watched, SeesWhatIsOutside) {
  EXPECT_FALSE(read(-1, 0));
  EXPECT_EQ(found(), Watcher::FindingKind::outside);
  EXPECT_THAT(watcher_.finding().sentence, HasSubstr("reads element -1 of x, which has 8"));
}

TEST_F(Watched, ABlockThatLooksForAnotherFindsAllThatTheWordHeld) {
  show_old_values();
  announce(1, 0, 1);
  fence(0);
  announce(1, 0, 2);
  next_block();
  for (const float value : {0.0F, 1.0F, 2.0F, 2.0F}) {
    EXPECT_TRUE(look(1, 3));
    EXPECT_EQ(x_[1], value);
  }
  EXPECT_EQ(found(), Watcher::FindingKind::none);
  EXPECT_EQ(x_[1], 2.0F);
  EXPECT_TRUE(watcher_.has_signals());
}

TEST_F(Watched, ALateFlagAnnouncesNothing) {
  show_old_values();
  write(0, 0, 7);
  fence(0);
  announce(1, 0, 1);
  next_block();
  look(1, 0);  // finds 0
  EXPECT_FALSE(read(0, 0));
  EXPECT_THAT(watcher_.finding().sentence, HasSubstr("nothing puts the two in order"));
}

TEST_F(Watched, ASeenFlagAnnouncesWhatWasWrittenBeforeIt) {
  show_old_values();
  write(0, 0, 7);
  fence(0);
  announce(1, 0, 1);
  next_block();
  look(1, 0);
  look(1, 0);  // finds 1
  EXPECT_TRUE(read(0, 0));
}

TEST_F(Watched, AFlagThatIsSetBackMayBeMissed) {
  show_old_values();
  announce(1, 0, 1);
  next_block();
  look(1, 0);
  look(1, 0);
  next_block();
  announce(1, 0, 0);
  EXPECT_EQ(found(), Watcher::FindingKind::race);
  EXPECT_THAT(watcher_.finding().sentence, HasSubstr("Block 2 sets element 1 of x back"));
}

TEST_F(Watched, AWarpMayWaitForAFlagOfAnotherWarp) {
  look(1, 40);
  write(0, 0, 7);
  fence(0);
  announce(1, 0, 1);
  EXPECT_TRUE(look(1, 40));
  EXPECT_TRUE(read(0, 40));
  announce(1, 40, 0);  // it has taken what was announced
  EXPECT_EQ(found(), Watcher::FindingKind::none);
}

TEST_F(Watched, AFlagWithoutAFenceIsARace) {
  write(0, 0, 7);
  announce(1, 0, 1);
  EXPECT_FALSE(look(1, 40));
  EXPECT_THAT(watcher_.finding().sentence, HasSubstr("without a __syncthreads()"));
}

TEST_F(Watched, AFlagBeforeItsDataIsARace) {
  fence(0);
  announce(1, 0, 1);
  write(0, 0, 7);
  EXPECT_TRUE(look(1, 40));
  EXPECT_FALSE(read(0, 40));
}

TEST_F(Watched, AThreadThatLooksForEverIsStuck) {
  bool goes_on = true;
  for (int n = 0; n < 1'000'000 && goes_on; ++n) goes_on = look(2, 5);
  EXPECT_FALSE(goes_on);
  EXPECT_THAT(
      watcher_.stuck(),
      HasSubstr("The kernel waits for ever: thread 5 of block 0 waits for a change of element 2 of x"));
}

TEST_F(Watched, AThreadThatLooksWhileOthersWriteIsNot) {
  bool goes_on = true;
  for (int n = 0; n < 300'000 && goes_on; ++n) {
    if (n % 1000 == 0) write(3, 0, static_cast<float>(n + 1));
    goes_on = look(2, 5);
  }
  EXPECT_TRUE(goes_on);
}

}  // namespace
}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
// Tests a plan's use of the pointers of a launch: aligned or not, null, overlapping; and workspaces.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <iterator>

#include "fixture.h"
#include "kernel_file/find_op.h"

namespace tunesmith {
namespace {

TEST_F(DispatcherTest, UnalignedPointersGetTheUnalignedWinner) {
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=4", .median_us = 5});
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=1", .median_us = 7});
  Dispatcher dispatcher(options());
  const Plan plan = dispatcher.plan("smooth", "n=1000 taps=5");
  EXPECT_EQ(plan.variant().median_us, 5);
  EXPECT_EQ(plan.unaligned_variant().median_us, 7);
  check(plan, "smooth", 0);
  check(plan, "smooth", 4);
  check(plan, "smooth", 8);
}

TEST_F(DispatcherTest, UnalignedPointersGetANarrowerConfig) {
  tune({.problem = "n=1000 taps=5", .config = "BLOCK=64 VECTOR=4"});
  tune({.problem = "n=100000 taps=5", .config = "BLOCK=32 VECTOR=1"});
  Dispatcher dispatcher(options());
  const Plan plan = dispatcher.plan("smooth", "n=1000 taps=5");
  EXPECT_EQ(plan.unaligned_variant().config, "BLOCK=64 VECTOR=1 STATE=none");
  check(plan, "smooth", 4);
}

TEST_F(DispatcherTest, UnalignedPointersWithoutACompilerGetTheNextWinner) {
  tune({.problem = "n=1000 taps=5", .config = "BLOCK=64 VECTOR=4"});
  tune({.problem = "n=100000 taps=5", .config = "BLOCK=32 VECTOR=1"});
  DispatcherOptions without_compiler = options();
  without_compiler.compile = Compile::never;
  Dispatcher dispatcher(without_compiler);
  const Plan plan = dispatcher.plan("smooth", "n=1000 taps=5");
  EXPECT_EQ(plan.unaligned_variant().tuned_problem, "n=100000 taps=5 dtype=f32");
  check(plan, "smooth", 0);
  check(plan, "smooth", 4);
}

TEST_F(DispatcherTest, UnalignedPointersThatNothingServesAreAStatus) {
  tune({.problem = "n=1000 taps=5", .config = "BLOCK=64 VECTOR=4"});
  DispatcherOptions without_compiler = options();
  without_compiler.compile = Compile::never;
  Dispatcher dispatcher(without_compiler);
  const Plan plan = dispatcher.plan("smooth", "n=1000 taps=5");
  says(plan, "Pointers that are not multiples of 16 bytes are refused");
  check(plan, "smooth");
  const Buffers buffers(find_op("smooth"), Problem::parse(plan.problem()), 4, 1);
  EXPECT_EQ(plan.launch(buffers.arguments()).code(), Status::misaligned_argument);
}

TEST_F(DispatcherTest, BadPointersAreStatuses) {
  Dispatcher dispatcher(options());
  const Plan plan = dispatcher.plan("smooth", "n=100 taps=5");
  alignas(16) float memory[256] = {};
  void* const good[] = {memory, memory + 100, memory + 128};
  EXPECT_TRUE(plan.launch(good).ok());
  const auto code = [&](std::vector<void*> arguments) {
    const Status status = plan.launch(arguments);
    EXPECT_FALSE(status.message().empty());
    return status.code();
  };
  EXPECT_EQ(code({memory, memory + 100}), Status::wrong_argument_count);
  EXPECT_EQ(code({memory, nullptr, memory + 128}), Status::null_argument);
  EXPECT_EQ(code({reinterpret_cast<char*>(memory) + 2, memory + 110, memory + 128}),
            Status::misaligned_argument);
  EXPECT_EQ(code({memory, memory + 100, memory}), Status::overlapping_arguments);
  EXPECT_EQ(code({memory, memory + 100, memory + 99}), Status::overlapping_arguments);
}

TEST_F(DispatcherTest, AStatusNamesTheArgument) {
  Dispatcher dispatcher(options());
  const Plan plan = dispatcher.plan("smooth", "n=100 taps=5");
  alignas(16) float memory[256] = {};
  const auto message = [&](std::vector<void*> arguments) { return plan.launch(arguments).message(); };
  EXPECT_EQ(message({memory, nullptr, memory + 128}),
            "The argument weights is a null pointer; pass memory of the plan's device.");
  EXPECT_EQ(message({reinterpret_cast<char*>(memory) + 2, memory + 110, memory + 128}).substr(0, 50),
            "The address of the argument samples is not aligned");
  EXPECT_EQ(message({memory, memory + 100, memory}).substr(0, 41),
            "The argument output overlaps another one,");
}

// On the host, memory that is not mapped is foreign.
TEST_F(DispatcherTest, PointersAreCheckedWhereThatIsAskedFor) {
  DispatcherOptions checking = options();
  checking.check_pointers = true;
  Dispatcher dispatcher(checking);
  const Plan plan = dispatcher.plan("smooth", "n=100 taps=5");
  alignas(16) float memory[256] = {};
  void* const good[] = {memory, memory + 100, memory + 128};
  EXPECT_TRUE(plan.launch(good).ok());
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  char* const pages =
      static_cast<char*>(mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(munmap(pages + page, page), 0);
  // All of the array is unmapped, and all but 16 bytes of it.
  for (char* const bad : {pages + page, pages + page - 16}) {
    void* const arguments[] = {bad, memory + 100, memory + 128};
    const Status status = plan.launch(arguments);
    EXPECT_EQ(status.code(), Status::foreign_argument);
    EXPECT_EQ(status.message(),
              "The argument samples is not memory of " + host_facts().name +
                  ", or has fewer than the 400 bytes that the problem needs; pass memory of "
                  "the plan's device.");
  }
  munmap(pages, page);
}

// Each variant has its own part of the workspace, so that one does not find the data of the other.
TEST_F(DispatcherTest, AWorkspaceServesAlignedAndUnalignedPointersInTurn) {
  tune({.op = "tally", .problem = "n=100", .template_name = "base", .config = "VECTOR=4"});
  Dispatcher dispatcher(options());
  const Plan plan = dispatcher.plan("tally", "n=100");
  EXPECT_EQ(plan.variant().config, "VECTOR=4");
  EXPECT_EQ(plan.unaligned_variant().config, "VECTOR=1");
  ASSERT_EQ(plan.workspace_bytes(), 256 + 16);
  alignas(256) char workspace[256 + 16] = {};
  alignas(16) float x[128];
  alignas(16) float y[128];
  alignas(16) float count[8];
  std::fill(std::begin(x), std::end(x), 5.0f);
  for (const int offset : {0, 0, 1, 0, 1, 1}) {
    for (void* const given : {static_cast<void*>(workspace), static_cast<void*>(nullptr)}) {
      std::fill(std::begin(y), std::end(y), -1.0f);
      void* const arguments[] = {x + offset, y + offset, count};
      ASSERT_TRUE(plan.launch(arguments, nullptr, given).ok());
      EXPECT_EQ(std::count(y + offset, y + offset + 100, 5.0f), 100) << offset;
      EXPECT_EQ(count[0], 100) << "set to zero before it is added to";
    }
  }
}

TEST_F(DispatcherTest, AnOutputMayBeAnInputWhereTheOpSaysSo) {
  Dispatcher dispatcher(options());
  float values[64] = {3};
  float count = 0;
  alignas(16) char workspace[16] = {};
  const auto launch = [&](const char* problem, float* x, float* y) {
    void* const arguments[] = {x, y, &count};
    return dispatcher.plan("tally", problem).launch(arguments, nullptr, workspace).code();
  };
  EXPECT_EQ(launch("n=20", values, values), Status::success);
  EXPECT_EQ(values[0], 3);
  EXPECT_EQ(launch("n=20", values, values + 1), Status::overlapping_arguments);
  EXPECT_EQ(launch("n=21", values, values), Status::overlapping_arguments);
}

TEST_F(DispatcherTest, ArraysOfNoElementsMayBeNull) {
  Dispatcher dispatcher(options());
  float count = 9;
  alignas(16) char workspace[16] = {};
  void* const arguments[] = {nullptr, nullptr, &count};
  ASSERT_TRUE(dispatcher.plan("tally", "n=0").launch(arguments, nullptr, workspace).ok());
  EXPECT_EQ(count, 0);
  EXPECT_EQ(dispatcher.plan("tally", "n=1").launch(arguments, nullptr, workspace).code(),
            Status::null_argument);
}

}  // namespace
}  // namespace tunesmith

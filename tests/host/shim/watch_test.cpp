// SPDX-License-Identifier: Apache-2.0
// Tests a watched launch, and the order of blocks.
#include "runtime/watch.h"

#include "tests/host/loaded.h"

namespace tunesmith {
namespace {

// Lets this many accesses pass.
struct Counting {
  explicit Counting(int accesses) : left(accesses) {
    watch.self = this;
    watch.shared = [](void*, const void*, long long) {};
    watch.next_block = [](void* self, long long blocks) {
      auto& next = static_cast<Counting*>(self)->next;
      return next < blocks ? next++ : -1;
    };
    watch.access = [](void* self, const void*, long long, int, int) {
      return static_cast<Counting*>(self)->left-- > 0 ? 1 : 0;
    };
    watch.barrier = [](void*, int) {};
    watch.collective = [](void*, int, unsigned) {};
    watch.fence = [](void*, int, int) {};
    watch.misaligned = [](void*, const void*, long long, const char*, int, int) { return 1; };
    watch.overflow = [](void*, const char*, int) {};
    watch.signal = [](void*, const void*, int, int) {};
  }
  int left;
  long long next = 0;
  Watch watch = {};
};

TEST(ShimWatch, ALaunchMayBeEndedAtAnyAccess) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "no variant is watched beside another sanitizer";
#endif
  const std::unique_ptr<Toolchain> toolchain = make_watched_toolchain();
  if (!toolchain) GTEST_SKIP() << "no compiler that can watch";
  const Source source = host_source(R"(
extern "C" __global__ void ENTRY(kernel)(int* out) {
  __shared__ int s[4];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  const int other = s[3 - threadIdx.x];
  out[4 * blockIdx.x + threadIdx.x] = __shfl_sync(0xf, other, 0);
}
)");
  const Compilation compiled = toolchain->compile(source);
  ASSERT_TRUE(compiled.ok) << compiled.log;
  const std::unique_ptr<Executable> executable =
      load_host(compiled.bytes, source.suffix,
                Work{.steps = {Launch{.kernel = "kernel",
                                      .grid = {2},
                                      .block = {4},
                                      .arguments = {KernelArgument(ArgumentPointer{0})}}}});
  int out[8] = {};
  void* const arguments[] = {out};
  int accesses = 0;
  for (int code = host_watch_ended; code == host_watch_ended; ++accesses) {
    ASSERT_LT(accesses, 1000);
    Counting counting(accesses);
    set_watch(*executable, &counting.watch, compiled.bytes);
    code = executable->launch(arguments, nullptr, nullptr);
    ASSERT_TRUE(code == host_watch_ended || code == 0) << code << " after " << accesses;
  }
  EXPECT_GE(accesses, 3 * 8) << "a thread writes, reads and writes";
  for (const int element : out) EXPECT_EQ(element, 3);
  set_watch(*executable, nullptr, compiled.bytes);
  EXPECT_EQ(executable->launch(arguments, nullptr, nullptr), 0);
}

TEST(ShimWatch, BlocksRunInTheOrderThatIsAskedForUnlessTheyWaitForEachOther) {
  const Source source = host_source(R"(
extern "C" __global__ void ENTRY(kernel)(int* out) {
  out[1 + blockIdx.x + gridDim.x * blockIdx.y] = atomicAdd(out, 1);
}
)");
  const Compilation compiled = make_host_toolchain()->compile(source);
  ASSERT_TRUE(compiled.ok) << compiled.log;
  const auto order = [&](BlockOrder asked, bool waits) {
    const std::unique_ptr<Executable> executable =
        load_host(compiled.bytes, source.suffix,
                  Work{.steps = {Launch{.kernel = "kernel",
                                        .grid = {2, 2},
                                        .block = {1},
                                        .arguments = {KernelArgument(ArgumentPointer{0})},
                                        .waits_for_blocks = waits}}});
    std::vector<int> out(5);
    void* const arguments[] = {out.data()};
    set_block_order(*executable, asked);
    EXPECT_EQ(executable->launch(arguments, nullptr, nullptr), 0);
    return std::vector<int>(out.begin() + 1, out.end());
  };
  const std::vector<int> ascending = {0, 1, 2, 3};
  EXPECT_EQ(order(BlockOrder::ascending, false), ascending);
  EXPECT_EQ(order(BlockOrder::descending, false), (std::vector<int>{3, 2, 1, 0}));
  EXPECT_NE(order(BlockOrder::scattered, false), ascending);
  for (const BlockOrder asked : {BlockOrder::ascending, BlockOrder::descending, BlockOrder::scattered})
    EXPECT_EQ(order(asked, true), ascending);
}

}  // namespace
}  // namespace tunesmith

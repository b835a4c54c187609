// SPDX-License-Identifier: Apache-2.0
// Tests constant symbols, and the ways in which a kernel ends its launch.
#include <gtest/gtest.h>

#include <vector>

#include "tests/host/loaded.h"

namespace tunesmith {
namespace {

TEST(ShimLanguage, AConstantSymbolIsFilledByItsStep) {
  const Source source = host_source(R"(
__constant__ float ENTRY(table)[4];
extern "C" __global__ void ENTRY(kernel)(float* out) { out[threadIdx.x] = 2 * ENTRY(table)[threadIdx.x]; }
)");
  const Compilation compiled = make_host_toolchain()->compile(source);
  ASSERT_TRUE(compiled.ok) << compiled.log;
  Launch launch{.kernel = "kernel", .block = {4, 1, 1}, .arguments = {ArgumentPointer{0}}};
  const Work work{.steps = {ConstantCopy{.symbol = "table", .argument = 1, .bytes = 16}, launch}};
  EXPECT_FALSE(reentrant(work));
  const auto executable = load_host(compiled.bytes, source.suffix, work);
  std::vector<float> out(4), table = {1, 2, 3, 4};
  void* arguments[] = {out.data(), table.data()};
  ASSERT_EQ(executable->launch(arguments, nullptr, nullptr), 0);
  EXPECT_EQ(out, (std::vector<float>{2, 4, 6, 8}));
  EXPECT_THROW(
      load_host(compiled.bytes, source.suffix, Work{.steps = {ConstantCopy{"table", 1, 17}, launch}}),
      LoadError);
}

TEST(ShimLanguage, ASymbolIsFilledAtEachLaunchAndNoFurther) {
  const Source source = host_source(R"(
namespace {
__constant__ float ENTRY(table)[4];
__device__ unsigned ENTRY(count);
}
extern "C" __global__ void ENTRY(kernel)(float* out) {
  for (int n = 0; n < 4; ++n) out[n] = ENTRY(table)[n];
  out[4] = atomicAdd(&ENTRY(count), 1u);
}
#define EXPORTED(name) TUNESMITH_HOST_SYMBOL(name)
EXPORTED(ENTRY(table))
EXPORTED(ENTRY(count))
)");
  const Compilation compiled = make_host_toolchain()->compile(source);
  ASSERT_TRUE(compiled.ok) << compiled.log;
  const Launch launch{.kernel = "kernel", .arguments = {ArgumentPointer{0}}};
  Work work{.steps = {ConstantCopy{"table", 1, 12}, ConstantCopy{"count", -1, 0}, launch},
            .takes_turns = true};
  EXPECT_TRUE(reentrant(work));
  const auto executable = load_host(compiled.bytes, source.suffix, work);
  std::vector<float> out(5), table = {1, 2, 3, 4};
  void* arguments[] = {out.data(), table.data()};
  for (int again = 0; again < 2; ++again) {
    ASSERT_EQ(executable->launch(arguments, nullptr, nullptr), 0);
    EXPECT_EQ(std::vector<float>(out.begin(), out.begin() + 3),
              std::vector<float>(table.begin(), table.begin() + 3));
    EXPECT_NE(out[3], out[3]) << "behind the argument's elements is NaN";
    EXPECT_EQ(out[4], 0);
    table = {5, 6, 7, 8};
  }
  for (const auto& [symbol, bytes] : {std::pair("table", 20), std::pair("count", 5)}) {
    work.steps[0] = ConstantCopy{symbol, 1, bytes};
    EXPECT_THROW(load_host(compiled.bytes, source.suffix, work), LoadError) << symbol;
  }
}

TEST(ShimLanguage, ATrapAndABrokenAssumptionEndTheLaunch) {
  LoadedBinary kernel = load(R"(
extern "C" __global__ void ENTRY(kernel)(int* out) {
  __syncthreads();
  if (out[0] == 1 && threadIdx.x == 2) __trap();
  __builtin_assume(out[0] != 2);
  atomicAdd(out + 1, 1);
})",
                             {5, 1, 1}, {4, 1, 1});
  int out[2] = {1, 0};
  EXPECT_EQ(kernel.executable->describe(kernel.run({out})), "the kernel called __trap()");
  EXPECT_EQ(out[1], 2);
  out[0] = 2;
  EXPECT_EQ(kernel.executable->describe(kernel.run({out})),
            "the condition of a __builtin_assume() in the kernel was false");
  out[0] = 0;
  EXPECT_EQ(kernel.run({out}), 0);
  EXPECT_EQ(out[1], 22);
}

}  // namespace
}  // namespace tunesmith

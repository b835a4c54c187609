// SPDX-License-Identifier: Apache-2.0
// Tests which kernels have the same machine code under other names, and which do not. Needs no GPU.
#include "runtime/machine_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cuda/nvrtc.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;

// Two kernels, a constant that they read, a shared array, and a table in global memory.
constexpr const char* text = R"(
constexpr int size = 64;
constexpr int table[4] = {3, 1, 4, 1};
__constant__ float factor_SUFFIX[4];
extern "C" __global__ void first_SUFFIX(float* x, int n) {
  __shared__ float held[size];
  held[threadIdx.x] = x[threadIdx.x] * factor_SUFFIX[n];
  __syncthreads();
  x[threadIdx.x] = held[size - 1 - threadIdx.x];
}
extern "C" __global__ void second_SUFFIX(int* y) { y[threadIdx.x] = table[threadIdx.x % 4]; }
)";

std::string replaced(std::string in, const std::string& what, const std::string& with) {
  EXPECT_THAT(in, HasSubstr(what)) << what;
  for (std::size_t at = 0; (at = in.find(what, at)) != std::string::npos; at += with.size())
    in.replace(at, what.size(), with);
  return in;
}

class MachineCode : public Nvrtc {
 protected:
  std::string compiled(const std::string& body, const std::string& suffix) const {
    const std::string named = replaced(body, "_SUFFIX", suffix);
    const Compilation made =
        toolchain_->compile({.text = named, .hash = "", .suffix = suffix, .kernels = {}, .target = "sm_90a"});
    EXPECT_TRUE(made.ok) << made.log;
    return made.bytes;
  }
  // The difference between `now` and the text above.
  std::string difference(const std::string& now) const {
    static const std::string before = compiled(text, "_01234567");
    return code_difference(before, "_01234567", compiled(now, "_89abcdef"), "_89abcdef");
  }
};

TEST_F(MachineCode, NamesAndCommentsAreNoDifference) {
  EXPECT_EQ(difference(text), "");
  EXPECT_EQ(difference(replaced(text, "held", "kept_in_shared_memory")), "") << "a variable";
  EXPECT_EQ(difference(replaced(text, "table", "digits")), "") << "a table";
  EXPECT_EQ(difference(replaced(text, "second", "lookup")), "") << "a kernel";
  EXPECT_EQ(difference(replaced(text, "__syncthreads();", "// all are there\n  __syncthreads();")), "");
  EXPECT_EQ(difference(std::string(text) + "extern \"C\" __global__ void third_SUFFIX(int* z) { *z = 1; }\n"),
            "")
      << "one more";
}

TEST_F(MachineCode, WhatTheKernelDoesIsADifference) {
  const auto says = [&](const char* what, const char* with, const char* part) {
    EXPECT_THAT(difference(replaced(text, what, with)), HasSubstr(part)) << what;
  };
  says("size - 1 -", "size - 2 -", "the kernel first");
  says("float* x, int n)", "float* x, int n, int unused)", "the kernel first");
  says("size = 64", "size = 128", "the kernel first");
  says("{3, 1, 4, 1}", "{3, 1, 4, 2}", "global memory");
  says("factor_SUFFIX[4]", "factor_SUFFIX[8]", "constants");
  EXPECT_THAT(difference(replaced(text, "extern \"C\" __global__ void second_SUFFIX(int* y)",
                                  "__device__ void no(int* y)")),
              HasSubstr("second"))
      << "a kernel is missing";
}

// A table that no kernel reads is no difference; a constant of the text is one.
TEST_F(MachineCode, AConstantThatNoKernelReadsIsNone) {
  const std::string without = replaced(text, "table[threadIdx.x % 4]", "5");
  const std::string a = compiled(without, "_01234567");
  const std::string b = compiled("constexpr int further = 7;\n" + without, "_89abcdef");
  EXPECT_EQ(code_difference(a, "_01234567", b, "_89abcdef"), "");
}

TEST_F(MachineCode, WhatCannotBeReadDiffers) {
  const std::string whole = compiled(text, "_01234567");
  EXPECT_NE(code_difference("", "", "", ""), "");
  for (const std::size_t size : {std::size_t{3}, std::size_t{70}, whole.size() / 2})
    EXPECT_NE(code_difference(whole, "_01234567", whole.substr(0, size), "_01234567"), "") << size;
}

}  // namespace
}  // namespace tunesmith

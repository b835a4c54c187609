// SPDX-License-Identifier: Apache-2.0
#include "kernel_file/unset_variable.h"

#include <gtest/gtest.h>

#include "kernel_file/kernel_source.h"

namespace tunesmith {
namespace {

std::string unset(const std::string& text) {
  const auto found = unset_variable(blanked(text), "k");
  return found ? found->name : "";
}

std::string kernel(const std::string& body, const std::string& parameters = "float* y, int i") {
  return "__global__ void __launch_bounds__(64) k(" + parameters + ") { " + body + " }\n";
}

TEST(UnsetVariable, IsFoundWhereTheKernelReadsIt) {
  for (const char* declared : {
           "__constant__ float w[8];",
           "static __constant__ float w[8][ 3 ];",
           "__constant__ __align__(16) float w[8];",
           "namespace a { __constant__ const float w[8]; }",
           "__constant__ float first[2] = {1, 2}, w[8];",
           "extern \"C\" { __constant__ int w[1]; }",
           "__device__ float w[8];",
           "__device__ __managed__ float w[8];",
           "__device__ volatile float w[8];",
           "#define N 8\n__constant__ float w[N];",
           "template <int A, int B> struct P { float v; };\n__constant__ P<1, 2> w[8];",
       }) {
    const std::string text = std::string(declared) + "\n";
    EXPECT_EQ(unset(text + kernel("y[i] = w[i];")), "w") << declared;
    EXPECT_EQ(unset(text + "__device__ float f(int i) { return w[i]; }\n" + kernel("y[i] = f(i);")), "w")
        << declared;
    EXPECT_EQ(unset(text + "#define F(i) \\\n  w[i]\n" + kernel("y[i] = F(i);")), "w") << declared;
    EXPECT_EQ(unset(text + "struct S { __device__ float f(int i) { return w[i]; } };\n" +
                    kernel("y[i] = S().f(i);")),
              "w")
        << declared;
    EXPECT_EQ(unset(text + "__device__ float f(int i) { return w[i]; }\n" + kernel("y[i] = 0;")), "")
        << "another kernel's\n"
        << declared;
    EXPECT_EQ(unset(text + kernel("y[i] = w[i];", "float* y, const float* w, int i")), "") << declared;
  }
  EXPECT_EQ(unset("__constant__ float w;\n" + kernel("y[i] = w;")), "w");
  EXPECT_EQ(unset("__device__ float w;\n" + kernel("y[i] = f(w);")), "w") << "by its value";
}

TEST(UnsetVariable, IsNoneThatIsInitialisedOrWritten) {
  for (const char* declared :
       {"__constant__ float w[2] = {1, 2};", "__constant__ float w[2]{1, 2};",
        "__constant__ float w[] = {1};", "extern __constant__ float w[8];",
        "__device__ float w(int i) { return 1; }", "__device__ float w(int i);",
        "struct w { __device__ float f(); };", "__global__ void other() { __shared__ float w[8]; }",
        "extern __shared__ float w[];", "__constant__ float w[8];\n#define w other"})
    EXPECT_EQ(unset(std::string(declared) + "\n" + kernel("y[i] = w[i];")), "") << declared;
  // A __device__ variable that the kernel writes too, as scratch or as a counter.
  for (const char* body : {"w[i] = 1; y[i] = w[i];", "w[i][1].x += 1; y[i] = w[i];", "atomicAdd(&w[0], 1);",
                           "atomicAdd(w, 1);", "f(y, w + 1);", "++w[0];", "y[i] = w[i]++;", "g(&(w[1]));"})
    EXPECT_EQ(unset(std::string("__device__ int w[8];\n") + kernel(body)), "") << body;
  EXPECT_EQ(unset("__device__ int w;\n" + kernel("y[i] = atomicAdd(&w, 1);")), "");
  for (const char* body : {"y[i] = w[i] == 1;", "y[i] = i && w[i];", "y[i] = w[i] <= 2;"})
    EXPECT_EQ(unset(std::string("__device__ int w[8];\n") + kernel(body)), "w") << body;
}

}  // namespace
}  // namespace tunesmith

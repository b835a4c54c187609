// SPDX-License-Identifier: Apache-2.0
// Mathematical functions.
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "tests/host/loaded.h"

namespace tunesmith {
namespace {

TEST(ShimMath, FunctionsOfFloatsAndOfMixedNumbers) {
  LoadedBinary kernel = load(R"(
extern "C" __global__ void ENTRY(kernel)(double* out) {
  float sine, cosine;
  sincosf(0.0f, &sine, &cosine);
  out[0] = sine;
  out[1] = cosine;
  out[2] = pow(2.0f, 3.0);
  out[3] = fmaf(2.0f, 3.0f, 4.0f);
  out[4] = sqrt(2.0f) == sqrtf(2.0f);
  out[5] = sqrt(2.0) == sqrtf(2.0f);
})",
                             {}, {});
  std::vector<double> out(6, -1);
  ASSERT_EQ(kernel.run({out.data()}), 0);
  EXPECT_EQ(out, (std::vector<double>{0, 1, 8, 10, 1, 0}));
}

TEST(ShimMath, MinAndMaxPreferNumbersToNanAndUnsignedToSigned) {
  LoadedBinary kernel = load(R"(
extern "C" __global__ void ENTRY(kernel)(double* out, double nan) {
  out[0] = min(1.0f, 2.0f);
  out[1] = max(3, 4);
  out[2] = min(nan, 5.0);
  out[3] = max(6.0f, static_cast<float>(nan));
  out[4] = max(-1, 7u);
})",
                             {}, {}, 1, 0, {std::numeric_limits<double>::quiet_NaN()});
  std::vector<double> out(5, -1);
  ASSERT_EQ(kernel.run({out.data()}), 0);
  EXPECT_EQ(out, (std::vector<double>{1, 4, 5, 6, 4294967295.0}));
}

}  // namespace
}  // namespace tunesmith

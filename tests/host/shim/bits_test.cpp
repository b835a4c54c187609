// SPDX-License-Identifier: Apache-2.0
// Integer intrinsics and reinterpretations.
#include <gtest/gtest.h>

#include <cstddef>

#include "tests/host/loaded.h"

namespace tunesmith {
namespace {

TEST(ShimBits, IntrinsicsOfBits) {
  LoadedBinary kernel = load(R"(
extern "C" __global__ void ENTRY(kernel)(unsigned long long* out) {
  out[0] = __brev(0x80000003u);
  out[1] = __brevll(3ull);
  out[2] = __clz(1) * 100 + __clz(0);
  out[3] = __clzll(1ll) * 100 + __clzll(0ll);
  out[4] = __ffs(0) * 100 + __ffs(8);
  out[5] = __ffsll(1ll << 40);
  out[6] = __popc(0xf0f0u) * 100 + __popcll(~0ull);
  out[7] = __byte_perm(0x33221100u, 0x77665544u, 0x7610u);
  out[8] = __byte_perm(0x33228100u, 0x77665544u, 0x9080u);
  out[9] = __umul64hi(~0ull, ~0ull);
  out[10] = __float_as_uint(__int_as_float(0x3f800001));
  out[11] = static_cast<unsigned long long>(__double_as_longlong(__longlong_as_double(77)));
})",
                             {}, {});
  unsigned long long out[12] = {};
  ASSERT_EQ(kernel.run({out}), 0);
  const unsigned long long expected[] = {0xc0000001u, 3ull << 62,  3132,        6364,      4,           41,
                                         864,         0x77661100u, 0xff000000u, ~0ull - 1, 0x3f800001u, 77};
  for (std::size_t n = 0; n < 12; ++n) EXPECT_EQ(out[n], expected[n]) << n;
}

}  // namespace
}  // namespace tunesmith

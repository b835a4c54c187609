// SPDX-License-Identifier: Apache-2.0
// Tests the tensor cores' units of contract on the host, which emulates them.
#include "tests/matrix_cases.h"

namespace tunesmith::contract_mma_test {
namespace {

TEST(OutByRows, IsOfTilesOfWholePieces) {
  const Op& op = find_op("tensor");
  const auto is_legal = [&](const std::string& dtype, const std::string& tile) {
    const Problem problem = complete_problem(
        op, Problem::parse("expression=\"c[i,j] += a[i,k] * b[k,j]\" i=256 j=99 k=40 dtype=" + dtype));
    const Space space = find_template(op, "contract").space(problem, make_host_device()->facts());
    try {
      static_cast<void>(space.complete(Values::parse("UNIT=fma OUT_BY=rows " + tile)));
    } catch (const Error&) {
      return false;
    }
    return true;
  };
  const std::string narrow = "TILE_M=256 TILE_N=24 THREAD_M=8 THREAD_N=12 WARP_N=2",
                    wide = "TILE_M=64 TILE_N=32 THREAD_M=4 THREAD_N=4 WARP_N=8";
  EXPECT_TRUE(is_legal("f32", narrow));
  EXPECT_TRUE(is_legal("f16", narrow + " STAGES=1"));
  EXPECT_FALSE(is_legal("i8", narrow + " STAGES=1")) << "24 bytes are no whole pieces";
  EXPECT_TRUE(is_legal("i8", wide + " STAGES=1"));
}

TEST(Mma, IsRightForEveryNest) { check_matrix_units(*make_host_device(), *make_host_toolchain(), false); }
TEST(Mma, IsRightForEveryNestOfBytes) {
  check_matrix_units(*make_host_device(), *make_host_toolchain(), true);
}
TEST(Mma, IsRightOfBoxes) { check_boxes(*make_host_device(), *make_host_toolchain()); }
TEST(Mma, WrapsSumsOfBytes) { check_hard_bytes(*make_host_device(), *make_host_toolchain()); }

}  // namespace
}  // namespace tunesmith::contract_mma_test

// SPDX-License-Identifier: Apache-2.0
// Tests products of f32 by halves in tensor cores (UNIT=halves, packed_halves, wgmma_halves), and by one half
// of each number (half, packed_half, wgmma_half), on the host, which emulates them: every order of the
// operands' neighbours, and numbers that are hard to split.
#include <gtest/gtest.h>

#include <cstddef>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "generator/error.h"
#include "kernel_file/find_op.h"
#include "tests/halves_cases.h"
#include "tests/matrix_cases.h"
#include "tests/op_cases.h"
#include "tests/op_checker.h"

namespace tunesmith::contract_halves_test {
namespace {

const std::string one_warp = "TILE_M=32 TILE_N=32 THREAD_M=4 THREAD_N=8 TILE_K=";

TEST(Halves, AreRightForEveryNest) { check_halves_units(*make_host_device(), *make_host_toolchain(), false); }

TEST(OneHalf, IsRightForEveryNest) {
  check_halves_units(*make_host_device(), *make_host_toolchain(), false, "tf32");
}

TEST(OneHalf, IsForProblemsThatAcceptIt) {
  const std::unique_ptr<Device> device = make_host_device();
  const auto is_legal = [&](const std::string& rest, const std::string& unit) {
    const Problem problem = halves_test::product_of(64, 48, 20, rest);
    return find_template(find_op("tensor"), "contract")
        .space(problem, device->facts())
        .first(Values::parse("UNIT=" + unit))
        .has_value();
  };
  for (const std::string unit : {"half", "packed_half", "wgmma_half"}) {
    EXPECT_FALSE(is_legal("", unit));
    EXPECT_TRUE(is_legal("accuracy=tf32", unit)) << "of any number of terms";
    EXPECT_TRUE(is_legal("accuracy=bf16", unit));
    EXPECT_FALSE(is_legal("accuracy=tf32 dtype=f64", unit));
    EXPECT_FALSE(is_legal("accuracy=tf32 dtype=f16", unit));
  }
  EXPECT_TRUE(is_legal("accuracy=tf32", "fma"));
}

TEST(Halves, AreForSumsOfEnoughTermsOfFloats) {
  const std::unique_ptr<Device> device = make_host_device();
  const auto is_legal = [&](const std::string& rest, std::size_t terms, const std::string& tile_k) {
    const Problem problem = halves_test::product_of(64, 48, terms, rest);
    try {
      halves_test::config_of(problem, *device, one_warp + tile_k);
    } catch (const Error&) {
      return false;
    }
    return true;
  };
  EXPECT_FALSE(is_legal("", 39, "16"));
  EXPECT_TRUE(is_legal("", 40, "16"));
  EXPECT_FALSE(is_legal("", 57, "32"));
  EXPECT_TRUE(is_legal("", 58, "32"));
  EXPECT_FALSE(is_legal(" dtype=f64", 100, "16"));
  EXPECT_FALSE(is_legal(" dtype=f16", 100, "16"));
}

TEST(Halves, KeepTheBoundForAllNumbers) {
  const std::unique_ptr<Device> device = make_host_device();
  const auto tile = [](const std::string& rest) { return one_warp + rest; };
  const std::string warpgroup = "TILE_M=64 TILE_N=64 THREAD_M=2 THREAD_N=16 TILE_K=64 STAGES=2";
  const double worst = halves_test::keep_the_bound(*device, *make_host_toolchain(), "host", 640, 33, 20,
                                                   {{40, tile("16")},
                                                    {58, tile("32")},
                                                    {64, tile("16")},
                                                    {65, tile("32")},
                                                    {131, tile("16")},
                                                    {200, tile("32")},
                                                    {40, tile("16 STAGES=2")},
                                                    {67, tile("32 STAGES=3")},
                                                    {129, tile("16 STAGES=4")},
                                                    {98, warpgroup},
                                                    {130, warpgroup}});
  std::cout << "The largest error is " << worst << " of what is permitted.\n";
}

TEST(OneHalf, KeepsItsBoundForAllNumbers) {
  const std::unique_ptr<Device> device = make_host_device();
  const std::string warpgroup = "TILE_M=64 TILE_N=64 THREAD_M=2 THREAD_N=16 TILE_K=64 STAGES=";
  const double worst = halves_test::keep_the_bound(*device, *make_host_toolchain(), "host", 640, 33, 20,
                                                   {{1, one_warp + "16"},
                                                    {65, one_warp + "32"},
                                                    {200, one_warp + "16"},
                                                    {17, one_warp + "16 STAGES=2"},
                                                    {131, one_warp + "32 STAGES=3"},
                                                    {1, warpgroup + "3"},
                                                    {65, warpgroup + "4"},
                                                    {333, warpgroup + "3"},
                                                    {400, warpgroup + "4"},
                                                    {641, warpgroup + "3"}},
                                                   "tf32");
  std::cout << "The largest error is " << worst << " of what is permitted.\n";
  EXPECT_GT(worst, 0.3) << "factors are not rounded";
}

TEST(Halves, KeepLongSumsClose) {
  const std::unique_ptr<Device> device = make_host_device();
  halves_test::keep_long_sums_close(*device, *make_host_toolchain(), "host",
                                    halves_test::product_of(2, 2, 65599), one_warp + "32");
}

}  // namespace
}  // namespace tunesmith::contract_halves_test

// SPDX-License-Identifier: Apache-2.0
// Tests products of f32 by halves in tensor cores (UNIT=halves, packed_halves, wgmma_halves) on the host,
// which emulates them: every order of the operands' neighbours, and numbers that are hard to split.
#include <gtest/gtest.h>

#include <cstddef>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "generator/error.h"
#include "kernel_file/find_op.h"
#include "tests/halves_cases.h"
#include "tests/op_cases.h"
#include "tests/op_checker.h"

namespace tunesmith {
namespace {

const std::string one_warp = "TILE_M=32 TILE_N=32 THREAD_M=4 THREAD_N=8 TILE_K=";

TEST(Halves, AreRightForEveryNest) {
  const Op& op = find_op("tensor");
  const Template& tmpl = find_template(op, "contract");
  const std::vector<std::string> lines = {
      "expression=\"c[i,j] += a[i,k] * b[k,j]\" i=64 j=48 k=112",
      "expression=\"c[i,j] += a[i,k] * b[j,k]\" i=64 j=48 k=112",
      "expression=\"c[i,j] += a[k,i] * b[k,j]\" i=64 j=48 k=112",
      "expression=\"c[i,j] += a[k,i] * b[j,k]\" i=64 j=48 k=112",
      "expression=\"c[i,j] += a[i,k] * b[k,j]\" i=37 j=41 k=77",
      "expression=\"c[i,j] += a[k,i] * b[j,k]\" i=70 j=3 k=131",
      "expression=\"c[i,j] += a[i,k] * b[k,j]\" i=34 j=38 k=110",
      "expression=\"c[i] += a[i,k] * b[k]\" i=50 k=90",
      "expression=\"out[b,i,k] += x[b,i,j] * y[b,j,k]\" b=3 i=34 j=68 k=18 out_dtype=f16",
      "expression=\"out[n,o,y,x] += image[n,c,y+i,x+j] * w[o,c,i,j]\" n=2 o=8 y=6 x=8 c=8 i=3 j=3",
      "expression=\"out[n,y,x,o] += image[n,2*y+i,2*x+j,c] * w[i,j,c,o]\" n=2 o=16 y=5 x=4 c=8 i=3 j=3",
      "expression=\"c[i,j] += a[i,k] * b[k,j]\" i=40 j=24 k=63 finish=\"max(out + bias[j], 0)\"",
      "expression=\"out[a,b,j,c] += x[c,b,k,a] * y[k,j]\" a=20 b=3 c=24 j=12 k=68",
      "expression=\"out[a,b] += x[a,k,l] * y[l,k,b]\" a=40 b=36 k=12 l=9",
  };
  const std::vector<std::string> configs = {
      "TILE_M=64 TILE_N=64 THREAD_M=4 THREAD_N=8 TILE_K=32",
      "TILE_M=64 TILE_N=64 THREAD_M=4 THREAD_N=8 TILE_K=16 PACK=both",
      "TILE_M=128 TILE_N=96 THREAD_M=8 THREAD_N=8 TILE_K=16 PACK=first OUT_BY=rows",
      "TILE_M=32 TILE_N=32 THREAD_M=4 THREAD_N=8 TILE_K=16 OUT_BY=shared",
      "TILE_M=96 TILE_N=128 THREAD_M=12 THREAD_N=8 TILE_K=32 SPLIT=2",
      "TILE_M=128 TILE_N=64 THREAD_M=8 THREAD_N=16 TILE_K=16 ORDER_K=second",
      "TILE_M=64 TILE_N=64 THREAD_M=4 THREAD_N=8 TILE_K=32 STAGES=3",
      "TILE_M=128 TILE_N=64 THREAD_M=8 THREAD_N=16 TILE_K=32 STAGES=2",
      "TILE_M=96 TILE_N=32 THREAD_M=12 THREAD_N=8 TILE_K=16 STAGES=4 SPLIT=2",
      "TILE_M=32 TILE_N=32 THREAD_M=4 THREAD_N=8 TILE_K=16 STAGES=2 ORDER_K=second OUT_BY=shared",
      "TILE_M=64 TILE_N=64 THREAD_M=2 THREAD_N=16 TILE_K=64 STAGES=2",
      "TILE_M=64 TILE_N=64 THREAD_M=2 THREAD_N=16 TILE_K=64 STAGES=2 OUT_BY=shared",
  };
  const std::unique_ptr<Device> device = make_host_device();
  std::vector<VariantCase> variants;
  std::vector<int> taken(configs.size());
  for (std::size_t line = 0; line < lines.size(); ++line) {
    const Problem problem = complete_problem(op, Problem::parse(lines[line]));
    for (std::size_t n = line % 2; n < configs.size(); n += 2) {
      try {
        variants.push_back({problem, halves_test::config_of(problem, *device, configs[n])});
        ++taken[n];
      } catch (const Error&) {  // Two parts need enough terms, and most sums have one order of terms.
      }
    }
  }
  for (std::size_t n = 0; n < configs.size(); ++n) EXPECT_GE(taken[n], 1) << configs[n];
  check_on_host({&op, &tmpl}, variants);
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

TEST(Halves, KeepLongSumsClose) {
  const std::unique_ptr<Device> device = make_host_device();
  halves_test::keep_long_sums_close(*device, *make_host_toolchain(), "host",
                                    halves_test::product_of(2, 2, 250007), one_warp + "32");
}

}  // namespace
}  // namespace tunesmith

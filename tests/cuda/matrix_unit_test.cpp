// SPDX-License-Identifier: Apache-2.0
// Tests the tensor cores' units of contract, and loops, on the CUDA device.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernel_file/find_op.h"
#include "runtime/toolchain.h"
#include "tests/cuda/gpu.h"
#include "tests/matrix_cases.h"

namespace tunesmith {
namespace {

class MatrixUnits : public GpuTest {};

TEST_F(MatrixUnits, AreRightForEveryNest) { check_matrix_units(device(), *make_nvrtc_toolchain(), false); }
TEST_F(MatrixUnits, AreRightForEveryNestOfBytes) {
  check_matrix_units(device(), *make_nvrtc_toolchain(), true);
}
TEST_F(MatrixUnits, AreRightOfBoxes) {
  if (device().facts().compute_capability != 90) GTEST_SKIP() << "wgmma is of compute capability 9.0 alone";
  check_boxes(device(), *make_nvrtc_toolchain());
}
TEST_F(MatrixUnits, WrapSumsOfBytes) { check_hard_bytes(device(), *make_nvrtc_toolchain()); }
TEST_F(MatrixUnits, AreRightOfFactors) { check_factors(device(), *make_nvrtc_toolchain()); }

TEST_F(MatrixUnits, OfHalvesAreRightForEveryNest) {
  if (device().facts().compute_capability < 80) GTEST_SKIP() << "halves need compute capability 8.0";
  check_halves_units(device(), *make_nvrtc_toolchain(), false);
}
TEST_F(MatrixUnits, OfHalvesAreRightForSpreadNumbers) {
  if (device().facts().compute_capability < 80) GTEST_SKIP() << "halves need compute capability 8.0";
  check_halves_units(device(), *make_nvrtc_toolchain(), true);
}
TEST_F(MatrixUnits, OfOneHalfAreRightForEveryNest) {
  if (device().facts().compute_capability < 80) GTEST_SKIP() << "halves need compute capability 8.0";
  for (const bool spread : {false, true})
    check_halves_units(device(), *make_nvrtc_toolchain(), spread, "tf32");
}

class LoopsOnGpu : public GpuTest {};

// 10, 10, 10 and 7 terms: compilers have left out what remains behind three copies of such a loop.
TEST_F(LoopsOnGpu, EndAtAMinimum) {
  const Op& op = find_op("tensor");
  std::vector<VariantCase> variants;
  for (const char* const extents : {"1x40x12x32x37x3x3", "2x127x14x8x22x3x3", "2x30x14x8x39x3x3"}) {
    const Problem problem = complete_problem(
        op, Problem::parse("expression=\"o[n,b,c,d] += x[n,e,c+f,d+g] * w[b,e,f,g]\" extents=" +
                           std::string(extents)));
    const Space space = find_template(op, "loops").space(problem, device().facts());
    for (const char* const unroll : {"48", "96", "160", "1024"})
      if (auto config = space.first(Values::parse("SPLIT=4 REDUCE=1 UNROLL=" + std::string(unroll))))
        variants.push_back({problem, *config});
  }
  ASSERT_FALSE(variants.empty());
  check_variants_of_contract(device(), *make_nvrtc_toolchain(), variants, {nullptr}, "loops");
}

}  // namespace
}  // namespace tunesmith

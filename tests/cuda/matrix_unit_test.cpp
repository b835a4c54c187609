// SPDX-License-Identifier: Apache-2.0
// Tests the tensor cores' units of contract on the CUDA device.
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

}  // namespace
}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
// Tests the tensor cores' units of contract on the CUDA device.
#include "runtime/toolchain.h"
#include "tests/cuda/gpu.h"
#include "tests/matrix_cases.h"

namespace tunesmith {
namespace {

class MatrixUnits : public GpuTest {};

TEST_F(MatrixUnits, AreRightForEveryNest) { check_matrix_units(device(), *make_nvrtc_toolchain()); }

}  // namespace
}  // namespace tunesmith

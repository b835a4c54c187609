// SPDX-License-Identifier: Apache-2.0
// Tests the tensor cores' units of contract on the CUDA device.
#include "runtime/toolchain.h"
#include "templates/tensor/contract/matrix_cases.h"
#include "tests/cuda/gpu.h"

namespace tunesmith {
namespace {

class MatrixUnits : public GpuTest {};

TEST_F(MatrixUnits, AreRightForEveryNest) { check_matrix_units(device(), *make_nvrtc_toolchain()); }

}  // namespace
}  // namespace tunesmith

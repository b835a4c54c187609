// SPDX-License-Identifier: Apache-2.0
// Tests the tensor cores' units of contract on the host, which emulates them.
#include "tests/matrix_cases.h"

namespace tunesmith {
namespace {

TEST(Mma, IsRightForEveryNest) { check_matrix_units(*make_host_device(), *make_host_toolchain()); }

}  // namespace
}  // namespace tunesmith

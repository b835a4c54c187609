// SPDX-License-Identifier: Apache-2.0
// The op that a description (description.h) makes of a user's kernel: data and functions like any other's.
#pragma once

#include <memory>

#include "kernel_file/user_kernel.h"

namespace tunesmith {

/// `common`: the files that bodies may include (templates/common). Throws UsageError.
std::unique_ptr<const UserKernel> described_op(const KernelFile& file, const Files& common);

}  // namespace tunesmith

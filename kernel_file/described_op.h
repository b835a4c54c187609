// SPDX-License-Identifier: Apache-2.0
// Makes an op from a user's kernel and its description (description.h): data and functions as for any other
// op.
#pragma once

#include <memory>

#include "kernel_file/user_kernel.h"

namespace tunesmith {

/// `common`: the files that bodies may include (templates/common). Throws UsageError if the description is
/// wrong.
std::unique_ptr<const UserKernel> described_op(const KernelFile& file, const Files& common);

}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
// All ops of a process: those that it was built with (generator/ops.h), and the user's kernels that it was
// given (user_kernel.h).
#pragma once

#include <string_view>

#include "generator/op.h"

namespace tunesmith {

/// Throws UsageError naming the ops there are. The op stays for the rest of the process; a user's kernel has
/// Op::user_kernel.
const Op& find_op(std::string_view name);

/// The same op, or null where there is none of that name.
const Op* op_or_null(std::string_view name);

}  // namespace tunesmith

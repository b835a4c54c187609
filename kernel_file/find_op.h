// SPDX-License-Identifier: Apache-2.0
// Finds an op among all ops of the process: those that it was built with (generator/ops.h), and the user's
// kernels that it was given (user_kernel.h).
#pragma once

#include <string_view>

#include "generator/op.h"

namespace tunesmith {

/// Throws UsageError that names the existing ops. The op stays for the rest of the process; for a user's
/// kernel Op::user_kernel is set.
const Op& find_op(std::string_view name);

/// Returns the same op, or null if there is none of that name.
const Op* op_or_null(std::string_view name);

}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
// A user's kernel becomes an op of this process.
#pragma once

#include <string>

#include "kernel_file/user_kernel.h"

namespace tunesmith {

/// Adds the op that the file describes, for the rest of the process; the same texts again give the op that is
/// there. Throws UsageError, also where another op has its name. Thread-safe.
const UserKernel& add_user_kernel(const KernelFile& file);

/// located() (generator/render.h) with the files of the op that the text was rendered of: of a user's kernel,
/// the user's own files and lines.
std::string located(const std::string& log, const std::string& text);

}  // namespace tunesmith

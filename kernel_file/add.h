// SPDX-License-Identifier: Apache-2.0
// Makes an op of a user's kernel, for this process.
#pragma once

#include <string>

#include "kernel_file/user_kernel.h"

namespace tunesmith {

/// Adds the op that the file describes, for the rest of the process; if the same texts were added before,
/// returns the existing op. Throws UsageError, also if another op has the same name. Thread-safe.
const UserKernel& add_user_kernel(const KernelFile& file);

/// Calls located() (generator/render.h) with the files of the op that the text was rendered from: for a
/// user's kernel the result names the user's own files and lines.
std::string located(const std::string& log, const std::string& text);

}  // namespace tunesmith

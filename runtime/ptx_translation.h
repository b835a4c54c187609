// SPDX-License-Identifier: Apache-2.0
// Inline PTX on the host: asm statements of a kernel become calls of functions that do what their
// instructions do (templates/common/host/ptx.h).
#pragma once

#include <string>

namespace tunesmith {

/// Returns the text of a kernel that was rendered for the host, with its asm statements as C++ in the same
/// lines. A statement that is not understood becomes a call that compilers refuse with a sentence, if it is
/// reached. A text that does not include common/ptx.cuh stays.
std::string with_ptx_translated(const std::string& text);

}  // namespace tunesmith

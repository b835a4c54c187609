// SPDX-License-Identifier: Apache-2.0
// Tells if two binaries hold the same machine code, whatever the names of their kernels and variables. Reads
// ELF files as NVRTC and the host's compiler write them; knows no GPU.
#pragma once

#include <string>
#include <string_view>

namespace tunesmith {

/// Returns the difference of `now` from `before` as a part of a sentence. Empty: each kernel of `before` is
/// in `now`, with the same instructions, constants, parameters, registers and shared memory. An additional
/// kernel or other names are no difference: kernels are matched by their names without suffix (Source), else
/// by their code. Code that cannot be read differs.
std::string code_difference(std::string_view before, std::string_view suffix_before, std::string_view now,
                            std::string_view suffix_now);

}  // namespace tunesmith

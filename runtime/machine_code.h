// SPDX-License-Identifier: Apache-2.0
// Whether two binaries hold the same machine code, whatever their kernels and variables are called. Reads
// ELF files as NVRTC and the host's compiler write them; knows no GPU.
#pragma once

#include <string>
#include <string_view>

namespace tunesmith {

/// In what `now` differs from `before`, as a part of a sentence; empty: each kernel of `before` is in `now`,
/// with the same instructions, constants, parameters, registers and shared memory. A kernel more is no
/// difference, and neither are names: kernels are matched by what stands before their suffix (Source), else
/// by their code. What cannot be read differs.
std::string code_difference(std::string_view before, std::string_view suffix_before, std::string_view now,
                            std::string_view suffix_now);

}  // namespace tunesmith

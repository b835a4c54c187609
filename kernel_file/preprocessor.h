// SPDX-License-Identifier: Apache-2.0
// Finds the lines of a user's text that a compiler compiles: #if, #ifdef and #elif are evaluated as far as
// possible without the compiler's own macros and without a config.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tunesmith {

/// The truth of a condition, or a line: compiled never, in some variants or on some targets, always.
enum class Truth { no, maybe, yes };

struct CompiledText {
  std::string text;          ///< the result of blanked(), with lines that are never compiled blank as well
  std::vector<Truth> lines;  ///< the truth of each line
};

/// Returns the texts of a file and of the files that it includes by #include "…", in their order. `constants`
/// are defined before the file, with values that differ between variants. A name that the files do not define
/// counts as undefined, unless a compiler or a header may define it, such as __CUDA_ARCH__ or INT_MAX.
std::vector<CompiledText> compiled_texts(std::string_view file,
                                         const std::vector<std::pair<std::string, std::string>>& included,
                                         const std::vector<std::string>& constants);

/// True for names that a compiler or a known header may define, such as __CUDA_ARCH__ or INT_MAX.
bool may_be_of_compiler(std::string_view name);

}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
// Which lines of a user's text a compiler comes to: its #if, #ifdef and #elif are evaluated as far as that is
// possible without the compiler's own macros and without a config.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tunesmith {

/// Of a condition, and of a line: it is compiled never, in some variants or on some targets, always.
enum class Truth { no, maybe, yes };

struct CompiledText {
  std::string text;          ///< as blanked() makes it, with the lines that are never compiled blank as well
  std::vector<Truth> lines;  ///< of each line
};

/// Of a file and of those that it includes by #include "…", in their order. `constants` are defined before
/// the file, with values that differ from variant to variant. A name that the files do not define is not
/// defined, unless it may be a compiler's or a header's, such as __CUDA_ARCH__ or INT_MAX.
std::vector<CompiledText> compiled_texts(std::string_view file,
                                         const std::vector<std::pair<std::string, std::string>>& included,
                                         const std::vector<std::string>& constants);

}  // namespace tunesmith

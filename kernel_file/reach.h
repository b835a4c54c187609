// SPDX-License-Identifier: Apache-2.0
// Finds what kernels reach in their texts, by the names that they use. What they do not reach is left out:
// host code, such as main() and launches, and other kernels.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kernel_file/preprocessor.h"

namespace tunesmith {

/// A declaration at file scope or in a namespace that no kernel reaches.
struct UnreachedPart {
  std::size_t begin = 0, end = 0;  ///< its range in the text
  std::string name;                ///< empty: it has none
  bool is_function = false;
};

struct Reach {
  std::vector<std::vector<UnreachedPart>> unreached;  ///< of each text, in its order
  std::set<std::string> words;                        ///< the words of everything else
  std::set<std::string> declared;                     ///< the names that the texts declare, also macros
};

/// Finds what the kernels, and the further names `used`, reach in all texts together. A declaration is
/// unreached only if its form is understood as a whole. All declarations of one name are reached together,
/// so that no overload or specialisation is missing; so are operators of one symbol.
Reach reach_of(const std::vector<CompiledText>& texts, const std::vector<std::string>& kernels,
               const std::vector<std::string>& used);

/// Overwrites the unreached parts with blanks, except lines of the preprocessor. `text` is a file's own text
/// or its blanked one.
void leave_out(std::string& text, const std::vector<UnreachedPart>& parts);

}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
// The elements behind a pointer of a C type: their dtype, and the number of them in a vector such as float4.
// A user's own struct has no known dtype.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "generator/dtype.h"

namespace tunesmith {

struct CType {
  std::optional<DType> dtype = {};  ///< empty: not known (a struct, void)
  int lanes = 1;                    ///< elements of a vector: 4 of float4
  bool is_pointer_to_pointer = false;
  /// A sentence if the text gives a name several meanings, of which a compiler takes one: "real is int or
  /// float".
  std::string ambiguity = {};
  /// The required alignment of its address in bytes. A struct may be read 16 bytes at once.
  std::int64_t alignment() const;
};

/// Reads `type`, which is given without const and with its * or []: "unsigned long long*". Names that the
/// text defines by using, typedef or #define are looked up in it; `text` has neither comments nor literals.
CType c_type(std::string type, std::string_view text);

/// Returns the meanings that the text gives the name, each once: of a class "struct", of an enumeration its
/// integer. There may be several, of which #if chooses one. Empty: the text does not define it.
std::vector<std::string> aliases(std::string_view name, std::string_view text);

/// True if the text gives the name a meaning by using, typedef, #define or as a class.
bool defines(std::string_view text, std::string_view name);

}  // namespace tunesmith

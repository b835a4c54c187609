// SPDX-License-Identifier: Apache-2.0
// What the C type of a pointer says of the elements behind it: their dtype, and how many of them a vector
// such as float4 has. A struct of a user's own says nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "generator/dtype.h"

namespace tunesmith {

struct CType {
  std::optional<DType> dtype = {};  ///< nothing: not known (a struct, void)
  int lanes = 1;                    ///< elements of a vector: 4 of float4
  bool is_pointer_to_pointer = false;
  /// Where the text gives a name several meanings, of which a compiler takes one: "real is int or float".
  std::string ambiguity = {};
  /// What its address must be a multiple of. A struct may be read 16 bytes at once.
  std::int64_t alignment() const;
};

/// `type`: without const, with its * or []: "unsigned long long*". Names that the text defines by using,
/// typedef or #define are looked up in it; `text` has neither comments nor literals.
CType c_type(std::string type, std::string_view text);

/// Whether the text gives a name a meaning by using, typedef, #define or as a class.
bool defines(std::string_view text, std::string_view name);

}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
// A value as the text that it is, or that a person wrote for it.
#pragma once

#include <string>
#include <variant>

#include "generator/values.h"

namespace tunesmith {

/// Without the quotes by which to_text() tells a word such as "10" from a number.
inline std::string word_of(const Value& value) {
  const auto* const word = std::get_if<std::string>(&value);
  return word != nullptr ? *word : to_text(value);
}

}  // namespace tunesmith

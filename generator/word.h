// SPDX-License-Identifier: Apache-2.0
// A value as a person wrote it.
#pragma once

#include <string>
#include <variant>

#include "generator/values.h"

namespace tunesmith {

/// Returns the text without the quotes that to_text() puts around a word such as "10" to tell it from a
/// number.
inline std::string word_of(const Value& value) {
  const auto* const word = std::get_if<std::string>(&value);
  return word != nullptr ? *word : to_text(value);
}

}  // namespace tunesmith

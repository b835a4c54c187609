// SPDX-License-Identifier: Apache-2.0
// Quotes words of commands that are printed to be pasted into a shell.
#pragma once

#include <string>
#include <string_view>

namespace tunesmith {

/// Returns the word in a form that a POSIX shell reads back: unchanged, in double quotes, or in single
/// quotes.
inline std::string shell_word(std::string_view word) {
  constexpr std::string_view special_in_double = "\"$`\\!\n";
  const bool is_plain = !word.empty() && word.front() != '~' &&
                        word.find_first_of(" \t\n\r'\"\\$`#*?&|;<>()[]{}!") == std::string_view::npos;
  if (is_plain) return std::string(word);
  if (word.find_first_of(special_in_double) == std::string_view::npos) return '"' + std::string(word) + '"';
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

}  // namespace tunesmith

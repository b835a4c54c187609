// SPDX-License-Identifier: Apache-2.0
// Words, lines and braces of a blanked text (kernel_source.h). Private to kernel_file/.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tunesmith {

std::size_t skip_space(std::string_view text, std::size_t at);

/// The place of the word at or behind `at`; npos: there is none.
std::size_t find_word(std::string_view text, std::string_view word, std::size_t at = 0);

/// Behind the bracket, parenthesis or brace that closes the one at `open`; npos: none does.
std::size_t behind_close(std::string_view text, std::size_t open);

std::size_t line_begin(std::string_view text, std::size_t at);
std::size_t line_end(std::string_view text, std::size_t at);
int line_number(std::string_view text, std::size_t at);

/// Whether the place is in a line of the preprocessor, or in one that continues it.
bool in_directive(std::string_view text, std::size_t at);

/// With one blank for each stretch of white space, and none at the end.
std::string squeezed(std::string_view text);

/// A pair of braces.
struct Braces {
  enum class Kind { function, name_space, language, other } kind = Kind::other;  // language: extern "C"
  std::size_t head = 0, open = 0, close = 0;  // where what is before them begins, and they themselves
  std::size_t word = 0;                       // of a namespace, at that word
  std::string name;                           // of a namespace; empty: it has none

  bool holds(std::size_t at) const { return at > open && at < close; }
  bool is_transparent() const { return kind == Kind::name_space || kind == Kind::language; }
};

/// Those at file scope, and directly in namespaces.
std::vector<Braces> outer_braces(std::string_view blank);

}  // namespace tunesmith

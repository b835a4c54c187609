// SPDX-License-Identifier: Apache-2.0
// Finds words, lines and braces in a blanked text (kernel_source.h). Private to kernel_file/.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tunesmith {

std::size_t skip_space(std::string_view text, std::size_t at);

/// Returns the position of the word at or after `at`; npos if there is none.
std::size_t find_word(std::string_view text, std::string_view word, std::size_t at = 0);

/// Returns the position behind the bracket, parenthesis or brace that closes the one at `open`; npos if none
/// does.
std::size_t behind_close(std::string_view text, std::size_t open);

/// Splits at commas outside of parentheses, brackets and braces. An empty text has one empty part.
std::vector<std::string_view> split_at_commas(std::string_view list);

std::size_t line_begin(std::string_view text, std::size_t at);
std::size_t line_end(std::string_view text, std::size_t at);
int line_number(std::string_view text, std::size_t at);

/// True if the position is in a preprocessor line, or in a continuation of one.
bool in_directive(std::string_view text, std::size_t at);

/// Returns the text with one blank for each stretch of white space, and none at the end.
std::string squeezed(std::string_view text);

/// Returns a name with small letters, as an op is called.
std::string in_lower_case(std::string_view name);

/// A pair of braces.
struct Braces {
  enum class Kind { function, name_space, language, other } kind = Kind::other;  // language: extern "C"
  std::size_t head = 0, open = 0,
              close = 0;  // the start of the text before the braces, and the braces themselves
  std::size_t word = 0;   // the position of the word `namespace`
  std::string name;       // a namespace's name; empty if it has none

  bool holds(std::size_t at) const { return at > open && at < close; }
  bool is_transparent() const { return kind == Kind::name_space || kind == Kind::language; }
};

/// Returns the braces at file scope, and directly in namespaces.
std::vector<Braces> outer_braces(std::string_view blank);

}  // namespace tunesmith

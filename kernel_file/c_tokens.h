// SPDX-License-Identifier: Apache-2.0
// Splits a blanked text (kernel_source.h) into tokens of C++, without lines of the preprocessor. Private to
// kernel_file/.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "generator/c_characters.h"

namespace tunesmith {

struct Token {
  std::string_view text;
  std::size_t begin = 0;
  bool is_word() const { return is_name(text.front()) && (text.front() < '0' || text.front() > '9'); }
};
using Tokens = std::vector<Token>;

bool begins_directive(std::string_view code, std::size_t at);

/// Returns the position of the first character behind the preprocessor line, with its continuations.
std::size_t behind_directive(std::string_view code, std::size_t at);

/// A line of the preprocessor with its continuations, or the code between two of them.
struct Stretch {
  enum class Kind {
    code,
    opens,
    splits,
    closes,
    other
  } kind = Kind::code;  // #if…, #el…, #endif, other lines
  std::size_t begin = 0, end = 0;
  std::string word = {};  ///< of a line of the preprocessor: "ifdef"
};

/// Returns the stretches of the code, in their order.
std::vector<Stretch> stretches_of(std::string_view code);

/// Returns the tokens of a range: words, numbers, "::", "->", "##", and other characters one by one.
Tokens tokens_of(std::string_view code, std::size_t begin, std::size_t end);

/// Returns the number of the token behind the one that closes the bracket at `open`; the size if none does.
std::size_t behind_bracket(const Tokens& tokens, std::size_t open);

}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
// Reads an expression's text from left to right: symbols, numbers and words. Private to this folder.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "language/expression.h"

namespace tunesmith::elementwise_op {

[[noreturn]] void fail(std::size_t position, std::string sentence);

std::string quoted(std::string_view text);

/// True if a byte of UTF-8 is not the first of a character.
inline bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

/// A scanner that always stands at a non-blank character, or at the end.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) { skip_blanks(); }

  std::size_t position() const { return at_; }
  bool at_end() const { return at_ == text_.size(); }
  bool sees(std::string_view symbol) const { return text_.substr(at_, symbol.size()) == symbol; }
  bool sees_number() const;
  bool sees_word() const;
  std::string_view here() const;  ///< the current character, several bytes if it is not ASCII

  bool take(std::string_view symbol);  ///< skips the symbol if it is here
  void expect(std::string_view symbol, std::string_view where);
  std::string_view word();
  Node number(bool negative);  ///< `negative`: a minus came before it

 private:
  void skip_blanks();
  bool sees_digit() const;
  void skip_digits();

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace tunesmith::elementwise_op

// SPDX-License-Identifier: Apache-2.0
#include "language/scanner.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "generator/number_text.h"

namespace tunesmith::elementwise_op {
namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

}  // namespace

void fail(std::size_t position, std::string sentence) { throw SyntaxError{position, std::move(sentence)}; }

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

bool Scanner::sees_digit() const { return !at_end() && is_digit(text_[at_]); }

bool Scanner::sees_number() const {
  return sees_digit() || (sees(".") && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]));
}

bool Scanner::sees_word() const { return !at_end() && is_letter(text_[at_]); }

std::string_view Scanner::here() const {
  std::size_t end = std::min(at_ + 1, text_.size());
  while (end < text_.size() && continues_character(text_[end])) ++end;
  return text_.substr(at_, end - at_);
}

bool Scanner::take(std::string_view symbol) {
  if (!sees(symbol)) return false;
  at_ += symbol.size();
  skip_blanks();
  return true;
}

void Scanner::expect(std::string_view symbol, std::string_view where) {
  if (take(symbol)) return;
  fail(at_, quoted(symbol) + " was expected " + std::string(where) +
                (at_end() ? ", where the text ends" : " instead of " + quoted(here())) + ".");
}

std::string_view Scanner::word() {
  const std::size_t position = at_;
  while (sees_word() || sees_digit()) ++at_;
  const std::string_view word = text_.substr(position, at_ - position);
  skip_blanks();
  return word;
}

Node Scanner::number(bool negative) {
  const std::size_t position = at_;
  bool whole = true;
  skip_digits();
  if (sees(".")) {
    whole = false;
    ++at_;
    skip_digits();
  }
  if (sees("e") || sees("E")) {
    whole = false;
    ++at_;
    if (sees("+") || sees("-")) ++at_;
    if (!sees_digit()) fail(at_, "A number's exponent has digits, as in 1e-3.");
    skip_digits();
  }
  if (sees_word() || sees(".")) {
    fail(at_, "A number ends before " + quoted(here()) + "; an operator is missing.");
  }
  const std::string written = (negative ? "-" : "") + std::string(text_.substr(position, at_ - position));
  Node node{.operation = Operation::number, .position = position};
  // A number that is too small becomes zero; one that is too large is an error.
  node.number = nearest_number(written);
  if (std::isinf(node.number)) fail(position, "The number is too large for any of the types.");
  if (whole) node.whole = parsed_number<std::int64_t>(written);
  skip_blanks();
  return node;
}

void Scanner::skip_blanks() {
  while (sees(" ")) ++at_;
}

void Scanner::skip_digits() {
  while (sees_digit()) ++at_;
}

}  // namespace tunesmith::elementwise_op

// SPDX-License-Identifier: Apache-2.0
#include "runtime/ptx_program.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <optional>

#include "generator/c_characters.h"
#include "generator/number_text.h"

namespace tunesmith {
namespace {

constexpr int most_registers = 1024;  // of one name
constexpr int deepest_operand = 8;    // braces within braces

bool is_ptx_digit(char c) { return c >= '0' && c <= '9'; }
bool is_ptx_name(char c) { return is_name(c) || c == '$'; }

// True if the digits, of which there is one at least, are a number of that base below 2^64.
bool fits_into_64_bits(std::string_view digits, unsigned base) {
  std::uint64_t value = 0;
  for (const char c : digits) {
    const bool is_letter = std::isalpha(static_cast<unsigned char>(c)) != 0;
    const unsigned digit = is_ptx_digit(c) ? static_cast<unsigned>(c - '0')
                           : is_letter     ? static_cast<unsigned>(std::tolower(c) - 'a') + 10
                                           : base;
    if (digit >= base || __builtin_mul_overflow(value, std::uint64_t{base}, &value) ||
        __builtin_add_overflow(value, std::uint64_t{digit}, &value))
      return false;
  }
  return !digits.empty();
}

// The text without comments.
std::string without_ptx_comments(std::string_view text) {
  std::string made;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::string_view two = text.substr(at, 2);
    if (two == "//") {
      at = std::min(text.find('\n', at), text.size());
      made += '\n';
    } else if (two == "/*") {
      at = std::min(text.find("*/", at + 2), text.size() - 1) + 1;
      made += ' ';
    } else {
      made += text[at];
    }
  }
  return made;
}

class ProgramReader {
 public:
  ProgramReader(std::string text, bool has_operands) : text_(std::move(text)), has_operands_(has_operands) {}

  PtxProgram read() {
    while (made_.problem.empty()) {
      skip();
      if (at_ >= text_.size()) break;
      if (took(';')) continue;
      if (took('{')) {
        made_.steps.push_back({.kind = PtxStep::Kind::opens});
        ++depth_;
      } else if (took('}')) {
        if (--depth_ < 0) fail("its braces do not match");
        made_.steps.push_back({.kind = PtxStep::Kind::closes});
      } else if (text_[at_] == '.') {
        read_declaration();
      } else {
        read_instruction();
      }
    }
    if (depth_ > 0) fail("its braces do not match");
    return std::move(made_);
  }

 private:
  void fail(const std::string& why) {
    if (made_.problem.empty()) made_.problem = why;
  }
  // Returns the text up to the end of the statement, for a sentence.
  std::string rest() const {
    std::string words;
    for (std::size_t at = at_; at < text_.size() && text_[at] != ';' && words.size() < 60; ++at)
      words += is_space(text_[at]) ? ' ' : text_[at];
    return words;
  }

  void skip() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  bool took(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool is_next(char c) {
    skip();
    return at_ < text_.size() && text_[at_] == c;
  }
  // A name, in which a % may stand first.
  std::string name() {
    skip();
    std::string made;
    while (at_ < text_.size() && text_[at_] == '%') {
      if (made.empty()) made += '%';
      ++at_;
    }
    while (at_ < text_.size() && is_ptx_name(text_[at_])) made += text_[at_++];
    return made;
  }

  void read_declaration() {
    PtxStep step{.kind = PtxStep::Kind::declares};
    const std::size_t begin = at_;
    ++at_;
    if (name() != "reg" || !took('.')) {
      at_ = begin;
      return fail("it has " + rest());
    }
    step.words = name();
    do {
      const std::string one = name();
      if (one.empty()) return fail("it has " + rest());
      if (!took('<')) {
        step.names.push_back(one);
        continue;
      }
      const std::string number = name();
      const int count = parsed_number<int>(number).value_or(0);
      if (count < 1 || count > most_registers || !took('>')) return fail("it declares " + one + "<" + number);
      for (int n = 0; n < count; ++n) step.names.push_back(one + std::to_string(n));
    } while (took(','));
    if (!took(';')) return fail("it has " + rest());
    made_.steps.push_back(std::move(step));
  }

  void read_instruction() {
    PtxStep step;
    if (took('@')) {
      step.is_not = took('!');
      step.guard = name();
      if (step.guard.empty()) return fail("it has no register behind @");
    }
    skip();
    while (at_ < text_.size() && (is_ptx_name(text_[at_]) || text_[at_] == '.' || text_[at_] == ':'))
      step.words += text_[at_++];
    if (step.words.ends_with(':')) return fail("it has the label " + step.words);
    if (step.words.empty()) return fail("it has " + rest());
    skip();
    while (made_.problem.empty() && !is_next(';')) {
      if (at_ >= text_.size()) break;
      if (std::optional<PtxOperand> operand = read_operand()) step.operands.push_back(std::move(*operand));
      if (!is_next(';') && !took(',') && at_ < text_.size() && made_.problem.empty())
        fail("it has " + step.words + " with the operand " + rest());
    }
    took(';');
    made_.steps.push_back(std::move(step));
  }

  std::optional<PtxOperand> read_operand() {
    std::optional<PtxOperand> first = read_single();
    if (!first || !took('|')) return first;
    std::optional<PtxOperand> second = read_single();
    if (!second) return second;
    return PtxOperand{.kind = PtxOperand::Kind::pair, .text = "", .parts = {*first, *second}};
  }

  std::optional<PtxOperand> read_single(int depth = 0) {
    skip();
    if (depth > deepest_operand) fail("it has too many braces within each other");
    if (at_ >= text_.size() || !made_.problem.empty()) return std::nullopt;
    if (took('{')) {
      PtxOperand made{.kind = PtxOperand::Kind::vector};
      do {
        std::optional<PtxOperand> part = read_single(depth + 1);
        if (!part) return std::nullopt;
        made.parts.push_back(std::move(*part));
      } while (took(','));
      if (!took('}')) fail("its braces do not match");
      return made;
    }
    if (took('[')) return read_address(depth + 1);
    if (took('!')) {
      std::optional<PtxOperand> part = read_single(depth + 1);
      if (!part) return std::nullopt;
      return PtxOperand{.kind = PtxOperand::Kind::not_predicate, .text = "", .parts = {*part}};
    }
    if (text_[at_] == '%') return read_percent();
    if (is_ptx_digit(text_[at_]) || text_[at_] == '-' || text_[at_] == '+') return read_number();
    const std::string word = name();
    if (word.empty()) {
      fail("it has the operand " + rest());
      return std::nullopt;
    }
    if (word == "_") return PtxOperand{.kind = PtxOperand::Kind::sink, .text = word};
    if (word == "WARP_SZ") return PtxOperand{.kind = PtxOperand::Kind::whole, .text = "32"};
    return PtxOperand{.kind = PtxOperand::Kind::name, .text = word};
  }

  std::optional<PtxOperand> read_address(int depth) {
    PtxOperand made{.kind = PtxOperand::Kind::address, .text = "0"};
    std::optional<PtxOperand> base = read_single(depth);
    if (!base) return std::nullopt;
    made.parts.push_back(std::move(*base));
    const bool is_less = is_next('-');
    if (is_less || is_next('+')) {
      if (!is_less) ++at_;
      std::optional<PtxOperand> offset = read_single(depth);
      if (!offset ||
          (offset->kind != PtxOperand::Kind::whole && offset->kind != PtxOperand::Kind::argument)) {
        fail("it has an address with an offset that is no number");
        return std::nullopt;
      }
      if (offset->kind == PtxOperand::Kind::whole) {
        made.text = offset->text;
      } else {
        made.parts.push_back(std::move(*offset));
      }
    }
    if (!took(']')) fail("it has the address " + rest());
    return made;
  }

  // %0, %[name], %%laneid, or %laneid
  std::optional<PtxOperand> read_percent() {
    const std::size_t begin = at_++;
    if (at_ < text_.size() && text_[at_] == '[') {
      const std::size_t close = std::min(text_.find(']', at_), text_.size());
      PtxOperand made{.kind = PtxOperand::Kind::argument, .text = text_.substr(at_ + 1, close - at_ - 1)};
      at_ = std::min(close + 1, text_.size());
      return made;
    }
    if (has_operands_ && at_ < text_.size() && is_ptx_digit(text_[at_])) {
      PtxOperand made{.kind = PtxOperand::Kind::argument};
      while (at_ < text_.size() && is_ptx_digit(text_[at_])) made.text += text_[at_++];
      return made;
    }
    at_ = begin;
    PtxOperand made{.kind = PtxOperand::Kind::special, .text = name()};
    while (at_ < text_.size() && text_[at_] == '.') {  // %tid.x
      ++at_;
      made.text += "." + name();
    }
    return made;
  }

  std::optional<PtxOperand> read_number() {
    const std::size_t begin = at_;
    const bool is_negative = text_[at_] == '-';
    if (is_negative || text_[at_] == '+') ++at_;
    skip();
    std::string word;
    while (at_ < text_.size() && (is_name(text_[at_]) || text_[at_] == '.' ||
                                  ((text_[at_] == '+' || text_[at_] == '-') && !word.empty() &&
                                   (word.back() == 'e' || word.back() == 'E') && !word.starts_with("0x") &&
                                   !word.starts_with("0X"))))
      word += text_[at_++];
    const auto unknown = [&]() -> std::optional<PtxOperand> {
      at_ = begin;
      fail("it has the number " + rest());
      return std::nullopt;
    };
    if (word.size() < 1) return unknown();
    const char kind = word.size() > 1 && word[0] == '0' ? word[1] : ' ';
    if (kind == 'f' || kind == 'F' || kind == 'd' || kind == 'D') {
      const std::string digits = word.substr(2);
      const bool is_float = kind == 'f' || kind == 'F';
      if (is_negative || digits.size() != (is_float ? 8U : 16U) ||
          !std::all_of(digits.begin(), digits.end(),
                       [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }))
        return unknown();
      return PtxOperand{.kind = PtxOperand::Kind::bits, .text = "0x" + digits + (is_float ? "u" : "ull")};
    }
    if (word.find('.') != std::string::npos) {
      // As C++ writes it: a digit first, and a value that is finite.
      const auto value = parsed_number<double>(word);
      if (!is_ptx_digit(word[0]) || !value || !std::isfinite(*value)) return unknown();
      return PtxOperand{.kind = PtxOperand::Kind::decimal, .text = (is_negative ? "-" : "") + word};
    }
    // A whole number is written as in C++.
    while (word.ends_with('U') || word.ends_with('u')) word.pop_back();
    const bool is_hexadecimal = kind == 'x' || kind == 'X',
               has_prefix = is_hexadecimal || kind == 'b' || kind == 'B';
    // 010 is 8, as in C++.
    const std::string digits = word.substr(has_prefix ? 2 : 0);
    const unsigned base = is_hexadecimal ? 16 : has_prefix ? 2 : word[0] == '0' ? 8 : 10;
    if (!fits_into_64_bits(digits, base)) return unknown();
    return PtxOperand{
        .kind = PtxOperand::Kind::whole,
        .text = "static_cast<long long>(" + std::string(is_negative ? "-" : "") + word + "ull)"};
  }

  std::string text_;
  bool has_operands_;
  std::size_t at_ = 0;
  int depth_ = 0;
  PtxProgram made_;
};

}  // namespace

PtxProgram ptx_program(std::string_view text, bool has_operands) {
  return ProgramReader(without_ptx_comments(text), has_operands).read();
}

}  // namespace tunesmith

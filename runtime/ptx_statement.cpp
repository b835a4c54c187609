// SPDX-License-Identifier: Apache-2.0
#include "runtime/ptx_statement.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "generator/c_characters.h"

namespace tunesmith {
namespace {

// A token of C++, as far as it matters here.
struct StatementPiece {
  enum class Kind { word, literal, mark, end } kind = Kind::end;  // mark: one other character
  std::size_t begin = 0, end = 0;
};

class StatementScanner {
 public:
  StatementScanner(std::string_view text, std::size_t at) : text_(text), at_(at) {}

  std::size_t at() const { return at_; }
  std::string_view of(const StatementPiece& piece) const {
    return text_.substr(piece.begin, piece.end - piece.begin);
  }

  StatementPiece next() {
    skip();
    StatementPiece piece{.begin = at_};
    if (at_ >= text_.size()) return piece;
    if (is_name(text_[at_])) {
      piece.kind = StatementPiece::Kind::word;
      while (at_ < text_.size() && is_name(text_[at_])) ++at_;
      if (at_ < text_.size() && text_[at_] == '"' && text_[at_ - 1] == 'R') {  // R"x(…)x"
        if (at_ == piece.begin + 1) piece.kind = StatementPiece::Kind::literal;
        const std::size_t open = std::min(text_.find('(', at_), text_.size());
        const std::string close = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
        at_ = std::min(text_.find(close, open), text_.size() - close.size()) + close.size();
      }
    } else if (text_[at_] == '"' || text_[at_] == '\'') {
      piece.kind = StatementPiece::Kind::literal;
      const char quote = text_[at_++];
      while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n')
        at_ += text_[at_] == '\\' ? 2 : 1;
      at_ = std::min(at_, text_.size());
      if (at_ < text_.size() && text_[at_] == quote) ++at_;
    } else {
      piece.kind = StatementPiece::Kind::mark;
      ++at_;
    }
    piece.end = at_;
    return piece;
  }

 private:
  // Skips white space, comments and continued lines.
  void skip() {
    while (at_ < text_.size()) {
      const std::string_view two = text_.substr(at_, 2);
      if (is_space(text_[at_])) {
        ++at_;
      } else if (two == "\\\n" || text_.substr(at_, 3) == "\\\r\n") {
        at_ += two == "\\\n" ? 2 : 3;
      } else if (two == "//") {
        while (at_ < text_.size() && text_[at_] != '\n') at_ += text_.substr(at_, 2) == "\\\n" ? 2 : 1;
      } else if (two == "/*") {
        at_ = text_.find("*/", at_ + 2);
        at_ = at_ == std::string_view::npos ? text_.size() : at_ + 2;
      } else {
        return;
      }
    }
  }

  std::string_view text_;
  std::size_t at_;
};

using StatementPieces = std::vector<StatementPiece>;

bool opens_bracket(std::string_view word) { return word == "(" || word == "[" || word == "{"; }
bool closes_bracket(std::string_view word) { return word == ")" || word == "]" || word == "}"; }

// Returns what a literal of a string means.
std::string literal_meaning(std::string_view literal) {
  if (literal.starts_with('R')) {
    const std::size_t open = literal.find('('), close = literal.rfind(')');
    return open < close && close != std::string_view::npos
               ? std::string(literal.substr(open + 1, close - open - 1))
               : "";
  }
  std::string made;
  for (std::size_t at = 1; at + 1 < literal.size(); ++at) {
    if (literal[at] != '\\') {
      made += literal[at];
      continue;
    }
    const char c = literal[++at];
    if (c == '\n') continue;  // a continued line
    const bool is_hexadecimal = c == 'x';
    const unsigned base = is_hexadecimal ? 16 : 8;
    unsigned code = 0;
    std::size_t end = at + (is_hexadecimal ? 1 : 0);
    for (const std::size_t begin = end; end + 1 < literal.size() && (is_hexadecimal || end - begin < 3);
         ++end) {
      const auto digit = std::string_view("0123456789abcdef")
                             .find(static_cast<char>(std::tolower(static_cast<unsigned char>(literal[end]))));
      if (digit >= base) break;
      code = code * base + static_cast<unsigned>(digit);
    }
    if (end > at + (is_hexadecimal ? 1 : 0)) {
      made += static_cast<char>(code);
      at = end - 1;
    } else {
      made += c == 'n' ? '\n' : c == 't' || c == 'r' || c == 'v' ? ' ' : c;
    }
  }
  return made;
}

class StatementReader {
 public:
  StatementReader(std::string_view text, std::size_t begin, std::size_t from)
      : text_(text), scanner_(text, from) {
    made_.begin = begin;
  }

  // Reads what follows the word asm; false if that is no statement.
  bool read() {
    StatementPiece piece = scanner_.next();
    while (piece.kind == StatementPiece::Kind::word) {
      const std::string_view word = scanner_.of(piece);
      if (word != "volatile" && word != "__volatile__" && word != "__volatile" && word != "inline")
        return false;
      piece = scanner_.next();
    }
    if (piece.kind == StatementPiece::Kind::end || scanner_.of(piece) != "(") return false;
    std::vector<StatementPieces> sections(1);
    int depth = 0;
    for (;;) {
      piece = scanner_.next();
      if (piece.kind == StatementPiece::Kind::end) return false;
      const std::string_view word = scanner_.of(piece);
      if (piece.kind == StatementPiece::Kind::mark) {
        if (depth == 0 && word == ")") break;
        if (depth == 0 && word == ":") {
          sections.emplace_back();
          continue;
        }
        if (word == "#") made_.problem = "a line of the preprocessor stands in it";
        depth += opens_bracket(word) ? 1 : closes_bracket(word) ? -1 : 0;
      }
      sections.back().push_back(piece);
    }
    made_.end = scanner_.at();
    keep_line_ends();
    made_.has_operands = sections.size() > 1;
    sections.resize(std::max<std::size_t>(sections.size(), 3));
    for (const StatementPiece& one : sections[0]) {
      if (one.kind == StatementPiece::Kind::literal) {
        made_.text += literal_meaning(scanner_.of(one));
      } else {
        fail("its text is put together of macros");
      }
    }
    read_operands(sections[1], made_.outputs);
    read_operands(sections[2], made_.inputs);
    return true;
  }

  AsmStatement take() { return std::move(made_); }

 private:
  void fail(const std::string& why) {
    if (made_.problem.empty()) made_.problem = why;
  }

  void keep_line_ends() {
    for (std::size_t at = made_.begin; at < made_.end; ++at) {
      if (text_[at] != '\n') continue;
      if (text_[at - 1] == '\\') made_.line_ends += '\\';
      made_.line_ends += '\n';
    }
  }

  void read_operands(const StatementPieces& section, std::vector<AsmOperand>& to) {
    for (std::size_t at = 0; at < section.size(); ++at) {
      AsmOperand operand;
      const auto is = [&](const char* mark) {
        return at < section.size() && scanner_.of(section[at]) == mark;
      };
      if (is("[") && at + 2 < section.size()) {
        operand.name = scanner_.of(section[at + 1]);
        at += 3;
      }
      for (; at < section.size() && section[at].kind == StatementPiece::Kind::literal; ++at)
        operand.constraint += literal_meaning(scanner_.of(section[at]));
      if (operand.constraint.empty() || !is("(")) {
        fail("its operands are put together of macros");
        return;
      }
      int depth = 0;
      for (const std::size_t open = at; at < section.size(); ++at) {
        const std::string_view word = scanner_.of(section[at]);
        if (section[at].kind == StatementPiece::Kind::mark)
          depth += opens_bracket(word) ? 1 : closes_bracket(word) ? -1 : 0;
        if (depth == 0) break;
        if (at == open) continue;
        // Tokens that stood side by side still do.
        if (section[at].begin != section[at - 1].end) operand.expression += ' ';
        operand.expression += word;
      }
      if (operand.expression.find('\n') != std::string::npos)
        fail("a literal of several lines is among its operands");
      to.push_back(std::move(operand));
      if (at + 1 < section.size() && scanner_.of(section[at + 1]) == ",") ++at;  // nvcc needs no comma
    }
  }

  std::string_view text_;
  StatementScanner scanner_;
  AsmStatement made_;
};

}  // namespace

std::vector<AsmStatement> asm_statements(std::string_view text, std::size_t from) {
  std::vector<AsmStatement> found;
  StatementScanner scanner(text, from);
  for (StatementPiece piece = scanner.next(); piece.kind != StatementPiece::Kind::end;
       piece = scanner.next()) {
    if (piece.kind != StatementPiece::Kind::word) continue;
    const std::string_view word = scanner.of(piece);
    if (word != "asm" && word != "__asm__" && word != "__asm") continue;
    StatementReader reader(text, piece.begin, piece.end);
    if (!reader.read()) continue;
    found.push_back(reader.take());
    scanner = StatementScanner(text, found.back().end);
  }
  return found;
}

}  // namespace tunesmith

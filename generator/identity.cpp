// SPDX-License-Identifier: Apache-2.0
#include "generator/identity.h"

#include <algorithm>

#include "generator/c_characters.h"

namespace tunesmith {
namespace {

// Returns the end of the literal whose opening quote is at `at`; `raw`: an R stands before the quote.
std::size_t end_of_literal(std::string_view text, std::size_t at, bool raw) {
  if (raw) {
    const std::size_t open = text.find('(', at);
    if (open == std::string_view::npos) return text.size();
    const std::string close = ")" + std::string(text.substr(at + 1, open - at - 1)) + "\"";
    const std::size_t end = text.find(close, open);
    return end == std::string_view::npos ? text.size() : end + close.size();
  }
  const char quote = text[at];
  std::size_t end = at + 1;
  while (end < text.size() && text[end] != quote && text[end] != '\n') end += text[end] == '\\' ? 2 : 1;
  return std::min(end + 1, text.size());
}

// True if the character belongs to a token wherever it stands.
bool is_plain(char c) {
  return is_name(c) || c == '(' || c == ')' || c == ',' || c == ';' || c == '.' || c == ':' || c == '<' ||
         c == '>';
}

}  // namespace

std::string without_comments(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool directive = false;  // the line begins with #
  bool apart = false;      // white space or a comment stood since the last token
  const auto put = [&](std::string_view token) {
    const bool line_begins = out.empty() || out.back() == '\n';
    if (apart && !line_begins) out += ' ';
    apart = false;
    out += token;
  };
  const auto end_line = [&] {
    if (!out.empty() && out.back() != '\n') out += '\n';
    apart = false;
  };
  bool line_start = true;  // only white space in this line so far
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    const std::string_view next = text.substr(at, 2);
    if (next == "//") {
      while (at < text.size() && text[at] != '\n') at += text.substr(at, 2) == "\\\n" ? 2 : 1;
      apart = true;
    } else if (next == "/*") {
      const std::size_t end = text.find("*/", at + 2);
      at = end == std::string_view::npos ? text.size() : end + 2;
      apart = true;
    } else if (next == "\\\n") {
      at += 2;
      apart = true;
    } else if (c == '\n') {
      if (directive) end_line();
      directive = false;
      line_start = true;
      apart = true;
      ++at;
    } else if (is_space(c)) {
      apart = true;
      ++at;
    } else if (c == '#' && line_start) {
      end_line();
      directive = true;
      line_start = false;
      put("#");
      ++at;
      while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
    } else {
      line_start = false;
      const bool after_name = !apart && !out.empty() && is_name(out.back());
      if (c == '"' || (c == '\'' && !after_name)) {  // the quotes in 1'000'000 begin no literal
        const bool raw = c == '"' && after_name && out.back() == 'R';
        const std::size_t end = end_of_literal(text, at, raw);
        put(text.substr(at, end - at));
        at = end;
      } else {
        std::size_t end = at + 1;
        while (end < text.size() && is_plain(text[end])) ++end;
        put(text.substr(at, end - at));
        at = end;
      }
    }
  }
  end_line();
  return out;
}

bool reads_as_number(std::string_view text, std::string_view name) {
  return text.find("static_cast<int>(" + std::string(name) + ")") != std::string_view::npos;
}

}  // namespace tunesmith

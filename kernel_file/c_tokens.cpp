// SPDX-License-Identifier: Apache-2.0
#include "kernel_file/c_tokens.h"

#include <algorithm>

#include "kernel_file/text_scanner.h"

namespace tunesmith {

std::size_t behind_directive(std::string_view code, std::size_t at) {
  std::size_t end = line_end(code, at);
  while (end < code.size() && end > 0 && code[end - 1] == '\\') end = line_end(code, end + 1);
  return std::min(end + 1, code.size());
}

bool begins_directive(std::string_view code, std::size_t at) {
  if (code[at] != '#') return false;
  const std::size_t begin = line_begin(code, at);
  return skip_space(code, begin) == at;
}

std::vector<Stretch> stretches_of(std::string_view code) {
  std::vector<Stretch> all;
  std::size_t from = 0;
  const auto add_code = [&](std::size_t end) {
    if (end > from) all.push_back({.begin = from, .end = end});
  };
  for (std::size_t at = 0; (at = code.find('#', at)) != std::string_view::npos;) {
    if (!begins_directive(code, at)) {
      ++at;
      continue;
    }
    const std::size_t begin = line_begin(code, at);
    add_code(begin);
    Stretch line{.kind = Stretch::Kind::other, .begin = begin, .end = behind_directive(code, at)};
    for (at = skip_space(code, at + 1); at < line.end && is_name(code[at]); ++at) line.word += code[at];
    if (line.word.starts_with("if")) line.kind = Stretch::Kind::opens;
    if (line.word.starts_with("el")) line.kind = Stretch::Kind::splits;
    if (line.word == "endif") line.kind = Stretch::Kind::closes;
    at = from = line.end;
    all.push_back(std::move(line));
  }
  add_code(code.size());
  return all;
}

Tokens tokens_of(std::string_view code, std::size_t begin, std::size_t end) {
  Tokens all;
  for (std::size_t at = begin; at < end;) {
    if (is_space(code[at])) {
      ++at;
      continue;
    }
    if (begins_directive(code, at)) {
      at = behind_directive(code, at);
      continue;
    }
    std::size_t stop = at + 1;
    if (is_name(code[at])) {
      while (stop < end && is_name(code[stop])) ++stop;
    } else {
      const std::string_view two = code.substr(at, 2);
      if (two == "::" || two == "->" || two == "##") stop = at + 2;
    }
    all.push_back({code.substr(at, stop - at), at});
    at = stop;
  }
  return all;
}

std::size_t behind_bracket(const Tokens& tokens, std::size_t open) {
  int depth = 0;
  const std::string_view opens = tokens[open].text;
  const std::string_view closes = opens == "(" ? ")" : opens == "[" ? "]" : opens == "{" ? "}" : ">";
  int others = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    const std::string_view one = tokens[i].text;
    if (closes == ">") {
      if (one == "(" || one == "[" || one == "{") ++others;
      if (one == ")" || one == "]" || one == "}") --others;
      if (others > 0) continue;
    }
    if (one == opens) ++depth;
    if (one == closes && --depth == 0) return i + 1;
  }
  return tokens.size();
}

}  // namespace tunesmith

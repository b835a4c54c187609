// SPDX-License-Identifier: Apache-2.0
#include "kernel_file/text_scanner.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <vector>

#include "generator/c_characters.h"

namespace tunesmith {

std::size_t skip_space(std::string_view text, std::size_t at) {
  while (at < text.size() && is_space(text[at])) ++at;
  return at;
}

std::size_t find_word(std::string_view text, std::string_view word, std::size_t at) {
  while ((at = text.find(word, at)) != std::string_view::npos) {
    const bool begins = at == 0 || !is_name(text[at - 1]);
    const std::size_t end = at + word.size();
    if (begins && (end == text.size() || !is_name(text[end]))) return at;
    ++at;
  }
  return at;
}

std::vector<std::string_view> split_at_commas(std::string_view list) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t from = 0;
  for (std::size_t at = 0; at < list.size(); ++at) {
    const char c = list[at];
    depth += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
    if (c != ',' || depth > 0) continue;
    parts.push_back(list.substr(from, at - from));
    from = at + 1;
  }
  parts.push_back(list.substr(from));
  return parts;
}

std::size_t line_begin(std::string_view text, std::size_t at) {
  const std::size_t end = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  return end == std::string_view::npos ? 0 : end + 1;
}
std::size_t line_end(std::string_view text, std::size_t at) {
  return std::min(text.find('\n', at), text.size());
}

bool in_directive(std::string_view text, std::size_t at) {
  std::size_t begin = line_begin(text, at);
  while (begin >= 2 && text[begin - 2] == '\\') begin = line_begin(text, begin - 1);
  const std::size_t first = skip_space(text, begin);
  return first < text.size() && text[first] == '#';
}

namespace {

// How many braces are open: branches of an #if may open or close the same ones, `#if A`, `for (…) {`,
// `#else`, `while (…) {`, `#endif`, of which the first branch counts.
class BranchDepth {
 public:
  // Takes the directive that begins at the number sign.
  void take(std::string_view text, std::size_t sign, int& depth) {
    const std::string_view rest = text.substr(skip_space(text, sign + 1));
    if (rest.starts_with("if")) {
      open_.push_back({.before = depth});
    } else if (!open_.empty() && (rest.starts_with("el") || rest.starts_with("endif"))) {
      if (!open_.back().behind_first) open_.back().behind_first = depth;
      depth = rest.starts_with("el") ? open_.back().before : *open_.back().behind_first;
      if (rest.starts_with("endif")) open_.pop_back();
    }
  }

 private:
  struct Branch {
    int before = 0;
    std::optional<int> behind_first = {};
  };
  std::vector<Branch> open_;
};

}  // namespace

std::size_t behind_close(std::string_view text, std::size_t open) {
  const char opens = text[open];
  const char closes = opens == '(' ? ')' : opens == '[' ? ']' : '}';
  const bool has_branches = opens == '{' && !in_directive(text, open);
  int depth = 0;
  BranchDepth branches;
  for (std::size_t at = open; at < text.size(); ++at) {
    if (text[at] == '#' && has_branches && in_directive(text, at)) branches.take(text, at, depth);
    if (text[at] == opens) ++depth;
    if (text[at] == closes && --depth == 0) return at + 1;
  }
  return std::string_view::npos;
}

int line_number(std::string_view text, std::size_t at) {
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

std::string in_lower_case(std::string_view name) {
  std::string lower;
  for (const char c : name) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

std::string squeezed(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (!is_space(c)) {
      result += c;
    } else if (!result.empty() && result.back() != ' ') {
      result += ' ';
    }
  }
  while (!result.empty() && result.back() == ' ') result.pop_back();
  return result;
}

std::vector<Braces> outer_braces(std::string_view blank) {
  std::vector<Braces> found;
  for (std::size_t at = 0; at < blank.size(); ++at) {
    if (blank[at] != '{' || in_directive(blank, at)) continue;
    Braces one;
    one.open = at;
    one.close = behind_close(blank, at);
    if (one.close == std::string_view::npos) break;
    std::size_t begin = at;
    int closed = 0;  // a list of parameters may have branches of an #if
    while (begin > 0 && blank[begin - 1] != ';' && blank[begin - 1] != '}' && blank[begin - 1] != '{') {
      if (blank[begin - 1] == '\n' && begin > 1 && in_directive(blank, begin - 2)) {
        if (closed <= 0) break;
        begin = line_begin(blank, begin - 2);
        continue;
      }
      --begin;
      closed += blank[begin] == ')' ? 1 : blank[begin] == '(' ? -1 : 0;
    }
    one.head = begin;
    const std::string_view before = blank.substr(begin, at - begin);
    const std::string words = squeezed(before);
    one.word = find_word(before, "namespace");
    if (one.word != std::string_view::npos && words.find('(') == std::string::npos) {
      one.kind = Braces::Kind::name_space;
      const std::string rest = squeezed(before.substr(one.word + std::string_view("namespace").size()));
      one.name = rest.substr(std::min(rest.find_first_not_of(' '), rest.size()));
      one.word += begin;
    } else if (find_word(words, "extern") != std::string::npos && words.find('(') == std::string::npos &&
               words.find('=') == std::string::npos) {
      one.kind = Braces::Kind::language;
    } else if (words.ends_with(')') || words.ends_with("noexcept") || words.ends_with("const") ||
               words.find("->") != std::string::npos) {
      one.kind = Braces::Kind::function;
    }
    if (!one.is_transparent()) at = one.close - 1;
    found.push_back(std::move(one));
  }
  return found;
}

}  // namespace tunesmith

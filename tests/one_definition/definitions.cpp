// SPDX-License-Identifier: Apache-2.0
#include "tests/one_definition/definitions.h"

#include <algorithm>
#include <regex>

namespace tunesmith {
namespace {

// The prefix of an inline namespace, which is not part of the names in it.
constexpr const char* inlined = "inline ";

// The names that a line opens; "" for an anonymous namespace, which hides its names.
struct Scope {
  std::vector<std::string> names;

  bool hidden() const { return std::find(names.begin(), names.end(), "") != names.end(); }
  std::string prefix() const {
    std::string text;
    for (const std::string& name : names) {
      if (!name.starts_with(inlined)) text += name + "::";
    }
    return text;
  }
};

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  return lines;
}

// True if, from this line on, '{' comes before ';': it is a definition, not a declaration.
bool has_body(const std::vector<std::string>& lines, std::size_t line) {
  for (; line < lines.size(); ++line) {
    const std::size_t end = lines[line].find_first_of("{;");
    if (end != std::string::npos) return lines[line][end] == '{';
  }
  return false;
}

}  // namespace

std::vector<std::string> types_defined(std::string_view text) {
  static const std::regex opens("^((?:inline )?)namespace ?([\\w:]*) ?\\{(.*\\})?.*");
  static const std::regex closes("^\\}  // namespace.*");
  // "struct Name", "class [[nodiscard]] Name final : …", "enum class Name : int", "struct Name<int>".
  static const std::regex type(
      "^(?:template <.*> )?(?:class|struct|union|enum class|enum struct|enum) "
      "(?:alignas\\(.*\\) |\\[\\[.*\\]\\] )?([\\w:]+(?:<.*>)?)(?: final)?(?: ?[:{;].*)?$");
  std::vector<std::string> found;
  Scope scope;
  const std::vector<std::string> lines = lines_of(text);
  for (std::size_t n = 0; n < lines.size(); ++n) {
    std::smatch match;
    if (std::regex_match(lines[n], match, opens)) {
      if (!match[3].matched) scope.names.push_back(match[1].str() + match[2].str());
    } else if (std::regex_match(lines[n], closes)) {
      if (!scope.names.empty()) scope.names.pop_back();
    } else if (std::regex_match(lines[n], match, type) && !scope.names.empty() && !scope.hidden() &&
               has_body(lines, n)) {
      found.push_back(scope.prefix() + match[1].str());
    }
  }
  return found;
}

std::map<std::string, std::vector<std::string>> defined_twice(
    const std::map<std::string, std::string>& text_by_path) {
  std::map<std::string, std::vector<std::string>> places;
  for (const auto& [path, text] : text_by_path) {
    for (const std::string& name : types_defined(text)) places[name].push_back(path);
  }
  std::erase_if(places, [](const auto& entry) { return entry.second.size() < 2; });
  return places;
}

}  // namespace tunesmith

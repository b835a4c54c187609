// SPDX-License-Identifier: Apache-2.0
#include "kernel_file/unset_variable.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "generator/c_characters.h"
#include "kernel_file/text_scanner.h"

namespace tunesmith {
namespace {

// A construct that is used by its name: a function, a class, a macro.
struct Unit {
  std::string name;  // empty: always used, such as an operator
  std::string_view head, body;
};

std::string word_before(std::string_view text, std::size_t end) {
  while (end > 0 && is_space(text[end - 1])) --end;
  std::size_t begin = end;
  while (begin > 0 && is_name(text[begin - 1])) --begin;
  return std::string(text.substr(begin, end - begin));
}

bool is_attribute(std::string_view word) { return word.starts_with("__") || word == "alignas"; }

// Returns the position of the first parenthesis that is not an attribute's; npos if there is none.
std::size_t parameters_place(std::string_view head) {
  std::size_t at = head.find('(');
  while (at != std::string_view::npos && is_attribute(word_before(head, at))) {
    const std::size_t behind = behind_close(head, at);
    at = behind == std::string_view::npos ? behind : head.find('(', behind);
  }
  return at;
}

std::vector<Unit> units_of(std::string_view code, const std::vector<Braces>& braces) {
  std::vector<Unit> units;
  for (const Braces& one : braces) {
    if (one.is_transparent()) continue;
    Unit unit;
    unit.head = code.substr(one.head, one.open - one.head);
    unit.body = code.substr(one.open, one.close - one.open);
    if (const std::size_t open = parameters_place(unit.head); open != std::string_view::npos) {
      unit.name =
          find_word(unit.head, "operator") == std::string_view::npos ? word_before(unit.head, open) : "";
    } else {
      std::size_t at = std::string_view::npos;
      for (const std::string_view key : {"struct", "class", "union"})
        if (at == std::string_view::npos && (at = find_word(unit.head, key)) != std::string_view::npos)
          at += key.size();
      if (at == std::string_view::npos) continue;  // an initialiser, an enum
      const std::size_t begin = skip_space(unit.head, at);
      std::size_t end = begin;
      while (end < unit.head.size() && is_name(unit.head[end])) ++end;
      unit.name = unit.head.substr(begin, end - begin);
    }
    units.push_back(std::move(unit));
  }
  for (std::size_t at = 0; (at = find_word(code, "define", at)) != std::string_view::npos; ++at) {
    if (!in_directive(code, at)) continue;
    const std::size_t begin = skip_space(code, at + std::string_view("define").size());
    std::size_t end = begin;
    while (end < code.size() && is_name(code[end])) ++end;
    std::size_t stop = line_end(code, end);
    while (stop < code.size() && code[stop - 1] == '\\') stop = line_end(code, stop + 1);
    units.push_back({std::string(code.substr(begin, end - begin)), {}, code.substr(end, stop - end)});
  }
  return units;
}

// Returns the type of a declaration without its qualifiers and attributes.
std::string type_of(std::string_view words) {
  static const std::set<std::string_view> qualifiers = {"static", "inline", "const", "constexpr", "volatile"};
  std::string type;
  for (std::size_t at = 0; at < words.size();) {
    std::size_t end = at;
    while (end < words.size() && is_name(words[end])) ++end;
    const std::string_view word = words.substr(at, std::max<std::size_t>(end - at, 1));
    at += word.size();
    if (is_attribute(word)) {
      const std::size_t open = skip_space(words, at);
      if (open < words.size() && words[open] == '(') at = std::min(behind_close(words, open), words.size());
    } else if (!qualifiers.contains(word)) {
      type += word;
    }
  }
  type = squeezed(type);
  return type.starts_with(' ') ? type.substr(1) : type;
}

std::vector<DeviceVariable> variables_of(std::string_view code, const std::vector<Braces>& braces) {
  std::vector<DeviceVariable> found;
  std::set<std::size_t> seen;  // start positions of statements
  for (const std::string_view key : {"__constant__", "__device__", "__managed__"}) {
    for (std::size_t at = 0; (at = find_word(code, key, at)) != std::string_view::npos; ++at) {
      const bool is_inside = std::any_of(braces.begin(), braces.end(), [&](const Braces& one) {
        return !one.is_transparent() && one.holds(at);
      });
      if (is_inside || in_directive(code, at)) continue;
      std::size_t begin = at;
      while (begin > 0 && code[begin - 1] != ';' && code[begin - 1] != '}' && code[begin - 1] != '{') {
        if (code[begin - 1] == '\n' && begin > 1 && in_directive(code, begin - 2)) break;
        --begin;
      }
      if (!seen.insert(begin).second) continue;
      const std::size_t end = std::min(code.find(';', at), code.size());
      std::string_view words = code.substr(begin, end - begin);
      const std::size_t declarator = std::min(words.find_first_of("[="), words.size());
      if (parameters_place(words.substr(0, declarator)) != std::string_view::npos ||
          words.find('{') < words.find('=') || find_word(words, "extern") != std::string_view::npos ||
          find_word(words, "__shared__") != std::string_view::npos)
        continue;  // a function, a class, or one that is initialised or defined elsewhere
      const bool is_constant = find_word(words, "__constant__") != std::string_view::npos;
      std::string type;
      int depth = 0;
      std::size_t from = 0;
      for (std::size_t i = 0; i <= words.size(); ++i) {
        const char c = i < words.size() ? words[i] : ',';
        if (std::string_view("([{<").find(c) != std::string_view::npos) ++depth;
        if (std::string_view(")]}>").find(c) != std::string_view::npos) --depth;
        if (c != ',' || (depth > 0 && i < words.size())) continue;
        const std::string_view one = words.substr(from, i - from);
        from = i + 1;
        const std::size_t equals = one.find('='), bracket = one.substr(0, equals).find('[');
        const std::string_view declared = one.substr(0, std::min({bracket, equals, one.size()}));
        const std::string name = word_before(declared, declared.size());
        if (name.empty()) continue;
        if (type.empty()) type = type_of(declared.substr(0, declared.rfind(name)));
        const bool is_pointer = declared.find('*') != std::string_view::npos;
        found.push_back({name, is_pointer && type.find('*') == std::string::npos ? type + "*" : type,
                         is_constant, bracket != std::string_view::npos, equals != std::string_view::npos,
                         begin, end});
      }
    }
  }
  return found;
}

// True if the code may write the variable: it assigns to it or takes its address.
bool may_write(std::string_view code, const DeviceVariable& variable) {
  static constexpr std::array<std::string_view, 12> assigning = {
      "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "++", "--", "<<=", ">>="};
  for (std::size_t at = 0; (at = find_word(code, variable.name, at)) != std::string_view::npos; ++at) {
    std::size_t before = at;
    while (before > 0 && (is_space(code[before - 1]) || code[before - 1] == '(')) --before;
    const std::string_view last = code.substr(before > 1 ? before - 2 : 0, before > 1 ? 2 : before);
    if (last == "++" || last == "--" || (last.ends_with('&') && last != "&&")) return true;
    std::size_t next = skip_space(code, at + variable.name.size());
    if (variable.is_array && (next == code.size() || code[next] != '['))
      return true;  // the array decays to a pointer
    while (next < code.size() && (code[next] == '[' || code[next] == '.')) {
      if (code[next] == '[') {
        next = behind_close(code, next);
        if (next == std::string_view::npos) return true;
      } else {
        next = skip_space(code, next + 1);
        while (next < code.size() && is_name(code[next])) ++next;
      }
      next = skip_space(code, next);
    }
    const std::string_view rest = code.substr(next, 3);
    if (rest.starts_with('=') && !rest.starts_with("==")) return true;
    if (std::any_of(assigning.begin(), assigning.end(),
                    [&](std::string_view one) { return rest.starts_with(one); }))
      return true;
  }
  return false;
}

}  // namespace

std::vector<DeviceVariable> device_variables(std::string_view code) {
  return variables_of(code, outer_braces(code));
}

std::optional<UnsetVariable> unset_variable(std::string_view code, const std::string& kernel,
                                            const std::vector<std::string>& filled) {
  const std::vector<Braces> braces = outer_braces(code);
  std::vector<DeviceVariable> variables = variables_of(code, braces);
  std::erase_if(variables, [&](const DeviceVariable& one) {
    return one.is_initialised || std::find(filled.begin(), filled.end(), one.name) != filled.end();
  });
  if (variables.empty()) return std::nullopt;
  std::vector<Unit> waiting = units_of(code, braces), used;
  const auto take = [&](const auto& is_used) {
    const auto from =
        std::stable_partition(waiting.begin(), waiting.end(), [&](const Unit& one) { return !is_used(one); });
    used.insert(used.end(), from, waiting.end());
    waiting.erase(from, waiting.end());
  };
  take([&](const Unit& one) { return one.name == kernel || one.name.empty(); });
  for (std::size_t i = 0; i < used.size(); ++i) {
    const std::string_view body = used[i].body;
    take([&](const Unit& one) { return find_word(body, one.name) != std::string_view::npos; });
  }
  for (const DeviceVariable& variable : variables) {
    bool is_used = false, is_written = false;
    for (const Unit& one : used) {
      if (one.name == variable.name) is_written = true;  // a macro of its name stands for it
      if (find_word(one.head, variable.name) != std::string_view::npos) continue;  // a parameter's name
      is_used |= find_word(one.body, variable.name) != std::string_view::npos;
      is_written |= !variable.is_constant && may_write(one.body, variable);
    }
    if (is_used && !is_written) return UnsetVariable{variable.name, variable.is_constant};
  }
  return std::nullopt;
}

}  // namespace tunesmith

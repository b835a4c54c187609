// SPDX-License-Identifier: Apache-2.0
#include "kernel_file/kernel_source.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <regex>
#include <set>
#include <utility>

#include "generator/c_characters.h"
#include "kernel_file/c_tokens.h"
#include "kernel_file/c_type.h"
#include "kernel_file/declarations.h"
#include "kernel_file/preprocessor.h"
#include "kernel_file/text_scanner.h"

namespace tunesmith {

namespace {

// Returns the position behind the > that closes the < at `open`; npos if none does.
std::size_t behind_angle(std::string_view text, std::size_t open) {
  int angles = 0, others = 0;
  for (std::size_t at = open; at < text.size() && text[at] != ';'; ++at) {
    const char c = text[at];
    if (c == '(' || c == '[' || c == '{') ++others;
    if (c == ')' || c == ']' || c == '}') --others;
    if (c == '<' && others == 0) ++angles;
    if (c == '>' && others == 0 && --angles == 0) return at + 1;
  }
  return std::string_view::npos;
}

}  // namespace

std::vector<Declaration> declarations(std::string_view blank) {
  std::vector<Declaration> found;
  for (std::size_t at = 0; (at = find_word(blank, "__global__", at)) != std::string_view::npos; ++at) {
    if (in_directive(blank, at)) continue;
    Declaration one;
    // Go back to the end of the preceding construct.
    std::size_t begin = at;
    while (begin > 0 && blank[begin - 1] != ';' && blank[begin - 1] != '}' && blank[begin - 1] != '{') {
      if (blank[begin - 1] == '\n' && begin > 1 && in_directive(blank, begin - 2)) break;
      --begin;
    }
    const std::string_view before = blank.substr(begin, at - begin);
    one.begin = skip_space(blank, begin);
    one.is_template = find_word(before, "template") != std::string_view::npos;
    one.is_extern = find_word(before, "extern") != std::string_view::npos;
    one.words = one.begin;
    if (one.is_template) {
      const std::size_t word = begin + find_word(before, "template");
      one.list = skip_space(blank, word + std::string_view("template").size());
      one.is_special = blank[one.list] != '<' || blank[skip_space(blank, one.list + 1)] == '>';
      if (blank[one.list] == '<') one.words = std::min(behind_angle(blank, one.list), at);
    }
    // The name is the last word before the parenthesis that is not an attribute's.
    for (std::size_t next = at; next < blank.size();) {
      const std::size_t open = blank.find('(', next);
      const std::size_t stop = blank.find_first_of(";{}", next);
      if (open == std::string_view::npos || open > stop) break;
      std::size_t end = open;
      while (end > at && is_space(blank[end - 1])) --end;
      std::size_t first = end;
      if (one.is_template && blank[end - 1] == '>') {  // name<float, 128>(
        int angles = 0;
        while (end > at) {
          --end;
          angles += blank[end] == '>' ? 1 : blank[end] == '<' ? -1 : 0;
          if (angles == 0) break;
        }
        while (end > at && is_space(blank[end - 1])) --end;
        one.is_special = true;
        first = end;
      }
      while (first > at && is_name(blank[first - 1])) --first;
      const std::size_t close = behind_close(blank, open);
      if (close == std::string_view::npos) break;
      if (blank.substr(first, 2) == "__") {  // __launch_bounds__(256)
        next = close;
        continue;
      }
      if (first < end) {
        one.name = first;
        one.name_end = end;
        one.open = open;
        one.close = close;
        // With an #if between __global__ and the name, the template's parameters stand before the first.
        if (found.empty() || found.back().name != first || !found.back().is_template) found.push_back(one);
      }
      break;
    }
  }
  return found;
}

namespace {

DeclaredKernel::Parameter parameter_of(std::string_view declared) {
  std::string text(declared.substr(0, declared.find('=')));
  DeclaredKernel::Parameter parameter;
  if (const std::size_t bracket = text.find('['); bracket != std::string::npos) {
    text.erase(bracket);
    parameter.is_pointer = true;
  }
  std::size_t end = text.size();
  while (end > 0 && is_space(text[end - 1])) --end;
  std::size_t first = end;
  while (first > 0 && is_name(text[first - 1])) --first;
  parameter.name = text.substr(first, end - first);
  // "float* const x" is no pointer to constants.
  static const std::regex constant(R"(\bconst\b[^*]*\*|^[^*]*\bconst\b[^*]*$)"),
      alone(R"(\b(__restrict__|__restrict|restrict)\b)");
  const std::string words = text.substr(0, first);
  parameter.is_const = std::regex_search(words, constant);
  parameter.is_restrict = std::regex_search(words, alone);
  static const std::regex qualifier(
      R"(\b(const|volatile|__restrict__|__restrict|restrict|__grid_constant__)\b)");
  parameter.type = squeezed(std::regex_replace(text.substr(0, first), qualifier, " "));
  if (parameter.type.find('*') != std::string::npos) parameter.is_pointer = true;
  return parameter;
}

std::vector<std::string_view> parts_of(std::string_view list) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= list.size(); ++at) {
    const char c = at < list.size() ? list[at] : ',';
    if (c == '(' || c == '<' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == '>' || c == ']' || c == '}') --depth;
    if (c != ',' || (depth > 0 && at < list.size())) continue;
    parts.push_back(list.substr(begin, at - begin));
    begin = at + 1;
  }
  return parts;
}

}  // namespace

std::vector<DeclaredKernel::Parameter> parameters_of(std::string_view list) {
  std::vector<DeclaredKernel::Parameter> parameters;
  for (const std::string_view one : parts_of(list)) {
    const std::string words = squeezed(one);
    if (!words.empty() && words != "void" && words != " ") parameters.push_back(parameter_of(one));
  }
  return parameters;
}

std::string plain_words(std::string_view text) {
  std::string words = squeezed(text);
  if (words.starts_with(' ')) words.erase(0, 1);
  return words;
}

namespace {

TemplateParameter template_parameter_of(std::string_view declared) {
  TemplateParameter made;
  std::string words = plain_words(declared);
  int depth = 0;
  for (std::size_t at = 0; at < words.size(); ++at) {
    const char c = words[at];
    depth += c == '(' || c == '<' || c == '{' ? 1 : c == ')' || c == '>' || c == '}' ? -1 : 0;
    if (c != '=' || depth > 0) continue;
    made.initial = plain_words(std::string_view(words).substr(at + 1));
    words = plain_words(std::string_view(words).substr(0, at));
    break;
  }
  std::size_t first = words.size();
  while (first > 0 && is_name(words[first - 1])) --first;
  static const std::set<std::string> of_types = {"typename", "class", "int",    "unsigned", "long",
                                                 "short",    "char",  "signed", "bool",     "auto"};
  const std::string last = words.substr(first);
  if (!of_types.contains(last) && first > 0) made.name = last;
  made.type = plain_words(std::string_view(words).substr(0, made.name.empty() ? words.size() : first));
  const bool is_pack = words.find("...") != std::string::npos;
  if (is_pack || words.starts_with("template")) {
    made.kind = TemplateParameter::Kind::other;
  } else if (made.type == "typename" || made.type == "class") {
    made.type.clear();
  } else {
    made.kind = TemplateParameter::Kind::value;
    if (made.type.starts_with("const ")) made.type.erase(0, std::string_view("const ").size());
  }
  return made;
}

}  // namespace

std::vector<TemplateParameter> template_parameters_of(std::string_view blank, const Declaration& of) {
  std::vector<TemplateParameter> made;
  if (!of.is_template || of.is_special || of.words < of.list + 2) return made;
  for (const std::string_view one : parts_of(blank.substr(of.list + 1, of.words - of.list - 2)))
    made.push_back(template_parameter_of(one));
  return made;
}

// True if both are parameters of one template, which may be declared several times.
bool are_one_template(const std::vector<TemplateParameter>& a, const std::vector<TemplateParameter>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const TemplateParameter& one, const TemplateParameter& other) {
                      return one.kind == other.kind && one.type == other.type;
                    });
}

// Overwrites [begin, end) with blanks; line ends stay.
void blank_out(std::string& text, std::size_t begin, std::size_t end) {
  for (std::size_t at = begin; at < end; ++at)
    if (text[at] != '\n') text[at] = ' ';
}

std::string blanked(std::string_view text) {
  std::string out(text);
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view next = text.substr(at, 2);
    if (next == "//") {
      std::size_t end = at;
      while (end < text.size() && text[end] != '\n') end += text.substr(end, 2) == "\\\n" ? 2 : 1;
      end = std::min(end, text.size());
      blank_out(out, at, end);
      at = end;
    } else if (next == "/*") {
      const std::size_t close = text.find("*/", at + 2);
      const std::size_t end = close == std::string_view::npos ? text.size() : close + 2;
      blank_out(out, at, end);
      at = end;
    } else if (text[at] == '"' || (text[at] == '\'' && (at == 0 || !is_name(text[at - 1])))) {
      std::size_t end = at + 1;
      while (end < text.size() && text[end] != text[at] && text[end] != '\n')
        end += text[end] == '\\' ? 2 : 1;
      end = std::min(end, text.size());
      blank_out(out, at + 1, end);
      at = end + 1;
    } else {
      ++at;
    }
  }
  return out;
}

namespace {

// Returns a list for each choice among the branches of the #ifs within it; a list without any stands alone.
std::vector<std::string> lists_of_branches(const std::string& list) {
  constexpr std::size_t most = 16;
  std::vector<std::string> chosen = {""};
  struct Group {
    std::vector<std::string> branches = {""};
    bool has_else = false;
  };
  const auto append = [&](const std::vector<std::string>& branches) {
    std::vector<std::string> all;
    for (const std::string& before : chosen)
      for (const std::string& one : branches)
        if (all.size() < most) all.push_back(before + one);
    chosen = std::move(all);
  };
  std::optional<Group> group;
  int depth = 0;
  for (const Stretch& one : stretches_of(list)) {
    const std::string text = list.substr(one.begin, one.end - one.begin);
    if (one.kind == Stretch::Kind::opens && depth++ == 0) {
      group.emplace();
    } else if (one.kind == Stretch::Kind::closes && depth > 0 && --depth == 0) {
      // A branch that is not compiled is blank here.
      std::erase_if(group->branches, [](const std::string& branch) {
        return std::all_of(branch.begin(), branch.end(), is_space);
      });
      if (!group->has_else || group->branches.empty()) group->branches.emplace_back();
      std::vector<std::string> inner;
      for (const std::string& branch : group->branches)
        for (std::string& each : lists_of_branches(branch)) inner.push_back(std::move(each));
      append(inner);
      group.reset();
    } else if (one.kind == Stretch::Kind::splits && depth == 1) {
      group->has_else |= one.word == "else";
      group->branches.emplace_back();
    } else if (group) {
      group->branches.back() += text;
    } else {
      append({text});
    }
  }
  return chosen;
}

// True of an array that is taken as another type in another branch of an #if, where one of the two is a name
// that itself has several meanings: a description then says the array's dtype.
bool is_type_by_branch(const DeclaredKernel::Parameter& one, const DeclaredKernel::Parameter& other,
                       std::string_view text) {
  return one.name == other.name && one.is_pointer && other.is_pointer && one.is_const == other.is_const &&
         (!c_type(one.type, text).ambiguity.empty() || !c_type(other.type, text).ambiguity.empty());
}

bool are_alike(const std::vector<DeclaredKernel::Parameter>& a,
               const std::vector<DeclaredKernel::Parameter>& b, bool with_names, std::string_view text) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](const DeclaredKernel::Parameter& one, const DeclaredKernel::Parameter& other) {
                      if (with_names)
                        return (one.type == other.type && one.name == other.name) ||
                               is_type_by_branch(one, other, text);
                      // For a parameter without a name, the last word of its type was taken as the name.
                      const auto whole = [](const DeclaredKernel::Parameter& of) {
                        return of.type.empty() ? of.name : of.type + " " + of.name;
                      };
                      return one.type == other.type || whole(one) == other.type || one.type == whole(other) ||
                             whole(one) == whole(other);
                    });
}

// Takes what another branch of an #if calls the parameters. False: they are others.
bool joins(std::vector<DeclaredKernel::Parameter>& of, const std::vector<DeclaredKernel::Parameter>& other,
           std::string_view text) {
  if (!are_alike(of, other, true, text)) return false;
  for (std::size_t i = 0; i < of.size(); ++i)  // the type that has several meanings counts
    if (of[i].type != other[i].type && c_type(of[i].type, text).ambiguity.empty()) of[i].type = other[i].type;
  return true;
}

}  // namespace

std::vector<std::string> split_list(std::string_view list) {
  std::vector<std::string> parts;
  for (const std::string_view one : parts_of(list)) parts.push_back(plain_words(one));
  return parts;
}

std::vector<DeclaredKernel> kernels_of(std::string_view text) {
  const std::string blank = blanked(text);
  std::vector<DeclaredKernel> kernels;
  std::set<std::size_t> defined;  // places in `kernels`
  for (const Declaration& one : declarations(blank)) {
    if (one.is_special) continue;
    DeclaredKernel kernel;
    kernel.name = blank.substr(one.name, one.name_end - one.name);
    const std::vector<std::string> lists =
        lists_of_branches(blank.substr(one.open + 1, one.close - one.open - 2));
    kernel.parameters = parameters_of(lists.front());
    kernel.line = line_number(blank, one.begin);
    for (std::size_t i = 1; i < lists.size(); ++i)
      if (!joins(kernel.parameters, parameters_of(lists[i]), blank)) kernel.other_line = kernel.line;
    kernel.is_template = one.is_template;
    kernel.template_parameters = template_parameters_of(blank, one);
    const std::size_t behind = skip_space(blank, one.close);
    const bool is_definition = behind < blank.size() && blank[behind] == '{';
    const auto known = std::find_if(kernels.begin(), kernels.end(), [&](const DeclaredKernel& other) {
      return other.name == kernel.name && other.is_template == kernel.is_template &&
             are_one_template(other.template_parameters, kernel.template_parameters);
    });
    const auto place = static_cast<std::size_t>(known - kernels.begin());
    if (known == kernels.end()) {
      if (is_definition) defined.insert(place);
      kernels.push_back(std::move(kernel));
      continue;
    }
    for (std::size_t i = 0; i < kernel.template_parameters.size(); ++i) {
      std::string &mine = kernel.template_parameters[i].initial,
                  &other = known->template_parameters[i].initial;
      (mine.empty() ? mine : other) = mine.empty() ? other : mine;  // either may have the default
    }
    const bool was_defined = defined.contains(place);
    // A declaration may leave parameter names out.
    const bool are_definitions = was_defined && is_definition;
    if (are_definitions ? !joins(known->parameters, kernel.parameters, blank)
                        : !are_alike(known->parameters, kernel.parameters, false, blank))
      kernel.other_line = known->line;
    if (known->other_line > 0) kernel.other_line = known->other_line;
    if (was_defined) {
      if (kernel.other_line > 0 && known->other_line == 0) known->other_line = kernel.line;
      continue;
    }
    if (is_definition) defined.insert(place);
    if (is_definition || kernel.other_line > 0) *known = std::move(kernel);
  }
  return kernels;
}

std::optional<HostFunction> function_of(std::string_view text, std::string_view name) {
  const std::string blank = blanked(text);
  std::optional<HostFunction> first;
  for (std::size_t at = 0; (at = find_word(blank, name, at)) != std::string::npos; ++at) {
    const std::size_t open = skip_space(blank, at + name.size());
    if (open == blank.size() || blank[open] != '(' || in_directive(blank, at)) continue;
    const std::size_t close = behind_close(blank, open);
    if (close == std::string::npos) continue;
    const std::size_t brace = skip_space(blank, close);
    if (brace >= blank.size() || blank[brace] != '{') continue;
    const std::size_t end = behind_close(blank, brace);
    if (end == std::string::npos) continue;
    std::size_t begin = at;
    while (begin > 0 && (is_name(blank[begin - 1]) || is_space(blank[begin - 1]))) {
      if (blank[begin - 1] == '\n' && begin > 1 && in_directive(blank, begin - 2)) break;
      --begin;
    }
    begin = skip_space(blank, begin);
    if (first) {
      first->declared.other_line = line_number(blank, at);
      break;
    }
    HostFunction found;
    found.declared.name = name;
    found.declared.parameters = parameters_of(std::string_view(blank).substr(open + 1, close - open - 2));
    found.declared.line = line_number(blank, at);
    found.returns = squeezed(std::string_view(blank).substr(begin, at - begin));
    found.begin = begin;
    found.end = end;
    first = std::move(found);
  }
  return first;
}

std::string included_file(std::string_view line) {
  std::size_t at = skip_space(line, 0);
  if (at == line.size() || line[at] != '#') return "";
  at = skip_space(line, at + 1);
  static constexpr std::string_view word = "include";
  if (line.substr(at, word.size()) != word) return "";
  at = skip_space(line, at + word.size());
  if (at == line.size() || line[at] != '"') return "";
  const std::size_t end = line.find('"', at + 1);
  return end == std::string_view::npos ? "" : std::string(line.substr(at + 1, end - at - 1));
}

bool is_outside(std::string_view included) {
  const std::filesystem::path path(included);
  const auto up = std::find(path.begin(), path.end(), "..");
  return path.is_absolute() || up != path.end();
}

}  // namespace tunesmith

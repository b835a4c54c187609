// SPDX-License-Identifier: Apache-2.0
#include "kernel_file/kernel_source.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <regex>
#include <set>
#include <utility>

#include "generator/c_characters.h"
#include "kernel_file/preprocessor.h"
#include "kernel_file/text_scanner.h"
#include "kernel_file/unset_variable.h"

namespace tunesmith {
namespace {

// A declaration or definition of a kernel in the blanked text.
struct Declaration {
  std::size_t begin = 0;  // the start of its first word
  std::size_t name = 0, name_end = 0;
  std::size_t open = 0, close = 0;  // the range of its parameters: at ( and behind )
  bool is_template = false, is_extern = false;
  bool is_special = false;          // a specialisation or an explicit instantiation of a template
  std::size_t list = 0, words = 0;  // of a template: at the < of its parameters, and behind their >
};

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

// Returns the definitions of a constant, as ranges of the blanked text.
std::vector<std::pair<std::size_t, std::size_t>> definitions(const std::string& blank,
                                                             const std::string& name) {
  std::vector<std::pair<std::size_t, std::size_t>> found;
  for (std::size_t at = 0; (at = find_word(blank, name, at)) != std::string::npos; ++at) {
    const std::size_t begin = line_begin(blank, at);
    const std::string_view before = std::string_view(blank).substr(begin, at - begin);
    const std::string words = squeezed(before);
    static const std::regex define(R"(\s?#\s?(define|undef) )");
    if (std::regex_match(squeezed(before) + " ", define)) {
      std::size_t end = line_end(blank, at);
      while (end > 0 && end < blank.size() && blank[end - 1] == '\\') end = line_end(blank, end + 1);
      found.emplace_back(begin, end);
      continue;
    }
    const std::size_t next = skip_space(blank, at + name.size());
    // Go back to the end of the previous statement, at most one line.
    const std::size_t last = before.find_last_of(";{}");
    const std::size_t start = begin + (last == std::string_view::npos ? 0 : last + 1);
    const std::string of_this = squeezed(std::string_view(blank).substr(start, at - start));
    static const std::regex constant(
        R"(\s?((static|inline|__device__|const|constexpr|unsigned|signed|int|long|short|size_t|auto|u?int(32|64)_t) ?)+)");
    const bool is_constant = std::regex_match(of_this, constant) &&
                             (of_this.find("const") != std::string::npos) && next < blank.size() &&
                             blank[next] == '=' && blank.compare(next, 2, "==") != 0;
    static const std::regex alias(R"(\s?using ?)");
    const bool is_alias = std::regex_match(of_this, alias) && next < blank.size() && blank[next] == '=';
    static const std::regex type_name(R"(\s?typedef [\w: ]+)");
    const bool is_typedef = std::regex_match(of_this, type_name) && next < blank.size() && blank[next] == ';';
    if (!is_constant && !is_alias && !is_typedef) continue;
    const std::size_t end = blank.find_first_of(";,", next);
    if (end != std::string::npos && blank[end] == ';') found.emplace_back(start, end + 1);
  }
  return found;
}

}  // namespace

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

bool are_alike(const std::vector<DeclaredKernel::Parameter>& a,
               const std::vector<DeclaredKernel::Parameter>& b, bool with_names) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](const DeclaredKernel::Parameter& one, const DeclaredKernel::Parameter& other) {
                      if (with_names) return one.type == other.type && one.name == other.name;
                      // For a parameter without a name, the last word of its type was taken as the name.
                      const auto whole = [](const DeclaredKernel::Parameter& of) {
                        return of.type.empty() ? of.name : of.type + " " + of.name;
                      };
                      return one.type == other.type || whole(one) == other.type || one.type == whole(other) ||
                             whole(one) == whole(other);
                    });
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
    kernel.parameters = parameters_of(std::string_view(blank).substr(one.open + 1, one.close - one.open - 2));
    kernel.is_template = one.is_template;
    kernel.template_parameters = template_parameters_of(blank, one);
    kernel.line = line_number(blank, one.begin);
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
    if (!are_alike(known->parameters, kernel.parameters, was_defined && is_definition))
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

ConstantForm form_of(std::string_view text, std::string_view name) {
  const std::string blank = blanked(text);
  ConstantForm form = ConstantForm::none;
  for (std::size_t at = 0; (at = find_word(blank, name, at)) != std::string::npos; ++at) {
    form = ConstantForm::expression;
    const std::size_t first = skip_space(blank, line_begin(blank, at));
    static const std::regex condition(R"(#\s*(define|undef|if|ifdef|ifndef|elif)\b[^]*)");
    if (first < at && std::regex_match(blank.substr(first, at - first), condition))
      return ConstantForm::macro;
  }
  return form;
}

namespace {

// Splits a preprocessor line into its word and the rest: "ifdef", "__CUDA_ARCH__". Returns empty texts for
// any other line.
std::pair<std::string, std::string> directive_of(std::string_view blank, std::size_t begin) {
  std::size_t at = skip_space(blank, begin);
  if (at >= line_end(blank, begin) || blank[at] != '#') return {};
  const std::string words = squeezed(blank.substr(at + 1, line_end(blank, begin) - at - 1));
  const std::size_t first = words.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  const std::size_t end = std::min(words.find_first_of(" (", first), words.size());
  return {words.substr(first, end - first), words.substr(end)};
}

// True if a condition tells the host from the device: its lines are for one of them only.
bool tells_devices_apart(const std::string& condition) {
  return condition.find("__CUDA_ARCH__") != std::string::npos ||
         condition.find("__CUDACC__") != std::string::npos ||
         condition.find("TUNESMITH_HOST") != std::string::npos;
}

// Matches declarations of dynamic shared memory.
const std::regex& dynamic_shared() {
  static const std::regex form(
      R"(\bextern\s+(?:volatile\s+)?__shared__\s+(?:(?:__align__|alignas)\s*\((?:[^()]|\([^()]*\))*\)\s+)?([A-Za-z_][\w: ]*?)\s*([A-Za-z_]\w*)\s*\[\s*\]\s*;)");
  return form;
}

using Edits = std::vector<std::pair<std::size_t, std::pair<std::size_t, std::string>>>;

// The words between the template's parameters and its name: the kernel's own, and those that only the
// template keeps.
struct Head {
  std::string of_kernel;  // "__launch_bounds__(BLOCK) void"
  Edits of_template;      // edits that make a device function of the template
};

Head head_of(std::string_view blank, const Declaration& one) {
  Head made;
  std::string words(blank.substr(one.words, one.name - one.words));
  for (std::size_t at = 0; at < words.size();) {
    if (!is_name(words[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < words.size() && is_name(words[end])) ++end;
    const std::string word = words.substr(at, end - at);
    const bool is_directive = in_directive(words, at) && words.find('\n') < at;
    const std::size_t open = skip_space(words, end);
    if (word == "__global__" && !is_directive) {
      made.of_template.push_back(
          {one.words + at, {word.size(), one.is_special ? "__device__" : "__device__ __forceinline__"}});
    } else if (word.starts_with("__") && word.ends_with("__") && open < words.size() && words[open] == '(' &&
               !is_directive) {
      end = behind_close(words, open);
      if (end == std::string::npos) break;
      std::string nothing = words.substr(at, end - at);
      blank_out(nothing, 0, nothing.size());
      made.of_template.push_back({one.words + at, {nothing.size(), nothing}});
    }
    if (!is_directive && (word == "__global__" || word == "static" || word == "inline" || word == "extern"))
      blank_out(words, at, end);
    at = end;
  }
  made.of_kernel = words.find('#') == std::string::npos ? plain_words(words) : "\n" + words;
  return made;
}

// Returns the kernel that calls the template, in namespaces in which the arguments, and then the template's
// parameters, have names.
std::string wrapper_of(std::string_view blank, const Declaration& one, const Instantiation& made,
                       const std::string& head) {
  const std::string space = "tunesmith_of_" + made.entry;
  std::string arguments, named, given, values;
  for (std::size_t i = 0; i < made.parameters.size(); ++i) {
    const TemplateParameter& parameter = made.parameters[i];
    const std::string number = std::to_string(i), argument = "argument_" + number,
                      name = parameter.name.empty() ? "unnamed_" + number : parameter.name,
                      type = "type_" + number;
    const bool is_type = parameter.kind == TemplateParameter::Kind::type;
    const std::string& text = made.arguments[i];
    if (!text.empty())
      arguments += is_type ? "using " + argument + " = " + text + "; "
                           : "constexpr auto " + argument + " = (" + text + "); ";
    given += (i == 0 ? "" : ", ") + name;
    const std::string value = text.empty() ? parameter.initial : argument;
    if (is_type) {
      named += "using " + name + " = " + value + "; ";
    } else if (parameter.type == "auto") {
      named += "constexpr auto " + name + " = " + value + "; ";
    } else {
      named += "using " + type + " = " + parameter.type + "; constexpr " + type + " " + name +
               " = static_cast<" + type + ">(" + value + "); ";
      if (!text.empty())
        named += "static_assert(static_cast<decltype(" + argument + ")>(" + name + ") == " + argument +
                 " && (" + name + " < static_cast<" + type + ">(1)) == (" + argument +
                 " < static_cast<decltype(" + argument + ")>(1)), \"The template parameter " + name + " of " +
                 made.kernel + " has the type " + parameter.type + ", which cannot hold the value of " +
                 text + ".\"); ";
    }
  }
  std::string list(blank.substr(one.open, one.close - one.open));
  if (list.find('#') == std::string::npos) list = plain_words(list);
  for (const DeclaredKernel::Parameter& parameter :
       parameters_of(blank.substr(one.open + 1, one.close - one.open - 2)))
    values += (values.empty() ? "" : ", ") + parameter.name;
  return " namespace " + space + " { " + arguments + "namespace named { " + named +
         "extern \"C\" __global__ " + head + " ENTRY(" + made.entry + ")" + list + " { " + made.kernel + "<" +
         given + ">(" + values + "); } } using named::ENTRY(" + made.entry + "); } using " + space +
         "::ENTRY(" + made.entry + ");";
}

// Makes a device function of a template of the name, with its overloads and specialisations, and behind the
// definition of the instantiated one the kernel that calls it.
void instantiate(std::string_view blank, const Declaration& one, const std::vector<Instantiation>& all,
                 Edits& edits) {
  const std::string_view name = blank.substr(one.name, one.name_end - one.name);
  if (std::none_of(all.begin(), all.end(), [&](const Instantiation& made) { return made.kernel == name; }))
    return;
  const std::vector<TemplateParameter> parameters = template_parameters_of(blank, one);
  const std::size_t behind = skip_space(blank, one.close);
  const bool is_definition = !one.is_special && behind < blank.size() && blank[behind] == '{';
  Head head = head_of(blank, one);
  edits.insert(edits.end(), head.of_template.begin(), head.of_template.end());
  constexpr std::string_view constant = "__grid_constant__";
  for (std::size_t at = one.open; (at = find_word(blank, constant, at)) < one.close; ++at)
    edits.push_back({at, {constant.size(), std::string(constant.size(), ' ')}});
  const std::size_t end = is_definition ? behind_close(blank, behind) : std::string_view::npos;
  if (end == std::string_view::npos) return;
  std::string wrappers;
  for (const Instantiation& made : all) {
    if (made.kernel != name || !are_one_template(made.parameters, parameters)) continue;
    Instantiation here = made;  // the names are those of the definition
    for (std::size_t i = 0; i < parameters.size(); ++i) here.parameters[i].name = parameters[i].name;
    wrappers += wrapper_of(blank, one, here, head.of_kernel);
  }
  if (!wrappers.empty()) edits.push_back({end, {0, wrappers}});
}

}  // namespace

KernelBody kernel_body(std::string_view given, const std::vector<std::string>& constants,
                       const BodyOptions& options) {
  KernelBody body;
  body.text = std::string(given);
  std::string& text = body.text;
  const std::string whole = blanked(given);
  for (const std::string& name : constants) {
    for (const auto& [begin, end] : definitions(whole, name)) {
      body.notes.push_back(name + " is defined by Tunesmith; line " +
                           std::to_string(line_number(whole, begin)) +
                           " gives way: " + squeezed(std::string_view(text).substr(begin, end - begin)));
      blank_out(text, begin, end);
    }
  }
  CompiledText alone;
  if (options.compiled == nullptr) alone = compiled_texts(given, {}, constants).front();
  const CompiledText& compiled = options.compiled != nullptr ? *options.compiled : alone;
  const std::string& blank = compiled.text;
  // Edits are applied from the end to the beginning, so that earlier positions stay valid.
  Edits edits;
  static const std::regex include(R"([ \t]*#[ \t]*include[ \t]*(<[^>\n]+>)[^\n]*)");
  std::vector<bool> conditions;  // for each #if around the line: it tells the host from the device
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text.size(); ++number) {
    const std::size_t end = line_end(text, begin);
    const auto [word, rest] = directive_of(whole, begin);
    if (word.starts_with("if")) conditions.push_back(tells_devices_apart(rest));
    if (word == "elif" && !conditions.empty())
      conditions.back() = conditions.back() || tells_devices_apart(rest);
    if (word == "endif" && !conditions.empty()) conditions.pop_back();
    std::smatch match;
    const std::string line = text.substr(begin, end - begin);
    if (word == "include" && std::regex_match(line, match, include)) {
      const std::string header = match[1].str();
      const bool stays = std::find(conditions.begin(), conditions.end(), true) != conditions.end() ||
                         compiled.lines[number] == Truth::no;
      const bool is_known = options.is_known_header && options.is_known_header(header);
      const std::string why = !is_known && options.why_left_out ? options.why_left_out(header) : "";
      (stays ? body.conditional_includes : body.includes) += header + "\n";
      if (!stays || is_known) blank_out(text, begin, end);
      if (!stays && !why.empty())
        body.notes.push_back(why + "; line " + std::to_string(number + 1) + " is left out.");
      if (!stays && !is_known && why.empty() && options.in_place)
        edits.push_back({begin, {end - begin, options.in_place(header)}});
    }
    begin = end + 1;
  }
  std::set<std::size_t> named;  // an #if may stand between __global__ and the name, once for both branches
  for (const Declaration& one : declarations(blank)) {
    if (one.is_template) {
      if (named.insert(one.name).second) instantiate(blank, one, options.instantiations, edits);
      continue;
    }
    if (!one.is_extern) edits.push_back({one.begin, {0, "extern \"C\" "}});
    const std::string name = blank.substr(one.name, one.name_end - one.name);
    if (named.insert(one.name).second) edits.push_back({one.name, {name.size(), "ENTRY(" + name + ")"}});
  }
  const std::vector<Braces> outer = outer_braces(blank);
  // On the host the text is in a namespace, where an overload would hide the function that it overloads.
  for (const Braces& one : outer) {
    if (!options.is_overload || one.kind != Braces::Kind::function) continue;
    const std::string_view head = std::string_view(blank).substr(one.head, one.open - one.head);
    const std::size_t open = head.find('(');
    const std::size_t close = open == std::string_view::npos ? open : behind_close(head, open);
    if (close == std::string_view::npos) continue;
    std::size_t end = open;
    while (end > 0 && is_space(head[end - 1])) --end;
    std::size_t begin = end;
    while (begin > 0 && is_name(head[begin - 1])) --begin;
    const std::string name(head.substr(begin, end - begin));
    if (options.is_overload(name, parameters_of(head.substr(open + 1, close - open - 2))))
      edits.push_back({skip_space(blank, one.head), {0, "TUNESMITH_USING(" + name + ") "}});
  }
  for (std::sregex_iterator at(blank.begin(), blank.end(), dynamic_shared()), none; at != none; ++at) {
    const auto place = static_cast<std::size_t>(at->position());
    const std::string whole = at->str(), name = (*at)[2].str();
    const std::string declared = "DYNAMIC_SHARED(" + (*at)[1].str() + ", " + name + ");";
    const std::string lines(static_cast<std::size_t>(std::count(whole.begin(), whole.end(), '\n')), '\n');
    const bool is_at_file_scope = std::none_of(outer.begin(), outer.end(), [&](const Braces& one) {
      return !one.is_transparent() && one.holds(place);
    });
    edits.push_back({place, {whole.size(), (is_at_file_scope ? "" : declared) + lines}});
    // For a declaration at file scope, each function that names the array gets its own declaration.
    for (const Braces& one : outer) {
      if (!is_at_file_scope || one.kind != Braces::Kind::function || one.open < place) continue;
      const std::string_view head = std::string_view(blank).substr(one.head, one.open - one.head);
      const std::string_view inside = std::string_view(blank).substr(one.open, one.close - one.open);
      if (find_word(inside, name) != std::string_view::npos &&
          find_word(head, name) == std::string_view::npos)
        edits.push_back({one.open + 1, {0, " " + declared}});
    }
  }
  // `static __shared__`: the host's macro for shared memory already contains static.
  static const std::regex static_shared(
      R"(\bstatic(\s+(?:volatile\s+)?)__shared__\b|\b__shared__(\s+)static\b)");
  for (std::sregex_iterator at(blank.begin(), blank.end(), static_shared), none; at != none; ++at) {
    const auto place = static_cast<std::size_t>(at->position());
    const std::size_t length = std::string_view("static").size();
    if ((*at)[1].matched)
      edits.push_back({place, {length, std::string(length, ' ')}});
    else
      edits.push_back(
          {place + static_cast<std::size_t>(at->length()) - length, {length, std::string(length, ' ')}});
  }
  // A kernel in a namespace is made known outside of it too; a namespace without a name gets one.
  for (const Declaration& one : declarations(blank)) {
    const std::size_t behind = skip_space(blank, one.close);
    std::string path;
    for (const Braces& around : outer) {
      if (around.kind == Braces::Kind::name_space && around.holds(one.name))
        path += (around.name.empty() ? "tunesmith_own" : around.name) + "::";
    }
    const std::string name = blank.substr(one.name, one.name_end - one.name);
    if (path.empty() || behind >= blank.size() || blank[behind] != '{') continue;
    if (!one.is_template) body.behind += "using " + path + "ENTRY(" + name + ");\n";
    for (const Instantiation& made : options.instantiations)
      if (one.is_template && made.kernel == name && !one.is_special &&
          are_one_template(made.parameters, template_parameters_of(blank, one)))
        body.behind += "using " + path + "ENTRY(" + made.entry + ");\n";
  }
  std::size_t last_symbol = std::string::npos;
  for (const DeviceVariable& one : device_variables(blank)) {
    if (std::find(options.symbols.begin(), options.symbols.end(), one.name) == options.symbols.end())
      continue;
    std::string path;
    for (const Braces& around : outer) {
      if (around.kind == Braces::Kind::name_space && around.holds(one.end))
        path += (around.name.empty() ? "tunesmith_own" : around.name) + "::";
    }
    if (!path.empty()) body.behind += "using " + path + one.name + ";\n";
    if (std::exchange(last_symbol, one.begin) == one.begin) continue;  // of the same declaration
    for (const std::string_view word : {"static", "inline"})
      if (const std::size_t at = find_word(blank, word, one.begin); at < one.end)
        edits.push_back({at, {word.size(), std::string(word.size(), ' ')}});
    edits.push_back({skip_space(blank, one.begin), {0, "extern \"C\" { "}});
    edits.push_back({one.end + 1, {0, " }"}});
  }
  for (const Braces& one : outer) {
    const bool is_edited =
        std::any_of(edits.begin(), edits.end(), [&](const auto& edit) { return one.holds(edit.first); });
    if (one.kind != Braces::Kind::name_space || !one.name.empty() || !is_edited) continue;
    edits.push_back({one.word, {0, "inline "}});
    edits.push_back({one.word + std::string_view("namespace").size(), {0, " tunesmith_own"}});
  }
  std::stable_sort(edits.begin(), edits.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [at, edit] : edits) text.replace(at, edit.first, edit.second);
  return body;
}

}  // namespace tunesmith

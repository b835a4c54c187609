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

namespace tunesmith {
namespace {

// A declaration or definition of a kernel in the blanked text.
struct Declaration {
  std::size_t begin = 0;  // the start of its first word
  std::size_t name = 0, name_end = 0;
  std::size_t open = 0, close = 0;  // the range of its parameters: at ( and behind )
  bool is_template = false, is_extern = false;
};

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
    // The name is the last word before the parenthesis that is not an attribute's.
    for (std::size_t next = at; next < blank.size();) {
      const std::size_t open = blank.find('(', next);
      const std::size_t stop = blank.find_first_of(";{}", next);
      if (open == std::string_view::npos || open > stop) break;
      std::size_t end = open;
      while (end > at && is_space(blank[end - 1])) --end;
      std::size_t first = end;
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
        found.push_back(one);
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
  static const std::regex constant(R"(\bconst\b[^*]*\*|\bconst\b[^*]*$)"),
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

std::vector<DeclaredKernel::Parameter> parameters_of(std::string_view list) {
  std::vector<DeclaredKernel::Parameter> parameters;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= list.size(); ++at) {
    const char c = at < list.size() ? list[at] : ',';
    if (c == '(' || c == '<' || c == '[') ++depth;
    if (c == ')' || c == '>' || c == ']') --depth;
    if (c != ',' || (depth > 0 && at < list.size())) continue;
    const std::string_view one = list.substr(begin, at - begin);
    begin = at + 1;
    const std::string words = squeezed(one);
    if (!words.empty() && words != "void" && words != " ") parameters.push_back(parameter_of(one));
  }
  return parameters;
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

std::vector<DeclaredKernel> kernels_of(std::string_view text) {
  const std::string blank = blanked(text);
  std::vector<DeclaredKernel> kernels;
  std::set<std::string> defined;
  for (const Declaration& one : declarations(blank)) {
    DeclaredKernel kernel;
    kernel.name = blank.substr(one.name, one.name_end - one.name);
    kernel.parameters = parameters_of(std::string_view(blank).substr(one.open + 1, one.close - one.open - 2));
    kernel.is_template = one.is_template;
    kernel.line = line_number(blank, one.begin);
    const std::size_t behind = skip_space(blank, one.close);
    const bool is_definition = behind < blank.size() && blank[behind] == '{';
    const auto known = std::find_if(kernels.begin(), kernels.end(),
                                    [&](const DeclaredKernel& other) { return other.name == kernel.name; });
    if (known == kernels.end()) {
      if (is_definition) defined.insert(kernel.name);
      kernels.push_back(std::move(kernel));
      continue;
    }
    const bool was_defined = defined.contains(kernel.name);
    // A declaration may leave parameter names out.
    if (!are_alike(known->parameters, kernel.parameters, was_defined && is_definition))
      kernel.other_line = known->line;
    if (known->other_line > 0) kernel.other_line = known->other_line;
    if (was_defined) {
      if (kernel.other_line > 0 && known->other_line == 0) known->other_line = kernel.line;
      continue;
    }
    if (is_definition) defined.insert(kernel.name);
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
  std::vector<std::pair<std::size_t, std::pair<std::size_t, std::string>>> edits;
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
      (stays ? body.conditional_includes : body.includes) += header + "\n";
      if (!stays || is_known) blank_out(text, begin, end);
      if (!stays && !is_known && options.in_place)
        edits.push_back({begin, {end - begin, options.in_place(header)}});
    }
    begin = end + 1;
  }
  std::set<std::size_t> named;  // an #if may stand between __global__ and the name, once for both branches
  for (const Declaration& one : declarations(blank)) {
    if (one.is_template) continue;
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
    if (!path.empty() && behind < blank.size() && blank[behind] == '{' && !one.is_template)
      body.behind += "using " + path + "ENTRY(" + blank.substr(one.name, one.name_end - one.name) + ");\n";
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

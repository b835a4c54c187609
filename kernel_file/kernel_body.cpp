// SPDX-License-Identifier: Apache-2.0
// Makes the body that variants of a kernel have in common: names, templates and definitions of constants.

#include <algorithm>
#include <functional>
#include <regex>
#include <set>
#include <utility>

#include "generator/c_characters.h"
#include "kernel_file/declarations.h"
#include "kernel_file/kernel_source.h"
#include "kernel_file/preprocessor.h"
#include "kernel_file/text_scanner.h"
#include "kernel_file/unset_variable.h"

namespace tunesmith {
namespace {

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
      R"(\bextern\s+(?:volatile\s+)?__shared__\s+(?:(?:__align__|alignas)\s*\((?:[^()]|\([^()]*\))*\)\s+)?([A-Za-z_][\w: ]*?)\s*([A-Za-z_]\w*)\s*\[\s*\]((?:\s*\[[^\[\];]*\])*)\s*;)");
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
    constexpr std::string_view internal = "static";  // a binary exports the kernel, so the word gives way
    const std::size_t is_static = find_word(blank, internal, one.begin);
    const bool begins_static = is_static == one.begin;
    if (!one.is_extern) edits.push_back({one.begin, {begins_static ? internal.size() : 0, "extern \"C\" "}});
    if (is_static < one.name && (one.is_extern || !begins_static))
      edits.push_back({is_static, {internal.size(), std::string(internal.size(), ' ')}});
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
    const std::string rows = squeezed((*at)[3].str());  // of float tile[][32] these are arrays
    const std::string declared = rows.empty()
                                     ? "DYNAMIC_SHARED(" + (*at)[1].str() + ", " + name + ");"
                                     : "using tunesmith_row_of_" + name + " = " + (*at)[1].str() + rows +
                                           "; DYNAMIC_SHARED(tunesmith_row_of_" + name + ", " + name + ");";
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

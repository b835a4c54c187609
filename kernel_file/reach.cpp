// SPDX-License-Identifier: Apache-2.0
#include "kernel_file/reach.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "generator/c_characters.h"
#include "kernel_file/c_tokens.h"
#include "kernel_file/kernel_source.h"
#include "kernel_file/text_scanner.h"

namespace tunesmith {
namespace {

// The words by which a construct uses others.
struct Words {
  std::set<std::string_view> all;       // each word, for macros
  std::set<std::string_view> names;     // those that are no members: behind neither . nor ->
  std::set<std::string_view> callable;  // of these, those that are not only names of local variables
};

Words words_of(const Tokens& tokens) {
  static const std::set<std::string_view> no_type = {
      "return",   "else", "case", "goto", "new",      "delete", "throw",  "do",    "operator", "sizeof",
      "typename", "not",  "and",  "or",   "template", "using",  "struct", "class", "namespace"};
  Words made;
  std::set<std::string_view> local, called;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& one = tokens[i];
    if (!one.is_word()) continue;
    made.all.insert(one.text);
    const std::string_view before = i > 0 ? tokens[i - 1].text : "";
    const std::string_view behind = i + 1 < tokens.size() ? tokens[i + 1].text : "";
    if (before == "." || before == "->") continue;
    made.names.insert(one.text);
    if (behind == "(" || behind == "<") called.insert(one.text);
    const bool has_type =
        i > 0 && (tokens[i - 1].is_word() ? !no_type.contains(before)
                                          : before == "*" || before == "&" || before == ">");
    // Behind * stands a variable only if a type is before it: "float* sum", but not "2 * sum".
    const bool is_declared = has_type && (tokens[i - 1].is_word() || (i > 1 && tokens[i - 2].is_word() &&
                                                                      !no_type.contains(tokens[i - 2].text)));
    if (is_declared && (behind == "=" || behind == ";" || behind == "," || behind == ")" || behind == "["))
      local.insert(one.text);
  }
  for (const std::string_view name : made.names)
    if (!local.contains(name) || called.contains(name)) made.callable.insert(name);
  return made;
}

bool is_macro_name(std::string_view word) {
  return word.size() > 1 &&
         std::none_of(word.begin(), word.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

struct Construct {
  enum class Kind { function, other, operators, opaque, macro };
  Kind kind = Kind::opaque;
  std::size_t text = 0;            // the number of its text
  std::size_t begin = 0, end = 0;  // its range
  std::vector<std::string> names;  // of operators: their symbol
  std::vector<std::string> types;  // of operators: the words of each parameter, separated by blanks
  bool is_global = false, is_device = false;
  std::string space;  // set: it is `using namespace space`
  Tokens tokens;
};

bool takes_words(std::string_view word) {
  return word == "alignas" || word == "__align__" || word == "__attribute__" || word == "__declspec" ||
         word == "__launch_bounds__" || word == "__cluster_dims__" || word == "__maxnreg__" ||
         word == "__block_size__";
}

// Returns the tokens without template parameters, attributes and extern "C" at the head of a declaration.
// `is_special` is set for an explicit specialisation or instantiation.
Tokens plain_head(const Tokens& tokens, Construct& construct) {
  Tokens made;
  for (std::size_t i = 0; i < tokens.size();) {
    const std::string_view one = tokens[i].text;
    const std::string_view next = i + 1 < tokens.size() ? tokens[i + 1].text : "";
    if (one == "template" && made.empty()) {
      i = next == "<" ? behind_bracket(tokens, i + 1) : i + 1;
    } else if (one == "extern" && next == "\"" && made.empty()) {
      i += 3;  // extern " "
    } else if (takes_words(one) && next == "(") {
      i = behind_bracket(tokens, i + 1);
    } else if (one == "[" && next == "[") {
      i = behind_bracket(tokens, i);
    } else if (one == "__global__" || one == "__device__" || one == "__host__") {
      construct.is_global |= one == "__global__";
      construct.is_device |= one == "__device__";
      ++i;
    } else {
      made.push_back(tokens[i++]);
    }
  }
  return made;
}

bool is_key_of_class(std::string_view word) {
  return word == "struct" || word == "class" || word == "union" || word == "enum";
}

// Adds the names of declarators: the last word before each , = [ { ( or the end. False: not understood.
bool add_declarators(const Tokens& tokens, std::size_t from, Construct& construct) {
  std::size_t last = tokens.size();  // the last word
  bool is_done = false;              // the name of this declarator was added
  const auto add = [&] {
    if (!is_done && last == tokens.size()) return false;
    if (!is_done) construct.names.emplace_back(tokens[last].text);
    is_done = true;
    return true;
  };
  for (std::size_t i = from; i < tokens.size();) {
    const std::string_view one = tokens[i].text;
    if (one == ";") return add();
    if (one == ",") {
      if (!add()) return false;
      is_done = false;
      last = tokens.size();
      ++i;
    } else if (one == "=") {
      if (!add()) return false;
      while (i < tokens.size() && tokens[i].text != "," && tokens[i].text != ";")
        i = tokens[i].text == "(" || tokens[i].text == "{" || tokens[i].text == "["
                ? behind_bracket(tokens, i)
                : i + 1;
    } else if (one == "[" || one == "{") {
      if (!add()) return false;
      i = behind_bracket(tokens, i);
    } else if (one == "<") {
      if (is_done) return false;
      const std::size_t behind = behind_bracket(tokens, i);
      if (behind == tokens.size()) return false;
      i = behind;
    } else if (tokens[i].is_word()) {
      last = i++;
    } else if (one == "*" || one == "&" || one == "::") {
      ++i;
    } else {
      return false;
    }
  }
  return false;
}

// Reads a class or an enumeration. False: it is none, or it is not understood.
bool read_class(const Tokens& head, Construct& construct) {
  std::size_t at = 0;
  bool is_typedef = false;
  while (at < head.size() &&
         (head[at].text == "typedef" || head[at].text == "static" || head[at].text == "const")) {
    is_typedef |= head[at].text == "typedef";
    ++at;
  }
  if (at >= head.size() || !is_key_of_class(head[at].text)) return false;
  const bool is_enumeration = head[at].text == "enum";
  ++at;
  while (at < head.size() && is_key_of_class(head[at].text)) ++at;  // enum class
  std::vector<std::string> names;
  while (at < head.size() && (head[at].is_word() || head[at].text == "::")) {
    if (head[at].is_word() && head[at].text != "final") names.emplace_back(head[at].text);
    const bool goes_on = head[at].text == "::" || (at + 1 < head.size() && head[at + 1].text == "::") ||
                         (at + 1 < head.size() && head[at + 1].text == "final");
    ++at;
    if (!goes_on) break;
  }
  if (at < head.size() && head[at].text == "<") at = behind_bracket(head, at);
  if (at >= head.size()) return false;
  if (head[at].text == ":") {
    while (at < head.size() && head[at].text != "{" && head[at].text != ";") ++at;
    if (at == head.size()) return false;
  }
  if (head[at].text == ";") {
    if (names.empty() || is_typedef) return false;
    construct.names = std::move(names);
    return true;
  }
  if (head[at].text != "{") return false;
  const std::size_t behind = behind_bracket(head, at);
  if (is_enumeration)
    for (std::size_t i = at; i < behind; ++i)
      if (head[i].is_word()) names.emplace_back(head[i].text);
  construct.names = std::move(names);
  if (behind < head.size() && head[behind].text == ";") return !construct.names.empty();
  return add_declarators(head, behind, construct);
}

// Reads the parameters of an operator: the words of each.
std::vector<std::string> types_of(const Tokens& head, std::size_t open, std::size_t close) {
  std::vector<std::string> types(1);
  int depth = 0;
  for (std::size_t i = open + 1; i + 1 < close; ++i) {
    const std::string_view one = head[i].text;
    // A word before , or ) may be the parameter's name, which says nothing.
    const std::string_view behind = head[i + 1].text;
    const bool may_be_name = depth == 0 && (behind == "," || behind == ")" || behind == "=");
    depth += one == "(" || one == "<" ? 1 : one == ")" || one == ">" ? -1 : 0;
    if (one == "," && depth == 0) {
      types.emplace_back();
    } else if (head[i].is_word() && !may_be_name) {
      types.back() += (types.back().empty() ? "" : " ") + std::string(one);
    }
  }
  return types;
}

// Reads a function, with its body if it has one. False: not understood.
bool read_function(const Tokens& head, Construct& construct) {
  static const std::set<std::string_view> no_type = {
      "if",   "for",  "while", "switch",  "return", "asm", "sizeof", "do",           "else",
      "case", "goto", "using", "typedef", "throw",  "new", "delete", "static_assert"};
  std::size_t at = 0, words = 0, last = head.size();
  std::vector<std::string> path;  // the components of a qualified name
  while (at < head.size() && head[at].text != "(") {
    const std::string_view one = head[at].text;
    if (one == "<") {
      at = behind_bracket(head, at);
      continue;
    }
    if (head[at].is_word()) {
      if (no_type.contains(one)) return false;
      const bool is_qualified = at > 0 && head[at - 1].text == "::" && !path.empty();
      if (!is_qualified) path.clear();
      path.emplace_back(one);
      if (!is_qualified) ++words;
      last = at;
    } else if (one != "*" && one != "&" && one != "::" && one != "~") {
      return false;
    }
    ++at;
  }
  if (at >= head.size() || last == head.size() || path.empty()) return false;
  // A word alone with parentheses is a call of a macro; Foo::Foo(…) is a constructor.
  if (words < 2 && path.size() < 2 && path.front() != "main") return false;
  std::size_t behind = behind_bracket(head, at);
  bool is_list = false;
  while (behind < head.size() && head[behind].text != ";" && head[behind].text != "{") {
    const std::string_view one = head[behind].text;
    if (one == ":") is_list = true;
    if (is_list) {
      if (head[behind].is_word() && behind + 1 < head.size() && head[behind + 1].text == "{")
        behind = behind_bracket(head, behind + 1);
      else
        behind = one == "(" ? behind_bracket(head, behind) : behind + 1;
      continue;
    }
    const bool is_known = one == "const" || one == "noexcept" || one == "override" || one == "final" ||
                          one == "&" || one == "->" || one == "=" || one == "default" || one == "delete";
    if (one == "->") {
      while (behind < head.size() && head[behind].text != "{" && head[behind].text != ";")
        behind = head[behind].text == "(" ? behind_bracket(head, behind) : behind + 1;
      break;
    }
    if (!is_known) return false;
    ++behind;
    if (one == "noexcept" && behind < head.size() && head[behind].text == "(")
      behind = behind_bracket(head, behind);
  }
  if (behind >= head.size()) return false;
  construct.names = std::move(path);
  construct.kind = Construct::Kind::function;
  return true;
}

bool read_operator(const Tokens& head, Construct& construct) {
  const auto found =
      std::find_if(head.begin(), head.end(), [](const Token& one) { return one.text == "operator"; });
  const auto brace = std::find_if(head.begin(), head.end(), [](const Token& one) {
    return one.text == "{" || one.text == "=" || one.text == "(";
  });
  if (found == head.end() || brace < found) return false;
  auto at = static_cast<std::size_t>(found - head.begin()) + 1;
  std::string symbol;
  if (at + 1 < head.size() && head[at].text == "(") {
    symbol = "()";
    at += 2;
  }
  while (at < head.size() && head[at].text != "(") symbol += head[at++].text;
  if (at >= head.size()) return false;
  construct.kind = Construct::Kind::operators;
  construct.names = {symbol};
  construct.types = types_of(head, at, behind_bracket(head, at));
  return true;
}

// Reads variables that are pointers to functions: `void (*f)(int) = g;`, `void (*all[])(int) = {g, h};`.
bool read_function_pointer(const Tokens& head, Construct& construct) {
  if (head.back().text != ";") return false;
  std::size_t at = 0;
  while (at < head.size() && (head[at].is_word() || head[at].text == "*" || head[at].text == "&" ||
                              head[at].text == "::" || head[at].text == "<"))
    at = head[at].text == "<" ? behind_bracket(head, at) : at + 1;
  if (at == 0 || at + 3 >= head.size() || head[at].text != "(" || head[at + 1].text != "*") return false;
  std::size_t name = at + 2;
  while (name < head.size() && head[name].text == "const") ++name;
  const std::size_t behind = behind_bracket(head, at);
  if (name >= head.size() || !head[name].is_word() || behind >= head.size() || head[behind].text != "(")
    return false;
  construct.names.emplace_back(head[name].text);
  return true;
}

void classify(Construct& construct) {
  const Tokens head = plain_head(construct.tokens, construct);
  if (head.empty()) return;
  const std::string_view first = head.front().text;
  const std::string_view second = head.size() > 1 ? head[1].text : "";
  const auto is_other = [&](bool is) {
    construct.kind = is ? Construct::Kind::other : Construct::Kind::opaque;
  };
  if (first == ";") return;  // it may end a class that was taken for a function
  // Macros by which a library registers or tests host code.
  static const std::set<std::string_view> of_host = {
      "PYBIND11_MODULE", "TORCH_LIBRARY", "TORCH_LIBRARY_FRAGMENT", "TORCH_LIBRARY_IMPL", "TEST",
      "TEST_F",          "BENCHMARK"};
  if (of_host.contains(first) && second == "(") return is_other(true);
  if (first == "static_assert" || first == "requires" || first == "concept" || first == "asm") return;
  if (first == "namespace" && head.size() > 2 && head[2].text == "=") {
    construct.names.emplace_back(second);
    return is_other(true);
  }
  if (first == "using" && second == "namespace") {
    for (std::size_t i = 2; i < head.size() && head[i].text != ";"; ++i) construct.space += head[i].text;
    return is_other(true);
  }
  if (first == "using") {
    const bool is_alias = head.size() > 2 && head[2].text == "=";
    const std::size_t last = is_alias ? 1 : head.size() < 2 ? 0 : head.size() - 2;
    construct.names.emplace_back(head[last].text);
    return is_other(head[last].is_word());
  }
  if (read_class(head, construct)) return is_other(true);
  construct.names.clear();
  if (first == "typedef") {
    Tokens rest(head.begin() + 1, head.end());
    const auto pointer =
        std::find_if(rest.begin(), rest.end(), [](const Token& one) { return one.text == "("; });
    if (pointer == rest.end()) return is_other(add_declarators(rest, 0, construct));
    const auto at = static_cast<std::size_t>(pointer - rest.begin());
    if (at + 2 >= rest.size() || rest[at + 1].text != "*" || !rest[at + 2].is_word()) return;
    construct.names.emplace_back(rest[at + 2].text);
    return is_other(true);
  }
  if (read_operator(head, construct)) return;
  const bool names_operator =
      std::any_of(head.begin(), head.end(), [](const Token& one) { return one.text == "operator"; });
  if (read_function(head, construct)) return;
  construct.names.clear();
  if (names_operator && head.back().text != ";") return;
  if (read_function_pointer(head, construct)) return is_other(true);
  is_other(head.back().text == ";" && add_declarators(head, 0, construct));
  if (construct.kind == Construct::Kind::opaque) construct.names.clear();
}

// Branches of an #if may open or close the same braces: `#if A`, `for (…) {`, `#else`, `while (…) {`,
// `#endif`. Returns the code with those of the first branch alone, and the lines of the #if as plain words.
std::string evened(std::string code) {
  struct Condition {
    int braces = 0, parentheses = 0;                     // before it
    std::optional<std::pair<int, int>> first = {};       // what the first branch adds
    std::vector<std::size_t> lines = {};                 // where its directives begin
    std::vector<std::size_t> places = {}, removed = {};  // of the branch, and of those before
    bool is_alike = true, has_else = false;
    std::vector<bool> scopes = {}, scopes_behind = {};  // before it, and behind the first branch
  };
  std::vector<Condition> around;
  std::vector<bool> scopes;  // of the open braces: are they a function's, or within one
  int braces = 0, parentheses = 0;
  char before = ' ';  // the last character that is no blank
  const auto end_branch = [&](Condition& one) {
    const std::pair<int, int> added = {braces - one.braces, parentheses - one.parentheses};
    if (!one.first) {
      one.first = added;
      one.scopes_behind = scopes;
    } else {
      one.is_alike &= *one.first == added;
      one.removed.insert(one.removed.end(), one.places.begin(), one.places.end());
    }
    one.places.clear();
  };
  for (const Stretch& line : stretches_of(code)) {
    if (line.kind == Stretch::Kind::opens)
      around.push_back({.braces = braces, .parentheses = parentheses, .scopes = scopes});
    if (line.kind != Stretch::Kind::code && line.kind != Stretch::Kind::other && !around.empty())
      around.back().lines.push_back(skip_space(code, line.begin));
    if (line.kind == Stretch::Kind::splits && !around.empty()) {
      end_branch(around.back());
      around.back().has_else |= line.word == "else";
      braces = around.back().braces;
      parentheses = around.back().parentheses;
      scopes = around.back().scopes;
    } else if (line.kind == Stretch::Kind::closes && !around.empty()) {
      Condition one = std::move(around.back());
      around.pop_back();
      end_branch(one);
      const bool is_in_function = !one.scopes.empty() && one.scopes.back();
      if (is_in_function && one.is_alike && one.has_else && *one.first != std::pair(0, 0)) {
        for (const std::size_t place : one.removed) code[place] = ' ';
        for (std::size_t place : one.lines) {
          code[place] = ' ';
          place = skip_space(code, place);
          while (place < code.size() && is_name(code[place])) code[place++] = ' ';
        }
      }
      braces = one.braces + one.first->first;
      parentheses = one.parentheses + one.first->second;
      scopes = std::move(one.scopes_behind);
    }
    if (line.kind != Stretch::Kind::code) continue;
    for (std::size_t at = line.begin; at < line.end; ++at) {
      const char c = code[at];
      braces += c == '{' ? 1 : c == '}' ? -1 : 0;
      parentheses += c == '(' ? 1 : c == ')' ? -1 : 0;
      if (c == '{' || c == '}' || c == '(' || c == ')')
        for (Condition& one : around) one.places.push_back(at);
      if (c == '{') scopes.push_back(before == ')' || (!scopes.empty() && scopes.back()));
      if (c == '}' && !scopes.empty()) scopes.pop_back();
      if (!is_space(c)) before = c;
    }
  }
  return code;
}

// Splits a text into constructs. The conditions of the preprocessor must not cut braces.
class Splitter {
 public:
  Splitter(std::string_view code, const CompiledText& text, std::size_t number,
           std::vector<Construct>& constructs, std::set<std::string, std::less<>>& spaces)
      : code_(code), lines_(text.lines), number_(number), constructs_(constructs), spaces_(spaces) {}

  // False: the braces of the text do not match in each of its branches.
  bool split() {
    if (!is_even()) return false;
    read_macros();
    std::size_t at = 0;
    while (at < code_.size()) {
      at = next(at);
      if (broken_) return false;
    }
    return depth_ == 0;
  }

 private:
  // Computes the branch of each line, and tells whether each branch has as many opening as closing braces.
  bool is_even() {
    struct Condition {
      int braces, parentheses;
      int branch;
      bool is_decided;  // the branch is compiled wherever the #if is, as with #ifdef __cplusplus
    };
    std::vector<Condition> around;
    int braces = 0, parentheses = 0, branches = 0;
    std::size_t line = 0;
    branch_.assign(1 + static_cast<std::size_t>(std::count(code_.begin(), code_.end(), '\n')), 0);
    const auto branch = [&] { return around.empty() ? 0 : around.back().branch; };
    for (const Stretch& one : stretches_of(code_)) {
      if (one.kind == Stretch::Kind::code) {
        for (const char c : code_.substr(one.begin, one.end - one.begin)) {
          braces += c == '{' ? 1 : c == '}' ? -1 : 0;
          parentheses += c == '(' ? 1 : c == ')' ? -1 : 0;
          if (!around.empty() && !around.back().is_decided && braces < around.back().braces) return false;
          if (c == '\n') branch_[++line] = branch();
        }
        continue;
      }
      const bool begins = one.kind == Stretch::Kind::opens, splits = one.kind == Stretch::Kind::splits,
                 ends = one.kind == Stretch::Kind::closes;
      if ((splits || ends) && around.empty()) return false;
      if ((splits || ends) && !around.back().is_decided &&
          (around.back().braces != braces || around.back().parentheses != parentheses))
        return false;
      const std::string_view words = code_.substr(one.begin, one.end - one.begin);
      const auto lines = static_cast<std::size_t>(std::count(words.begin(), words.end(), '\n'));
      const bool is_decided = line + lines < lines_.size() && lines_[line + lines] == Truth::yes;
      if (begins) around.push_back({braces, parentheses, 0, is_decided});
      if (splits) around.back().is_decided = is_decided;
      if (begins || splits)
        around.back().branch =
            is_decided ? (around.size() > 1 ? around[around.size() - 2].branch : 0) : ++branches;
      if (ends) around.pop_back();
      for (std::size_t i = 0; i < lines; ++i) branch_[++line] = branch();
    }
    return around.empty() && braces == 0 && parentheses == 0;
  }

  int branch_at(std::size_t at) const {
    return branch_[static_cast<std::size_t>(line_number(code_, at)) - 1];
  }

  void read_macros() {
    for (const Stretch& one : stretches_of(code_)) {
      if (one.word != "define") continue;
      const std::string_view line = code_.substr(one.begin, one.end - one.begin);
      const std::size_t begin = skip_space(line, line.find("define") + std::string_view("define").size());
      std::size_t stop = begin;
      while (stop < line.size() && is_name(line[stop])) ++stop;
      Construct macro;
      macro.kind = Construct::Kind::macro;
      macro.text = number_;
      macro.names.emplace_back(line.substr(begin, stop - begin));
      // Behind # stands no directive here: the tokens are read without the first line's head.
      for (std::size_t i = one.begin + stop; i < one.end;) {
        if (is_space(code_[i]) || code_[i] == '\\') {
          ++i;
          continue;
        }
        std::size_t behind = i + 1;
        if (is_name(code_[i]))
          while (behind < one.end && is_name(code_[behind])) ++behind;
        else if (code_.substr(i, 2) == "##" || code_.substr(i, 2) == "->" || code_.substr(i, 2) == "::")
          behind = i + 2;
        macro.tokens.push_back({code_.substr(i, behind - i), i});
        i = behind;
      }
      constructs_.push_back(std::move(macro));
    }
  }

  // Reads what begins at `at` and returns the position behind it.
  std::size_t next(std::size_t at) {
    at = skip_space(code_, at);
    if (at >= code_.size()) return at;
    if (begins_directive(code_, at)) return behind_directive(code_, at);
    if (code_[at] == '}') {
      broken_ = --depth_ < 0;
      return at + 1;
    }
    Construct construct;
    construct.text = number_;
    construct.begin = at;
    bool has_assignment = false, has_parenthesis = false, has_directive = false, has_list = false;
    int angles = 0;
    std::size_t i = at;
    if (const std::size_t behind = behind_definition(at); behind > at) construct.end = i = behind;
    while (construct.end == 0 && i < code_.size()) {
      const char c = code_[i];
      if (begins_directive(code_, i)) {
        has_directive = true;
        i = behind_directive(code_, i);
      } else if (c == '(' || c == '[') {
        has_parenthesis |= c == '(' && !is_of_attribute(i);
        i = behind_close(code_, i);
        if (i == std::string_view::npos) return broken();
      } else if (c == '<') {
        ++angles;
        ++i;
      } else if (c == '>') {
        angles = std::max(0, angles - 1);
        ++i;
      } else if (c == '=') {
        has_assignment |= angles == 0;
        ++i;
      } else if (is_name(c)) {
        std::size_t end = i;
        while (end < code_.size() && is_name(code_[end])) ++end;
        if (code_.substr(i, end - i) == "operator") {  // its symbol is no bracket and no assignment
          end = skip_space(code_, end);
          if (code_.substr(end, 1) == "(") end = std::min(code_.find(')', end), code_.size() - 1) + 1;
          while (end < code_.size() && code_[end] != '(' && code_[end] != ';') ++end;
        }
        i = end;
      } else if (c == ':' && has_parenthesis && code_.substr(i, 2) != "::" && code_[i - 1] != ':') {
        has_list = true;
        ++i;
      } else if (c == ';') {
        construct.end = i + 1;
        break;
      } else if (c == '{') {
        const Tokens head = tokens_of(code_, at, i);
        if (enters(head)) {
          ++depth_;
          return i + 1;
        }
        const std::size_t close = behind_close(code_, i);
        if (close == std::string_view::npos) return broken();
        Construct ignored;
        const Tokens plain = plain_head(head, ignored);
        std::size_t first = 0;
        while (first < plain.size() && (plain[first].text == "typedef" || plain[first].text == "static" ||
                                        plain[first].text == "const"))
          ++first;
        const bool is_class = first < plain.size() && is_key_of_class(plain[first].text) && !has_parenthesis;
        const std::size_t behind = skip_space(code_, close);
        const bool goes_on =
            has_list && behind < code_.size() && (code_[behind] == ',' || code_[behind] == '{');
        i = close;
        if (is_class || has_assignment || !has_parenthesis || goes_on) continue;
        construct.end = close;
        break;
      } else if (c == '}') {
        return broken();
      } else {
        ++i;
      }
    }
    if (construct.end == 0) return broken();
    construct.tokens = tokens_of(code_, construct.begin, construct.end);
    if (!is_cut(construct, has_directive)) classify(construct);
    const std::size_t end = construct.end;
    constructs_.push_back(std::move(construct));
    return end;
  }

  // Returns the position behind MACRO(…) if the macro, one of this text, is a whole definition, so that what
  // follows is another construct; else `at`.
  std::size_t behind_definition(std::size_t at) const {
    std::size_t end = at;
    while (end < code_.size() && is_name(code_[end])) ++end;
    const std::string_view name = code_.substr(at, end - at);
    const std::size_t open = skip_space(code_, end);
    if (name.empty() || open >= code_.size() || code_[open] != '(') return at;
    const bool is_definition = std::any_of(constructs_.begin(), constructs_.end(), [&](const Construct& one) {
      return one.kind == Construct::Kind::macro && one.names.front() == name && !one.tokens.empty() &&
             (one.tokens.back().text == "}" || one.tokens.back().text == ";");
    });
    const std::size_t close = is_definition ? behind_close(code_, open) : std::string_view::npos;
    if (close == std::string_view::npos) return at;
    const std::size_t behind = skip_space(code_, close);
    return behind < code_.size() && code_[behind] == ';' ? behind + 1 : close;
  }

  std::size_t broken() {
    broken_ = true;
    return code_.size();
  }

  bool is_of_attribute(std::size_t open) const {
    std::size_t end = open;
    while (end > 0 && is_space(code_[end - 1])) --end;
    std::size_t begin = end;
    while (begin > 0 && is_name(code_[begin - 1])) --begin;
    return takes_words(code_.substr(begin, end - begin));
  }

  // True if the braces behind the head are a namespace's, or those of extern "C".
  bool enters(const Tokens& head) {
    std::size_t at = 0;
    if (at < head.size() && head[at].text == "inline") ++at;
    if (at < head.size() && head[at].text == "namespace") {
      for (std::size_t i = at + 1; i < head.size(); ++i)
        if (head[i].is_word()) spaces_.emplace(head[i].text);
      return true;
    }
    return head.size() == 3 && head[0].text == "extern" && head[1].text == "\"";
  }

  // True if a condition of the preprocessor begins or ends within the head, or parts begin from end.
  bool is_cut(const Construct& construct, bool has_directive) const {
    return has_directive || branch_at(construct.begin) != branch_at(construct.end - 1);
  }

  std::string_view code_;
  const std::vector<Truth>& lines_;
  std::size_t number_;
  std::vector<Construct>& constructs_;
  std::set<std::string, std::less<>>& spaces_;
  std::vector<int> branch_;  // of each line: a number for each branch of each #if
  int depth_ = 0;            // of namespaces
  bool broken_ = false;
};

class Reaching {
 public:
  Reaching(std::vector<Construct> constructs, std::set<std::string, std::less<>> spaces)
      : constructs_(std::move(constructs)), spaces_(std::move(spaces)), is_kept_(constructs_.size(), false) {
    for (const Construct& one : constructs_) {
      for (const std::string& name : one.names) {
        if (one.kind == Construct::Kind::operators) has_device_[name] |= one.is_device;
        if (one.kind == Construct::Kind::other) others_.insert(name);
      }
    }
  }

  void find(const std::vector<std::string>& kernels, const std::vector<std::string>& used) {
    for (const std::string& name : used) {
      all_.insert(name);
      names_.insert(name);
      callable_.insert(name);
    }
    for (std::size_t i = 0; i < constructs_.size(); ++i) {
      const Construct& one = constructs_[i];
      const bool is_kernel = one.is_global && !one.names.empty() &&
                             std::find(kernels.begin(), kernels.end(), one.names.back()) != kernels.end();
      const bool is_device_operator =
          one.kind == Construct::Kind::operators && has_device_.find(one.names.front())->second;
      if (one.kind == Construct::Kind::opaque || is_kernel || is_device_operator) keep(i);
    }
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      for (std::size_t i = 0; i < constructs_.size(); ++i) {
        if (is_kept_[i] || !is_reached(constructs_[i])) continue;
        keep(i);
        goes_on = true;
      }
    }
  }

  Reach result(std::size_t texts) const {
    Reach made;
    made.unreached.resize(texts);
    for (std::size_t i = 0; i < constructs_.size(); ++i) {
      const Construct& one = constructs_[i];
      if (is_kept_[i] || one.kind == Construct::Kind::macro) continue;
      made.unreached[one.text].push_back({one.begin, one.end, one.names.empty() ? "" : one.names.back(),
                                          one.kind == Construct::Kind::function});
    }
    for (const std::string& word : all_) made.words.insert(word);
    for (const Construct& one : constructs_)
      if (one.kind != Construct::Kind::operators) made.declared.insert(one.names.begin(), one.names.end());
    return made;
  }

 private:
  using Set = std::set<std::string, std::less<>>;

  void keep(std::size_t i) {
    is_kept_[i] = true;
    const Construct& one = constructs_[i];
    const Words words = words_of(one.tokens);
    for (const std::string_view word : words.all) all_.emplace(word);
    for (const std::string_view word : words.names) names_.emplace(word);
    // A kernel's own name in its declaration does not call anything.
    const std::string own = one.is_global && !one.names.empty() ? one.names.back() : "";
    const auto times = std::count_if(one.tokens.begin(), one.tokens.end(),
                                     [&](const Token& token) { return token.text == own; });
    for (const std::string_view word : words.callable)
      if (word != own || times > 1) callable_.emplace(word);
    if (one.kind == Construct::Kind::macro)
      is_pasted_ |= std::any_of(one.tokens.begin(), one.tokens.end(),
                                [](const Token& token) { return token.text == "##"; });
  }

  bool is_used(const std::string& name, const Set& words) const {
    if (words.contains(name)) return true;
    if (!is_pasted_) return false;
    for (std::size_t length = 1; length < name.size(); ++length)
      if (all_.contains(std::string_view(name).substr(0, length))) return true;
    return false;
  }

  bool is_reached(const Construct& one) const {
    switch (one.kind) {
      case Construct::Kind::macro:
        return all_.contains(one.names.front());
      case Construct::Kind::function: {
        // A member, defined outside of its class, goes with the class.
        for (std::size_t i = 0; i + 1 < one.names.size(); ++i)
          if (others_.contains(one.names[i])) return is_used(one.names[i], names_);
        return is_used(one.names.back(), one.is_device ? names_ : callable_);
      }
      case Construct::Kind::operators:
        // A host's operator can be meant only if all types of its parameters are reached.
        return std::all_of(one.types.begin(), one.types.end(),
                           [&](const std::string& words) {
                             return may_be_reached(words, one.tokens.front().text == "template");
                           }) ||
               is_kept_symbol(one.names.front());
      case Construct::Kind::other:
        if (!one.space.empty()) return is_space_kept(one.space);
        return std::any_of(one.names.begin(), one.names.end(),
                           [&](const std::string& name) { return is_used(name, names_); });
      case Construct::Kind::opaque:
        return true;
    }
    return true;
  }

  bool is_kept_symbol(const std::string& symbol) const {
    for (std::size_t i = 0; i < constructs_.size(); ++i)
      if (is_kept_[i] && constructs_[i].kind == Construct::Kind::operators &&
          constructs_[i].names.front() == symbol)
        return true;
    return false;
  }

  // `words` are those of a parameter, perhaps with its name. False if its type is out of the kernels' reach.
  bool may_be_reached(const std::string& words, bool is_template) const {
    std::size_t at = 0;
    while (at < words.size()) {
      const std::size_t end = std::min(words.find(' ', at), words.size());
      const std::string word = words.substr(at, end - at);
      at = end + 1;
      static const std::set<std::string_view> of_library = {"std",      "ostream",  "istream",
                                                            "ofstream", "ifstream", "iostream"};
      if (of_library.contains(word) || (!is_template && others_.contains(word) && !names_.contains(word)))
        return false;
    }
    return true;
  }

  bool is_space_kept(const std::string& space) const {
    const std::string first = space.substr(0, space.find(':'));
    if (spaces_.contains(first)) return true;
    // Another's namespace is needed where its header is.
    static const std::map<std::string, std::vector<std::string_view>, std::less<>> of_toolkit = {
        {"cooperative_groups",
         {"this_thread_block", "thread_block", "tiled_partition", "thread_block_tile", "this_grid",
          "grid_group", "coalesced_threads", "coalesced_group", "thread_group", "cluster_group",
          "this_cluster"}},
        {"nvcuda", {"wmma", "experimental"}}};
    const auto found = of_toolkit.find(first);
    if (names_.contains(first)) return true;
    if (found == of_toolkit.end()) return first != "std";
    return std::any_of(found->second.begin(), found->second.end(),
                       [&](std::string_view word) { return names_.contains(word); });
  }

  std::vector<Construct> constructs_;
  Set spaces_;                              // the namespaces of the texts
  std::vector<bool> is_kept_;               // by construct
  std::map<std::string, bool> has_device_;  // by an operator's symbol: one of them is a device function
  Set others_;                              // the names of classes, types and variables
  Set all_, names_, callable_;              // the words that are reached
  bool is_pasted_ = false;                  // a macro makes names by ##
};

// A use of a macro at the scope of the file, `MACRO(…)` alone or with a body, is no device code if the macro
// is of no text, or if it launches kernels and defines none.
void leave_macros_of_host(std::vector<Construct>& constructs) {
  std::map<std::string_view, const Construct*> macros;
  for (const Construct& one : constructs)
    if (one.kind == Construct::Kind::macro) macros[one.names.front()] = &one;
  std::map<std::string_view, std::pair<bool, bool>> known;  // by macro: does it launch, does it define
  const std::function<std::pair<bool, bool>(std::string_view)> meaning = [&](std::string_view name) {
    if (const auto found = known.find(name); found != known.end()) return found->second;
    std::pair<bool, bool>& made = known[name];
    bool launches = false, defines = false;
    const Tokens& tokens = macros.at(name)->tokens;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const std::string_view one = tokens[i].text;
      launches |=
          one == "<" && i + 2 < tokens.size() && tokens[i + 1].text == "<" && tokens[i + 2].text == "<";
      defines |= one == "__global__" || one == "__device__" || one == "__constant__";
      if (tokens[i].is_word() && one != name && macros.contains(one)) {
        const std::pair<bool, bool> inner = meaning(one);
        launches |= inner.first;
        defines |= inner.second;
      }
    }
    made = {launches, defines};
    return made;
  };
  for (Construct& one : constructs) {
    if (one.kind != Construct::Kind::opaque || one.tokens.size() < 3 || !one.tokens[0].is_word() ||
        one.tokens[1].text != "(")
      continue;
    const std::size_t behind = behind_bracket(one.tokens, 1);
    const bool is_alone = behind >= one.tokens.size() || one.tokens[behind].text == ";";
    const bool has_body = !is_alone && one.tokens[behind].text == "{";
    const auto macro = macros.find(one.tokens[0].text);
    if (macro == macros.end() ? has_body && is_macro_name(one.tokens[0].text)
                              : is_alone && meaning(macro->first) == std::pair(true, false))
      one.kind = Construct::Kind::other;
  }
}

}  // namespace

Reach reach_of(const std::vector<CompiledText>& texts, const std::vector<std::string>& kernels,
               const std::vector<std::string>& used) {
  std::vector<Construct> constructs;
  std::set<std::string, std::less<>> spaces;
  bool is_understood = true;
  std::vector<std::string> codes;
  for (const CompiledText& one : texts) codes.push_back(evened(one.text));
  for (std::size_t i = 0; i < texts.size(); ++i)
    is_understood &= Splitter(codes[i], texts[i], i, constructs, spaces).split();
  if (!is_understood) {
    Reach all;
    all.unreached.resize(texts.size());
    for (const CompiledText& one : texts)
      for (const Token& token : tokens_of(one.text, 0, one.text.size()))
        if (token.is_word()) all.words.emplace(token.text);
    return all;
  }
  leave_macros_of_host(constructs);
  Reaching reaching(std::move(constructs), std::move(spaces));
  reaching.find(kernels, used);
  return reaching.result(texts.size());
}

void leave_out(std::string& text, const std::vector<UnreachedPart>& parts) {
  const std::string blank = blanked(text);
  for (const UnreachedPart& part : parts) {
    std::vector<std::pair<std::size_t, std::size_t>> ranges;
    bool is_safe = true;
    std::size_t from = part.begin;
    for (std::size_t at = part.begin; at < part.end && at < text.size();) {
      if (!begins_directive(blank, at)) {
        ++at;
        continue;
      }
      const std::size_t end = std::min(behind_directive(blank, at), part.end);
      ranges.emplace_back(from, at);
      // A comment that begins in a line that stays must end there.
      const std::string_view line = std::string_view(text).substr(at, end - at);
      const std::size_t comment = line.rfind("/*");
      is_safe &= comment == std::string_view::npos || line.find("*/", comment) != std::string_view::npos;
      from = at = end;
    }
    ranges.emplace_back(from, std::min(part.end, text.size()));
    if (!is_safe) continue;
    for (const auto& [begin, end] : ranges)
      for (std::size_t at = begin; at < end; ++at)
        if (text[at] != '\n') text[at] = ' ';
  }
}

}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
#include "kernel_file/preprocessor.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "generator/c_characters.h"
#include "kernel_file/kernel_source.h"

namespace tunesmith {

bool may_be_of_compiler(std::string_view name) {
  static const std::set<std::string_view> known = {"INFINITY", "NAN",   "NULL", "NDEBUG", "EOF", "assert",
                                                   "WIN32",    "linux", "unix", "min",    "max"};
  const auto begins = [&](std::string_view with) { return name.starts_with(with); };
  const auto ends = [&](std::string_view with) { return name.ends_with(with); };
  return begins("_") || begins("CUDA") || begins("NV") || begins("TUNESMITH_") || begins("M_") ||
         ends("_MAX") || ends("_MIN") || ends("_EPSILON") || known.contains(name);
}

namespace {

constexpr int most_depth = 32;                   // depth of nested includes, and of macros that name macros
constexpr int most_visits = 8;                   // visits of one file that is included repeatedly
constexpr std::size_t most_of_condition = 4096;  // characters

Truth both(Truth a, Truth b) { return std::min(a, b); }
Truth either(Truth a, Truth b) { return std::max(a, b); }
Truth opposite(Truth a) { return a == Truth::maybe ? a : a == Truth::yes ? Truth::no : Truth::yes; }

struct Macro {
  Truth is_defined = Truth::no;
  std::optional<std::string> value = std::nullopt;  // empty: not known, or the macro has parameters
};

class Macros {
 public:
  Macros(const std::vector<std::string>& constants, bool is_host)
      : constants_(constants.begin(), constants.end()) {
    macros_["TUNESMITH"] = {Truth::yes, "1"};
    macros_["__cplusplus"] = {Truth::yes, "202002L"};
    macros_["TUNESMITH_HOST"] = {is_host ? Truth::yes : Truth::no};
    for (const char* of_nvrtc : {"__CUDACC__", "__CUDACC_RTC__", "__CUDA_ARCH__"})
      macros_[of_nvrtc] = {is_host ? Truth::no : Truth::yes};
  }

  Macro find(const std::string& name) const {
    if (constants_.contains(name)) return {Truth::yes};
    if (const auto found = macros_.find(name); found != macros_.end()) return found->second;
    return {may_be_of_compiler(name) ? Truth::maybe : Truth::no};
  }

  bool is_known(const std::string& name) const { return constants_.contains(name) || macros_.contains(name); }

  void define(const std::string& name, std::optional<std::string> value, Truth reached) {
    if (reached == Truth::no) return;
    macros_[name] = reached == Truth::yes ? Macro{Truth::yes, std::move(value)} : Macro{Truth::maybe};
  }
  void undefine(const std::string& name, Truth reached) {
    if (reached == Truth::no) return;
    macros_[name] = {reached == Truth::yes ? Truth::no : Truth::maybe};
  }

 private:
  std::set<std::string> constants_;
  std::map<std::string, Macro> macros_;
};

// Evaluates a condition's expression; nothing if it depends on unknown names or has a form that this class
// does not read.
class Condition {
 public:
  using Value = std::optional<std::int64_t>;

  Condition(std::string_view text, const Macros& macros, int depth = 0)
      : text_(text.substr(0, most_of_condition)), macros_(macros), depth_(depth) {}

  Value value() {
    const Value made = of_level(0);
    skip();
    return at_ == text_.size() && !broken_ ? made : std::nullopt;
  }

 private:
  void skip() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  bool take(std::string_view token) {
    skip();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  std::string word() {
    skip();
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }
  Value broken() {
    broken_ = true;
    at_ = text_.size();
    return std::nullopt;
  }

  // Evaluates operators from the loosest to the tightest level. Unsigned arithmetic wraps; a preprocessor's
  // does so at most.
  Value of_level(int level) {
    static constexpr std::string_view operators[][4] = {
        {"||"}, {"&&"}, {"==", "!="}, {"<=", ">=", "<", ">"}, {"+", "-"}, {"*", "/", "%"}};
    if (++nested_ > most_nested || broken_) return broken();
    if (level == static_cast<int>(std::size(operators))) return of_unary();
    Value left = of_level(level + 1);
    while (!broken_) {
      std::string_view taken;
      for (const std::string_view one : operators[level])
        if (taken.empty() && !one.empty() && take(one)) taken = one;
      if (taken.empty()) break;
      left = combined(taken, left, of_level(level + 1));
    }
    --nested_;
    return left;
  }

  static Value combined(std::string_view by, Value a, Value b) {
    const auto is = [](const Value& value, bool wanted) { return value && (*value != 0) == wanted; };
    if (by == "||") return is(a, true) || is(b, true) ? Value(1) : a && b ? Value(0) : std::nullopt;
    if (by == "&&") return is(a, false) || is(b, false) ? Value(0) : a && b ? Value(1) : std::nullopt;
    if (!a || !b) return std::nullopt;
    if (by == "==") return *a == *b;
    if (by == "!=") return *a != *b;
    if (by == "<=") return *a <= *b;
    if (by == ">=") return *a >= *b;
    if (by == "<") return *a < *b;
    if (by == ">") return *a > *b;
    std::int64_t made = 0;
    if (by == "+") return __builtin_add_overflow(*a, *b, &made) ? Value() : made;
    if (by == "-") return __builtin_sub_overflow(*a, *b, &made) ? Value() : made;
    if (by == "*") return __builtin_mul_overflow(*a, *b, &made) ? Value() : made;
    if (*b == 0 || *b == -1) return std::nullopt;
    return by == "/" ? *a / *b : *a % *b;
  }

  Value of_unary() {
    if (++nested_ > most_nested) return broken();
    Value made;
    if (take("!")) {
      const Value of = of_unary();
      made = of ? Value(*of == 0) : std::nullopt;
    } else if (take("-")) {
      const Value of = of_unary();
      made = of && *of != std::numeric_limits<std::int64_t>::min() ? Value(-*of) : std::nullopt;
    } else if (take("+")) {
      made = of_unary();
    } else if (take("(")) {
      made = of_level(0);
      if (!take(")")) return broken();
    } else {
      made = of_word();
    }
    --nested_;
    return made;
  }

  Value of_word() {
    const std::string name = word();
    if (name.empty()) return broken();
    if (name == "defined") {
      const bool in_parentheses = take("(");
      const std::string of = word();
      if (of.empty() || (in_parentheses && !take(")"))) return broken();
      const Truth is = macros_.find(of).is_defined;
      return is == Truth::maybe ? Value() : Value(is == Truth::yes);
    }
    if (name.front() >= '0' && name.front() <= '9') {
      char* end = nullptr;
      const long long number = std::strtoll(name.c_str(), &end, 0);
      const std::string_view rest = end;
      return rest.find_first_not_of("uUlL") == std::string_view::npos ? Value(number) : broken();
    }
    if (name == "true" || name == "false") return name == "true";
    const Macro macro = macros_.find(name);
    skip();
    if (at_ < text_.size() && text_[at_] == '(')
      return broken();  // __has_include, or a macro with parameters
    if (macro.is_defined == Truth::no) return 0;
    if (!macro.value || depth_ > most_depth) return std::nullopt;
    return Condition(*macro.value, macros_, depth_ + 1).value();
  }

  static constexpr int most_nested = 200;
  std::string_view text_;
  const Macros& macros_;
  int depth_, nested_ = 0;
  std::size_t at_ = 0;
  bool broken_ = false;
};

class Reader {
 public:
  Reader(std::string_view file, const std::vector<std::pair<std::string, std::string>>& included,
         const std::vector<std::string>& constants, bool is_host)
      : macros_(constants, is_host) {
    add("", file);
    for (const auto& [name, text] : included) add(name, text);
  }

  std::vector<CompiledText> read() {
    visit(0, Truth::yes, 0);
    std::vector<CompiledText> all;
    for (File& file : files_) all.push_back({std::move(file.blank), std::move(file.reached)});
    return all;
  }

 private:
  struct File {
    std::string name;
    std::string_view given;
    std::string blank;
    std::vector<Truth> reached;  // the truth of each line
    int visits = 0;
    bool is_once = false;  // #pragma once
  };
  struct Level {
    Truth taken = Truth::no;  // an earlier branch was taken
    Truth now = Truth::no;    // the current branch is taken
  };

  void add(const std::string& name, std::string_view text) {
    File& file = files_.emplace_back(File{name, text, blanked(text), {}});
    file.reached.assign(1 + static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')), Truth::no);
  }

  Truth condition(const std::string& rest) const {
    const Condition::Value value = Condition(rest, macros_).value();
    return !value ? Truth::maybe : *value != 0 ? Truth::yes : Truth::no;
  }

  void visit(std::size_t index, Truth around, int depth) {
    File& file = files_[index];
    if (depth > most_depth || (file.is_once && file.visits > 0) || ++file.visits > most_visits) return;
    std::vector<Level> levels;
    std::size_t line = 0;
    for (std::size_t begin = 0; begin <= file.blank.size(); ++line) {
      const std::size_t first_line = line;
      std::size_t end = std::min(file.blank.find('\n', begin), file.blank.size());
      std::string words = file.blank.substr(begin, end - begin);
      while (end < file.blank.size() && words.ends_with('\\')) {  // the line continues in the next one
        words.back() = ' ';
        const std::size_t next = std::min(file.blank.find('\n', end + 1), file.blank.size());
        words += file.blank.substr(end + 1, next - end - 1);
        end = next;
        ++line;
      }
      const std::size_t before = levels.size();
      bool is_condition = step(words, levels);
      if (is_condition && begins_guard(file.blank, begin, end)) levels.back() = {Truth::yes, Truth::yes};
      // A line such as #else is compiled if its whole #if is.
      const bool is_inside = is_condition && levels.size() >= before;
      const Truth now = around_of(levels, around, levels.size() - (is_inside ? 1 : 0));
      for (std::size_t one = first_line; one <= line; ++one)
        file.reached[one] = either(file.reached[one], now);
      if (!is_condition && now != Truth::no) {
        obey(words, now);
        const std::string_view as_given = file.given.substr(begin, end - begin);
        if (words.find("pragma") != std::string::npos && squeezed_directive(words) == "pragma once")
          file.is_once = true;
        if (const std::string name = included_file(as_given); !name.empty()) {
          for (std::size_t other = 1; other < files_.size(); ++other)
            if (files_[other].name == name) visit(other, now, depth + 1);
        }
      }
      begin = end + 1;
    }
  }

  static Truth around_of(const std::vector<Level>& levels, Truth around, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) around = both(around, levels[i].now);
    return around;
  }

  static std::string squeezed_directive(std::string_view line) {
    std::size_t at = line.find_first_not_of(" \t");
    if (at == std::string_view::npos || line[at] != '#') return "";
    std::string words;
    for (const char c : line.substr(at + 1)) {
      if (!is_space(c))
        words += c;
      else if (!words.empty() && words.back() != ' ')
        words += ' ';
    }
    if (words.ends_with(' ')) words.pop_back();
    return words;
  }

  static std::pair<std::string, std::string> directive(std::string_view line) {
    const std::string words = squeezed_directive(line);
    std::size_t end = 0;
    while (end < words.size() && is_name(words[end])) ++end;
    return {words.substr(0, end), words.substr(end)};
  }

  static std::string first_name(std::string_view words) {
    std::size_t begin = 0;
    while (begin < words.size() && is_space(words[begin])) ++begin;
    std::size_t end = begin;
    while (end < words.size() && is_name(words[end])) ++end;
    return std::string(words.substr(begin, end - begin));
  }

  // True of #ifndef _NAME_H with #define _NAME_H behind it, as the first lines of a file: the guard of a
  // header that is read for the first time, although compilers define names like that.
  bool begins_guard(const std::string& blank, std::size_t begin, std::size_t end) const {
    const auto [word, rest] = directive(std::string_view(blank).substr(begin, end - begin));
    const std::string name = word == "ifndef" ? first_name(rest) : "";
    if (name.empty() || macros_.is_known(name) ||
        !std::all_of(blank.begin(), blank.begin() + static_cast<std::ptrdiff_t>(begin), is_space))
      return false;
    const std::size_t next = std::min(blank.find_first_not_of(" \t\n\r", end), blank.size());
    const std::size_t stop = std::min(blank.find('\n', next), blank.size());
    const auto [second, name_there] = directive(std::string_view(blank).substr(next, stop - next));
    return second == "define" && plain_text(name_there) == name;
  }

  static std::string plain_text(const std::string& words) {
    const std::size_t begin = words.find_first_not_of(' ');
    return begin == std::string::npos ? "" : words.substr(begin);
  }

  // Returns true if the line is one of #if … #endif; `levels` is then updated to the state after the line.
  bool step(const std::string& line, std::vector<Level>& levels) {
    const auto [word, rest] = directive(line);
    if (word == "if" || word == "ifdef" || word == "ifndef") {
      Truth now = Truth::maybe;
      if (word == "if") {
        now = condition(rest);
      } else {
        now = macros_.find(first_name(rest)).is_defined;
        if (word == "ifndef") now = opposite(now);
      }
      levels.push_back({now, now});
      return true;
    }
    if (levels.empty()) return false;
    Level& level = levels.back();
    if (word == "elif" || word == "elifdef" || word == "elifndef") {
      Truth now = Truth::no;
      if (level.taken != Truth::yes) {
        now = word == "elif" ? condition(rest) : macros_.find(first_name(rest)).is_defined;
        if (word == "elifndef") now = opposite(now);
      }
      level.now = both(opposite(level.taken), now);
      level.taken = either(level.taken, now);
      return true;
    }
    if (word == "else") {
      level.now = opposite(level.taken);
      return true;
    }
    if (word != "endif") return false;
    levels.pop_back();
    return true;
  }

  void obey(const std::string& line, Truth now) {
    const auto [word, rest] = directive(line);
    if (word != "define" && word != "undef") return;
    const std::string name = first_name(rest);
    if (name.empty()) return;
    if (word == "undef") return macros_.undefine(name, now);
    const std::string behind = rest.substr(rest.find(name) + name.size());
    const bool has_parameters = behind.starts_with('(');
    macros_.define(name, has_parameters ? std::nullopt : std::optional(behind), now);
  }

  Macros macros_;
  std::vector<File> files_;
};

}  // namespace

std::vector<CompiledText> compiled_texts(std::string_view file,
                                         const std::vector<std::pair<std::string, std::string>>& included,
                                         const std::vector<std::string>& constants) {
  std::vector<CompiledText> all = Reader(file, included, constants, true).read();
  const std::vector<CompiledText> of_nvrtc = Reader(file, included, constants, false).read();
  for (std::size_t i = 0; i < all.size(); ++i) {
    CompiledText& one = all[i];
    for (std::size_t line = 0; line < one.lines.size(); ++line)
      if (one.lines[line] != of_nvrtc[i].lines[line]) one.lines[line] = Truth::maybe;
    std::size_t line = 0;
    for (char& c : one.text) {
      if (c == '\n')
        ++line;
      else if (one.lines[line] == Truth::no)
        c = ' ';
    }
  }
  return all;
}

}  // namespace tunesmith

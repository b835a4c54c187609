// SPDX-License-Identifier: Apache-2.0
#include "kernel_file/host_code.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <regex>
#include <set>

#include "generator/c_characters.h"
#include "generator/dtype.h"
#include "generator/number_text.h"
#include "kernel_file/c_type.h"
#include "kernel_file/kernel_source.h"
#include "kernel_file/text_scanner.h"

namespace tunesmith {
namespace {

using Kind = HostExpression::Kind;
using Names = std::map<std::string, HostName>;

constexpr int most_depth_of_names = 12;

HostExpression number(std::int64_t value) { return {.kind = Kind::number, .number = value, .word = {}}; }
HostExpression name(std::string word) { return {.kind = Kind::name, .word = std::move(word)}; }
// Parses tokens; nothing if they have a form that is not known.
class ExpressionReader {
 public:
  explicit ExpressionReader(const Tokens& tokens) : tokens_(tokens) {}

  std::optional<HostExpression> read() {
    auto made = choice();
    return at_ == tokens_.size() ? made : std::nullopt;
  }

 private:
  using Result = std::optional<HostExpression>;

  std::string_view peek(std::size_t ahead = 0) const {
    return at_ + ahead < tokens_.size() ? tokens_[at_ + ahead].text : std::string_view();
  }
  bool take(std::string_view token) {
    if (peek() != token) return false;
    ++at_;
    return true;
  }

  Result choice() {
    if (++nested_ > 100) return std::nullopt;
    Result condition = binary(0);
    --nested_;
    if (!condition || peek() != "?") return condition;
    ++at_;
    Result yes = choice();
    if (!yes || !take(":")) return std::nullopt;
    Result no = choice();
    if (!no) return std::nullopt;
    return HostExpression{.kind = Kind::choice, .word = "?", .parts = {*condition, *yes, *no}};
  }

  // Returns the operator of the level at this place; empty: there is none.
  std::string operator_of(int level) const {
    static const std::vector<std::vector<std::string>> levels = {
        {"||"}, {"&&"}, {"==", "!="}, {"<=", ">=", "<", ">"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}};
    if (level >= static_cast<int>(levels.size())) return "";
    const std::string two = std::string(peek()) + std::string(peek(1));
    for (const std::string& one : levels[static_cast<std::size_t>(level)]) {
      if (one.size() == 2 && two == one) return one;
      const bool is_shift = two == "<<" || two == ">>" || two == "<=" || two == ">=";
      if (one.size() == 1 && peek() == one && !is_shift) return one;
    }
    return "";
  }

  Result binary(int level) {
    if (level == 7) return unary();
    Result left = binary(level + 1);
    while (left) {
      const std::string by = operator_of(level);
      if (by.empty()) break;
      at_ += by.size();
      Result right = binary(level + 1);
      if (!right) return std::nullopt;
      left = joined(by, *left, *right);
    }
    return left;
  }

  // Returns the number of tokens of a cast's type in parentheses; 0: it is none.
  std::size_t cast() const {
    static const std::set<std::string_view> types = {
        "int",     "unsigned", "long",    "short",    "char",   "size_t",    "float", "double", "uint",
        "int32_t", "uint32_t", "int64_t", "uint64_t", "signed", "ptrdiff_t", "ulong", "bool"};
    std::size_t i = 1;
    if (peek() != "(") return 0;
    while (types.contains(peek(i)) || peek(i) == "std" || peek(i) == "::" || peek(i) == "const") ++i;
    return i > 1 && peek(i) == ")" ? i + 1 : 0;
  }

  Result unary() {
    if (++nested_ > 100) return std::nullopt;
    Result made = unary_of();
    --nested_;
    return made;
  }
  Result unary_of() {
    if (take("+")) return unary();
    if (peek() == "-" || peek() == "!") {
      const std::string by(peek());
      ++at_;
      Result of = unary();
      if (!of) return std::nullopt;
      if (by == "-" && of->kind == Kind::number) return number(-of->number);
      return HostExpression{.kind = Kind::unary, .word = by, .parts = {*of}};
    }
    if (const std::size_t tokens = cast(); tokens > 0) {
      at_ += tokens;
      return unary();
    }
    return primary();
  }

  Result primary() {
    if (take("(")) {
      Result made = choice();
      return made && take(")") ? made : std::nullopt;
    }
    if (at_ >= tokens_.size()) return std::nullopt;
    const Token& one = tokens_[at_];
    if (one.text.front() >= '0' && one.text.front() <= '9') return literal();
    if (!one.is_word()) return std::nullopt;
    std::string word(one.text);
    ++at_;
    if (word == "sizeof") {
      if (!take("(")) return std::nullopt;
      std::string type;
      while (at_ < tokens_.size() && peek() != ")") {
        if (peek() == "(") return std::nullopt;
        type += (type.empty() ? "" : " ") + std::string(peek());
        ++at_;
      }
      return take(")") ? Result({.kind = Kind::size, .word = type}) : std::nullopt;
    }
    if (word == "static_cast") {
      if (peek() != "<") return std::nullopt;
      at_ = behind_bracket(tokens_, at_);
      return primary();
    }
    std::string qualified = word;
    while (peek() == "::") {  // std::min
      if (at_ + 1 >= tokens_.size()) return std::nullopt;
      word = tokens_[at_ + 1].text;
      qualified += "::" + word;
      at_ += 2;
    }
    if (peek() == "<" && (word == "min" || word == "max")) at_ = behind_bracket(tokens_, at_);
    if (peek() == "(") {
      static const std::set<std::string> casts = {"int",  "unsigned", "size_t",  "float", "double",
                                                  "long", "uint32_t", "int64_t", "uint"};
      ++at_;
      HostExpression call{.kind = Kind::call, .word = word};
      while (peek() != ")") {
        Result part = choice();
        if (!part) return std::nullopt;
        call.parts.push_back(*part);
        if (!take(",") && peek() != ")") return std::nullopt;
      }
      ++at_;
      if (casts.contains(word) && call.parts.size() == 1) return call.parts.front();
      return call;
    }
    if (qualified != word && peek() != "<") return name(qualified);
    while (peek() == "." || peek() == "->") {
      if (at_ + 1 >= tokens_.size() || !tokens_[at_ + 1].is_word() || peek(2) == "(") return std::nullopt;
      word += "." + std::string(tokens_[at_ + 1].text);
      at_ += 2;
    }
    if (peek() == "[" && peek(2) == "]" && peek(1).front() >= '0' && peek(1).front() <= '9') {
      word += "[" + std::string(peek(1)) + "]";
      at_ += 3;
    }
    if (peek() == "[" || peek() == "{") return std::nullopt;
    return name(word);
  }

  Result literal() {
    std::string words(tokens_[at_++].text);
    bool is_real = false;
    if (peek() == ".") {  // 1.0f, 1.
      ++at_;
      is_real = true;
      if (at_ < tokens_.size() && is_name(peek().front())) {
        std::string behind(peek());
        while (!behind.empty() && (behind.back() == 'f' || behind.back() == 'F' || behind.back() == '0'))
          behind.pop_back();
        if (!behind.empty()) return std::nullopt;
        ++at_;
      }
    }
    char* end = nullptr;
    const long long value = std::strtoll(words.c_str(), &end, 0);
    for (; *end != '\0'; ++end)
      if (std::string_view("uUlLfF").find(*end) == std::string_view::npos) return std::nullopt;
    HostExpression made = number(value);
    if (is_real) made.word = "real";
    return made;
  }

  const Tokens& tokens_;
  std::size_t at_ = 0;
  int nested_ = 0;
};

std::optional<std::int64_t> folded(const std::string& by, std::int64_t a, std::int64_t b) {
  std::int64_t made = 0;
  if (by == "+") return __builtin_add_overflow(a, b, &made) ? std::optional<std::int64_t>() : made;
  if (by == "-") return __builtin_sub_overflow(a, b, &made) ? std::optional<std::int64_t>() : made;
  if (by == "*") return __builtin_mul_overflow(a, b, &made) ? std::optional<std::int64_t>() : made;
  if (by == "<<" && b >= 0 && b < 62) return folded("*", a, std::int64_t{1} << b);
  if (by == ">>" && b >= 0 && b < 62 && a >= 0) return a >> b;
  if (b == 0) return std::nullopt;
  if (by == "/") return a / b;
  if (by == "%") return a % b;
  return std::nullopt;
}

HostExpression ceil_div(HostExpression a, HostExpression b) {
  return {.kind = Kind::call, .word = "ceil_div", .parts = {std::move(a), std::move(b)}};
}

// Returns a, if the sum is a + b - 1 in any order.
std::optional<HostExpression> without_round_up(const HostExpression& sum, const HostExpression& b) {
  std::vector<std::pair<HostExpression, bool>> terms;  // false: subtracted
  const std::function<void(const HostExpression&, bool)> add = [&](const HostExpression& one, bool plus) {
    if (one.kind == Kind::binary && (one.word == "+" || one.word == "-")) {
      add(one.parts[0], plus);
      add(one.parts[1], one.word == "+" ? plus : !plus);
    } else {
      terms.emplace_back(one, plus);
    }
  };
  add(sum, true);
  std::int64_t rest = 0;
  bool has_b = false;
  std::vector<std::pair<HostExpression, bool>> left;
  for (const auto& [term, plus] : terms) {
    if (term.kind == Kind::number) {
      rest += plus ? term.number : -term.number;
    } else if (plus && !has_b && term == b) {
      has_b = true;
    } else {
      left.emplace_back(term, plus);
    }
  }
  if (!has_b && (b.kind != Kind::number || b.number < 2 || rest < b.number - 1)) return std::nullopt;
  rest += has_b ? 1 : 1 - b.number;
  const auto first = std::find_if(left.begin(), left.end(), [](const auto& one) { return one.second; });
  if (first == left.end()) return std::nullopt;
  HostExpression made = first->first;
  left.erase(first);
  for (auto& [term, plus] : left)
    made = {.kind = Kind::binary, .word = plus ? "+" : "-", .parts = {made, term}};
  if (rest != 0)
    made = {.kind = Kind::binary, .word = rest > 0 ? "+" : "-", .parts = {made, number(std::abs(rest))}};
  return made;
}

}  // namespace

HostExpression joined(const std::string& by, HostExpression a, HostExpression b) {
  if (a.kind == Kind::number && b.kind == Kind::number && a.word.empty() && b.word.empty())
    if (const auto value = folded(by, a.number, b.number)) return number(*value);
  if (by == "*" && a.is_number(1)) return b;
  if ((by == "*" || by == "/") && b.is_number(1)) return a;
  if (by == "+" && a.is_number(0)) return b;
  if ((by == "+" || by == "-") && b.is_number(0)) return a;
  if ((by == "<<" || by == ">>") && b.kind == Kind::number && b.number >= 0 && b.number < 62)
    return {.kind = Kind::binary,
            .word = by == "<<" ? "*" : "/",
            .parts = {std::move(a), number(std::int64_t{1} << b.number)}};
  if (by == "/")
    if (auto of = without_round_up(a, b)) return ceil_div(*of, std::move(b));
  if (by == "+" && a.kind == Kind::binary && a.word == "/") {
    // (a - 1) / b + 1, and a / b + (a % b != 0) in its forms
    const HostExpression &above = a.parts[0], &below = a.parts[1];
    if (b.is_number(1) && above.kind == Kind::binary && above.word == "-" && above.parts[1].is_number(1))
      return ceil_div(above.parts[0], below);
    HostExpression condition = b;
    if (b.kind == Kind::choice && b.parts[1].is_number(1) && b.parts[2].is_number(0)) condition = b.parts[0];
    if (b.kind == Kind::choice && b.parts[1].is_number(0) && b.parts[2].is_number(1) &&
        b.parts[0].kind == Kind::binary && b.parts[0].word == "==" && b.parts[0].parts[1].is_number(0))
      condition = b.parts[0].parts[0];
    if (b.kind == Kind::choice && b.parts[1].is_number(0) && b.parts[2].is_number(1) &&
        b.parts[0].kind == Kind::unary && b.parts[0].word == "!")
      return joined(
          "+", a,
          {.kind = Kind::choice, .word = "?", .parts = {b.parts[0].parts[0], b.parts[2], b.parts[1]}});
    if (condition.kind == Kind::binary && (condition.word == "!=" || condition.word == ">") &&
        condition.parts[1].is_number(0))
      condition = HostExpression(condition.parts[0]);
    if (condition.kind == Kind::binary && condition.word == "%" && condition.parts[0] == above &&
        condition.parts[1] == below)
      return ceil_div(above, below);
  }
  return {.kind = Kind::binary, .word = by, .parts = {std::move(a), std::move(b)}};
}

std::optional<HostExpression> parsed_expression(const std::string& words) {
  const Tokens tokens = tokens_of(words, 0, words.size());
  if (tokens.empty()) return std::nullopt;
  return ExpressionReader(tokens).read();
}

namespace {

std::optional<HostExpression> parsed(const std::string& words) { return parsed_expression(words); }

std::vector<std::string> arguments_of(std::string_view list) {
  std::vector<std::string> all;
  for (const std::string_view part : split_at_commas(list)) {
    std::string one = squeezed(part);
    if (one.starts_with(' ')) one.erase(0, 1);
    all.push_back(std::move(one));
  }
  if (all.size() == 1 && all.front().empty()) all.clear();
  return all;
}

bool is_plain_name(std::string_view text) {
  return !text.empty() && (text.front() < '0' || text.front() > '9') &&
         std::all_of(text.begin(), text.end(), is_name);
}

int strength(const HostExpression& one) {
  if (one.kind == Kind::choice) return 0;
  if (one.kind != Kind::binary) return 9;
  if (one.word == "||") return 1;
  if (one.word == "&&") return 2;
  if (one.word == "+" || one.word == "-") return 5;
  if (one.word == "*" || one.word == "/" || one.word == "%") return 6;
  return 3;
}

// True if a description's language has everything in the expression.
bool is_expressible(const HostExpression& one) {
  static const std::set<std::string> operators = {
      "+", "-", "*", "/", "%", "==", "!=", "<", ">", "<=", ">=", "&&", "||"};
  if (one.kind == Kind::number) return one.word.empty();
  if (one.kind == Kind::binary && !operators.contains(one.word)) return false;
  if (one.kind == Kind::call && one.word != "ceil_div" && one.word != "min" && one.word != "max")
    return false;
  return one.kind != Kind::size && std::all_of(one.parts.begin(), one.parts.end(), is_expressible);
}

}  // namespace

std::string HostExpression::text() const {
  const auto inner = [&](std::size_t i, bool is_right) {
    const int mine = strength(*this), other = strength(parts[i]);
    const std::string text = parts[i].text();
    return other < mine || (other == mine && is_right) ? "(" + text + ")" : text;
  };
  switch (kind) {
    case Kind::number:
      return std::to_string(number);
    case Kind::name:
    case Kind::size:
      return word;
    case Kind::unary:
      return word + (parts[0].parts.empty() ? parts[0].text() : "(" + parts[0].text() + ")");
    case Kind::choice:
      return inner(0, true) + " ? " + inner(1, false) + " : " + inner(2, false);
    case Kind::binary:
      return inner(0, false) + " " + word + " " + inner(1, true);
    case Kind::call: {
      std::string text = word + "(";
      for (std::size_t i = 0; i < parts.size(); ++i) text += (i == 0 ? "" : ", ") + parts[i].text();
      return text + ")";
    }
  }
  return "";
}

HostCode::HostCode(std::string_view code) : code_(code) {
  for (const Braces& one : outer_braces(code)) {
    const std::string_view head = code.substr(one.head, one.open - one.head);
    const std::size_t open = head.find('(');
    if (one.is_transparent() || open == std::string_view::npos || one.kind != Braces::Kind::function)
      continue;
    const std::size_t close = behind_close(head, open);
    if (close == std::string_view::npos) continue;
    Function made;
    std::size_t end = open;
    while (end > 0 && is_space(head[end - 1])) --end;
    std::size_t begin = end;
    while (begin > 0 && is_name(head[begin - 1])) --begin;
    made.name = head.substr(begin, end - begin);
    for (const std::string& parameter : split_list(head.substr(open + 1, close - open - 2))) {
      std::string words = parameter.substr(0, parameter.find_first_of("=["));
      while (!words.empty() && !is_name(words.back())) words.pop_back();
      std::size_t first = words.size();
      while (first > 0 && is_name(words[first - 1])) --first;
      made.parameters.push_back(words.substr(first));
    }
    made.head = one.head;
    made.open = one.open;
    made.close = one.close;
    functions_.push_back(std::move(made));
  }
  for (const Stretch& one : stretches_of(code)) {
    if (one.word != "define") continue;
    std::string line(code.substr(one.begin, one.end - one.begin));
    std::replace(line.begin(), line.end(), '\\', ' ');
    static const std::regex define(R"(\s*#\s*define\s+(\w+)(\(([\w\s,]*)\))?([^]*))");
    std::smatch match;
    if (std::regex_match(line, match, define)) {
      Macro macro;
      if (match[2].matched) macro.parameters = arguments_of(match[3].str());
      macro.body = squeezed(match[4].str());
      macros_.emplace(match[1].str(), std::move(macro));  // the first one, as with #ifndef
    }
  }
}

const HostCode::Function* HostCode::function_at(std::size_t at) const {
  for (const Function& one : functions_)
    if (at > one.head && at < one.close) return &one;
  return nullptr;
}

std::vector<HostLaunch> HostCode::launches_of(const std::string& kernel) const {
  std::vector<HostLaunch> all;
  for (std::size_t at = 0; (at = find_word(code_, kernel, at)) != std::string_view::npos; ++at) {
    if (in_directive(code_, at)) continue;
    HostLaunch made;
    made.at = at;
    std::size_t next = skip_space(code_, at + kernel.size());
    if (next < code_.size() && code_[next] == '<' && code_.substr(next, 3) != "<<<") {
      std::size_t close = next;
      for (int depth = 0; close < code_.size(); ++close) {
        depth += code_[close] == '<' ? 1 : code_[close] == '>' ? -1 : 0;
        if (depth == 0 || code_[close] == ';') break;
      }
      if (close >= code_.size() || code_[close] != '>') continue;
      made.template_arguments = split_list(code_.substr(next + 1, close - next - 1));
      next = skip_space(code_, close + 1);
    }
    if (code_.substr(next, 3) != "<<<") continue;
    const std::size_t close = code_.find(">>>", next);
    if (close == std::string_view::npos) continue;
    const std::vector<std::string> sizes = arguments_of(code_.substr(next + 3, close - next - 3));
    const std::size_t open = skip_space(code_, close + 3);
    if (sizes.size() < 2 || open >= code_.size() || code_[open] != '(') continue;
    const std::size_t end = behind_close(code_, open);
    if (end == std::string_view::npos) continue;
    made.grid = sizes[0];
    made.block = sizes[1];
    if (sizes.size() > 2) made.shared_bytes = sizes[2];
    made.arguments = arguments_of(code_.substr(open + 1, end - open - 2));
    all.push_back(std::move(made));
  }
  for (HostLaunch& one : launches_by_call(kernel)) all.push_back(std::move(one));
  if (!all.empty()) return all;
  // kernel = &transpose; … kernel<<<grid, block>>>(…)
  const std::regex pointer("\\b([A-Za-z_]\\w*)\\s*=\\s*&?\\s*" + kernel + "\\s*(?:<[^;<>]*>)?\\s*;");
  const std::string text(code_);
  for (std::sregex_iterator at(text.begin(), text.end(), pointer), none; at != none; ++at) {
    const std::string variable = (*at)[1].str();
    if (variable == kernel) continue;
    for (HostLaunch& one : launches_of(variable))
      if (one.at > static_cast<std::size_t>(at->position())) all.push_back(std::move(one));
    if (!all.empty()) break;
  }
  return all;
}

std::string HostCode::function_around(std::size_t at) const {
  const Function* const function = function_at(at);
  return function == nullptr ? "" : function->name;
}

// cudaLaunchKernel((void*)kernel, grid, block, arguments, bytes, stream), where `arguments` is an array of
// addresses.
std::vector<HostLaunch> HostCode::launches_by_call(const std::string& kernel) const {
  std::vector<HostLaunch> all;
  for (const char* const name : {"cudaLaunchKernel", "cudaLaunchCooperativeKernel"})
    for (std::size_t at = 0; (at = find_word(code_, name, at)) != std::string_view::npos; ++at) {
      const std::size_t open = skip_space(code_, at + std::string_view(name).size());
      const std::size_t end =
          open < code_.size() && code_[open] == '(' ? behind_close(code_, open) : std::string_view::npos;
      if (end == std::string_view::npos) continue;
      const std::vector<std::string> given = arguments_of(code_.substr(open + 1, end - open - 2));
      if (given.size() < 4 || find_word(given[0], kernel) == std::string::npos) continue;
      HostLaunch made;
      made.at = at;
      made.grid = given[1];
      made.block = given[2];
      if (given.size() > 4) made.shared_bytes = given[4];
      const std::regex list("\\b" + given[3] + "\\s*\\[\\s*\\d*\\s*\\]\\s*=\\s*\\{([^{};]*)\\}");
      const std::string before(code_.substr(0, at));
      std::smatch found;
      std::string words;
      for (auto from = before.cbegin(); std::regex_search(from, before.cend(), found, list);
           from = found[0].second)
        words = found[1].str();
      static const std::regex address(R"(^\s*(?:\(\s*(?:const\s+)?void\s*\*\s*\)\s*)?&\s*)");
      for (const std::string& one : words.empty() ? std::vector<std::string>() : arguments_of(words))
        made.arguments.push_back(std::regex_replace(one, address, ""));
      all.push_back(std::move(made));
    }
  return all;
}

std::optional<std::string> HostCode::definition(const std::string& name, std::size_t at,
                                                bool& is_constant) const {
  // True if the statement that goes on at `at` is a list of dim3: dim3 grid(n), block(64).
  const auto is_dim3_statement = [&](std::size_t begin, std::size_t at) {
    const std::size_t end = code_.substr(0, at).find_last_of(";{}");
    const std::size_t from = skip_space(code_, std::max(begin, end == std::string_view::npos ? 0 : end + 1));
    return code_.substr(from).starts_with("dim3 ") || code_.substr(from).starts_with("const dim3 ");
  };
  const auto search = [&](std::size_t begin, std::size_t end, bool at_file_scope,
                          std::size_t& count) -> std::optional<std::string> {
    std::optional<std::string> found;
    count = 0;
    bool are_declarations = true;  // each in its own scope: the last one before the place is meant
    const std::string_view range = code_.substr(0, end);
    for (std::size_t place = begin; (place = find_word(range, name, place)) != std::string_view::npos;
         ++place) {
      if (in_directive(code_, place)) continue;
      if (at_file_scope && function_at(place) != nullptr) continue;
      const char before = place > 0 ? code_[place - 1] : ' ';
      if (before == '.' || (before == '>' && place > 1 && code_[place - 2] == '-')) continue;
      std::size_t next = skip_space(range, place + name.size());
      if (next >= range.size()) continue;
      std::size_t from = 0, stop = 0;
      std::size_t back = place;
      while (back > begin && is_space(code_[back - 1])) --back;
      const bool has_type = back > begin && is_name(code_[back - 1]) && back < place;
      const bool is_further = back > begin && code_[back - 1] == ',' && is_dim3_statement(begin, back);
      if (range[next] == '[' && has_type) {  // size_t sizes[2] = { … }
        const std::size_t behind = behind_close(range, next);
        if (behind == std::string_view::npos) continue;
        next = skip_space(range, behind);
        if (next >= range.size() || range[next] != '=') continue;
      }
      if (range[next] == '=' && range.substr(next, 2) != "==") {
        from = next + 1;
      } else if ((range[next] == '(' || range[next] == '{') && (has_type || is_further)) {
        // dim3 grid(a, b): the components stand for it.
        std::size_t word = back;
        while (word > begin && is_name(code_[word - 1])) --word;
        const std::string_view type = is_further ? "dim3" : code_.substr(word, back - word);
        if (type == "return" || type == "new" || type == "else") continue;
        const std::size_t close = behind_close(range, next);
        if (close == std::string_view::npos) continue;
        const std::string inner = squeezed(range.substr(next + 1, close - next - 2));
        ++count;
        if (!found || place < at) found = type == "dim3" || type == "uint3" ? "dim3(" + inner + ")" : inner;
        continue;
      } else {
        const std::string_view by = range.substr(next, 2);
        if (by == "+=" || by == "-=" || by == "*=" || by == "/=" || by == "++" || by == "--") {
          ++count;
          are_declarations = false;
        }
        continue;
      }
      int depth = 0;
      for (stop = from; stop < range.size(); ++stop) {
        const char c = range[stop];
        if (c == '(' || c == '[' || c == '{') ++depth;
        if (c == ')' || c == ']' || c == '}') --depth;
        if (c == ';' || depth < 0 || (c == ',' && depth == 0)) break;
      }
      ++count;
      are_declarations &= has_type;
      if (!found || (has_type && place < at)) found = squeezed(range.substr(from, stop - from));
    }
    if (count > 1 && are_declarations) count = 1;
    return found;
  };
  std::size_t count = 0;
  is_constant = false;
  const Function* function = function_at(at);
  if (function != nullptr) {
    const auto local = search(function->open, function->close, false, count);
    if (count > 1) return value_at(name, *function, at);
    if (local) return local;
  }
  const auto global = search(0, code_.size(), true, count);
  is_constant = true;
  return count == 1 ? global : std::nullopt;
}

std::optional<std::string> HostCode::value_at(const std::string& name, const Function& function,
                                              std::size_t at) const {
  if (at <= function.open || at >= function.close) return std::nullopt;
  struct Assignment {
    std::size_t place;
    std::string value;  // empty: it is computed from the one before
  };
  std::vector<Assignment> before, behind;
  for (std::size_t place = function.open; (place = find_word(code_, name, place)) < function.close; ++place) {
    const char left = code_[place - 1];
    if (left == '.' || left == '&' || (left == '>' && code_[place - 2] == '-')) {
      // scanf("%d", &n) and x.n = 1: anything may be there then
      if (left == '&' && code_[place - 2] != '&') (place < at ? before : behind).push_back({place, ""});
      continue;
    }
    const std::size_t next = skip_space(code_, place + name.size());
    const std::string_view by = code_.substr(next, 2);
    static const std::set<std::string_view> compound = {"+=", "-=", "*=", "/=", "%=", "++", "--", "<<", ">>"};
    const bool is_shift = by == "<<" || by == ">>";
    const bool is_compound = compound.contains(by) && (!is_shift || code_.substr(next + 2, 1) == "=");
    const bool is_assigned = code_[next] == '=' && by != "==";
    if (!is_compound && !is_assigned && left != '+' && left != '-') continue;
    if ((left == '+' || left == '-') && code_[place - 2] != left) continue;
    std::string value;
    if (is_assigned) {
      std::size_t stop = next + 1;
      for (int depth = 0; stop < function.close; ++stop) {
        const char c = code_[stop];
        depth += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
        if (c == ';' || depth < 0 || (c == ',' && depth == 0)) break;
      }
      value = squeezed(code_.substr(next + 1, stop - next - 1));
      if (find_word(value, name) != std::string::npos) value.clear();
    }
    (place < at ? before : behind).push_back({place, std::move(value)});
  }
  if (before.empty() || before.back().value.empty()) return std::nullopt;
  const std::size_t last = before.back().place;
  const std::size_t statement = code_.find_last_of(";{})", last);
  if (statement != std::string_view::npos && code_[statement] == ')') return std::nullopt;  // if (…) n = 1;
  int depth = 0;
  for (std::size_t i = last; i < at; ++i) {
    depth += code_[i] == '{' ? 1 : code_[i] == '}' ? -1 : 0;
    if (depth < 0) return std::nullopt;  // it is assigned in a branch
  }
  // A loop around the place that does not begin with the assignment may bring another value back.
  std::size_t open = at;
  for (int nested = 0; open > last; --open) {
    nested += code_[open - 1] == '}' ? 1 : code_[open - 1] == '{' ? -1 : 0;
    if (nested >= 0) continue;
    nested = 0;
    const std::size_t close = behind_close(code_, open - 1);
    if (std::any_of(behind.begin(), behind.end(), [&](const Assignment& one) { return one.place < close; }))
      return std::nullopt;
  }
  return before.back().value;
}

std::optional<std::string> HostCode::template_argument(const std::string& parameter, std::size_t at) const {
  const Function* const function = function_at(at);
  if (function == nullptr) return std::nullopt;
  const std::string head(code_.substr(function->head, function->open - function->head));
  static const std::regex list(R"(\btemplate\s*<([^{}()]*?)>\s*[\w:*&\s]*\()");
  std::smatch match;
  if (!std::regex_search(head, match, list)) return std::nullopt;
  const std::vector<std::string> parameters = split_list(match[1].str());
  std::size_t place = parameters.size();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::string words = parameters[i].substr(0, parameters[i].find('='));
    if (find_word(words, parameter) != std::string::npos) place = i;
  }
  if (place == parameters.size()) return std::nullopt;
  for (std::size_t from = 0; (from = find_word(code_, function->name, from)) != std::string_view::npos;
       ++from) {
    const std::size_t open = skip_space(code_, from + function->name.size());
    if (open >= code_.size() || code_[open] != '<' || code_.substr(open, 3) == "<<<" ||
        function_at(from) == function)
      continue;
    const std::size_t close = code_.find_first_of(">;", open);
    if (close == std::string_view::npos || code_[close] == ';') continue;
    const std::vector<std::string> given = split_list(code_.substr(open + 1, close - open - 1));
    if (place < given.size()) return given[place];
  }
  return std::nullopt;
}

std::optional<HostCode::Loop> HostCode::loop_of(const std::string& variable, std::size_t at) const {
  const Function* const function = function_at(at);
  if (function == nullptr) return std::nullopt;
  std::optional<Loop> found;
  for (std::size_t place = function->open; (place = find_word(code_, "for", place)) < at; ++place) {
    const std::size_t open = skip_space(code_, place + std::string_view("for").size());
    if (open >= at || code_[open] != '(') continue;
    const std::size_t close = behind_close(code_, open);
    if (close == std::string_view::npos) continue;
    const std::size_t body = skip_space(code_, close);
    const std::size_t end =
        body < code_.size() && code_[body] == '{' ? behind_close(code_, body) : code_.find(';', body);
    if (end == std::string_view::npos || at < body || at > end) continue;
    static const std::regex head(
        R"(\s?(?:[\w\s]+\s)?([A-Za-z_]\w*)\s?=([^;,=]+);\s?([A-Za-z_]\w*)\s?(<=?)([^;<=>&|]+);[^;]*)");
    std::smatch match;
    const std::string words = squeezed(code_.substr(open + 1, close - open - 2));
    if (std::regex_match(words, match, head) && match[1].str() == variable && match[3].str() == variable)
      found = Loop{match[2].str(), match[4].str(), match[5].str()};
  }
  return found;
}

std::optional<HostExpression> HostCode::of_member(const std::string& word, const Place& place, Names& names,
                                                  int depth) const {
  const std::size_t colons = word.find("::");
  std::string of = word.substr(0, colons), given;
  const std::string member = word.substr(colons + 2), code(code_);
  std::smatch match;
  // using Wide = Packed<float>; typedef Packed<float> Wide;
  const std::regex alias("\\busing\\s+" + of + R"(\s*=\s*(\w+)\s*<([^<>;]*)>\s*;)"),
      other(R"(\btypedef\s+(\w+)\s*<([^<>;]*)>\s*)" + of + "\\s*;");
  if (std::regex_search(code, match, alias) || std::regex_search(code, match, other)) {
    given = match[2].str();
    of = match[1].str();
  }
  const std::regex head(
      "(?:\\btemplate\\s*<\\s*(?:class|typename)\\s+(\\w+)\\s*>\\s*)?\\b(?:struct|class)\\b(?:[^;{}()]|\\("
      "\\d+\\))*\\b" +
      of + "\\s*\\{");
  if (!std::regex_search(code, match, head)) return std::nullopt;
  const std::string parameter = match[1].str();
  const auto open = static_cast<std::size_t>(match.position() + match.length()) - 1;
  const std::size_t close = behind_close(code_, open);
  if (close == std::string_view::npos) return std::nullopt;
  const std::string body = code.substr(open, close - open);
  const std::regex constant("\\bstatic\\b[\\w\\s]*\\b" + member + R"(\s*=([^;]+);)");
  if (!std::regex_search(body, match, constant)) return std::nullopt;
  std::string value = match[1].str();
  if (!parameter.empty()) value = std::regex_replace(value, std::regex("\\b" + parameter + "\\b"), given);
  const auto tree = parsed(value);
  return tree ? resolved(counted(*tree), place, names, depth + 1) : std::nullopt;
}

std::optional<HostCode::Call> HostCode::call_of(const Function& function, const Place& place) const {
  for (std::size_t at = 0; (at = find_word(code_, function.name, at)) != std::string_view::npos; ++at) {
    const Function* around = function_at(at);
    if (around == nullptr || around == &function || at < around->open || in_directive(code_, at)) continue;
    std::size_t open = skip_space(code_, at + function.name.size());
    if (open < code_.size() && code_[open] == '<') {
      const std::size_t close = code_.find('>', open);
      if (close == std::string_view::npos) continue;
      open = skip_space(code_, close + 1);
    }
    if (open >= code_.size() || code_[open] != '(') continue;
    const std::size_t close = behind_close(code_, open);
    if (close == std::string_view::npos) continue;
    Call made;
    made.arguments = arguments_of(code_.substr(open + 1, close - open - 2));
    if (made.arguments.size() != function.parameters.size()) continue;
    made.place.at = at;
    for (std::size_t i = 0; i < made.arguments.size(); ++i)
      if (const auto known = place.known.find(function.parameters[i]);
          known != place.known.end() && is_plain_name(made.arguments[i]))
        made.place.known[made.arguments[i]] = known->second;
    return made;
  }
  return std::nullopt;
}

std::optional<HostExpression> HostCode::of_name(const std::string& word, const Place& place, Names& names,
                                                int depth) const {
  if (const auto known = place.known.find(word); known != place.known.end()) return name(known->second);
  const auto kept = [&](std::optional<std::int64_t> value, bool is_constant) {
    std::string plain = word;
    std::replace(plain.begin(), plain.end(), '.', '_');
    HostName& one = names[plain];
    if (value) one.value = value;
    one.is_constant |= is_constant;
    return name(plain);
  };
  if (const std::size_t colons = word.rfind("::"); colons != std::string::npos) {
    if (const auto member = of_member(word, place, names, depth)) return member;
    return of_name(word.substr(colons + 2), place, names, depth);
  }
  if (const std::size_t open = word.find('['); open != std::string::npos) {  // sizes[1]
    bool is_constant = false;
    const auto given = definition(word.substr(0, open), place.at, is_constant);
    const auto i =
        parsed_number<std::int64_t>(std::string_view(word).substr(open + 1, word.size() - open - 2));
    const std::size_t brace = given ? given->find('{') : std::string::npos;
    if (brace == std::string::npos || !i || given->back() != '}') return std::nullopt;
    const std::vector<std::string> all =
        arguments_of(std::string_view(*given).substr(brace + 1, given->size() - brace - 2));
    const auto tree = *i >= 0 && *i < static_cast<std::int64_t>(all.size())
                          ? parsed(all[static_cast<std::size_t>(*i)])
                          : std::nullopt;
    return tree ? resolved(*tree, place, names, depth + 1) : std::nullopt;
  }
  const std::size_t dot = word.find('.');
  if (dot != std::string::npos) {
    const std::string of = word.substr(0, dot), part = word.substr(dot + 1);
    if (part == "x" || part == "y" || part == "z") {
      const std::vector<HostExpression> all = components(of, place, names, depth + 1);
      const std::size_t i = part == "x" ? 0 : part == "y" ? 1 : 2;
      if (!all.empty()) {
        const HostExpression one = i < all.size() ? all[i] : number(1);
        return one.kind == Kind::number ? kept(one.number, false) : one;
      }
    }
    return kept(std::nullopt, false);
  }
  if (const auto macro = macros_.find(word); macro != macros_.end() && !macro->second.parameters) {
    const auto body = parsed(macro->second.body);
    if (!body) return std::nullopt;
    const auto made = resolved(*body, place, names, depth + 1);
    return made && made->kind == Kind::number ? kept(made->number, true) : made;
  }
  bool is_constant = false;
  if (const auto given = definition(word, place.at, is_constant)) {
    if (const auto tree = parsed(*given)) {
      Names more = names;
      const auto made = resolved(*tree, place, more, depth + 1);
      if (made) {
        if (made->kind == Kind::number) return kept(made->number, is_constant);
        names = std::move(more);
        return made;
      }
    }
    return kept(std::nullopt, is_constant);
  }
  const Function* function = function_at(place.at);
  if (function != nullptr) {
    const auto parameter = std::find(function->parameters.begin(), function->parameters.end(), word);
    if (parameter != function->parameters.end()) {
      if (const auto call = call_of(*function, place)) {
        const auto tree =
            parsed(call->arguments[static_cast<std::size_t>(parameter - function->parameters.begin())]);
        Names more = names;
        const auto made = tree ? resolved(*tree, call->place, more, depth + 1) : std::nullopt;
        if (made && made->kind == Kind::number) return kept(made->number, false);
        if (made) {
          names = std::move(more);
          return made;
        }
      }
    }
  }
  if (const auto argument = template_argument(word, place.at); argument && *argument != word)
    if (const auto tree = parsed(*argument); tree && tree->kind == Kind::number)
      return kept(tree->number, false);
  return kept(std::nullopt, false);
}

std::optional<HostExpression> HostCode::of_call(const HostExpression& given, const Place& place, Names& names,
                                                int depth) const {
  std::vector<HostExpression> parts;
  for (const HostExpression& one : given.parts) {
    const auto part = resolved(one, place, names, depth + 1);
    if (!part) return std::nullopt;
    parts.push_back(*part);
  }
  if (given.word == "min" || given.word == "max" || given.word == "ceil_div")
    return parts.size() == 2
               ? std::optional(HostExpression{.kind = Kind::call, .word = given.word, .parts = parts})
               : std::nullopt;
  const bool rounds_up = given.word == "ceil" || given.word == "ceilf";
  if (rounds_up && parts.size() == 1) {
    HostExpression of = parts.front();
    // A whole number stays what it is.
    if (is_expressible(of) && (of.kind == Kind::name || of.kind == Kind::number)) return of;
    if (of.kind != Kind::binary || of.word != "/") return std::nullopt;
    const std::function<HostExpression(const HostExpression&)> whole = [&](const HostExpression& one) {
      if (one.kind == Kind::number) return number(one.number);
      if (one.kind == Kind::binary && one.word == "*") {
        const HostExpression a = whole(one.parts[0]), b = whole(one.parts[1]);
        return joined("*", a, b);
      }
      return one;
    };
    return ceil_div(whole(of.parts[0]), whole(of.parts[1]));
  }
  // A macro or a function of the file that returns an expression.
  std::vector<std::string> parameters;
  std::string body;
  if (const auto macro = macros_.find(given.word); macro != macros_.end()) {
    if (!macro->second.parameters) return std::nullopt;
    parameters = *macro->second.parameters;
    body = macro->second.body;
  } else {
    const auto function = std::find_if(functions_.begin(), functions_.end(),
                                       [&](const Function& one) { return one.name == given.word; });
    if (function == functions_.end()) return std::nullopt;
    parameters = function->parameters;
    const std::string inside =
        squeezed(code_.substr(function->open + 1, function->close - function->open - 1));
    static const std::regex returns(R"(\s?return\b([^;]*);\s?)");
    std::smatch match;
    if (!std::regex_match(inside, match, returns)) return std::nullopt;
    body = match[1].str();
  }
  if (parameters.size() != parts.size()) return std::nullopt;
  const auto tree = parsed(body);
  if (!tree) return std::nullopt;
  const std::function<HostExpression(const HostExpression&)> with = [&](const HostExpression& one) {
    if (one.kind == Kind::name) {
      const auto found = std::find(parameters.begin(), parameters.end(), one.word);
      if (found != parameters.end()) return parts[static_cast<std::size_t>(found - parameters.begin())];
      return one;
    }
    HostExpression made = one;
    for (HostExpression& part : made.parts) part = with(part);
    if (made.kind == Kind::binary) return joined(made.word, made.parts[0], made.parts[1]);
    return made;
  };
  return with(*tree);
}

std::optional<HostExpression> HostCode::resolved(const HostExpression& given, const Place& place,
                                                 Names& names, int depth) const {
  if (depth > most_depth_of_names) return std::nullopt;
  switch (given.kind) {
    case Kind::number:
    case Kind::size:
      return given;
    case Kind::name:
      return of_name(given.word, place, names, depth);
    case Kind::call:
      return of_call(given, place, names, depth);
    default: {
      HostExpression made = given;
      for (HostExpression& part : made.parts) {
        const auto one = resolved(part, place, names, depth + 1);
        if (!one) return std::nullopt;
        part = *one;
      }
      if (made.kind == Kind::binary) return joined(made.word, made.parts[0], made.parts[1]);
      if (made.kind == Kind::choice && made.parts[0].kind == Kind::binary && made.parts[0].word == "==" &&
          made.parts[0].parts[1].is_number(0) && made.parts[0].parts[0].kind == Kind::binary &&
          made.parts[0].parts[0].word == "%") {
        // a % b == 0 ? a / b : a / b + 1
        const HostExpression &a = made.parts[0].parts[0].parts[0], &b = made.parts[0].parts[0].parts[1];
        const HostExpression quotient = joined("/", a, b);
        if (made.parts[1] == quotient && made.parts[2] == joined("+", quotient, number(1)))
          return ceil_div(a, b);
      }
      return made;
    }
  }
}

HostExpression HostCode::counted(const HostExpression& one) const {
  if (one.kind == Kind::size) {
    const CType type = c_type(one.word, code_);
    return type.dtype && type.ambiguity.empty() ? number(bytes(*type.dtype) * type.lanes) : one;
  }
  HostExpression copy = one;
  for (HostExpression& part : copy.parts) part = counted(part);
  return copy.kind == Kind::binary ? joined(copy.word, copy.parts[0], copy.parts[1]) : copy;
}

std::optional<HostExpression> HostCode::resolved(const std::string& words, const Place& place,
                                                 Names& names) const {
  const auto tree = parsed(words);
  if (!tree) return std::nullopt;
  auto made = resolved(*tree, place, names, 0);
  if (made && !is_expressible(*made)) {
    made = counted(*made);
  }
  return made && is_expressible(*made) ? made : std::nullopt;
}

std::vector<HostExpression> HostCode::components(const std::string& words, const Place& place, Names& names,
                                                 int depth) const {
  if (depth > most_depth_of_names) return {};
  const std::string trimmed = words.starts_with(' ') ? words.substr(1) : words;
  static const std::regex vector(R"((?:make_)?(?:dim3|uint3)\s?[({]([^]*)[)}])");
  std::smatch match;
  std::vector<std::string> list;
  if (std::regex_match(trimmed, match, vector)) {
    list = arguments_of(match[1].str());
  } else if (trimmed.starts_with('{') && trimmed.ends_with('}')) {
    list = arguments_of(std::string_view(trimmed).substr(1, trimmed.size() - 2));
  } else if (is_plain_name(trimmed)) {
    bool is_constant = false;
    const auto given = definition(trimmed, place.at, is_constant);
    std::vector<HostExpression> parts;
    const bool is_given = given && (std::regex_match(*given, match, vector) || given->starts_with('{') ||
                                    given->starts_with(" {"));
    if (is_given) parts = components(*given, place, names, depth + 1);
    // grid.x = …; grid.y = …: the last one before the place, else the first one behind it.
    const Function* function = function_at(place.at);
    const bool is_whole = !parts.empty();
    for (std::size_t i = 0; i < 3 && function != nullptr; ++i) {
      const std::string body(code_.substr(function->open, function->close - function->open));
      const std::regex assigned("\\b" + trimmed + "\\s?\\.\\s?" + "xyz"[i] + R"(\s*=([^=;][^;]*);)");
      std::string words;
      for (std::sregex_iterator one(body.begin(), body.end(), assigned), end; one != end; ++one) {
        const bool is_before = function->open + static_cast<std::size_t>(one->position()) < place.at;
        if (is_before || (words.empty() && !is_whole)) words = (*one)[1].str();
      }
      if (words.empty()) {
        if (is_whole) continue;
        break;
      }
      const auto tree = parsed(words);
      const auto one = tree ? resolved(*tree, place, names, depth + 1) : std::nullopt;
      if (!one || !is_expressible(*one)) return {};
      while (parts.size() <= i) parts.push_back(number(1));
      parts[i] = *one;
    }
    while (parts.size() > 1 && parts.back().is_number(1)) parts.pop_back();
    if (is_given || !parts.empty()) return parts;
    // A parameter of the function around: the call's argument.
    if (!given && function != nullptr) {
      const auto parameter = std::find(function->parameters.begin(), function->parameters.end(), trimmed);
      if (parameter != function->parameters.end() && place.known.count(trimmed) == 0)
        if (const auto call = call_of(*function, place)) {
          const std::string& argument =
              call->arguments[static_cast<std::size_t>(parameter - function->parameters.begin())];
          if (argument != trimmed || call->place.at != place.at) {
            auto all = components(argument, call->place, names, depth + 1);
            if (!all.empty() && !(all.size() == 1 && all.front().kind == Kind::number)) return all;
          }
        }
    }
    list = {trimmed};
  } else {
    list = {trimmed};
  }
  std::vector<HostExpression> all;
  for (const std::string& one : list) {
    const auto made = resolved(one, place, names);
    if (!made) return {};
    all.push_back(*made);
  }
  while (all.size() > 1 && all.back().is_number(1)) all.pop_back();
  return all.size() <= 3 ? all : std::vector<HostExpression>{};
}

std::vector<HostExpression> HostCode::components(const std::string& words, const Place& place,
                                                 Names& names) const {
  return components(words, place, names, 0);
}

std::optional<HostExpression> HostCode::allocation(const std::string& pointer, const Place& place,
                                                   Names& names, int depth) const {
  if (depth > most_depth_of_names) return std::nullopt;
  std::string word = pointer;  // (float*)d_x, &d_x[0], thrust::raw_pointer_cast(x.data())
  if (!is_plain_name(word)) {
    static const std::regex cast(R"(\([\w\s:]*\*\s*\)\s*(\w+))");
    std::smatch match;
    if (!std::regex_match(word, match, cast)) return std::nullopt;
    word = match[1].str();
  }
  const Function* function = function_at(place.at);
  const std::size_t begin = function != nullptr ? function->open : 0;
  const std::size_t end = function != nullptr ? function->close : code_.size();
  const auto in = [&](std::size_t from, std::size_t to) -> std::optional<HostExpression> {
    static const std::regex takes(
        R"(\b(cudaMalloc|cudaMallocManaged|cudaMallocAsync|cuMemAlloc|hipMalloc)\s*\()");
    const std::string text(code_.substr(from, to - from));
    for (std::sregex_iterator at(text.begin(), text.end(), takes), none; at != none; ++at) {
      const std::size_t open = from + static_cast<std::size_t>(at->position()) + at->str().size() - 1;
      const std::size_t close = behind_close(code_, open);
      if (close == std::string_view::npos) continue;
      const std::vector<std::string> list = arguments_of(code_.substr(open + 1, close - open - 2));
      if (list.size() < 2 || find_word(list[0], word) == std::string::npos) continue;
      const auto tree = parsed(list[1]);
      return tree ? resolved(*tree, {.at = open, .known = place.known}, names, depth + 1) : std::nullopt;
    }
    return std::nullopt;
  };
  if (const auto found = in(begin, end)) return found;
  if (function != nullptr) {
    const auto parameter = std::find(function->parameters.begin(), function->parameters.end(), word);
    if (parameter != function->parameters.end()) {
      const auto call = call_of(*function, place);
      return call ? allocation(
                        call->arguments[static_cast<std::size_t>(parameter - function->parameters.begin())],
                        call->place, names, depth + 1)
                  : std::nullopt;
    }
    bool is_constant = false;
    if (const auto given = definition(word, place.at, is_constant); given && is_plain_name(squeezed(*given)))
      return allocation(*given, place, names, depth + 1);
  }
  return in(0, code_.size());
}

std::optional<HostExpression> HostCode::allocation(const std::string& pointer, const Place& place,
                                                   Names& names) const {
  return allocation(pointer, place, names, 0);
}

std::optional<HostExpression> HostCode::elements(const HostExpression& given,
                                                 const std::string& element) const {
  std::string plain = element;
  std::erase(plain, '*');
  while (!plain.empty() && plain.back() == ' ') plain.pop_back();
  const CType type = c_type(plain, code_);
  std::vector<HostExpression> factors;
  const std::function<void(const HostExpression&)> split = [&](const HostExpression& one) {
    if (one.kind == Kind::binary && one.word == "*") {
      split(one.parts[0]);
      split(one.parts[1]);
    } else {
      factors.push_back(one);
    }
  };
  split(given);
  const std::int64_t of_element = type.dtype ? bytes(*type.dtype) * type.lanes : 0;
  bool is_divided = false;
  for (HostExpression& one : factors) {
    if (one.kind != Kind::size) continue;
    const CType size = c_type(one.word, code_);
    const std::int64_t of_size = size.dtype ? bytes(*size.dtype) * size.lanes : 0;
    const bool is_alike = one.word == plain || (of_size > 0 && of_size == of_element);
    if (!is_divided && is_alike) {
      one = number(1);
      is_divided = true;
    } else if (of_size > 0) {
      one = number(of_size);
    } else {
      return std::nullopt;
    }
  }
  for (HostExpression& one : factors) {
    if (is_divided || one.kind != Kind::number || of_element == 0 || one.number % of_element != 0) continue;
    one = number(one.number / of_element);
    is_divided = true;
  }
  std::int64_t vectors = 1;  // bytes of smaller elements
  for (HostExpression& one : factors) {
    if (is_divided || one.kind != Kind::number || one.number < 1 || of_element % one.number != 0) continue;
    vectors = of_element / one.number;
    one = number(1);
    is_divided = true;
  }
  if (!is_divided) return std::nullopt;
  HostExpression made = number(1);
  for (const HostExpression& one : factors) made = joined("*", made, one);
  if (vectors > 1) made = joined("/", made, number(vectors));
  return is_expressible(made) ? std::optional(made) : std::nullopt;
}

std::map<std::string, std::string> HostCode::plain_macros() const {
  std::map<std::string, std::string> all;
  for (const auto& [name, macro] : macros_)
    if (!macro.parameters) all.emplace(name, macro.body);
  return all;
}

std::optional<std::int64_t> HostCode::constant(const std::string& word) const { return constant(word, 0); }

std::optional<std::int64_t> HostCode::constant(const std::string& word, int depth) const {
  std::optional<HostExpression> tree;
  if (depth > most_depth_of_names) return std::nullopt;
  if (const auto macro = macros_.find(word); macro != macros_.end()) {
    if (!macro->second.parameters) tree = parsed(macro->second.body);
  } else {
    bool is_constant = false;
    if (const auto given = definition(word, code_.size(), is_constant)) tree = parsed(*given);
  }
  if (!tree) return std::nullopt;
  const std::function<std::optional<std::int64_t>(const HostExpression&)> value =
      [&](const HostExpression& one) -> std::optional<std::int64_t> {
    if (one.kind == Kind::number) return one.word.empty() ? std::optional(one.number) : std::nullopt;
    if (one.kind == Kind::name) return constant(one.word, depth + 1);
    if (one.kind != Kind::binary) return std::nullopt;
    const auto a = value(one.parts[0]), b = value(one.parts[1]);
    return a && b ? folded(one.word, *a, *b) : std::nullopt;
  };
  return value(*tree);
}

}  // namespace tunesmith

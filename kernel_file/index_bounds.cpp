// SPDX-License-Identifier: Apache-2.0
#include "kernel_file/index_bounds.h"

#include <algorithm>
#include <array>
#include <functional>
#include <tuple>
#include <utility>

namespace tunesmith {
namespace {

using Expression = HostExpression;
using Form = HostExpression::Kind;

constexpr int most_substitutions = 8;
constexpr int most_steps = 20'000;  // for an array, because each substitution may ask for several others

std::string words_of_tokens(const Tokens& tokens, std::size_t begin, std::size_t end) {
  std::string words;
  for (std::size_t i = begin; i < end; ++i) words += (i == begin ? "" : " ") + std::string(tokens[i].text);
  return words;
}

void add_terms(const Expression& one, std::vector<Expression>& terms) {
  if (one.kind == Form::binary && (one.word == "+" || one.word == "-")) {
    add_terms(one.parts[0], terms);
    if (one.word == "+") add_terms(one.parts[1], terms);
  } else {
    terms.push_back(one);
  }
}

void add_factors(const Expression& one, std::vector<Expression>& factors) {
  if (one.kind == Form::binary && one.word == "*") {
    add_factors(one.parts[0], factors);
    add_factors(one.parts[1], factors);
  } else {
    factors.push_back(one);
  }
}

bool holds_name(const Expression& one, const std::string& name) {
  if (one.kind == Form::name && one.word == name) return true;
  return std::any_of(one.parts.begin(), one.parts.end(),
                     [&](const Expression& part) { return holds_name(part, name); });
}

void add_names(const Expression& one, std::set<std::string>& names) {
  if (one.kind == Form::name) names.insert(one.word);
  for (const Expression& part : one.parts) add_names(part, names);
}

}  // namespace

IndexBounds::IndexBounds(std::string_view body, std::set<std::string> sizes,
                         const std::map<std::string, std::string>& macros,
                         const std::function<std::int64_t(const std::string&)>& bytes_of)
    : tokens_(tokens_of(body, 0, body.size())), sizes_(std::move(sizes)) {
  replace_casts(bytes_of);
  for (const auto& [name, text] : macros) {
    if (sizes_.contains(name)) continue;
    if (auto made = parsed_expression(text)) definitions_[name] = {std::move(*made)};
  }
  static const std::set<std::string_view> stops = {";", "&&", "||", "?", "{", "}", ",", "&", "|"};
  // Returns the end of the expression that begins at the token.
  const auto end_of = [&](std::size_t begin) {
    int depth = 0;
    std::size_t i = begin;
    for (; i < tokens_.size(); ++i) {
      const std::string_view one = tokens_[i].text;
      if (one == "(" || one == "[") ++depth;
      if ((one == ")" || one == "]") && --depth < 0) break;
      if (depth == 0 && stops.contains(one)) break;
    }
    return i;
  };
  const auto add = [&](auto& all, const std::string& name, std::size_t begin) {
    const auto made = parsed_expression(words_of_tokens(tokens_, begin, end_of(begin)));
    if (!made) return;
    std::vector<Expression>& of = all[name];
    if (std::find(of.begin(), of.end(), *made) == of.end()) of.push_back(*made);
  };
  for (std::size_t i = 1; i + 1 < tokens_.size(); ++i) {
    const std::string_view one = tokens_[i].text, next = tokens_[i + 1].text;
    if (!tokens_[i - 1].is_word()) continue;
    const std::string name(tokens_[i - 1].text);
    const std::string_view before = i > 1 ? tokens_[i - 2].text : "";
    if (before == "." || before == "->") continue;
    static const std::set<std::string_view> operators = {"+", "-", "*", "/", "%", "&", "|", "^"};
    if ((operators.contains(one) && next == "=") || ((one == "+" || one == "-") && next == one) ||
        ((one == "<" || one == ">") && next == one && i + 2 < tokens_.size() && tokens_[i + 2].text == "=") ||
        ((before == "+" || before == "-") && i > 2 && tokens_[i - 3].text == before))
      changed_.insert(name);
    if (one == "=" && next != "=") add(definitions_, name, i + 1);
    if (one == "<" && next != "<" && next != "=") add(bounds_, name, i + 1);
    if (one == ">" && next == "=") add(bounds_, name, i + 2);
  }
}

void IndexBounds::replace_casts(const std::function<std::int64_t(const std::string&)>& bytes_of) {
  static constexpr std::array<std::string_view, 17> numbers = {
      "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16"};
  const auto word = [](std::string_view text) { return Token{.text = text}; };
  std::map<std::string, std::int64_t, std::less<>>
      factors;  // by pointer: the array's elements per one of its
  Tokens made;
  for (std::size_t i = 0; i < tokens_.size();) {
    // The cast's type begins at `type`; what it is applied to, at `of`.
    std::size_t type = 0, star = 0, of = 0;
    if (tokens_[i].text == "reinterpret_cast" && i + 1 < tokens_.size() && tokens_[i + 1].text == "<") {
      of = behind_bracket(tokens_, i + 1);
      type = i + 2;
      star = of - 2;
    } else if (tokens_[i].text == "(" && i + 3 < tokens_.size()) {
      std::size_t end = i + 1;
      while (end < tokens_.size() && (tokens_[end].is_word() || tokens_[end].text == "::")) ++end;
      if (end > i + 1 && end + 2 < tokens_.size() && tokens_[end].text == "*" &&
          tokens_[end + 1].text == ")") {
        type = i + 1;
        star = end;
        of = end + 2;
      }
    }
    if (of == 0 || of >= tokens_.size() || tokens_[star].text != "*") {
      made.push_back(tokens_[i++]);
      continue;
    }
    std::string words;
    for (std::size_t j = type; j < star; ++j)
      if (tokens_[j].text != "const" && tokens_[j].text != "volatile")
        words += (words.empty() ? "" : " ") + std::string(tokens_[j].text);
    const bool in_parentheses = tokens_[of].text == "(";
    const std::size_t behind = in_parentheses ? behind_bracket(tokens_, of) : 0;
    std::size_t first = in_parentheses ? of + 1 : of;
    const bool is_address = tokens_[first].text == "&";
    first += is_address ? 1 : 0;
    std::size_t end = behind;  // behind the operand
    if (!in_parentheses) {
      end = first + 1;
      if (is_address && end < tokens_.size() && tokens_[end].text == "[") end = behind_bracket(tokens_, end);
    }
    const std::int64_t of_type = bytes_of(words),
                       of_element = first < tokens_.size() ? bytes_of(std::string(tokens_[first].text)) : 0;
    if (of_type <= 0 || of_element <= 0 || of_type % of_element != 0 ||
        of_type / of_element >= static_cast<std::int64_t>(numbers.size()) || end > tokens_.size()) {
      made.push_back(tokens_[i++]);
      continue;
    }
    const std::int64_t factor = of_type / of_element;
    if (factor > 1 && (of_type & (of_type - 1)) == 0)
      alignment_ = std::max(alignment_, std::min<std::int64_t>(of_type, 16));
    const bool is_alone = end - first == (in_parentheses ? 2U : 1U);
    const bool is_wrapped = !made.empty() && made.back().text == "(" && end < tokens_.size() &&
                            tokens_[end].text == ")" && tokens_[i].text == "(";
    const std::size_t open = is_wrapped ? end + 1 : end;
    if (is_alone && open < tokens_.size() && tokens_[open].text == "[") {
      const std::size_t close = behind_bracket(tokens_, open);
      if (is_wrapped) made.pop_back();
      made.push_back(tokens_[first]);
      made.push_back(tokens_[open]);
      made.push_back(word("("));
      made.insert(made.end(), tokens_.begin() + static_cast<std::ptrdiff_t>(open) + 1,
                  tokens_.begin() + static_cast<std::ptrdiff_t>(close) - 1);
      for (const std::string_view one : {std::string_view(")"), std::string_view("*"),
                                         numbers[static_cast<std::size_t>(factor)], std::string_view("]")})
        made.push_back(word(one));
      i = close;
      continue;
    }
    if (made.size() > 1 && made.back().text == "=" && made[made.size() - 2].is_word())
      factors[std::string(made[made.size() - 2].text)] = factor;
    i = of;  // the cast is left out
  }
  tokens_.clear();
  for (std::size_t i = 0; i < made.size(); ++i) {
    tokens_.push_back(made[i]);
    const auto found = factors.find(made[i].text);
    if (found == factors.end() || found->second == 1 || i + 1 >= made.size() || made[i + 1].text != "[")
      continue;
    const std::size_t close = behind_bracket(made, i + 1);
    tokens_.push_back(made[i + 1]);
    tokens_.push_back(word("("));
    tokens_.insert(tokens_.end(), made.begin() + static_cast<std::ptrdiff_t>(i) + 2,
                   made.begin() + static_cast<std::ptrdiff_t>(close) - 1);
    for (const std::string_view one :
         {std::string_view(")"), std::string_view("*"), numbers[static_cast<std::size_t>(found->second)],
          std::string_view("]")})
      tokens_.push_back(word(one));
    i = close - 1;
  }
}

std::map<std::string, std::int64_t> IndexBounds::limits(
    const std::function<std::optional<std::int64_t>(const std::string&)>& value_of) const {
  std::map<std::string, std::int64_t> found;
  for (std::size_t i = 1; i + 3 < tokens_.size(); ++i) {
    // float h[16];
    if (!tokens_[i].is_word() || !tokens_[i - 1].is_word() || tokens_[i + 1].text != "[") continue;
    static const std::set<std::string_view> no_types = {"return", "else", "case", "goto", "delete"};
    const std::size_t behind = behind_bracket(tokens_, i + 1);
    if (no_types.contains(tokens_[i - 1].text) || behind >= tokens_.size() ||
        (tokens_[behind].text != ";" && tokens_[behind].text != "," && tokens_[behind].text != "="))
      continue;
    const auto most = value_of(words_of_tokens(tokens_, i + 2, behind - 1));
    if (!most || *most < 1) continue;
    for (std::size_t at = behind; at + 3 < tokens_.size(); ++at) {
      if (tokens_[at].text != tokens_[i].text || tokens_[at + 1].text != "[" || !tokens_[at + 2].is_word() ||
          tokens_[at + 3].text != "]")
        continue;
      steps_ = 0;
      const auto bound = bound_of({.kind = Form::name, .word = std::string(tokens_[at + 2].text)}, 0);
      if (!bound || bound->kind != Form::name) continue;
      const auto known = found.emplace(bound->word, *most).first;
      known->second = std::min(known->second, *most);
    }
  }
  return found;
}

bool IndexBounds::is_first_element(std::size_t i) const {
  if (i == 0 || i + 2 >= tokens_.size() || tokens_[i + 1].text == "[") return false;
  const std::string_view before = tokens_[i - 1].text;
  if (before == "*") return i < 2 || !tokens_[i - 2].is_word();
  return i > 1 && before == "(" && tokens_[i - 2].text.starts_with("atomic") && tokens_[i + 1].text == ",";
}

ArrayUse IndexBounds::use_of(const std::string& array) const {
  ArrayUse use;
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    if (tokens_[i].text != array) continue;
    const std::string_view before = i > 0 ? tokens_[i - 1].text : "";
    if (before == "." || before == "->") continue;
    const std::string_view behind = i + 1 < tokens_.size() ? tokens_[i + 1].text : "";
    if (is_first_element(i)) {
      use.is_read = true;
      use.is_written |= before != "*" || (behind == "=" && tokens_[i + 2].text != "=");
      continue;
    }
    if (behind != "[" || before == "&") {
      use.is_passed = true;
      continue;
    }
    std::size_t next = behind_bracket(tokens_, i + 1);
    const auto own = parsed_expression(words_of_tokens(tokens_, i + 2, next - 1));
    use.is_by_thread |= own && is_of_thread(*own);
    while (next + 1 < tokens_.size() && tokens_[next].text == "." && tokens_[next + 1].is_word()) next += 2;
    const auto at = [&](std::size_t n) { return n < tokens_.size() ? tokens_[n].text : std::string_view(); };
    const std::string_view first = at(next), second = at(next + 1);
    static const std::set<std::string_view> operators = {"+", "-", "*", "/", "%", "&", "|", "^"};
    if (first == "=" && second != "=") {
      use.is_written = true;
      const auto index =
          parsed_expression(words_of_tokens(tokens_, i + 2, behind_bracket(tokens_, i + 1) - 1));
      const Expression whole = index ? expanded(*index, 0) : Expression();
      use.is_by_block |= whole.kind == Form::name && whole.word == "blockIdx.x";
      use.is_at_place |= index && in_sizes(*index, 0);
    } else if ((operators.contains(first) && second == "=") || (first == "+" && second == "+") ||
               (first == "-" && second == "-") || (before == "+" && i > 1 && tokens_[i - 2].text == "+")) {
      use.is_written = use.is_read = true;
    } else {
      use.is_read = true;
    }
  }
  return use;
}

bool IndexBounds::is_of_thread(const Expression& index) const {
  steps_ = 0;
  if (bound_of(index, 0)) return false;
  std::vector<Expression> terms;
  add_terms(expanded(index, 0), terms);
  const auto is_name = [](const Expression& one, std::string_view word) {
    return one.kind == Form::name && one.word == word;
  };
  if (terms.size() != 2) return false;
  const auto thread = std::find_if(terms.begin(), terms.end(),
                                   [&](const Expression& one) { return is_name(one, "threadIdx.x"); });
  if (thread == terms.end()) return false;
  std::vector<Expression> factors;
  add_factors(terms[thread == terms.begin() ? 1 : 0], factors);
  return factors.size() == 2 &&
         std::any_of(factors.begin(), factors.end(),
                     [&](const Expression& one) { return is_name(one, "blockIdx.x"); }) &&
         std::any_of(factors.begin(), factors.end(),
                     [&](const Expression& one) { return is_name(one, "blockDim.x"); });
}

Expression IndexBounds::expanded(const Expression& given, int depth) const {
  if (depth > most_substitutions) return given;
  if (given.kind == Form::name && !sizes_.contains(given.word)) {
    const auto found = definitions_.find(given.word);
    if (found != definitions_.end() && found->second.size() == 1 &&
        !holds_name(found->second.front(), given.word))
      return expanded(found->second.front(), depth + 1);
    return given;
  }
  Expression made = given;
  for (Expression& part : made.parts) part = expanded(part, depth + 1);
  return made;
}

const Expression* IndexBounds::only_definition(const std::string& name) const {
  const auto found = definitions_.find(name);
  return found == definitions_.end() || found->second.size() != 1 || changed_.contains(name)
             ? nullptr
             : &found->second.front();
}

std::optional<Expression> IndexBounds::in_sizes(const Expression& given, int depth) const {
  if (depth > most_substitutions) return std::nullopt;
  if (given.kind == Form::number) return given.word.empty() ? std::optional(given) : std::nullopt;
  if (given.kind == Form::name) {
    if (sizes_.contains(given.word)) return given;
    const Expression* const defined = only_definition(given.word);
    return defined == nullptr ? std::nullopt : in_sizes(*defined, depth + 1);
  }
  if (given.kind != Form::binary &&
      !(given.kind == Form::call && (given.word == "min" || given.word == "max")))
    return std::nullopt;
  Expression made = given;
  for (Expression& part : made.parts) {
    const auto one = in_sizes(part, depth + 1);
    if (!one) return std::nullopt;
    part = *one;
  }
  return made;
}

std::optional<Expression> IndexBounds::bound_of(const Expression& index, int depth) const {
  if (depth > most_substitutions || ++steps_ > most_steps) return std::nullopt;
  if (index.kind == Form::binary && (index.word == "+" || index.word == "-") &&
      index.parts[1].kind == Form::number)
    return bound_of(index.parts[0], depth + 1);
  if (index.kind == Form::binary && index.word == "+") {  // of a pixel and its neighbour
    const auto a = bound_of(index.parts[0], depth + 1), b = bound_of(index.parts[1], depth + 1);
    if (!a || !b) return std::nullopt;
    return joined("-", joined("+", *a, *b), {.kind = Form::number, .number = 1, .word = {}});
  }
  if (index.kind == Form::binary && index.word == "%") return in_sizes(index.parts[1], depth + 1);
  if (index.kind == Form::binary && index.word == "/") {  // a row of a flat index: i / width
    const auto whole = bound_of(index.parts[0], depth + 1), by = in_sizes(index.parts[1], depth + 1);
    if (!whole || !by) return std::nullopt;
    std::vector<Expression> factors;
    add_factors(*whole, factors);
    const auto same = std::find(factors.begin(), factors.end(), *by);
    if (same == factors.end() || factors.size() < 2)
      return Expression{.kind = Form::call, .word = "ceil_div", .parts = {*whole, *by}};
    factors.erase(same);
    Expression rows = factors.front();
    for (std::size_t i = 1; i < factors.size(); ++i) rows = joined("*", rows, factors[i]);
    return rows;
  }
  if (index.kind != Form::name) return std::nullopt;
  if (const auto found = bounds_.find(index.word); found != bounds_.end()) {
    // With several bounds the last one mostly is that of the array, and not of a tile.
    for (auto one = found->second.rbegin(); one != found->second.rend(); ++one)
      if (auto bound = in_sizes(*one, 0); bound && bound->kind != Form::number) {
        const bool is_inner = bound->kind == Form::binary && bound->word == "-" &&
                              bound->parts[1].kind == Form::number;  // i < n - 1
        return is_inner ? Expression(bound->parts[0]) : *bound;
      }
    for (const Expression& one : found->second)
      if (!holds_name(one, index.word))
        if (const auto flat = flat_extent(opened(one, depth + 1), depth + 1)) return flat;
  }
  // place = hash(key); place = place % capacity;
  if (const auto found = definitions_.find(index.word);
      found != definitions_.end() && found->second.size() > 1)
    if (const Expression& last = found->second.back(); last.kind == Form::binary && last.word == "%")
      return in_sizes(last.parts[1], depth + 1);
  const Expression* const defined = only_definition(index.word);
  return defined == nullptr ? std::nullopt : bound_of(*defined, depth + 1);
}

// For i + 4 * n it is n + 4 * n, and for row * stride + i it is (rows - 1) * stride + n: one more than the
// largest index.
std::optional<Expression> IndexBounds::flat_extent(const Expression& index, int depth) const {
  if (depth > most_substitutions || index.kind != Form::binary || index.word != "+") return std::nullopt;
  const Expression one{.kind = Form::number, .number = 1, .word = {}};
  std::vector<Expression> terms;
  add_terms(index, terms);
  std::optional<Expression> bound, offset;
  for (const Expression& term : terms) {
    const auto fixed = in_sizes(term, depth + 1);
    if (fixed && fixed->kind == Form::number) return std::nullopt;
    std::optional<Expression> most = fixed;  // of the term
    if (!fixed && !bound && (bound = bound_of(term, depth + 1))) continue;
    if (!most && term.kind == Form::binary && term.word == "*") {
      std::vector<Expression> factors;
      add_factors(term, factors);
      std::optional<Expression> strides, outer;
      for (const Expression& factor : factors) {
        const auto stride = in_sizes(factor, depth + 1);
        if (stride)
          strides = strides ? joined("*", *strides, *stride) : *stride;
        else if (outer || !(outer = bound_of(factor, depth + 1)))
          return std::nullopt;
      }
      if (outer && strides) most = joined("*", joined("-", *outer, one), *strides);
    }
    if (!most) return std::nullopt;
    offset = offset ? joined("+", *offset, *most) : *most;
  }
  return bound && offset ? std::optional(joined("+", *bound, *offset)) : std::nullopt;
}

Expression IndexBounds::opened(const Expression& given, int depth) const {
  if (depth > most_substitutions || ++steps_ > most_steps) return given;
  if (given.kind == Form::name) {
    const Expression* const defined = sizes_.contains(given.word) ? nullptr : only_definition(given.word);
    return defined == nullptr || bound_of(given, depth) ? given : opened(*defined, depth + 1);
  }
  Expression made = given;
  for (Expression& part : made.parts) part = opened(part, depth + 1);
  return made;
}

std::vector<std::string> IndexBounds::extents_of(const Expression& index, int depth) const {
  if (depth > most_substitutions) return {};
  if (const auto bound = bound_of(index, depth)) return {bound->text()};
  const Expression whole = opened(index, depth);
  std::vector<Expression> terms;
  add_terms(whole, terms);
  std::vector<std::string> best;
  for (const Expression& term : terms) {
    std::vector<Expression> factors;
    add_factors(term, factors);
    if (factors.size() < 2) continue;
    std::vector<std::string> strides;
    std::vector<std::string> outer;
    for (const Expression& factor : factors) {
      const auto stride = in_sizes(factor, 0);
      if (stride) {
        strides.push_back(stride->text());
        continue;
      }
      if (!outer.empty()) return {};
      outer = extents_of(factor, depth + 1);
      if (outer.empty()) break;
    }
    if (outer.empty() || strides.empty()) continue;
    outer.insert(outer.end(), strides.begin(), strides.end());
    if (outer.size() > best.size()) best = outer;
  }
  // A row may be longer than the stride between rows.
  if (best.size() == 2 && terms.size() == 2)
    for (const Expression& term : terms) {
      const auto inner = term.kind == Form::name ? bound_of(term, depth + 1) : std::nullopt;
      const auto flat = inner && inner->text() != best[1] ? flat_extent(whole, depth + 1) : std::nullopt;
      if (flat && inner->kind == Form::name) best = {flat->text()};
    }
  if (best.empty())
    if (const auto flat = flat_extent(whole, depth)) best = {flat->text()};
  return best;
}

std::vector<Expression> IndexBounds::indices_of(const std::string& array, int depth) const {
  constexpr int most_pointers = 3;
  std::vector<Expression> all;
  // Adds what a pointer `name` into the array at `from` is indexed by.
  const auto add_pointer = [&](const std::string& name, const std::optional<Expression>& from) {
    if (name == array || depth == most_pointers) return;
    for (const Expression& index : indices_of(name, depth + 1))
      all.push_back(from ? joined("+", *from, index) : index);
  };
  for (std::size_t i = 0; i + 1 < tokens_.size(); ++i) {
    if (tokens_[i].text != array) continue;
    const std::string_view before = i > 0 ? tokens_[i - 1].text : "";
    if (is_first_element(i)) {
      all.push_back({.kind = Form::number, .number = 0, .word = {}});
      continue;
    }
    if (tokens_[i + 1].text == "+" && (before == "(" || before == ",")) {  // load(x + i)
      int nested = 0;
      std::size_t end = i + 2;
      for (; end < tokens_.size(); ++end) {
        const std::string_view one = tokens_[end].text;
        if (nested == 0 && (one == "," || one == ")")) break;
        nested += one == "(" || one == "[" ? 1 : one == ")" || one == "]" ? -1 : 0;
      }
      if (const auto index = parsed_expression(words_of_tokens(tokens_, i + 2, end))) all.push_back(*index);
      continue;
    }
    if (tokens_[i + 1].text != "[") continue;
    const std::size_t behind = behind_bracket(tokens_, i + 1);
    const auto index = parsed_expression(words_of_tokens(tokens_, i + 2, behind - 1));
    if (!index) continue;
    all.push_back(*index);
    const bool is_address = i > 2 && tokens_[i - 1].text == "&" && tokens_[i - 2].text == "=" &&
                            tokens_[i - 3].is_word() && behind < tokens_.size() &&
                            (tokens_[behind].text == ";" || tokens_[behind].text == ",");
    if (is_address) add_pointer(std::string(tokens_[i - 3].text), index);
  }
  for (const auto& [name, definitions] : definitions_) {
    if (definitions.size() != 1 || changed_.contains(name)) continue;
    std::vector<Expression> terms;
    const Expression& one = definitions.front();
    if (!holds_name(one, array)) continue;
    std::optional<Expression> from;
    bool is_pointer = false, is_sum = true;
    if (one.kind == Form::name) {
      is_pointer = true;
    } else if (one.kind == Form::binary && one.word == "+") {
      add_terms(one, terms);
      for (const Expression& term : terms) {
        if (term.kind == Form::name && term.word == array)
          is_pointer = true;
        else if (holds_name(term, array))
          is_sum = false;
        else
          from = from ? joined("+", *from, term) : term;
      }
    }
    if (is_pointer && is_sum) add_pointer(name, from);
  }
  // x += row * n, once and not in a loop
  std::optional<Expression> moved;
  int moves = 0;
  for (std::size_t i = 0; i + 3 < tokens_.size(); ++i) {
    if (tokens_[i].text != array || tokens_[i + 1].text != "+") continue;
    if (tokens_[i + 2].text != "=" && tokens_[i + 2].text != "+") continue;
    if (tokens_[i + 2].text == "+" && i > 0 && tokens_[i - 1].text != ";") continue;
    ++moves;
    std::size_t end = i + 3;
    while (end < tokens_.size() && tokens_[end].text != ";") ++end;
    moved = parsed_expression(words_of_tokens(tokens_, i + 3, end));
  }
  if (moves == 1 && moved)
    for (Expression& one : all) one = joined("+", *moved, one);
  return all;
}

std::vector<std::string> IndexBounds::extents_of(const std::string& array) const {
  std::map<std::vector<std::string>, int> counts;
  steps_ = 0;
  const std::vector<Expression> indices = indices_of(array, 0);
  const bool are_numbers = !indices.empty() && !changed_.contains(array) && !use_of(array).is_passed &&
                           std::all_of(indices.begin(), indices.end(), [](const Expression& one) {
                             return one.kind == Form::number && one.word.empty();
                           });
  if (are_numbers) {
    std::int64_t most = 0;
    for (const Expression& one : indices) most = std::max(most, one.number);
    return {std::to_string(most + 1)};
  }
  for (const Expression& index : indices) {
    const std::vector<std::string> extents = extents_of(index, 0);
    if (!extents.empty()) ++counts[extents];
  }
  const auto most = std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) {
    // The more extents, and of sums the one with the largest offset.
    const auto rank = [](const auto& one) {
      const std::string& text = one.first.front();
      return std::tuple(one.first.size(), text.find(" + ") != std::string::npos ? text.size() : 0,
                        one.second);
    };
    return rank(a) < rank(b);
  });
  return most == counts.end() ? std::vector<std::string>{} : most->first;
}

// Returns the factors of the block's number in the index, as a product.
std::optional<std::string> IndexBounds::per_block(const Expression& index, const std::string& block) const {
  std::vector<Expression> terms;
  add_terms(index, terms);
  for (const Expression& term : terms) {
    if (!holds_name(term, block)) continue;
    std::vector<Expression> factors;
    add_factors(term, factors);
    std::string product;
    bool is_product = true;
    for (const Expression& factor : factors) {
      if (factor.kind == Form::name && factor.word == block) continue;
      if (holds_name(factor, block)) {  // (block * threads + thread) * 4
        const auto inner = factor.kind == Form::binary && (factor.word == "+" || factor.word == "-")
                               ? per_block(factor, block)
                               : std::nullopt;
        is_product &= inner.has_value();
        if (inner) product = *inner + (product.empty() ? "" : " * " + product);
        continue;
      }
      const std::string text = factor.text();
      product += (product.empty() ? "" : " * ") + (factor.parts.empty() ? text : "(" + text + ")");
    }
    if (is_product) return product.empty() ? "1" : product;
  }
  return std::nullopt;
}

std::optional<IndexBounds::Blocks> IndexBounds::blocks(char component) const {
  const std::string block = std::string("blockIdx.") + component;
  for (const auto& [name, all] : definitions_) {
    for (const Expression& one : all) {
      const Expression whole = expanded(one, 0);
      if (!holds_name(whole, block)) continue;
      const auto bound = bound_of({.kind = Form::name, .word = name}, 0);
      if (!bound) continue;
      if (const auto product = per_block(whole, block)) return Blocks{bound->text(), *product};
    }
  }
  return std::nullopt;
}

std::optional<IndexBounds::Blocks> IndexBounds::whole_index(char component) const {
  const std::string block = std::string("blockIdx.") + component;
  for (const auto& [name, all] : definitions_) {
    if (all.size() != 1) continue;
    const Expression whole = expanded(all.front(), 0);
    if (!holds_name(whole, block) || !holds_name(whole, std::string("threadIdx.") + component)) continue;
    if (const auto product = per_block(whole, block)) return Blocks{name, *product};
  }
  return std::nullopt;
}

void IndexBounds::set_bound(char component, const std::string& of_block, const Expression& size) {
  const std::string block = std::string("blockIdx.") + component;
  add_names(size, sizes_);
  for (const auto& [name, all] : definitions_) {
    if (all.size() != 1 || bounds_.contains(name)) continue;
    const Expression whole = expanded(all.front(), 0);
    if (!holds_name(whole, std::string("threadIdx.") + component)) continue;
    const auto product = per_block(whole, block);
    if (product && *product == of_block) bounds_[name] = {size};
  }
}

void IndexBounds::set_blocks(char component, const Expression& count) {
  add_names(count, sizes_);
  bounds_[std::string("blockIdx.") + component] = {count};
}

bool IndexBounds::leaves_border() const {
  // i = block * threads + thread + first: elements before the first one stay.
  for (const auto& [name, all] : definitions_) {
    if (all.size() != 1 || !bounds_.contains(name) || !holds_name(expanded(all.front(), 0), "threadIdx.x"))
      continue;
    std::vector<Expression> terms;
    add_terms(expanded(all.front(), 0), terms);
    if (std::any_of(terms.begin(), terms.end(), [&](const Expression& one) {
          return one.kind == Form::name && sizes_.contains(one.word);
        }))
      return true;
  }
  for (std::size_t i = 1; i + 2 < tokens_.size(); ++i) {
    const std::string_view name = tokens_[i - 1].text;
    if (!tokens_[i - 1].is_word() || !bounds_.contains(std::string(name))) continue;
    // x > 0, x >= 1; x < 1 || … return
    const bool or_equal = tokens_[i + 1].text == "=";
    const std::string_view by = tokens_[i].text, than = tokens_[i + (or_equal ? 2 : 1)].text;
    if (by == ">" && than == "0" && !or_equal) return true;
    if (by == ">" && than.front() >= '1' && than.front() <= '9') return true;
    if (by == "<" && !or_equal && than == "1") return true;
  }
  for (const auto& [name, all] : bounds_)
    for (const Expression& one : all)
      if (one.kind == Form::binary && one.word == "-" && one.parts[0].kind == Form::name &&
          sizes_.contains(one.parts[0].word) && one.parts[1].kind == Form::number)
        return true;
  return false;
}

bool IndexBounds::compares_block(char component) const {
  // The names that depend on the block's number, found again until there are no more.
  std::set<std::string_view> names;
  const std::string part(1, component);
  const auto depends = [&](std::size_t i) {
    const bool is_member = i + 1 < tokens_.size() && tokens_[i + 1].text == ".";  // of what was loaded
    return (names.contains(tokens_[i].text) && !is_member) ||
           (tokens_[i].text == "blockIdx" && i + 2 < tokens_.size() && tokens_[i + 2].text == part);
  };
  static const std::set<std::string_view> ends = {";", "{", "}"};
  static const std::set<std::string_view> comparisons = {"<", ">", "?", "min", "max"};
  for (bool grows = true; grows;) {
    grows = false;
    for (std::size_t begin = 0, end = 0; begin < tokens_.size(); begin = end + 1) {
      end = begin;
      bool has = false, compares = false;
      int depth = 0;  // of brackets: what lies in an array is no index
      int parentheses = 0;
      const bool has_condition = tokens_[begin].text == "if" || tokens_[begin].text == "while";
      std::size_t assigned = tokens_.size();
      for (; end < tokens_.size() && !ends.contains(tokens_[end].text); ++end) {
        const std::string_view one = tokens_[end].text;
        const std::string_view next = end + 1 < tokens_.size() ? tokens_[end + 1].text : "";
        depth += one == "[" ? 1 : one == "]" ? -1 : 0;
        if (depth > 0) continue;
        parentheses += one == "(" ? 1 : one == ")" ? -1 : 0;
        // Behind if (…) and for (…) begins another statement.
        if (one == ")" && (parentheses < 0 || (parentheses == 0 && has_condition))) break;
        has |= depends(end);
        if (one == "<" && end > begin && tokens_[end - 1].is_word()) {  // cast<float4*>(x), Packed<T>{x}
          std::size_t close = end + 1;
          while (close < tokens_.size() && (tokens_[close].is_word() || tokens_[close].text == "*" ||
                                            tokens_[close].text == "::" || tokens_[close].text == ","))
            ++close;
          static const std::set<std::string_view> behind_template = {"(", "{", "::"};
          if (close + 1 < tokens_.size() && tokens_[close].text == ">" &&
              behind_template.contains(tokens_[close + 1].text)) {
            end = close;
            continue;
          }
        }
        const bool is_equality = (one == "=" || one == "!") && next == "=";
        if (one == "=" && assigned == tokens_.size() && !is_equality) assigned = end;
        compares |= is_equality || comparisons.contains(one);
        if (is_equality || ((one == "<" || one == ">") && (next == "=" || next == one))) {
          compares |= next == "=";
          ++end;
        }
      }
      if (has && compares) return true;
      if (!has || assigned == tokens_.size() || assigned == begin) continue;
      std::size_t name = assigned;  // of x = … and x += …; what is stored in an array is no index
      while (name > begin && !tokens_[name - 1].is_word() && tokens_[name - 1].text != "]") --name;
      if (name > begin && tokens_[name - 1].is_word()) grows |= names.insert(tokens_[name - 1].text).second;
    }
  }
  return false;
}

}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
#include "kernel_file/index_bounds.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace tunesmith {
namespace {

using Expression = HostExpression;
using Form = HostExpression::Kind;

constexpr int most_substitutions = 8;

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

}  // namespace

IndexBounds::IndexBounds(std::string_view body, std::set<std::string> sizes,
                         const std::map<std::string, std::string>& macros)
    : tokens_(tokens_of(body, 0, body.size())), sizes_(std::move(sizes)) {
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
    if (one == "=" && next != "=") add(definitions_, name, i + 1);
    if (one == "<" && next != "<" && next != "=") add(bounds_, name, i + 1);
    if (one == ">" && next == "=") add(bounds_, name, i + 2);
  }
}

ArrayUse IndexBounds::use_of(const std::string& array) const {
  ArrayUse use;
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    if (tokens_[i].text != array) continue;
    const std::string_view before = i > 0 ? tokens_[i - 1].text : "";
    if (before == "." || before == "->") continue;
    const std::string_view behind = i + 1 < tokens_.size() ? tokens_[i + 1].text : "";
    if (behind != "[" || before == "&") {
      use.is_passed = true;
      continue;
    }
    std::size_t next = behind_bracket(tokens_, i + 1);
    while (next + 1 < tokens_.size() && tokens_[next].text == "." && tokens_[next + 1].is_word()) next += 2;
    const auto at = [&](std::size_t n) { return n < tokens_.size() ? tokens_[n].text : std::string_view(); };
    const std::string_view first = at(next), second = at(next + 1);
    static const std::set<std::string_view> operators = {"+", "-", "*", "/", "%", "&", "|", "^"};
    if (first == "=" && second != "=") {
      use.is_written = true;
    } else if ((operators.contains(first) && second == "=") || (first == "+" && second == "+") ||
               (first == "-" && second == "-") || (before == "+" && i > 1 && tokens_[i - 2].text == "+")) {
      use.is_written = use.is_read = true;
    } else {
      use.is_read = true;
    }
  }
  return use;
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

std::optional<Expression> IndexBounds::in_sizes(const Expression& given, int depth) const {
  if (depth > most_substitutions) return std::nullopt;
  if (given.kind == Form::number) return given.word.empty() ? std::optional(given) : std::nullopt;
  if (given.kind == Form::name) {
    if (sizes_.contains(given.word)) return given;
    const auto found = definitions_.find(given.word);
    if (found == definitions_.end() || found->second.size() != 1) return std::nullopt;
    return in_sizes(found->second.front(), depth + 1);
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
  if (depth > most_substitutions) return std::nullopt;
  if (index.kind == Form::binary && (index.word == "+" || index.word == "-") &&
      index.parts[1].kind == Form::number)
    return bound_of(index.parts[0], depth + 1);
  if (index.kind == Form::binary && index.word == "+") {  // of a pixel and its neighbour
    const auto a = bound_of(index.parts[0], depth + 1), b = bound_of(index.parts[1], depth + 1);
    if (!a || !b) return std::nullopt;
    return joined("-", joined("+", *a, *b), {.kind = Form::number, .number = 1, .word = {}});
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
  }
  const auto defined = definitions_.find(index.word);
  if (defined != definitions_.end() && defined->second.size() == 1)
    return bound_of(defined->second.front(), depth + 1);
  return std::nullopt;
}

std::vector<std::string> IndexBounds::extents_of(const Expression& index, int depth) const {
  if (depth > most_substitutions) return {};
  if (const auto bound = bound_of(index, depth)) return {bound->text()};
  std::vector<Expression> terms;
  add_terms(index, terms);
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
  if (!best.empty()) return best;
  if (index.kind == Form::name) {
    const auto found = definitions_.find(index.word);
    if (found != definitions_.end() && found->second.size() == 1)
      return extents_of(found->second.front(), depth + 1);
  }
  return {};
}

std::vector<std::string> IndexBounds::extents_of(const std::string& array) const {
  std::map<std::vector<std::string>, int> counts;
  for (std::size_t i = 0; i + 1 < tokens_.size(); ++i) {
    if (tokens_[i].text != array || tokens_[i + 1].text != "[") continue;
    const std::size_t behind = behind_bracket(tokens_, i + 1);
    const auto index = parsed_expression(words_of_tokens(tokens_, i + 2, behind - 1));
    if (!index) continue;
    const std::vector<std::string> extents = extents_of(*index, 0);
    if (!extents.empty()) ++counts[extents];
  }
  const auto most = std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first.size(), a.second) < std::pair(b.first.size(), b.second);
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
      is_product &= !holds_name(factor, block);
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

std::optional<IndexBounds::Blocks> IndexBounds::unguarded() const {
  for (const auto& [name, all] : definitions_) {
    if (all.size() != 1) continue;
    const Expression whole = expanded(all.front(), 0);
    if (!holds_name(whole, "blockIdx.x") || !holds_name(whole, "threadIdx.x")) continue;
    if (const auto product = per_block(whole, "blockIdx.x")) return Blocks{name, *product};
  }
  return std::nullopt;
}

}  // namespace tunesmith

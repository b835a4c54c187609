// SPDX-License-Identifier: Apache-2.0
#include "generator/values.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>

#include "generator/error.h"
#include "generator/number_text.h"

namespace tunesmith {
namespace {

bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

bool needs_quotes(std::string_view word) {
  if (word.empty() || parsed_number<std::int64_t>(word)) return true;
  for (const char c : word) {
    if (is_blank(c) || c == '"' || c == '\\' || c == '=') return true;
  }
  return false;
}

}  // namespace

void append(std::string& text, const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    text += std::to_string(*integer);
    return;
  }
  const auto& word = std::get<std::string>(value);
  if (!needs_quotes(word)) {
    text += word;
    return;
  }
  text += '"';
  for (const char c : word) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  text += '"';
}

std::string to_text(const Value& value) {
  std::string text;
  append(text, value);
  return text;
}

void append(std::string& text, std::string_view name, const Value& value) {
  if (!text.empty()) text += ' ';
  text += name;
  text += '=';
  append(text, value);
}

Value to_value(std::string_view text) {
  if (const auto integer = parsed_number<std::int64_t>(text)) return *integer;
  return std::string(text);
}

Values::Values(std::initializer_list<std::pair<std::string, Value>> entries) {
  for (const auto& [name, value] : entries) set(name, value);
}

Values Values::parse(std::string_view text) {
  Values values;
  std::size_t at = 0;
  while (true) {
    while (at < text.size() && is_blank(text[at])) ++at;
    if (at == text.size()) return values;
    const std::size_t start = at;
    while (at < text.size() && text[at] != '=' && !is_blank(text[at])) ++at;
    const std::string name(text.substr(start, at - start));
    if (at == text.size() || text[at] != '=' || name.empty()) {
      throw UsageError("\"" + name + "\" in \"" + std::string(text) +
                       "\" is not of the form name=value; write pairs divided by blanks, such as "
                       "\"height=1000 width=2000\".");
    }
    ++at;
    Value value;
    if (at < text.size() && text[at] == '"') {
      std::string word;
      for (++at; at < text.size() && text[at] != '"'; ++at) {
        if (text[at] == '\\' && at + 1 < text.size()) ++at;
        word += text[at];
      }
      if (at == text.size()) throw UsageError("The quoted value of " + name + " has no closing quote.");
      ++at;
      value = word;
    } else {
      const std::size_t first = at;
      while (at < text.size() && !is_blank(text[at])) ++at;
      if (at == first) {
        throw UsageError("The value of " + name + " is empty; write " + name + "=VALUE without blanks.");
      }
      value = to_value(text.substr(first, at - first));
    }
    if (values.has(name)) {
      throw UsageError(name + " is given twice in \"" + std::string(text) + "\"; give it once.");
    }
    values.set(name, std::move(value));
  }
}

std::string Values::text() const {
  std::string text;
  for (const auto& [name, value] : entries_) append(text, name, value);
  return text;
}

const Value* Values::find(std::string_view name) const {
  for (const auto& entry : entries_) {
    if (entry.first == name) return &entry.second;
  }
  return nullptr;
}

std::int64_t Values::integer(std::string_view name) const {
  const Value* value = find(name);
  if (value == nullptr) throw Error("\"" + text() + "\" has no " + std::string(name) + ".");
  const auto* integer = std::get_if<std::int64_t>(value);
  if (integer == nullptr) throw Error(std::string(name) + "=" + to_text(*value) + " is not an integer.");
  return *integer;
}

const std::string& Values::string(std::string_view name) const {
  const Value* value = find(name);
  if (value == nullptr) throw Error("\"" + text() + "\" has no " + std::string(name) + ".");
  const auto* word = std::get_if<std::string>(value);
  if (word == nullptr) throw Error(std::string(name) + "=" + to_text(*value) + " is not a word.");
  return *word;
}

void Values::set(std::string_view name, Value value) {
  for (auto& entry : entries_) {
    if (entry.first == name) {
      entry.second = std::move(value);
      return;
    }
  }
  entries_.emplace_back(name, std::move(value));
}

double log2_of(const Value& value) {
  return std::log2(static_cast<double>(std::max<std::int64_t>(1, std::get<std::int64_t>(value))));
}

}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
#include "kernel_file/toml_reader.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "generator/error.h"
#include "generator/listed.h"
#include "generator/number_text.h"

namespace tunesmith {

toml::table parse_toml(const std::string& text, const std::string& file, const std::string& what) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    throw UsageError(file + ", line " + std::to_string(error.source().begin.line) + ": " + what +
                     " is not TOML: " + std::string(error.description()) + ".");
  } catch (const std::logic_error& error) {
    throw UsageError(file + ": " + what + " is not TOML: " + error.what() + ".");
  }
}

void TomlReader::refuse(const toml::node* node, const std::string& sentence) const {
  const std::string where = node != nullptr && node->source().begin.line > 0
                                ? file_ + ", line " + std::to_string(node->source().begin.line)
                                : file_;
  throw UsageError(where + ": " + sentence);
}

std::string TomlReader::shown(const toml::node& node) {
  if (const auto* word = node.as_string()) {
    std::string value = word->get();
    std::replace_if(
        value.begin(), value.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
    return "\"" + (value.size() > 80 ? value.substr(0, 80) + "…" : value) + "\"";
  }
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  if (const auto* number = node.as_floating_point()) return printed("%g", number->get());
  if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
  return node.is_array() ? "a list" : node.is_table() ? "a table" : "a date";
}

const std::string& TomlReader::text(const toml::node& node, const std::string& key) const {
  const auto* word = node.as_string();
  if (word == nullptr) refuse(&node, key + " is " + shown(node) + "; give a text in quotes.");
  return word->get();
}

std::string TomlReader::line(const toml::node& node, const std::string& key) const {
  const std::string& words = text(node, key);
  if (words.size() > 500 || std::any_of(words.begin(), words.end(), [](char c) {
        return static_cast<unsigned char>(c) < ' ' || c == '\\';
      }))
    refuse(&node,
           key + " is " + shown(node) + "; give one line of at most 500 characters, without backslashes.");
  return words;
}

std::int64_t TomlReader::integer(const toml::node& node, const std::string& key, std::int64_t least,
                                 std::int64_t most) const {
  const auto* number = node.as_integer();
  if (number == nullptr || number->get() < least || number->get() > most) {
    refuse(&node, key + " is " + shown(node) + "; give a whole number from " + std::to_string(least) +
                      " to " + std::to_string(most) + ".");
  }
  return number->get();
}

double TomlReader::real(const toml::node& node, const std::string& key, double least) const {
  const auto value = node.is_number() ? node.value<double>() : std::nullopt;
  if (!value || !std::isfinite(*value) || *value < least) {
    refuse(&node,
           key + " is " + shown(node) + "; give a number" + (least == 0 ? " that is not negative." : "."));
  }
  return *value;
}

const toml::array& TomlReader::list(const toml::node& node, const std::string& key,
                                    const std::string& of) const {
  if (!node.is_array() || node.as_array()->empty())
    refuse(&node,
           key + " is " + (node.is_array() ? "an empty list" : shown(node)) + "; give a list of " + of + ".");
  return *node.as_array();
}

std::vector<std::string> TomlReader::texts(const toml::node& node, const std::string& key) const {
  std::vector<std::string> all;
  if (node.is_string()) return {line(node, key)};
  for (const toml::node& one : list(node, key, "texts in quotes")) all.push_back(line(one, key));
  return all;
}

const toml::table* TomlReader::table(const toml::table& root, const std::string& key) const {
  const toml::node* node = root.get(key);
  if (node == nullptr) return nullptr;
  if (!node->is_table())
    refuse(node, key + " is " + shown(*node) + "; it is a table, which begins with [" + key + "].");
  return node->as_table();
}

void TomlReader::only_keys(const toml::table& given, const std::string& what,
                           const std::vector<std::string>& known) const {
  for (const auto& [key, node] : entries(given)) {
    if (std::find(known.begin(), known.end(), key) == known.end())
      refuse(node, key + " is not a key of " + what + "; its keys are " + listed(known) + ".");
  }
}

std::vector<std::pair<std::string, const toml::node*>> TomlReader::entries(const toml::table& given) {
  struct KeyedNode {
    toml::source_position place;
    std::string key;
    const toml::node* node;
  };
  std::vector<KeyedNode> ordered;
  ordered.reserve(given.size());
  for (const auto& [key, node] : given)
    ordered.push_back({key.source().begin, std::string(key.str()), &node});
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const KeyedNode& a, const KeyedNode& b) { return a.place < b.place; });
  std::vector<std::pair<std::string, const toml::node*>> all;
  all.reserve(ordered.size());
  for (KeyedNode& entry : ordered) all.emplace_back(std::move(entry.key), entry.node);
  return all;
}

}  // namespace tunesmith

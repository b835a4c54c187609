// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tunesmith {

/// An integer (tile size, image height) or a text (padded, f32).
using Value = std::variant<std::int64_t, std::string>;

/// Writes the value as in a config or problem text; an empty text, or one with blanks or quotes, is quoted.
std::string to_text(const Value& value);

/// Appends the value; or a pair, preceded by a blank unless `text` is empty.
void append(std::string& text, const Value& value);
void append(std::string& text, std::string_view name, const Value& value);

/// Reads one value: a whole decimal number is an integer, anything else a text.
Value to_value(std::string_view text);

class Values {
 public:
  Values() = default;
  Values(std::initializer_list<std::pair<std::string, Value>> entries);

  /// Reads `A=1 B=padded C="two words"`. Throws UsageError on a missing '=', an empty name or a name given
  /// twice.
  static Values parse(std::string_view text);

  /// The inverse of parse, in the order in which the names were set.
  std::string text() const;

  const Value* find(std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }

  /// The integer or text of that name. Throws Error if it is missing or of the other kind.
  std::int64_t integer(std::string_view name) const;
  const std::string& string(std::string_view name) const;

  /// Sets the value of the name, or appends a new entry.
  void set(std::string_view name, Value value);

  const std::vector<std::pair<std::string, Value>>& entries() const { return entries_; }
  bool empty() const { return entries_.empty(); }

  bool operator==(const Values&) const = default;

 private:
  std::vector<std::pair<std::string, Value>> entries_;
};

/// The log2 of an integer; values below 1 count as 1.
double log2_of(const Value& value);

}  // namespace tunesmith

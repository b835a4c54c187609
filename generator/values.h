// SPDX-License-Identifier: Apache-2.0
// An ordered list of name=value pairs: a problem (problem.h), or a config as a person or a file writes it.
// What the names mean is not known here.
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

/// The value as it stands in a config or problem text; a text that holds blanks, quotes or nothing is quoted.
std::string to_text(const Value& value);

/// Behind what is there: the value; or a pair, with a blank before it unless it is the first.
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

  /// The integer or text of that name; Error if it is missing or of the other kind.
  std::int64_t integer(std::string_view name) const;
  const std::string& string(std::string_view name) const;

  /// Sets in place, or appends.
  void set(std::string_view name, Value value);

  const std::vector<std::pair<std::string, Value>>& entries() const { return entries_; }
  bool empty() const { return entries_.empty(); }

  bool operator==(const Values&) const = default;

 private:
  std::vector<std::pair<std::string, Value>> entries_;
};

/// Of an integer; what is below 1 counts as 1.
double log2_of(const Value& value);

}  // namespace tunesmith

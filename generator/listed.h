// SPDX-License-Identifier: Apache-2.0
// Lists and counts for sentences: names or values with commas between them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "generator/values.h"

namespace tunesmith {

inline std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

inline std::string listed(const std::vector<Value>& values) {
  std::string text;
  for (const Value& value : values) text += (text.empty() ? "" : ", ") + to_text(value);
  return text;
}

/// Shortens a list of more than 64 values to the first and the last ones: "0, 1, 2, …, 999 (1000 values)".
inline std::string listed_in_short(const std::vector<Value>& values) {
  constexpr std::size_t most = 64;
  if (values.size() <= most) return listed(values);
  return listed(std::vector<Value>(values.begin(), values.begin() + 3)) + ", …, " + to_text(values.back()) +
         " (" + std::to_string(values.size()) + " values)";
}

/// Returns "1 winner", "2 winners".
inline std::string counted(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace tunesmith

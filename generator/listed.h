// What a sentence lists: names or values with commas between them.
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

/// "1 winner", "2 winners".
inline std::string counted(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace tunesmith

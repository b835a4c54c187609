// What a sentence lists: names or values with commas between them.
#pragma once

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

}  // namespace tunesmith

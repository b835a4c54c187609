// SPDX-License-Identifier: Apache-2.0
#include "generator/parameter.h"

#include <algorithm>
#include <variant>

#include "generator/error.h"
#include "generator/listed.h"
#include "generator/word.h"

namespace tunesmith {

Value checked(const Parameter& parameter, const Value& value, const std::string& op) {
  const auto given = [&] {
    std::string shown = to_text(value);
    if (shown.size() > 200) shown = shown.substr(0, 100) + " …";
    return "The " + op + " problem's " + parameter.name + " is " + shown;
  };
  if (!parameter.is_integer()) {
    const std::string text = word_of(value);
    if (std::find(parameter.categories.begin(), parameter.categories.end(), text) !=
        parameter.categories.end())
      return text;
    if (!parameter.refuses_text)
      throw UsageError(given() + "; allowed are " + listed(parameter.categories) + ".");
    // The text is written into a comment of the variant and must not end that comment.
    if (std::any_of(text.begin(), text.end(), [](char c) { return (c >= 0 && c < ' ') || c == '\\'; })) {
      throw UsageError(given() + "; control characters and backslashes are not allowed in it.");
    }
    if (const std::string why = parameter.refuses_text(text); !why.empty()) {
      throw UsageError(given() + ". " + why);
    }
    return text;
  }
  const auto* integer = std::get_if<std::int64_t>(&value);
  if (integer == nullptr || *integer < parameter.minimum || *integer > parameter.maximum) {
    throw UsageError(given() + "; allowed are whole numbers from " + std::to_string(parameter.minimum) +
                     " to " + std::to_string(parameter.maximum) + ".");
  }
  return value;
}

}  // namespace tunesmith

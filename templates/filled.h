// SPDX-License-Identifier: Apache-2.0
// Text with places to fill in, such as generated code: filled("for (int $ = 0; $ < $; ++$)", i, i, 8, i).
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

namespace tunesmith {

/// A literal with `places` times `$`. With another number of them it does not compile.
template <std::size_t places>
struct Pattern {
  consteval Pattern(const char* pattern) : text(pattern) {  // NOLINT(google-explicit-constructor)
    if (std::count(text.begin(), text.end(), '$') != places) throw "a $ for each word";
  }
  std::string_view text;
};

/// The pattern with its `$` replaced by the words and whole numbers, one after the other.
template <typename... Words>
std::string filled(Pattern<sizeof...(Words)> pattern, const Words&... words) {
  std::string text;
  std::string_view left = pattern.text;
  [[maybe_unused]] const auto fill = [&]<typename Word>(const Word& word) {
    const std::size_t place = left.find('$');
    text += left.substr(0, place);
    left.remove_prefix(place + 1);
    if constexpr (std::integral<Word>)
      text += std::to_string(word);
    else
      text += word;
  };
  (fill(words), ...);
  return text += left;
}

}  // namespace tunesmith

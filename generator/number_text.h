// SPDX-License-Identifier: Apache-2.0
// Numbers as text and back, the same in each locale: an application may have set one with a decimal comma.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tunesmith {

/// What printf prints in the "C" locale: a decimal point, no groups.
[[gnu::format(printf, 1, 2)]] std::string printed(const char* pattern, ...);

/// The number that the whole text is: decimal, without blanks or a plus; a real one may be "inf" or "nan".
/// Nothing where it is none, or beyond the type's range. Of int, std::int64_t and double.
template <typename Number>
std::optional<Number> parsed_number(std::string_view text);

/// The number that the text begins with, as parsed_number() reads it, taken off the text.
template <typename Number>
std::optional<Number> take_number(std::string_view& text);

/// Whole numbers from 0 on with the separator between them, as "24x64"; of an empty text none. Nothing where
/// one is no such number.
std::optional<std::vector<std::int64_t>> parsed_numbers(std::string_view text, char separator);

/// The real number that the text begins with: 0 where there is none, and where it is too small; infinite
/// where it is too large.
double nearest_number(const std::string& text);

/// The shortest text that reads back as the same number, in memory of its own: a look-up allocates nothing.
class ShortestText {
 public:
  ShortestText() = default;
  explicit ShortestText(double number)
      : size_(static_cast<std::size_t>(std::to_chars(text_.data(), text_.data() + text_.size(), number).ptr -
                                       text_.data())) {}
  std::string_view get() const { return {text_.data(), size_}; }
  std::string string() const { return std::string(get()); }

 private:
  std::array<char, 32> text_ = {};
  std::size_t size_ = 0;
};

}  // namespace tunesmith

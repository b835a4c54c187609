// SPDX-License-Identifier: Apache-2.0
// Numbers as text and back, independent of the locale: an application may have set one with a decimal comma.
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

/// Formats as printf does in the "C" locale: with a decimal point, without grouping of digits.
[[gnu::format(printf, 1, 2)]] std::string printed(const char* pattern, ...);

/// Parses the whole text as a decimal number without blanks or a plus sign; a real number may be "inf" or
/// "nan". Returns nothing for any other text and for numbers beyond the type's range. Defined for int,
/// std::int64_t and double.
template <typename Number>
std::optional<Number> parsed_number(std::string_view text);

/// Parses the number at the start of the text, as parsed_number() does, and removes it from the text.
template <typename Number>
std::optional<Number> take_number(std::string_view& text);

/// Parses whole numbers from 0 on with the separator between them, such as "24x64"; an empty text gives an
/// empty list. Returns nothing if one part is not such a number.
std::optional<std::vector<std::int64_t>> parsed_numbers(std::string_view text, char separator);

/// Parses the real number at the start of the text. Returns 0 if there is none or it is too small, infinity
/// if it is too large.
double nearest_number(const std::string& text);

/// The shortest text that reads back as the same number. The object holds the characters itself, so that a
/// look-up allocates nothing.
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

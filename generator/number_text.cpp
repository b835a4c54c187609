// SPDX-License-Identifier: Apache-2.0
#include "generator/number_text.h"

#include <charconv>
#include <clocale>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <system_error>

namespace tunesmith {
namespace {

// The locale is never released, because a text may be printed while the process ends.
locale_t c_locale() {
  static const locale_t locale = ::newlocale(LC_ALL_MASK, "C", nullptr);
  return locale;
}

}  // namespace

std::string printed(const char* pattern, ...) {
  const locale_t before = ::uselocale(c_locale());  // changes this thread alone
  std::string text(80, '\0');
  for (bool fits = false; !fits;) {
    std::va_list values;
    va_start(values, pattern);
    const int size = std::vsnprintf(text.data(), text.size() + 1, pattern, values);
    va_end(values);
    fits = size <= static_cast<int>(text.size());
    text.resize(static_cast<std::size_t>(size < 0 ? 0 : size));
  }
  ::uselocale(before);
  return text;
}

template <typename Number>
std::optional<Number> take_number(std::string_view& text) {
  Number number{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}
template std::optional<int> take_number(std::string_view&);
template std::optional<std::int64_t> take_number(std::string_view&);
template std::optional<double> take_number(std::string_view&);

template <typename Number>
std::optional<Number> parsed_number(std::string_view text) {
  const std::optional<Number> number = take_number<Number>(text);
  return text.empty() ? number : std::nullopt;
}
template std::optional<int> parsed_number(std::string_view);
template std::optional<std::int64_t> parsed_number(std::string_view);
template std::optional<double> parsed_number(std::string_view);

std::optional<std::vector<std::int64_t>> parsed_numbers(std::string_view text, char separator) {
  std::vector<std::int64_t> numbers;
  while (!text.empty() || !numbers.empty()) {
    const auto number = take_number<std::int64_t>(text);
    if (!number || *number < 0) return std::nullopt;
    numbers.push_back(*number);
    if (text.empty()) break;
    if (text.front() != separator) return std::nullopt;
    text.remove_prefix(1);
  }
  return numbers;
}

double nearest_number(const std::string& text) { return ::strtod_l(text.c_str(), nullptr, c_locale()); }

}  // namespace tunesmith

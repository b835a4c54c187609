// SPDX-License-Identifier: Apache-2.0
#include "generator/number_text.h"

#include <charconv>
#include <clocale>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace tunesmith {
namespace {

// Never released: a text may be printed while the process ends.
locale_t c_locale() {
  static const locale_t locale = ::newlocale(LC_ALL_MASK, "C", nullptr);
  return locale;
}

}  // namespace

std::string printed(const char* pattern, ...) {
  const locale_t before = ::uselocale(c_locale());  // of this thread alone
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

double parsed_number(const std::string& text) { return ::strtod_l(text.c_str(), nullptr, c_locale()); }

bool reads_as_double(const std::string& text, double& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

}  // namespace tunesmith

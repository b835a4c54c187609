// SPDX-License-Identifier: Apache-2.0
#include "generator/printable.h"

#include <algorithm>
#include <cstddef>

namespace tunesmith {
namespace {

// Returns the number of bytes of the UTF-8 character at the start of the text; 0 if it cannot be shown.
std::size_t character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return first == '\n' || first == '\t' || (first >= 0x20 && first != 0x7f) ? 1 : 0;
  const std::size_t size = first >= 0xf0 && first < 0xf5 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  if (size == 0 || first >= 0xf5 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const unsigned char second = byte(1);
  const bool is_control = first == 0xc2 && second < 0xa0;  // U+0080 to U+009F are commands too
  const bool is_longer_than_needed = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  return is_control || is_longer_than_needed ? 0 : size;
}

}  // namespace

std::string printable(std::string_view text) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string shown;
  while (!text.empty()) {
    const std::size_t size = character(text);
    if (size > 0) {
      shown += text.substr(0, size);
    } else {
      const auto byte = static_cast<unsigned char>(text.front());
      shown += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
    }
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return shown;
}

}  // namespace tunesmith

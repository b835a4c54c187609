// SPDX-License-Identifier: Apache-2.0
#include "generator/csv.h"

#include <algorithm>

namespace tunesmith {

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::vector<std::string> csv_fields(std::string_view record) {
  std::vector<std::string> fields(1);
  bool inside = false;
  for (std::size_t i = 0; i < record.size(); ++i) {
    const char c = record[i];
    if (inside && c == '"' && i + 1 < record.size() && record[i + 1] == '"') {
      fields.back() += c;
      ++i;
    } else if (c == '"') {
      inside = !inside;
    } else if (c == ',' && !inside) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

std::string_view take_csv_record(std::string_view& text) {
  bool inside = false;
  std::size_t end = 0;
  for (; end < text.size() && (inside || text[end] != '\n'); ++end) inside = inside != (text[end] == '"');
  std::string_view record = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (record.ends_with('\r')) record.remove_suffix(1);
  return record;
}

}  // namespace tunesmith

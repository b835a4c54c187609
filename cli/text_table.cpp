// SPDX-License-Identifier: Apache-2.0
#include "cli/text_table.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "generator/csv.h"
#include "generator/number_text.h"
#include "generator/printable.h"
#include "tuner/run/progress.h"

namespace tunesmith {
namespace {

std::string exact(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) return std::to_string(*integer);
  if (const auto* number = std::get_if<double>(&cell)) return ShortestText(*number).string();
  return "";
}

std::string rounded(const Cell& cell) {
  const auto* number = std::get_if<double>(&cell);
  if (number == nullptr) return printable(one_line(exact(cell)));
  const double size = std::abs(*number);
  const int decimals = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3;
  return printed("%.*f", decimals, *number);
}

constexpr std::size_t continued = 4;  // blanks before a row's further lines

// The width of the terminal that standard output is; 0: it is none.
std::size_t terminal_width() {
  winsize size = {};
  return ::isatty(STDOUT_FILENO) != 0 && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

// Counts characters, not bytes, so that columns of UTF-8 line up.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// Writes a JSON string; control characters are escaped, also U+0080 to U+009F.
std::string json_text(const std::string& text) {
  static constexpr char hex[] = "0123456789abcdef";
  std::string quoted = "\"";
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto byte = static_cast<unsigned char>(text[i]);
    if (byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0)
      byte = static_cast<unsigned char>(text[++i]);
    else if (byte >= 0x20 && byte != 0x7f) {
      if (byte == '"' || byte == '\\') quoted += '\\';
      quoted += text[i];
      continue;
    }
    quoted += std::string("\\u00") + hex[byte >> 4] + hex[byte & 15];
  }
  return quoted + '"';
}

}  // namespace

std::string TextTable::text(std::size_t indent, std::size_t most) const {
  struct Column {
    std::size_t at, width;
    bool numbers;
    std::size_t line = 0;  ///< of the row's lines
  };
  std::vector<Column> shown;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t widest = 0;
    bool numbers = true;
    for (const auto& row : rows_) {
      widest = std::max(widest, width(rounded(row[c])));
      numbers = numbers && !std::holds_alternative<std::string>(row[c]);
    }
    if (widest > 0) shown.push_back({c, std::max(widest, width(columns_[c])), numbers});
  }
  std::size_t used = indent;
  for (std::size_t k = 0; k < shown.size(); ++k) {
    used += shown[k].width + (k == 0 ? 0 : 2);
    if (k > 0) shown[k].line = shown[k - 1].line;
    if (k == 0 || most == 0 || used <= most) continue;
    ++shown[k].line;
    used = indent + continued + shown[k].width;
  }
  std::string text;
  const auto line = [&](const auto& cell_text) {
    std::string all(indent, ' ');
    const auto end = [&] { text += all.substr(0, all.find_last_not_of(' ') + 1) + '\n'; };
    for (std::size_t k = 0; k < shown.size(); ++k) {
      const Column& column = shown[k];
      const std::string content = cell_text(column.at);
      const std::string blanks(column.width - width(content), ' ');
      if (k > 0 && column.line != shown[k - 1].line) {
        end();
        all.assign(indent + continued, ' ');
      } else {
        all += k == 0 ? "" : "  ";
      }
      all += column.numbers ? blanks + content : content + blanks;
    }
    end();
  };
  if (!shown.empty()) line([&](std::size_t c) { return columns_[c]; });
  for (const auto& row : rows_) line([&](std::size_t c) { return rounded(row[c]); });
  return text;
}

std::string TextTable::csv() const {
  std::string text;
  for (std::size_t c = 0; c < columns_.size(); ++c) text += (c == 0 ? "" : ",") + csv_field(columns_[c]);
  for (const auto& row : rows_) {
    text += '\n';
    for (std::size_t c = 0; c < row.size(); ++c) text += (c == 0 ? "" : ",") + csv_field(exact(row[c]));
  }
  return text + '\n';
}

std::string TextTable::json() const {
  std::string text = "[";
  for (const auto& row : rows_) {
    text += &row == &rows_.front() ? "\n  {" : ",\n  {";
    for (std::size_t c = 0; c < row.size(); ++c) {
      const auto* number = std::get_if<double>(&row[c]);
      const bool nothing =
          std::holds_alternative<std::monostate>(row[c]) || (number && !std::isfinite(*number));
      const bool word = std::holds_alternative<std::string>(row[c]);
      text += (c == 0 ? "" : ", ") + json_text(columns_[c]) + ": " +
              (nothing ? "null"
               : word  ? json_text(exact(row[c]))
                       : exact(row[c]));
    }
    text += '}';
  }
  return text + (rows_.empty() ? "]\n" : "\n]\n");
}

std::string TextTable::as(const std::string& format) const {
  return format == "csv" ? csv() : format == "json" ? json() : text(0, terminal_width());
}

}  // namespace tunesmith

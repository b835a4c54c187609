// SPDX-License-Identifier: Apache-2.0
// A table of results, written for people, for scripts and for programs. It does not know the meaning of the
// columns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tunesmith {

/// Nothing, a number or a text.
using Cell = std::variant<std::monostate, std::int64_t, double, std::string>;

template <typename Number>
Cell cell(const std::optional<Number>& value) {
  return value ? Cell(*value) : Cell();
}

class TextTable {
 public:
  explicit TextTable(std::vector<std::string> columns) : columns_(std::move(columns)) {}

  /// One cell per column.
  void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.empty(); }

  /// Writes aligned columns, with numbers to four digits and without empty columns. Each line begins with
  /// `indent` blanks. If it is wider than `most` characters (0: no limit), a row goes on in further lines,
  /// which begin with four blanks more.
  std::string text(std::size_t indent = 0, std::size_t most = 0) const;
  std::string csv() const;   ///< RFC 4180
  std::string json() const;  ///< an array of objects

  /// Writes the table in a format: "table", "csv" or "json". A table fits the terminal, if it is written to
  /// one.
  std::string as(const std::string& format) const;

 private:
  std::vector<std::string> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace tunesmith

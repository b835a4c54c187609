// The table of generated/: one line a winner, as CSV that people and spreadsheets read. Knows no files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dispatch/select.h"

namespace tunesmith {

struct TableRow {
  Candidate winner;  ///< origin built_in, no binary
  std::int64_t alignment_bytes = 1;
  std::string file;  ///< in generated/: the rendered text
};

/// Name of the table in generated/.
inline constexpr std::string_view table_file = "winners.csv";

/// The order of write_table: by device, op, problem, alignment.
bool before(const TableRow& a, const TableRow& b);

std::string write_table(std::vector<TableRow> rows);

/// Throws Error naming the line. An empty text is an empty table.
std::vector<TableRow> read_table(std::string_view text);

}  // namespace tunesmith

#include "dispatch/table.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <tuple>

#include "generator/error.h"

namespace tunesmith {
namespace {

constexpr std::string_view header =
    "device_kind,device_name,target,compute_capability,multiprocessors,memory_bytes,op,problem,template,"
    "config,"
    "alignment_bytes,median_us,source_hash,file";
constexpr std::size_t columns = 14;
// One more where a winner was measured with cold caches; a table without it has none of those.
constexpr std::string_view caches_column = ",caches";

std::string quoted(const std::string& field) {
  if (field.find_first_of(",\"\n") == std::string::npos) return field;
  std::string text = "\"";
  for (const char c : field) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + '"';
}

std::vector<std::string> split(std::string_view line) {
  std::vector<std::string> fields(1);
  bool inside = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (inside && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
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

template <typename Number>
Number number(const std::string& field, const std::string& where) {
  Number value{};
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error != std::errc{} || end != field.data() + field.size()) {
    throw Error(where + " has \"" + field + "\" where a number belongs.");
  }
  return value;
}

std::string microseconds(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", value);
  return text;
}

}  // namespace

bool before(const TableRow& a, const TableRow& b) {
  const auto key = [](const TableRow& row) {
    return std::make_tuple(row.winner.device.kind, row.winner.device.name, row.winner.device.target,
                           row.winner.device.multiprocessors, row.winner.device.memory_bytes, row.winner.op,
                           row.winner.problem.text(), row.alignment_bytes);
  };
  return key(a) < key(b);
}

std::string write_table(std::vector<TableRow> rows) {
  std::sort(rows.begin(), rows.end(), before);
  const bool with_caches =
      std::any_of(rows.begin(), rows.end(), [](const TableRow& row) { return row.winner.cold_caches; });
  std::string text = std::string(header);
  if (with_caches) text += caches_column;
  text += "\n";
  for (const TableRow& row : rows) {
    const Candidate& winner = row.winner;
    const DeviceFacts& device = winner.device;
    const std::string fields[columns] = {device.kind,
                                         device.name,
                                         device.target,
                                         std::to_string(device.compute_capability),
                                         std::to_string(device.multiprocessors),
                                         std::to_string(device.memory_bytes),
                                         winner.op,
                                         winner.problem.text(),
                                         winner.template_name,
                                         winner.config.text(),
                                         std::to_string(row.alignment_bytes),
                                         microseconds(winner.median_us),
                                         winner.source_hash,
                                         row.file};
    for (std::size_t i = 0; i < columns; ++i) text += (i == 0 ? "" : ",") + quoted(fields[i]);
    if (with_caches) text += winner.cold_caches ? ",cold" : ",warm";
    text += "\n";
  }
  return text;
}

std::vector<TableRow> read_table(std::string_view text) {
  std::vector<TableRow> rows;
  int line_number = 0;
  std::size_t expected = columns;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    ++line_number;
    if (line.empty()) continue;
    const std::string where = "Line " + std::to_string(line_number) + " of " + std::string(table_file);
    if (line_number == 1) {
      if (line == std::string(header) + std::string(caches_column)) {
        ++expected;
        continue;
      }
      if (line != header) throw Error(where + " is not the header \"" + std::string(header) + "\".");
      continue;
    }
    const std::vector<std::string> fields = split(line);
    if (fields.size() != expected) {
      throw Error(where + " has " + std::to_string(fields.size()) + " fields; it needs " +
                  std::to_string(expected) + ".");
    }
    TableRow row;
    Candidate& winner = row.winner;
    winner.origin = Candidate::Origin::built_in;
    winner.device.kind = fields[0];
    winner.device.name = fields[1];
    winner.device.target = fields[2];
    winner.device.compute_capability = number<int>(fields[3], where);
    winner.device.multiprocessors = number<int>(fields[4], where);
    winner.device.memory_bytes = number<std::int64_t>(fields[5], where);
    winner.op = fields[6];
    winner.problem = Problem::parse(fields[7]);
    winner.template_name = fields[8];
    winner.config = Values::parse(fields[9]);
    row.alignment_bytes = number<std::int64_t>(fields[10], where);
    winner.median_us = number<double>(fields[11], where);
    winner.source_hash = fields[12];
    row.file = fields[13];
    if (expected > columns) winner.cold_caches = fields[columns] == "cold";
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace tunesmith

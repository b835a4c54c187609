// SPDX-License-Identifier: Apache-2.0
// Stores and reads anchor tables: texts that are written once and replaced by later ones.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "db/schema.h"
#include "db/sqlite.h"
#include "db/store.h"

namespace tunesmith {

using schema::operator>>;
using sqlite::Statement;

std::vector<StoredDevice> Store::devices(const std::string& words) const {
  Statement rows(*database_,
                 std::string("SELECT d.id, ") + schema::device_columns +
                     " FROM device d WHERE ?1 = '' OR instr(lower(name), lower(?1)) > 0 OR target = ?1 "
                     "ORDER BY id",
                 words);
  std::vector<StoredDevice> devices;
  while (rows.step()) {
    StoredDevice& d = devices.emplace_back();
    rows >> d.id >> d.device;
  }
  return devices;
}

void Store::put_anchor_table(const AnchorTableRow& a) {
  std::optional<std::vector<std::byte>> factors;
  if (const auto bytes = std::as_bytes(std::span(a.factors)); !bytes.empty())
    factors.emplace(bytes.begin(), bytes.end());
  // The generation places the table after all tables of its kind that its session could know.
  Statement(
      *database_,
      "INSERT INTO anchor_table (session_id, sequence, generation, op, device_id, caches, launches, text, "
      "factors, made_at) SELECT ?1, 1 + ifnull((SELECT max(sequence) FROM anchor_table WHERE session_id = "
      "?1), 0), "
      "max((SELECT generation FROM session WHERE id = ?1), "
      "ifnull((SELECT max(generation + (session_id <> ?1)) FROM anchor_table WHERE op = ?2 AND device_id = "
      "?3), 0)), "
      "?2, ?3, ?4, ?5, ?6, ?7, ?8",
      a.session_id, a.op, a.device_id, a.caches, a.launches, a.text, factors, sqlite::now(*database_))
      .run();
}

std::vector<StoredAnchorTable> Store::anchor_tables(const QueryFilter& filter) const {
  Statement rows(
      *database_,
      std::string("SELECT ") + schema::device_columns +
          ", a.id, a.session_id, a.device_id, a.op, a.caches, a.launches, a.text, a.factors, a.made_at FROM ("
          "SELECT a.*, row_number() OVER ("
          "PARTITION BY a.op, a.device_id, a.caches, a.launches "
          "ORDER BY a.generation DESC, s.uid DESC, a.sequence DESC) AS place "
          "FROM anchor_table a JOIN session s ON s.id = a.session_id) a JOIN device d ON d.id = a.device_id "
          "WHERE place = 1 AND (?1 = '' OR a.op = ?1) AND (?2 = '' OR instr(lower(d.name), lower(?2)) > 0 OR "
          "d.target = ?2) ORDER BY a.op, a.device_id, a.caches, a.launches",
      filter.op, filter.device);
  std::vector<StoredAnchorTable> tables;
  while (rows.step()) {
    StoredAnchorTable& t = tables.emplace_back();
    std::optional<std::vector<std::byte>> factors;
    rows >> t.device >> t.id >> t.table.session_id >> t.table.device_id >> t.table.op >> t.table.caches >>
        t.table.launches >> t.table.text >> factors >> t.made_at;
    if (factors) t.table.factors.assign(reinterpret_cast<const char*>(factors->data()), factors->size());
  }
  return tables;
}

}  // namespace tunesmith

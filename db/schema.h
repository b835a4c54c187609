// SPDX-License-Identifier: Apache-2.0
// The schema of a database file: its version, and the migration of an older one to the newest. Private to
// db/.
#pragma once

#include <cstdint>
#include <span>

#include "db/sqlite.h"
#include "db/store.h"

namespace tunesmith::schema {

extern const char* const sql;                        // the text of schema.sql
constexpr std::int64_t application_id = 1414745428;  // "TSMT", as in schema.sql

using Migrations = std::span<const Store::Migration>;
inline std::int64_t newest_version(Migrations migrations) {
  return static_cast<std::int64_t>(migrations.size()) + 1;
}

struct Identity {
  std::int64_t version = 0, application_id = 0;
  std::int64_t objects = 0;  // tables, views, indices and triggers
};
// Only reads, because the file may belong to another program.
Identity identify(const sqlite::Database&);

sqlite::Database empty_database();  // in memory, with the tables and views of schema.sql

// Throws if the program knows no schema of this version.
void require_known(const sqlite::Database&, std::int64_t version, Migrations);

// Migrates the database from its version to the newest one. The caller has begun a write transaction, commits
// it, and has foreign keys off, because a migration may rebuild a table that others refer to.
void migrate(sqlite::Database&, Migrations);

// Computes the winners from the choices and verdicts, for one problem on a device or for all, within the
// caller's transaction.
void refresh_winners(const sqlite::Database&, std::int64_t problem_id, std::int64_t device_id);
void refresh_all_winners(const sqlite::Database&);

// Throws if a table of schema.sql is missing, is a view, or has computed columns.
void require_tables(const sqlite::Database&);

// Replaces the views of the file, which are not used, by our own. Throws as require_tables() does.
void use_own_views(sqlite::Database&);

// The columns of a device in `device d`, and the function that reads them.
inline constexpr const char* device_columns =
    "d.kind, d.name, d.target, d.compute_capability, d.sm_count, d.memory_bytes, d.l2_bytes, "
    "d.shared_bytes_per_sm, d.max_threads_per_sm, d.max_shared_bytes_per_block";
sqlite::Statement& operator>>(sqlite::Statement&, DeviceRow&);

// SQL: true if rows `s` and `d` are of one model, as in same_model() of DeviceFacts and in the index
// device_model.
inline constexpr const char* same_device =
    "s.kind = d.kind AND s.name = d.name AND s.target = d.target AND s.compute_capability = "
    "d.compute_capability AND (d.kind = 'host' OR s.sm_count = d.sm_count)";

// The end of an INSERT INTO device: a value that only one of the two rows knows is kept, whichever row came
// first.
inline constexpr const char* or_know_more_of_device =
    "ON CONFLICT DO UPDATE SET sm_count = max(sm_count, excluded.sm_count), "
    "memory_bytes = max(memory_bytes, excluded.memory_bytes), l2_bytes = max(l2_bytes, excluded.l2_bytes), "
    "shared_bytes_per_sm = max(shared_bytes_per_sm, excluded.shared_bytes_per_sm), "
    "max_threads_per_sm = max(max_threads_per_sm, excluded.max_threads_per_sm), "
    "max_shared_bytes_per_block = max(max_shared_bytes_per_block, excluded.max_shared_bytes_per_block) ";

}  // namespace tunesmith::schema

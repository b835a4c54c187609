// The schema of a file: which version it has, and how an older one becomes the newest. Private to db/.
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
// Reads only: the file may belong to another program.
Identity identify(const sqlite::Database&);

sqlite::Database empty_database();  // in memory, with the tables and views of schema.sql

// Throws where the program knows no schema of this version.
void require_known(const sqlite::Database&, std::int64_t version, Migrations);

// From the version that the database has to the newest one. The caller has begun a write transaction, commits
// it, and has foreign keys off: a migration may rebuild a table that others refer to.
void migrate(sqlite::Database&, Migrations);

// The winners that follow from the choices and verdicts, of a problem on a device or of all; within the
// caller's transaction.
void refresh_winners(const sqlite::Database&, std::int64_t problem_id, std::int64_t device_id);
void refresh_all_winners(const sqlite::Database&);

// Throws where a table of schema.sql is missing, or is a view, or has columns that are computed.
void require_tables(const sqlite::Database&);

// Views of our own stand for those of the file, which are not used. Throws as require_tables does.
void use_own_views(sqlite::Database&);

// A device as columns of `device d`, and how they are read.
inline constexpr const char* device_columns =
    "d.kind, d.name, d.target, d.compute_capability, d.sm_count, d.memory_bytes, d.l2_bytes, "
    "d.shared_bytes_per_sm, d.max_threads_per_sm, d.max_shared_bytes_per_block";
sqlite::Statement& operator>>(sqlite::Statement&, DeviceRow&);

// Whether rows `s` and `d` are of one model: as same_model() says of DeviceFacts, and the index device_model.
inline constexpr const char* same_device =
    "s.kind = d.kind AND s.name = d.name AND s.target = d.target AND s.compute_capability = "
    "d.compute_capability AND (d.kind = 'host' OR s.sm_count = d.sm_count)";

// The end of an INSERT INTO device: what one row knows and another does not is kept, in any order of the two.
inline constexpr const char* or_know_more_of_device =
    "ON CONFLICT DO UPDATE SET sm_count = max(sm_count, excluded.sm_count), "
    "memory_bytes = max(memory_bytes, excluded.memory_bytes), l2_bytes = max(l2_bytes, excluded.l2_bytes), "
    "shared_bytes_per_sm = max(shared_bytes_per_sm, excluded.shared_bytes_per_sm), "
    "max_threads_per_sm = max(max_threads_per_sm, excluded.max_threads_per_sm), "
    "max_shared_bytes_per_block = max(max_shared_bytes_per_block, excluded.max_shared_bytes_per_block) ";

}  // namespace tunesmith::schema

// SPDX-License-Identifier: Apache-2.0
#include "db/schema.h"

#include <string>

namespace tunesmith {

using sqlite::Database;
using sqlite::first;
using sqlite::Statement;

// The migrations, oldest first; a released one is never edited, and schema.sql always holds the newest
// schema. There is none yet: 0.1.0 has schema 1.
Store::Options::Options() = default;

namespace schema {

Identity identify(const Database& database) {
  // One statement sees one state of the file, which another process may be creating at this moment.
  Statement row(database,
                "SELECT user_version, application_id, (SELECT count(*) FROM sqlite_master) "
                "FROM pragma_user_version, pragma_application_id");
  row.step();
  Identity identity;
  row >> identity.version >> identity.application_id >> identity.objects;
  return identity;
}

void require_known(const Database& database, std::int64_t version, Migrations migrations) {
  const auto newest = newest_version(migrations);
  if (version <= newest) return;
  throw StoreError("The database " + database.name().string() +
                   " was written by a newer Tunesmith, or by one before 0.1.0: it has schema " +
                   std::to_string(version) + ", and this program knows schemas up to " +
                   std::to_string(newest) +
                   ". It was not changed: update Tunesmith, or export it with the version that wrote it "
                   "(tunesmith db export) and import that, or choose another file.");
}

Statement& operator>>(Statement& columns, DeviceRow& d) {
  return columns >> d.kind >> d.name >> d.target >> d.compute_capability >> d.sm_count >> d.memory_bytes >>
         d.l2_bytes >> d.shared_bytes_per_sm >> d.max_threads_per_sm >> d.max_shared_bytes_per_block;
}

Database empty_database() {
  Database made = Database::in_memory("schema.sql");
  made.exec(sql);
  return made;
}

void require_tables(const Database& database) {
  const Database fresh = empty_database();
  Statement tables(fresh, "SELECT name FROM sqlite_master WHERE type = 'table'");
  while (tables.step()) {
    std::string name;
    tables >> name;
    // A view or a virtual table has no pages of its own. A generated column would run its expression.
    if (first<std::int64_t>(database,
                            "SELECT count(*) FROM main.sqlite_master WHERE name = ?1 AND type = 'table' AND "
                            "rootpage > 0 AND NOT EXISTS (SELECT 1 FROM pragma_table_xinfo(?1, 'main') "
                            "WHERE hidden > 0)",
                            name) == 1)
      continue;
    throw StoreError("The database " + database.name().string() + " has no table " + name +
                     ", so it is damaged: move it aside or restore a copy.");
  }
}

void use_own_views(Database& database) {
  require_tables(database);
  const Database fresh = empty_database();
  Statement views(fresh, "SELECT sql FROM sqlite_master WHERE type = 'view' ORDER BY rowid");
  while (views.step()) {
    std::string view;
    views >> view;
    database.exec("CREATE TEMP" + view.substr(std::string_view("CREATE").size()));
  }
}

void migrate(Database& database, Migrations migrations) {
  const auto newest = newest_version(migrations);
  auto version = identify(database).version;
  if (version == newest) return;
  for (; version < newest; ++version) {
    database.exec(migrations[static_cast<std::size_t>(version - 1)].sql);
    database.exec("PRAGMA user_version = " + std::to_string(version + 1));
  }
  const Database fresh = empty_database();
  Statement views(fresh, "SELECT name, sql FROM sqlite_master WHERE type = 'view' ORDER BY rowid");
  while (views.step()) {
    std::string name;
    std::string view;
    views >> name >> view;
    database.exec("DROP VIEW IF EXISTS " + name + ";" + view);
  }
  if (first<std::string>(database, "PRAGMA foreign_key_check")) {
    throw StoreError("The database " + database.name().string() +
                     " has rows that refer to missing rows, so it could not be migrated to schema " +
                     std::to_string(newest) + ". It was not changed: restore a copy, or move it aside.");
  }
}

}  // namespace schema
}  // namespace tunesmith

#include "db/schema.h"

#include <string>

namespace tunesmith {

using sqlite::Database;
using sqlite::first;
using sqlite::Statement;

namespace {

// Oldest first; a released one is never edited. schema.sql always holds the newest schema.
constexpr Store::Migration migrations[] = {
    // 2: times with warm and with cold caches
    {"ALTER TABLE measurement ADD COLUMN caches TEXT NOT NULL DEFAULT 'warm' CHECK (caches IN ('warm', "
     "'cold'));"
     "DROP INDEX measurement_newest;"
     "CREATE INDEX measurement_newest ON measurement (device_id, problem_id, variant_id, caches, "
     "measured_at);"},
    // 3: what the compiler sees identifies a kernel, no longer its whole text; carry_over() translates
    {"UPDATE variant SET source_hash = 'text:' || source_hash;"},
};

}  // namespace

Store::Options::Options() : migrations(tunesmith::migrations) {}

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

Database empty_database() {
  Database made = Database::in_memory("schema.sql");
  made.exec(sql);
  return made;
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

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
    // 4: how launches lie, what a time's error is, energy; an order without clocks, choices and finalists.
    // What is
    // older was ordered by clocks: its generation is its time, below all others, alike in every file. CUDA's
    // launches were behind each other. (The numbers: milliseconds of a day, and 2100-01-01.)
    {R"(
DROP TRIGGER measurement_never_changes;
ALTER TABLE measurement ADD COLUMN launches TEXT NOT NULL DEFAULT 'apart' CHECK (launches IN ('apart', 'chained'));
ALTER TABLE measurement ADD COLUMN low_us REAL;
ALTER TABLE measurement ADD COLUMN high_us REAL CHECK (high_us >= low_us);
ALTER TABLE measurement ADD COLUMN loads INTEGER CHECK (loads > 0);
ALTER TABLE measurement ADD COLUMN energy_uj REAL CHECK (energy_uj > 0);
ALTER TABLE measurement ADD COLUMN clock_mhz INTEGER CHECK (clock_mhz > 0);
ALTER TABLE measurement ADD COLUMN throttled TEXT NOT NULL DEFAULT '';
ALTER TABLE measurement ADD COLUMN generation INTEGER NOT NULL DEFAULT 0;
UPDATE measurement SET
  launches = iif((SELECT kind FROM device WHERE id = device_id) = 'cuda', 'chained', 'apart'),
  generation = min(0, CAST(round((ifnull(julianday(measured_at), 0) - 2440587.5) * 86400000) AS INTEGER) - 4102444800000);
DROP INDEX measurement_newest;
CREATE INDEX measurement_newest ON measurement (device_id, problem_id, variant_id, caches, launches, generation);
CREATE TRIGGER measurement_never_changes BEFORE UPDATE ON measurement
BEGIN SELECT raise(ABORT, 'a measurement is never changed: record a new one'); END;
ALTER TABLE session ADD COLUMN device_uuid TEXT NOT NULL DEFAULT '';
ALTER TABLE session ADD COLUMN generation INTEGER NOT NULL DEFAULT 0;
UPDATE session SET
  generation = min(0, CAST(round((ifnull(julianday(started_at), 0) - 2440587.5) * 86400000) AS INTEGER) - 4102444800000);
CREATE TABLE choice (
  id INTEGER PRIMARY KEY,
  session_id INTEGER NOT NULL REFERENCES session,
  sequence INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  problem_id INTEGER NOT NULL REFERENCES problem,
  device_id INTEGER NOT NULL REFERENCES device,
  alignment_bytes INTEGER NOT NULL CHECK (alignment_bytes > 0),
  measurement_id INTEGER REFERENCES measurement,
  objective TEXT NOT NULL CHECK (objective IN ('time', 'energy', 'edp')),
  chosen_at TEXT NOT NULL,
  UNIQUE (session_id, sequence, alignment_bytes)
) STRICT;
CREATE INDEX choice_by_problem ON choice (problem_id, device_id, generation);
CREATE INDEX choice_by_device ON choice (device_id);
CREATE INDEX choice_by_measurement ON choice (measurement_id);
INSERT INTO choice (session_id, sequence, generation, problem_id, device_id, alignment_bytes, measurement_id, objective,
                    chosen_at)
SELECT m.session_id, m.sequence, m.generation, w.problem_id, w.device_id, w.alignment_bytes, m.id, 'time', w.since
FROM winner w JOIN measurement m ON m.id = w.measurement_id
ORDER BY w.problem_id, w.device_id, w.alignment_bytes;
CREATE TRIGGER choice_never_changes BEFORE UPDATE ON choice
BEGIN SELECT raise(ABORT, 'a choice is never changed: a later one replaces it'); END;
CREATE TRIGGER choice_never_goes BEFORE DELETE ON choice
BEGIN SELECT raise(ABORT, 'a choice is never deleted: a later one replaces it'); END;
CREATE TABLE finalist (
  winner_id INTEGER NOT NULL REFERENCES measurement,
  measurement_id INTEGER NOT NULL REFERENCES measurement,
  ratio REAL NOT NULL CHECK (ratio > 0),
  ratio_low REAL,
  ratio_high REAL,
  tied INTEGER NOT NULL CHECK (tied IN (0, 1)),
  PRIMARY KEY (winner_id, measurement_id)
) STRICT;
CREATE INDEX finalist_by_measurement ON finalist (measurement_id);
CREATE TRIGGER finalist_never_changes BEFORE UPDATE ON finalist
BEGIN SELECT raise(ABORT, 'a finalist is never changed: the finals of later measurements add rows'); END;
CREATE TRIGGER finalist_never_goes BEFORE DELETE ON finalist
BEGIN SELECT raise(ABORT, 'a finalist is never deleted: the finals of later measurements add rows'); END;
ALTER TABLE winner ADD COLUMN objective TEXT NOT NULL DEFAULT 'time' CHECK (objective IN ('time', 'energy', 'edp'));
ALTER TABLE winner ADD COLUMN other_gpus INTEGER NOT NULL DEFAULT 0;
)"},
    // 5: what is known of an op on a device beside its winners
    {R"(
CREATE TABLE anchor_table (
  id INTEGER PRIMARY KEY,
  session_id INTEGER NOT NULL REFERENCES session,
  sequence INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  op TEXT NOT NULL,
  device_id INTEGER NOT NULL REFERENCES device,
  caches TEXT NOT NULL CHECK (caches IN ('warm', 'cold')),
  launches TEXT NOT NULL CHECK (launches IN ('apart', 'chained')),
  text TEXT NOT NULL,
  made_at TEXT NOT NULL,
  UNIQUE (session_id, sequence)
) STRICT;
CREATE INDEX anchor_table_by_device ON anchor_table (device_id, op, generation);
CREATE TRIGGER anchor_table_never_changes BEFORE UPDATE ON anchor_table
BEGIN SELECT raise(ABORT, 'an anchor table is never changed: a later one replaces it'); END;
CREATE TRIGGER anchor_table_never_goes BEFORE DELETE ON anchor_table
BEGIN SELECT raise(ABORT, 'an anchor table is never deleted: a later one replaces it'); END;
)"},
    // 6: more of what a device is and allows
    {R"(
ALTER TABLE device ADD COLUMN l2_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE device ADD COLUMN shared_bytes_per_sm INTEGER NOT NULL DEFAULT 0;
ALTER TABLE device ADD COLUMN max_threads_per_sm INTEGER NOT NULL DEFAULT 0;
ALTER TABLE device ADD COLUMN max_shared_bytes_per_block INTEGER NOT NULL DEFAULT 0;
)"},
    // 7: what a verdict cost, in which stage, and how large its space was
    {R"(
ALTER TABLE measurement ADD COLUMN stage TEXT NOT NULL DEFAULT '' CHECK (stage IN ('', 'search', 'finals', 'table'));
ALTER TABLE measurement ADD COLUMN wall_ms REAL CHECK (wall_ms > 0);
ALTER TABLE measurement ADD COLUMN space_variants INTEGER CHECK (space_variants > 0);
)"},
    // 8: what applications tried at first uses
    {R"(
CREATE TABLE trial (
  id INTEGER PRIMARY KEY,
  first_use TEXT NOT NULL,
  place INTEGER NOT NULL CHECK (place > 0),
  generation INTEGER NOT NULL,
  problem_id INTEGER NOT NULL REFERENCES problem,
  device_id INTEGER NOT NULL REFERENCES device,
  template TEXT NOT NULL,
  config TEXT NOT NULL,
  source_hash TEXT NOT NULL,
  us REAL CHECK (us > 0),
  toolchain TEXT NOT NULL,
  driver TEXT NOT NULL,
  tunesmith_version TEXT NOT NULL,
  tried_at TEXT NOT NULL,
  UNIQUE (first_use, place)
) STRICT;
CREATE INDEX trial_by_problem ON trial (problem_id, device_id, generation);
CREATE INDEX trial_by_device ON trial (device_id);
CREATE TRIGGER trial_never_changes BEFORE UPDATE ON trial
BEGIN SELECT raise(ABORT, 'a trial is never changed: a later first use adds rows'); END;
CREATE TRIGGER trial_never_goes BEFORE DELETE ON trial
BEGIN SELECT raise(ABORT, 'a trial is never deleted: a later first use adds rows'); END;
)"},
    // 9: the views alone: what an older body measured is not current
    {""},
    // 10: memory identifies no device, as another driver reports another size; what an interrupted run had
    // found.
    // Where two rows have become one device, migrate() finds its winners again.
    {R"(
CREATE TABLE same_device AS SELECT id, min(id) OVER (
  PARTITION BY kind, name, target, compute_capability, iif(kind = 'host', 0, sm_count)) AS kept FROM device;
UPDATE device SET (sm_count, memory_bytes, l2_bytes, shared_bytes_per_sm, max_threads_per_sm, max_shared_bytes_per_block) =
  (SELECT max(d.sm_count), max(d.memory_bytes), max(d.l2_bytes), max(d.shared_bytes_per_sm), max(d.max_threads_per_sm),
          max(d.max_shared_bytes_per_block)
   FROM same_device s JOIN device d USING (id) WHERE s.kept = device.id)
  WHERE id IN (SELECT kept FROM same_device WHERE id <> kept);
DROP TRIGGER measurement_never_changes;
DROP TRIGGER choice_never_changes;
DROP TRIGGER anchor_table_never_changes;
DROP TRIGGER trial_never_changes;
DELETE FROM winner WHERE device_id IN (SELECT id FROM same_device WHERE id <> kept);
UPDATE measurement SET device_id = s.kept FROM same_device s WHERE s.id = device_id AND s.id <> s.kept;
UPDATE choice SET device_id = s.kept FROM same_device s WHERE s.id = device_id AND s.id <> s.kept;
UPDATE session SET device_id = s.kept FROM same_device s WHERE s.id = device_id AND s.id <> s.kept;
UPDATE anchor_table SET device_id = s.kept FROM same_device s WHERE s.id = device_id AND s.id <> s.kept;
UPDATE trial SET device_id = s.kept FROM same_device s WHERE s.id = device_id AND s.id <> s.kept;
DELETE FROM device WHERE id IN (SELECT id FROM same_device WHERE id <> kept);
DROP TABLE same_device;
CREATE TRIGGER measurement_never_changes BEFORE UPDATE ON measurement
BEGIN SELECT raise(ABORT, 'a measurement is never changed: record a new one'); END;
CREATE TRIGGER choice_never_changes BEFORE UPDATE ON choice
BEGIN SELECT raise(ABORT, 'a choice is never changed: a later one replaces it'); END;
CREATE TRIGGER anchor_table_never_changes BEFORE UPDATE ON anchor_table
BEGIN SELECT raise(ABORT, 'an anchor table is never changed: a later one replaces it'); END;
CREATE TRIGGER trial_never_changes BEFORE UPDATE ON trial
BEGIN SELECT raise(ABORT, 'a trial is never changed: a later first use adds rows'); END;
CREATE UNIQUE INDEX device_model ON device (kind, name, target, compute_capability, iif(kind = 'host', 0, sm_count));
ALTER TABLE choice ADD COLUMN provisional INTEGER NOT NULL DEFAULT 0 CHECK (provisional IN (0, 1));
ALTER TABLE winner ADD COLUMN provisional INTEGER NOT NULL DEFAULT 0 CHECK (provisional IN (0, 1));
)"},
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
  const auto devices = [&] { return first<std::int64_t>(database, "SELECT count(*) FROM device"); };
  const auto before = devices();
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
  if (devices() < before) refresh_all_winners(database);
  if (first<std::string>(database, "PRAGMA foreign_key_check")) {
    throw StoreError("The database " + database.name().string() +
                     " has rows that refer to missing rows, so it could not be migrated to schema " +
                     std::to_string(newest) + ". It was not changed: restore a copy, or move it aside.");
  }
}

}  // namespace schema
}  // namespace tunesmith

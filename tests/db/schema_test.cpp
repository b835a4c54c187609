#include <thread>
#include <vector>

#include "fixture.h"

namespace tunesmith {
namespace {

using SchemaTest = DbTest;
using testing::HasSubstr;

TEST_F(SchemaTest, AnOlderSchemaIsMigrated) {
  std::int64_t variant = 0;
  {
    auto store = Store::open(file(), Mode::create);
    const auto ids = populate(store);
    variant = ids.variant(store, "fast");
  }
  const Store::Migration migrations[] = {
      Store::Options().migrations[0],
      Store::Options().migrations[1],
      Store::Options().migrations[2],
      Store::Options().migrations[3],
      Store::Options().migrations[4],
      Store::Options().migrations[5],
      Store::Options().migrations[6],
      Store::Options().migrations[7],
      Store::Options().migrations[8],
      {"ALTER TABLE variant ADD COLUMN note TEXT NOT NULL DEFAULT ''; UPDATE variant SET note = 'migrated';"},
      {"CREATE TABLE extra (id INTEGER PRIMARY KEY REFERENCES variant) STRICT; INSERT INTO extra SELECT id "
       "FROM variant;"}};
  Store::Options options;
  options.migrations = migrations;
  {
    const auto reader = Store::open(file(), Mode::read_only, options);  // migrates a copy
    EXPECT_EQ(reader.status().schema_version, 12);
    EXPECT_EQ(reader.results().size(), 10U);
    EXPECT_EQ(sql(file(), "PRAGMA user_version"), "10");
  }
  auto store = Store::open(file(), Mode::read_write, options);
  EXPECT_EQ(store.status().schema_version, 12);
  EXPECT_EQ(store.results().size(), 10U);
  EXPECT_EQ(store.status().check, "ok");
  EXPECT_EQ(
      sql(file(), "SELECT note FROM variant JOIN extra USING (id) WHERE id = " + std::to_string(variant)),
      "migrated");
  EXPECT_THROW(Store::open(file(), Mode::read_write), StoreError);  // the program of before
}

// tests/db/schema_1.sql was written by the program that had schema 1.
TEST_F(SchemaTest, AFileOfSchema1IsMigrated) {
  const auto text = bytes_of(TEST_DB_DIR "/schema_1.sql");
  sql(file(), text);
  EXPECT_EQ(Store::open(file(), Mode::read_only).winners().front().launches, "chained");
  EXPECT_EQ(sql(file(), "PRAGMA user_version"), "1");
  auto migrated = Store::open(file(), Mode::read_write);
  EXPECT_EQ(migrated.status().schema_version, 10);
  EXPECT_EQ(migrated.status().check, "ok");
  EXPECT_EQ(migrated.results().size(), 10U);
  EXPECT_EQ(migrated.results({.history = true}).size(), 11U);
  for (const auto& r : migrated.results({.history = true})) EXPECT_EQ(r.caches + r.launches, "warmchained");
  const auto w = migrated.winners().front();
  EXPECT_EQ(w.median_us, 25);
  EXPECT_EQ(w.base_us, 100);
  EXPECT_EQ(w.worst_us, 200);
  EXPECT_TRUE(migrated.binary({"sm_90a", "text:fast"}));

  // From here on it is as a file that began with the present schema.
  { auto fresh = Store::open(file("fresh.db"), Mode::create); }
  for (const char* what :
       {"SELECT group_concat(o.name || ' ' || c.cid || c.name || c.type || c.\"notnull\" || "
        "ifnull(c.dflt_value, '') || c.pk, ';') "
        "FROM (SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name) o, "
        "pragma_table_info(o.name) c",
        "SELECT group_concat(sql, ';') FROM (SELECT sql FROM sqlite_master WHERE type <> 'table' ORDER BY "
        "name)"})
    EXPECT_EQ(sql(file(), what), sql(file("fresh.db"), what));
  const Ids ids(migrated);
  auto cold = ids.ok(ids.variant(migrated, "fast"), 40);
  cold.caches = "cold";
  EXPECT_TRUE(migrated.set_winner(migrated.record(cold), 16).taken);
  EXPECT_EQ(migrated.winners().front().caches, "cold");
  cold.caches = "tepid";
  EXPECT_THROW(migrated.record(cold), StoreError);
}

// tests/db/schema_3.sql was written by the program that had schema 3: an H200's winners, and a run on the
// host.
TEST_F(SchemaTest, AFileOfSchema3IsMigrated) {
  sql(file(), bytes_of(TEST_DB_DIR "/schema_3.sql"));
  const auto winners_before =
      sql(file(), "SELECT group_concat(measurement_id) FROM (SELECT * FROM winner ORDER BY 1, 2, 3)");
  auto store = Store::open(file(), Mode::read_write);
  EXPECT_EQ(store.status().check, "ok");
  EXPECT_EQ(store.generation(), 0);
  for (const auto& r : store.results({.history = true})) {
    EXPECT_EQ(r.launches, r.target == "host" ? "apart" : "chained");
    EXPECT_FALSE(r.low_us || r.high_us || r.loads || r.energy_uj || r.clock_mhz);
  }
  for (const char* what : {"winner", "choice"}) {
    EXPECT_EQ(sql(file(),
                  "SELECT group_concat(measurement_id) FROM (SELECT problem_id, device_id, "
                  "alignment_bytes, measurement_id FROM " +
                      std::string(what) + " ORDER BY 1, 2, 3)"),
              winners_before);
  }
  // What was in order of time is in order of generation, all before what is measured now.
  EXPECT_EQ(sql(file(),
                "SELECT count(*) FROM measurement a JOIN measurement b ON a.measured_at < b.measured_at "
                "WHERE a.generation >= b.generation"),
            "0");
  EXPECT_EQ(sql(file(), "SELECT max(generation) < 0 FROM measurement"), "1");
  const auto w = store.winners().front();
  EXPECT_EQ(w.objective, "time");
  const auto session = store.begin_session({.device_id = w.device_id});
  MeasurementRow again{.session_id = session,
                       .variant_id = w.variant_id,
                       .problem_id = w.problem_id,
                       .device_id = w.device_id,
                       .verdict = "wrong_result",
                       .reason = "It is wrong.",
                       .measured_at = "2001-01-01T00:00:00.000Z"};
  store.record(again);
  EXPECT_EQ(store.winners().front().newest_verdict, "wrong_result");
  EXPECT_EQ(sql(file(), "SELECT generation FROM measurement ORDER BY id DESC LIMIT 1"), "1");
}

// Up to schema 9 another driver's memory made another device, with winners of its own.
TEST_F(SchemaTest, DevicesThatDifferInMemoryBecomeOne) {
  sql(file(), bytes_of(TEST_DB_DIR "/schema_3.sql"));
  {
    Store::Options options;
    options.migrations = options.migrations.first(8);
    Store::open(file(), Mode::read_write, options);
  }
  const auto devices = sql(file(), "SELECT count(*) FROM device");
  const auto winners = sql(file(), "SELECT count(*) FROM winner");
  ASSERT_NE(winners, "0");
  // All of it once more, by a session with another driver, which found everything twice as slow.
  sql(file(), R"(
    INSERT INTO device (kind, name, target, compute_capability, sm_count, memory_bytes)
      SELECT kind, name, target, compute_capability, sm_count, memory_bytes - 4096 FROM device;
    CREATE TEMP TABLE other AS SELECT d.id AS old, o.id AS new FROM device d JOIN device o USING (name, target)
      WHERE o.memory_bytes = d.memory_bytes - 4096;
    INSERT INTO session (uid, device_id, command, strategy, seed, budget, tunesmith_version, toolchain, driver, host_facts,
                         state, started_at, ended_at, generation)
      SELECT 'later' || old, new, '', '', 1, '', '', '', 'new', '', 'finished', '2030', '2030', 5 FROM other;
    INSERT INTO measurement (session_id, sequence, variant_id, problem_id, device_id, is_base, verdict, reason, median_us,
                             toolchain, driver, measured_at, launches, generation)
      SELECT s.id, m.id, variant_id, problem_id, new, is_base, verdict, reason, 2 * median_us, m.toolchain, m.driver,
             measured_at, launches, 5
      FROM measurement m JOIN other ON old = m.device_id JOIN session s ON s.uid = 'later' || old;
    INSERT INTO choice (session_id, sequence, generation, problem_id, device_id, alignment_bytes, measurement_id, objective,
                        chosen_at)
      SELECT n.session_id, c.sequence, 5, c.problem_id, new, alignment_bytes, n.id, objective, chosen_at
      FROM choice c JOIN other ON old = c.device_id JOIN measurement n ON n.sequence = c.measurement_id AND n.device_id = new;
    INSERT INTO winner (problem_id, device_id, alignment_bytes, measurement_id, since)
      SELECT problem_id, device_id, alignment_bytes, measurement_id, chosen_at FROM choice WHERE generation = 5;)");
  ASSERT_EQ(sql(file(), "SELECT count(*) FROM winner"), std::to_string(2 * std::stoi(winners)));
  // Those who read a copy find the same as who migrates the file.
  EXPECT_EQ(Store::open(file(), Mode::read_only).winners().size(), std::stoul(winners));
  auto merged = Store::open(file("merged.db"), Mode::create);
  merged.merge_from(file());
  EXPECT_EQ(merged.winners().size(), std::stoul(winners));
  EXPECT_EQ(std::to_string(merged.devices().size()), devices);
  auto store = Store::open(file(), Mode::read_write);
  EXPECT_EQ(store.status().check, "ok");
  EXPECT_EQ(sql(file(), "SELECT count(*) FROM device"), devices);
  EXPECT_EQ(sql(file(), "SELECT count(*) FROM winner"),
            winners);  // each problem's once, by the later session
  EXPECT_EQ(sql(file(), "SELECT min(generation) FROM winner w JOIN measurement m ON m.id = w.measurement_id"),
            "5");
  EXPECT_EQ(sql(file(), "SELECT count(*) FROM measurement WHERE device_id NOT IN (SELECT id FROM device)"),
            "0");
}

TEST_F(SchemaTest, ManyMayMigrateTheFileAtOnce) {
  sql(file(), bytes_of(TEST_DB_DIR "/schema_1.sql"));
  std::vector<std::thread> threads;
  std::vector<std::string> errors(4);
  for (auto& error : errors) {
    const auto mode = threads.empty() ? Mode::read_only : Mode::read_write;
    threads.emplace_back(
        [&, mode] { error = error_of([&] { static_cast<void>(Store::open(file(), mode).winners()); }); });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_THAT(errors, testing::Each("no error"));
  EXPECT_EQ(Store::open(file(), Mode::read_only).status().schema_version, 10);
}

TEST_F(SchemaTest, AMigrationThatFailsChangesNothing) {
  {
    auto store = Store::open(file(), Mode::create);
    populate(store);
  }
  const auto present = Store::Options().migrations;
  const Store::Migration failing[] = {present[0],
                                      present[1],
                                      present[2],
                                      present[3],
                                      present[4],
                                      present[5],
                                      present[6],
                                      present[7],
                                      present[8],
                                      {"CREATE TABLE extra (id INTEGER) STRICT"},
                                      {"INSERT INTO nowhere VALUES (1)"}};
  const Store::Migration dangling[] = {
      present[0], present[1], present[2], present[3], present[4],
      present[5], present[6], present[7], present[8], {"DELETE FROM device"}};
  Store::Options options;
  options.migrations = failing;
  EXPECT_THAT(error_of([&] { Store::open(file(), Mode::read_write, options); }), HasSubstr("nowhere"));
  options.migrations = dangling;
  EXPECT_THAT(error_of([&] { Store::open(file(), Mode::read_write, options); }),
              HasSubstr("refer to missing rows"));
  EXPECT_EQ(sql(file(), "SELECT count(*) FROM sqlite_master WHERE name = 'extra'"), "0");
  EXPECT_EQ(Store::open(file(), Mode::read_write).results().size(), 10U);
}

// OUT_X=12 is not OUT_X=1, and a value in quotes may hold blanks and equals signs.
TEST_F(SchemaTest, ConfigsAndProblemsHaveARowPerNameAndValue) {
  auto store = Store::open(file(), Mode::create);
  const auto ids = populate(store);
  const auto body = store.id_of(TemplateRow{.op = "elementwise", .name = "base", .body_hash = "b"});
  const auto variant = store.id_of(VariantRow{.template_id = body,
                                              .target = "host",
                                              .source_hash = "axes",
                                              .config = "OUT_X=12 STORE=plain OUT_Y=1"});
  auto row = ids.ok(variant, 7);
  row.samples_us = {7, 8, 9};
  row.stage = "finals";
  row.wall_ms = 12.5;
  row.is_base = true;
  row.space_variants = 240;
  row.problem_id = store.id_of(
      ProblemRow{.op = "elementwise", .text = "function=\"a == b ? 1 : 2\" shape=37x53 dtype=f32"});
  const auto measured = std::to_string(store.record(row));
  EXPECT_EQ(
      sql(file(), "SELECT group_concat(axis || ':' || value) FROM axes WHERE measurement_id = " + measured),
      "OUT_X:12,STORE:plain,OUT_Y:1");
  EXPECT_EQ(sql(file(), "SELECT group_concat(parameter || ':' || value) FROM parameters WHERE problem_id = " +
                            std::to_string(row.problem_id)),
            "function:a == b ? 1 : 2,shape:37x53,dtype:f32");
  EXPECT_EQ(sql(file(),
                "SELECT samples || ' ' || stage || ' ' || wall_ms || ' ' || space_variants FROM results "
                "WHERE measurement_id = " +
                    measured),
            "3 finals 12.5 240");
  EXPECT_EQ(sql(file(), "SELECT sum(samples) = 0 FROM results WHERE verdict <> 'ok'"), "1");
  row.stage = "somewhere";
  EXPECT_THROW(store.record(row), StoreError);
}

}  // namespace
}  // namespace tunesmith

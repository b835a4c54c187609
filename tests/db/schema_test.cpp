// SPDX-License-Identifier: Apache-2.0
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
      {"ALTER TABLE variant ADD COLUMN note TEXT NOT NULL DEFAULT ''; UPDATE variant SET note = 'migrated';"},
      {"CREATE TABLE extra (id INTEGER PRIMARY KEY REFERENCES variant) STRICT; INSERT INTO extra SELECT id "
       "FROM variant;"}};
  Store::Options options;
  options.migrations = migrations;
  {
    const auto reader = Store::open(file(), Mode::read_only, options);  // migrates a copy
    EXPECT_EQ(reader.status().schema_version, 3);
    EXPECT_EQ(reader.results().size(), 10U);
    EXPECT_EQ(sql(file(), "PRAGMA user_version"), "1");
  }
  auto store = Store::open(file(), Mode::read_write, options);
  EXPECT_EQ(store.status().schema_version, 3);
  EXPECT_EQ(store.results().size(), 10U);
  EXPECT_EQ(store.status().check, "ok");
  EXPECT_EQ(
      sql(file(), "SELECT note FROM variant JOIN extra USING (id) WHERE id = " + std::to_string(variant)),
      "migrated");
  // An older program cannot open it any more.
  EXPECT_THROW(Store::open(file(), Mode::read_write), StoreError);
}

// A file of an older program, whose measurements had no space_variants and whose views differed.
class OlderSchema : public SchemaTest {
 protected:
  OlderSchema() {
    {
      auto store = Store::open(file(), Mode::create);
      const auto ids = populate(store);
      store.record(ids.ok(ids.variant(store, "fast"), 24));
    }
    const std::string views =
        sql(file(), "SELECT group_concat('DROP VIEW ' || name, ';') FROM sqlite_master WHERE type = 'view'");
    sql(file(),
        views +
            ";ALTER TABLE measurement DROP COLUMN space_variants;CREATE VIEW winners AS SELECT 1 AS older");
    options_.migrations = migrations_;
  }
  const Store::Migration migrations_[1] = {
      {"ALTER TABLE measurement ADD COLUMN space_variants INTEGER CHECK (space_variants > 0);"
       "UPDATE session SET strategy = 'migrated';"}};
  Store::Options options_;
};

TEST_F(OlderSchema, IsMigrated) {
  const auto before = bytes_of(file());
  {
    const auto reader = Store::open(file(), Mode::read_only, options_);
    EXPECT_EQ(reader.winners().front().median_us, 25);
    EXPECT_EQ(reader.results({.history = true}).size(), 11U);
  }
  EXPECT_EQ(sql(file(), "PRAGMA user_version"), "1");
  EXPECT_EQ(bytes_of(file()), before);
  auto merged = Store::open(file("merged.db"), Mode::create);
  EXPECT_EQ(merged.merge(MergeSource::file(file(), options_), Store::Blobs::include).measurements, 11);
  EXPECT_EQ(sql(file(), "PRAGMA user_version"), "1");
  auto migrated = Store::open(file(), Mode::read_write, options_);
  EXPECT_EQ(migrated.status().schema_version, 2);
  EXPECT_EQ(migrated.status().check, "ok");
  for (const Store* store : {&migrated, &merged}) {
    EXPECT_EQ(store->results().size(), 10U);
    EXPECT_EQ(store->results({.history = true}).size(), 11U);
    const auto w = store->winners().front();
    EXPECT_EQ(w.median_us, 25);
    EXPECT_EQ(w.base_us, 100);
    EXPECT_EQ(w.worst_us, 200);
    EXPECT_TRUE(store->binary({"sm_90a", "fast"}));
  }
  EXPECT_EQ(sql(file("merged.db"), "SELECT strategy FROM session"), "migrated");

  // From here on it must equal a file that began with the present schema.
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
  auto again = ids.ok(ids.variant(migrated, "fast"), 20);
  again.caches = "cold";
  EXPECT_TRUE(migrated.set_winner(migrated.record(again), 16).taken);
  EXPECT_EQ(migrated.winners().front().caches, "cold");
  again.space_variants = -1;
  EXPECT_THROW(migrated.record(again), StoreError);
}

TEST_F(OlderSchema, ManyMayMigrateTheFileAtOnce) {
  std::vector<std::thread> threads;
  std::vector<std::string> errors(4);
  for (auto& error : errors) {
    const auto mode = threads.empty() ? Mode::read_only : Mode::read_write;
    threads.emplace_back([&, mode] {
      error = error_of([&] { static_cast<void>(Store::open(file(), mode, options_).winners()); });
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_THAT(errors, testing::Each("no error"));
  EXPECT_EQ(Store::open(file(), Mode::read_only, options_).status().schema_version, 2);
  EXPECT_EQ(sql(file(), "PRAGMA user_version"), "2");
}

TEST_F(SchemaTest, AMigrationThatFailsChangesNothing) {
  {
    auto store = Store::open(file(), Mode::create);
    populate(store);
  }
  const Store::Migration failing[] = {{"CREATE TABLE extra (id INTEGER) STRICT"},
                                      {"INSERT INTO nowhere VALUES (1)"}};
  const Store::Migration dangling[] = {{"DELETE FROM device"}};
  Store::Options options;
  options.migrations = failing;
  EXPECT_THAT(error_of([&] { Store::open(file(), Mode::read_write, options); }), HasSubstr("nowhere"));
  options.migrations = dangling;
  EXPECT_THAT(error_of([&] { Store::open(file(), Mode::read_write, options); }),
              HasSubstr("refer to missing rows"));
  EXPECT_EQ(sql(file(), "SELECT count(*) FROM sqlite_master WHERE name = 'extra'"), "0");
  EXPECT_EQ(sql(file(), "PRAGMA user_version"), "1");
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

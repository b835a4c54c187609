// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <ctime>
#include <sstream>

#include "fixture.h"

namespace tunesmith {
namespace {

using TransferTest = DbTest;
using testing::HasSubstr;

std::string text_of(const Store& store, Store::Blobs blobs = Store::Blobs::omit) {
  std::ostringstream out;
  store.write_text(out, blobs);
  return out.str();
}

TEST_F(TransferTest, TextMakesTheSameDatabase) {
  auto store = Store::open(file(), Mode::create);
  const auto ids = populate(store);
  store.set_winner(store.record(ids.ok(ids.variant(store, "odd"), 1.0 / 3)), 4);
  store.record(ids.failed(ids.variant(store, "fast"), "wrong_result"));  // a winner found wrong stays visible
  for (const auto blobs : {Store::Blobs::omit, Store::Blobs::include}) {
    const auto text = text_of(store, blobs);
    EXPECT_EQ(text, text_of(store, blobs));
    EXPECT_EQ(text.find("INSERT INTO binary") != std::string::npos, blobs == Store::Blobs::include);
    const auto copy_path = file(blobs == Store::Blobs::omit ? "copy.db" : "copy_all.db");
    auto copy = Store::open(copy_path, Mode::create);
    std::istringstream in(text);
    const auto report = copy.read_text(in, blobs);
    EXPECT_EQ(report.measurements, 12);
    EXPECT_EQ(report.winners_taken, 2);
    EXPECT_EQ(text_of(copy, blobs), text);
    std::istringstream again(text);
    EXPECT_EQ(copy.read_text(again, blobs).measurements, 0);
    EXPECT_EQ(text_of(copy, blobs), text);
    EXPECT_EQ(copy.binary({"sm_90a", "fast"}).has_value(), blobs == Store::Blobs::include);
    EXPECT_EQ(copy.sessions().front().state, "interrupted");
    EXPECT_EQ(copy.status().check, "ok");
  }
  EXPECT_EQ(store.sessions().front().state, "running");
}

TEST_F(TransferTest, TheTextIsReadableBySqliteAlone) {
  auto store = Store::open(file(), Mode::create);
  populate(store);
  sql(file("plain.db"), text_of(store, Store::Blobs::include));
  EXPECT_EQ(sql(file("plain.db"), "SELECT speedup_over_base FROM winners"), "4.0");
  const auto copy = Store::open(file("plain.db"), Mode::read_write);
  EXPECT_EQ(copy.results().size(), 10U);
  EXPECT_EQ(text_of(copy, Store::Blobs::include), text_of(store, Store::Blobs::include));
}

TEST_F(TransferTest, AHostileOrBrokenTextDoesNothing) {
  auto store = Store::open(file(), Mode::create);
  populate(store);
  const auto good = text_of(store);
  const auto evil_path = file("evil.db").string();
  const auto read = [&](const std::string& text) {
    return error_of([&] {
      std::istringstream in(text);
      store.read_text(in);
    });
  };
  EXPECT_THAT(read("ATTACH '" + evil_path + "' AS e;\n"), HasSubstr("neither a table nor a row"));
  EXPECT_THAT(read("PRAGMA journal_mode = off;\n"), HasSubstr("neither a table nor a row"));
  EXPECT_THAT(read("VACUUM INTO '" + evil_path + "';\n"), HasSubstr("neither a table nor a row"));
  EXPECT_FALSE(std::filesystem::exists(evil_path));
  EXPECT_THAT(read(good.substr(0, good.size() / 2)), HasSubstr("cut off"));
  EXPECT_THAT(read(good.substr(0, good.size() - 8)), HasSubstr("cut off"));
  EXPECT_THAT(read("hello\n"), HasSubstr("cut off"));
  EXPECT_THAT(read(""), HasSubstr("not a Tunesmith database"));
  EXPECT_THAT(read("CREATE TABLE x (y);\n"), HasSubstr("not a Tunesmith database"));
  auto unknown = good;
  unknown.replace(unknown.find("user_version = 1"), 16, "user_version = 10");
  EXPECT_THAT(read(unknown),
              AllOf(HasSubstr("schema 10"), HasSubstr("up to 1."), HasSubstr("tunesmith db export")));
  auto dangling = good;
  dangling.erase(dangling.find("INSERT INTO device"),
                 dangling.find("INSERT INTO template") - dangling.find("INSERT INTO device"));
  EXPECT_THAT(read(dangling), HasSubstr("refer to missing rows"));
  EXPECT_EQ(text_of(store), good);
}

// A text can make SQLite work only for a bounded time: it may hold rows of literals, and nothing that runs.
TEST_F(TransferTest, ATextThatNeverEndsIsRefused) {
  auto store = Store::open(file(), Mode::create);
  populate(store);
  const auto good = text_of(store);
  const std::string endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT ";
  const std::string body = good.substr(0, good.find("INSERT INTO device"));
  const std::string end = "COMMIT;\n";
  auto replaced_view = good;
  const auto table = replaced_view.find("CREATE TABLE problem");
  replaced_view.replace(table, replaced_view.find("STRICT;", table) + 7 - table,
                        "CREATE VIEW problem AS " + endless + "x AS id, 'a' AS op, 'b' AS text FROM c;");
  auto generated = good;
  const auto column = generated.find("  name TEXT NOT NULL,");
  ASSERT_NE(column, std::string::npos);
  generated.insert(column, "  more TEXT AS (hex(zeroblob(100000000))),\n");
  for (const std::string& text : {
           body + "INSERT INTO problem " + endless + "x, 'a', 'b' FROM c;\n" + end,
           body + endless + "max(x) FROM c;\n" + end,
           body + "CREATE TRIGGER t AFTER INSERT ON problem BEGIN INSERT INTO problem (op, text) " + endless +
               "x, x FROM c; END;\nINSERT INTO problem VALUES(1,'a','b');\n" + endless + "1 FROM c;\n" + end,
           body + "INSERT INTO problem VALUES(1,'a',hex(zeroblob(500000000)));\n" + end,
           body + "INSERT INTO problem VALUES(1,'a',printf('%1000000000d', 1));\n" + end,
           body + "CREATE TABLE more AS " + endless + "x FROM c;\n" + end,
           body + "UPDATE device SET name = 'x';\n" + end,
           body + "DROP TABLE device;\n" + end,
           body + "INSERT INTO problem VALUES(1,'a','" + std::string(300'000'000, 'x') + "');\n" + end,
           replaced_view,
           generated,
       }) {
    const std::clock_t start = std::clock();  // of this process, so that others' work does not count
    std::istringstream in(text);
    EXPECT_NE(error_of([&] { store.read_text(in); }), "no error") << text.substr(body.size(), 100);
    EXPECT_LT(std::clock() - start, 10 * CLOCKS_PER_SEC) << text.substr(body.size(), 100);
    EXPECT_EQ(text_of(store), good);
  }
  // A text whose strings have many lines that end like statements is read in time.
  std::string lines;
  for (int i = 0; i < 100'000; ++i) lines += "x;\n";
  std::istringstream in(body + "INSERT INTO problem VALUES(1,'a','n=\"" + lines + "\"');\n" + end);
  EXPECT_EQ(error_of([&] { store.read_text(in); }), "no error");
}

TEST_F(TransferTest, AConfigThatCannotBeReadIsRefused) {
  auto store = Store::open(file(), Mode::create);
  populate(store);
  auto text = text_of(store);
  const std::string config = "'BLOCK_X=fast'";
  ASSERT_THAT(text, HasSubstr(config));
  text.replace(text.find(config), config.size(), "'a b=c'");
  auto other = Store::open(file("other.db"), Mode::create);
  std::istringstream in(text);
  EXPECT_THAT(
      error_of([&] { other.read_text(in); }),
      testing::AllOf(HasSubstr("cannot be read"), HasSubstr("a b=c"), HasSubstr("Nothing was imported")));
  EXPECT_TRUE(other.results().empty());
}

TEST_F(TransferTest, ShardsMerge) {
  auto a = Store::open(file("a.db"), Mode::create);
  auto b = Store::open(file("b.db"), Mode::create);
  b.id_of(TemplateRow{.op = "gemm", .name = "gemm", .body_hash = "g"});  // so that ids differ
  const auto ids_a = populate(a);
  const Ids ids_b(b);
  const auto best = ids_b.variant(b, "best");
  b.set_winner(b.record(ids_b.ok(best, 20)), 16);
  b.put_binary({.variant_id = best, .toolchain = "t", .hash = "hb", .bytes = blob()});
  a.merge_from(file("b.db"));
  EXPECT_FALSE(a.binary({"sm_90a", "best"}));  // foreign machine code
  auto also = Store::open(file("also.db"), Mode::create);
  populate(also);
  const auto first = also.merge_from(file("b.db"), Store::Blobs::include);
  EXPECT_EQ(first.sessions, 1);
  EXPECT_EQ(first.measurements, 1);
  EXPECT_EQ(first.winners_taken, 1);
  ASSERT_EQ(a.winners().size(), 1U);
  EXPECT_EQ(a.winners()[0].variant.source_hash, "best");
  EXPECT_EQ(a.winners()[0].template_.name, "conv2d_tiled");
  EXPECT_TRUE(also.binary({"sm_90a", "best"}));
  EXPECT_EQ(a.known(ids_a.device, ids_a.problem, Conditions()).size(), 11U);
  EXPECT_EQ(a.sessions().size(), 2U);
  EXPECT_EQ(sql(file("a.db"), "SELECT count(*) FROM session WHERE state = 'running'"), "1");

  // The other database has grown: only its new rows are merged, and a slower winner is not taken.
  b.record(ids_b.failed(ids_b.variant(b, "bad"), "crash"));
  b.set_winner(b.record(ids_b.ok(ids_b.variant(b, "aligned"), 40)), 4);
  b.end_session(ids_b.session, Store::End::finished);
  const auto second = a.merge_from(file("b.db"));
  EXPECT_EQ(second.sessions, 0);
  EXPECT_EQ(second.measurements, 2);
  EXPECT_EQ(second.winners_taken, 1);
  EXPECT_EQ(second.winners_kept, 1);
  EXPECT_EQ(sql(file("a.db"), "SELECT count(*) FROM session WHERE state = 'finished'"), "1");
  const auto back = b.merge_from(file("a.db"));
  EXPECT_EQ(back.winners_taken, 0);
  EXPECT_EQ(b.results({.history = true}).size(), a.results({.history = true}).size());
  EXPECT_EQ(a.status().check, "ok");
}

TEST_F(TransferTest, AMergeThatFailsTakesNothing) {
  auto store = Store::open(file(), Mode::create);
  populate(store);
  const auto before = text_of(store);
  std::ofstream(file("bad.db")) << std::string(5000, 'x');
  sql(file("foreign.db"), "CREATE TABLE x (y)");
  EXPECT_THAT(error_of([&] { store.merge_from(file("none.db")); }), HasSubstr("no database"));
  EXPECT_THAT(error_of([&] { store.merge_from(file("bad.db")); }), HasSubstr("not an SQLite database"));
  EXPECT_THAT(error_of([&] { store.merge_from(file("foreign.db")); }), HasSubstr("another program"));
  EXPECT_THAT(error_of([&] { store.merge_from(file()); }), HasSubstr("into itself"));
  EXPECT_EQ(text_of(store), before);

  auto reader = Store::open(file(), Mode::read_only);
  {
    auto other = Store::open(file("other.db"), Mode::create);
    populate(other);
  }
  EXPECT_THAT(error_of([&] { reader.merge_from(file("other.db")); }), HasSubstr("read-only"));
  store.merge_from(file("other.db"));
}

TEST_F(TransferTest, AnOlderShardIsMigratedInACopy) {
  {
    auto old = Store::open(file("old.db"), Mode::create);
    populate(old);
  }
  const Store::Migration migrations[] = {{"CREATE TABLE extra (id INTEGER) STRICT"}};
  Store::Options options;
  options.migrations = migrations;
  auto store = Store::open(file(), Mode::create, options);
  EXPECT_EQ(store.merge_from(file("old.db")).measurements, 10);
  EXPECT_EQ(sql(file("old.db"), "PRAGMA user_version"), "1");
}

TEST_F(TransferTest, FilesAndTextsOfAnOlderSchemaAreTaken) {
  const auto old_text = [&] {
    auto old = Store::open(file("old.db"), Mode::create);
    const auto ids = populate(old);
    old.record(ids.ok(ids.variant(old, "fast"), 24));
    old.end_session(ids.session, Store::End::finished);
    return text_of(old, Store::Blobs::include);
  }();
  const Store::Migration migrations[] = {{"UPDATE session SET strategy = 'migrated'"}};
  Store::Options options;
  options.migrations = migrations;
  auto loaded = Store::open(file("loaded.db"), Mode::create, options);
  std::istringstream in(old_text);
  const auto report = loaded.read_text(in, Store::Blobs::include);
  EXPECT_EQ(report.measurements, 11);
  EXPECT_EQ(report.winners_taken, 1);
  auto merged = Store::open(file("merged.db"), Mode::create, options);
  EXPECT_EQ(merged.merge_from(file("old.db"), Store::Blobs::include).measurements, 11);
  EXPECT_EQ(sql(file("old.db"), "PRAGMA user_version"), "1");
  // The text does not depend on how the database came to the present schema.
  const auto text = text_of(loaded, Store::Blobs::include);
  EXPECT_THAT(text, HasSubstr("'migrated'"));
  EXPECT_EQ(text_of(merged, Store::Blobs::include), text);
  EXPECT_EQ(text_of(Store::open(file("old.db"), Mode::read_only, options), Store::Blobs::include), text);
  EXPECT_EQ(text_of(Store::open(file("old.db"), Mode::read_write, options), Store::Blobs::include), text);
}

TEST_F(TransferTest, OfTwoWinnersWithOtherCachesTheLaterStays) {
  const auto tuned = [this](const char* name, const char* variant, const char* caches, double median_us,
                            std::int64_t generation) {
    auto store = Store::open(file(name), Mode::create);
    const Ids ids(store);
    auto row = ids.ok(ids.variant(store, variant), median_us);
    row.caches = caches;
    while (store.generation() < generation) row.session_id = store.begin_session({.device_id = ids.device});
    store.set_winner(store.record(row), 4);
    return store;
  };
  auto warm = tuned("warm.db", "w", "warm", 10, 2);
  auto cold = tuned("cold.db", "c", "cold", 20, 3);
  auto third = tuned("third.db", "t", "cold", 15, 3);
  const auto winner = [](const Store& store) {
    const auto w = store.winners().front();
    return w.variant.source_hash + " " + w.caches;
  };
  auto both = Store::open(file("both.db"), Mode::create);
  both.merge_from(file("warm.db"));
  auto report = both.merge_from(file("cold.db"));
  EXPECT_EQ(report.winners_taken, 1);
  EXPECT_EQ(report.other_kinds, 1);
  EXPECT_EQ(winner(both), "c cold");
  report = both.merge_from(file("warm.db"));
  EXPECT_EQ(report.winners_kept, 1);
  EXPECT_EQ(report.other_kinds, 1);
  EXPECT_EQ(winner(both), "c cold");
  report = cold.merge_from(file("warm.db"));  // the other way round
  EXPECT_EQ(report.winners_kept, 1);
  EXPECT_EQ(winner(cold), "c cold");
  report = both.merge_from(file("third.db"));  // at the same time and with the same caches: the faster one
  EXPECT_EQ(report.other_kinds, 0);
  EXPECT_EQ(winner(both), "t cold");
  // The two are not kept beside each other either, for pointers of another alignment.
  {
    const Ids ids(third);
    auto row = ids.ok(ids.variant(third, "aligned"), 12);
    row.caches = "cold";
    row.session_id = third.begin_session({.device_id = ids.device});
    third.set_winner(third.record(row), 16);
  }
  EXPECT_EQ(warm.merge_from(file("third.db")).winners_taken, 2);
  ASSERT_EQ(warm.winners().size(), 2U);
  for (const auto& w : warm.winners()) EXPECT_EQ(w.caches, "cold");

  const auto text = text_of(both);
  auto copy = Store::open(file("copy.db"), Mode::create);
  std::istringstream in(text);
  copy.read_text(in);
  EXPECT_EQ(text_of(copy), text);
}

TEST_F(TransferTest, AFailingOutputIsTold) {
  auto store = Store::open(file(), Mode::create);
  populate(store);
  std::ofstream full("/dev/full");
  EXPECT_THAT(error_of([&] { store.write_text(full); }), HasSubstr("could not be written"));
}

}  // namespace
}  // namespace tunesmith

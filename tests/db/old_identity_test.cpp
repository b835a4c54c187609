// tests/db/schema_2.sql was written by the program that knew a kernel by the hash of its whole text: winners
// of every op and template that was tuned on an H200. Those whose templates still have the same code count
// for the program of today, without a new measurement; the others are stale.
#include "db/old_identity.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "db/sqlite.h"
#include "dispatch/known.h"
#include "generator/error.h"

namespace tunesmith {
namespace {

std::string old_text() {
  std::ifstream file(TEST_DB_DIR "/schema_2.sql");
  return {std::istreambuf_iterator<char>(file), {}};
}

class OldDatabase : public testing::Test {
 protected:
  OldDatabase()
      : folder_(std::filesystem::temp_directory_path() /
                ("tunesmith-old-" + std::to_string(::getpid()) + "-" +
                 testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::create_directories(folder_);
  }
  ~OldDatabase() override { std::filesystem::remove_all(folder_); }

  // The file as the old program left it.
  std::filesystem::path written(const std::string& text) {
    const auto path = folder_ / "old.db";
    sqlite3* database = nullptr;
    EXPECT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, text.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(database);
    sqlite3_close(database);
    return path;
  }

  std::filesystem::path folder_;
};

// What today's templates render to for a winner's row.
std::string hash_now(const WinnerRow& row) {
  const Op& op = find_op(row.problem.op);
  const Template& tmpl = find_template(op, row.template_.name);
  const Problem problem = complete_problem(op, Values::parse(row.problem.text));
  const Config config = tmpl.space(problem).legal(Values::parse(row.variant.config));
  return render(op, tmpl, problem, config, row.variant.target).hash;
}

// START says less than it did then, and reduce, whose base has a BLOCK alone, has one more way to load: such
// a template has other code now.
bool changed_since(const std::string& config) {
  return config.find("START=") != std::string::npos || config == "BLOCK=256";
}

constexpr int winners_of_today = 3;

WinnerRow first_of_today(const Store& store) {
  for (const WinnerRow& row : store.winners()) {
    if (!changed_since(row.variant.config)) return row;
  }
  throw Error("The file has no winner of a template that is as it was.");
}

TEST_F(OldDatabase, ItsWinnersAreTodaysKernels) {
  const Store store = Store::open(written(old_text()), Store::Mode::read_write, with_old_identities());
  const auto winners = store.winners();
  ASSERT_EQ(winners.size(), 30u);
  int of_today = 0;
  for (const WinnerRow& row : winners) {
    if (changed_since(row.variant.config)) {
      EXPECT_EQ(row.variant.source_hash.substr(0, 6), "stale:")
          << row.problem.op << "/" << row.template_.name;
      continue;
    }
    ++of_today;
    EXPECT_EQ(row.variant.source_hash, hash_now(row)) << row.problem.op << "/" << row.template_.name;
    EXPECT_EQ(row.newest_verdict, "ok");
    EXPECT_EQ(row.template_.body_hash,
              body_hash(find_op(row.problem.op), find_template(find_op(row.problem.op), row.template_.name),
                        template_files()));
  }
  EXPECT_EQ(of_today, winners_of_today);
}

TEST_F(OldDatabase, ItsVerdictsAreKnownToATuner) {
  const auto path = written(old_text());
  const Store store = Store::open(path, Store::Mode::read_write, with_old_identities());
  for (const WinnerRow& row : store.winners()) {
    if (changed_since(row.variant.config)) continue;
    const auto known = store.known(row.device_id, row.problem_id, row.caches, row.launches);
    const auto found = known.find({row.variant.target, hash_now(row)});
    ASSERT_NE(found, known.end()) << row.problem.text;
    EXPECT_EQ(found->second.verdict, "ok");
  }
  EXPECT_TRUE(Store::open(path, Store::Mode::read_only).status().hints.size() < 3);
}

TEST_F(OldDatabase, ServesADispatcherThatMayNotWrite) {
  const auto path = written(old_text());
  int from_file = 0;
  int of_today = 0;
  DeviceFacts device;
  device.target = "sm_90a";
  const Known known = read_known({.database = path.string(), .device = device});
  for (const Candidate& candidate : known.winners) {
    if (candidate.origin != Candidate::Origin::database) continue;
    ++from_file;
    EXPECT_EQ(candidate.fault, "");
    if (changed_since(candidate.config.text())) continue;
    ++of_today;
    EXPECT_EQ(candidate.source_hash.size(), 64u) << candidate.source_hash;
  }
  EXPECT_EQ(of_today, winners_of_today);
  EXPECT_EQ(from_file, 30);
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  const auto version = [](void* out, int, char** values, char**) {
    return *static_cast<int*>(out) = std::atoi(values[0]), 0;
  };
  int found = 0;
  sqlite3_exec(database, "PRAGMA user_version", version, &found, nullptr);
  sqlite3_close(database);
  EXPECT_EQ(found, 2) << "a reader leaves the file as it is";
}

TEST_F(OldDatabase, IsReadAsText) {
  Store store = Store::open(folder_ / "new.db", Store::Mode::create, with_old_identities());
  std::istringstream text(old_text());
  EXPECT_EQ(store.read_text(text).winners_taken, 30);
  for (const WinnerRow& row : store.winners()) {
    if (!changed_since(row.variant.config)) {
      EXPECT_EQ(row.variant.source_hash, hash_now(row));
    }
  }
}

// A kernel whose text was another one than its template has is not taken for it.
TEST_F(OldDatabase, AnotherTextStaysStale) {
  std::string text = old_text();
  const Store before = Store::open(written(text), Store::Mode::read_only);
  const std::string hash = first_of_today(before).variant.source_hash.substr(5);
  const std::string other = (hash[0] == '0' ? "1" : "0") + hash.substr(1);
  for (std::size_t at = 0; (at = text.find(hash, at)) != std::string::npos; at += hash.size())
    text.replace(at, hash.size(), other);
  std::filesystem::remove(folder_ / "old.db");
  const Store store = Store::open(written(text), Store::Mode::read_write, with_old_identities());
  int stale = 0;
  for (const WinnerRow& row : store.winners()) {
    if (row.variant.source_hash == "stale:" + other) {
      ++stale;
    } else if (!changed_since(row.variant.config)) {
      EXPECT_EQ(row.variant.source_hash, hash_now(row));
    }
  }
  EXPECT_GE(stale, 1);
}

// Without the ops' texts (a program that only reads the file) nothing is lost or guessed.
TEST_F(OldDatabase, WaitsForAProgramThatKnowsTheTemplates) {
  const auto path = written(old_text());
  {
    const Store store = Store::open(path, Store::Mode::read_write);
    EXPECT_EQ(first_of_today(store).variant.source_hash.substr(0, 5), "text:");
  }
  const Store store = Store::open(path, Store::Mode::read_write, with_old_identities());
  const WinnerRow row = first_of_today(store);
  EXPECT_EQ(row.variant.source_hash, hash_now(row));
}

}  // namespace
}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "fixture.h"

namespace tunesmith {
namespace {

using OpenTest = DbTest;

TEST_F(OpenTest, MakesFolderAndFileWithTheDocumentedSettings) {
  const auto path = folder_ / "a" / "b c?#%" / "t.db";
  { auto store = Store::open(path, Mode::create); }
  EXPECT_EQ(sql(path, "PRAGMA journal_mode"), "wal");
  EXPECT_EQ(sql(path, "PRAGMA user_version"), "1");
  EXPECT_EQ(sql(path, "PRAGMA integrity_check"), "ok");
  EXPECT_EQ(sql(path, "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%STRICT'"),
            "0");
}

// Dispatch does not use files that others may write.
TEST_F(OpenTest, NobodyElseMayWriteWhatIsMade) {
  const mode_t before = umask(0);
  { auto store = Store::open(folder_ / "a" / "b" / "t.db", Mode::create); }
  umask(before);
  for (const char* made : {"a", "a/b", "a/b/t.db"}) {
    const auto others = std::filesystem::perms::group_write | std::filesystem::perms::others_write;
    EXPECT_EQ(std::filesystem::status(folder_ / made).permissions() & others, std::filesystem::perms::none)
        << made;
  }
}

TEST_F(OpenTest, DefaultPathFollowsTheEnvironment) {
  const auto set = [](const char* name, const char* value) {
    value == nullptr ? unsetenv(name) : setenv(name, value, 1);
  };
  const char* given = std::getenv("HOME");
  const std::string home = given == nullptr ? "" : given;
  set("TUNESMITH_DB", "/x/my.db");
  EXPECT_EQ(default_database_path(), "/x/my.db");
  set("TUNESMITH_DB", nullptr);
  set("XDG_DATA_HOME", "/data");
  EXPECT_EQ(default_database_path(), "/data/tunesmith/tunesmith.db");
  set("XDG_DATA_HOME", "relative");
  set("HOME", "/home/u");
  EXPECT_EQ(default_database_path(), "/home/u/.local/share/tunesmith/tunesmith.db");
  set("XDG_DATA_HOME", nullptr);
  set("HOME", nullptr);
  EXPECT_THROW(default_database_path(), StoreError);
  set("HOME", home.c_str());
}

TEST_F(OpenTest, ManyMayCreateTheFileAtOnce) {
  std::vector<std::thread> threads;
  threads.reserve(4);
  std::atomic<int> opened = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      auto store = Store::open(file(), Mode::create);
      store.id_of(gpu());
      ++opened;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(opened, 4);
  EXPECT_EQ(sql(file(), "SELECT count(*) FROM device"), "1");
}

TEST_F(OpenTest, AFileThatIsBeingCreatedIsEmptyOrWhole) {
  for (int round = 0; round < 10; ++round) {
    const auto path = file(("new" + std::to_string(round) + ".db").c_str());
    std::atomic<int> waiting = 2;  // readers that have not looked yet
    std::mutex mutex;
    std::string unexpected;
    const auto read_until_whole = [&] {
      for (bool looked = false;; looked = true) {
        const auto error = error_of([&] { Store::open(path, Mode::read_only); });
        if (!looked) --waiting;
        if (error == "no error") return;
        if (error.starts_with("There is no database") || error.find(" is empty") != std::string::npos)
          continue;
        const std::lock_guard lock(mutex);
        unexpected += error + '\n';
        return;
      }
    };
    std::thread a(read_until_whole);
    std::thread b(read_until_whole);
    while (waiting > 0) std::this_thread::yield();
    { auto store = Store::open(path, Mode::create); }
    a.join();
    b.join();
    EXPECT_EQ(unexpected, "");
  }
}

}  // namespace
}  // namespace tunesmith

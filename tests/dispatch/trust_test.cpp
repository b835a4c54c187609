// SPDX-License-Identifier: Apache-2.0
// Tests what dispatch trusts: files that only the user may write, binaries with their stored hash, tables but
// no views; and that an application without any of these still runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "fixture.h"
#include "runtime/cache.h"
#include "runtime/files.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;
using testing::Not;

class TrustTest : public DispatcherTest {
 protected:
  void sql(const std::string& text) const {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(database().c_str(), &handle), SQLITE_OK);
    char* message = nullptr;
    EXPECT_EQ(sqlite3_exec(handle, text.c_str(), nullptr, nullptr, &message), SQLITE_OK) << message;
    sqlite3_close(handle);
  }

  // Expects that a winner of the database is used, with the dispatcher's notes.
  testing::AssertionResult uses_the_winner(const DispatcherOptions& options) const {
    Dispatcher dispatcher(options);
    std::string notes;
    for (const std::string& note : dispatcher.notes()) notes += note + "\n";
    const Plan plan = dispatcher.plan("smooth", "n=1000 taps=5");
    check(plan, "smooth");
    return (plan.variant().template_name == "vector" ? testing::AssertionSuccess()
                                                     : testing::AssertionFailure())
           << notes;
  }

  static std::string notes_of(const DispatcherOptions& options) {
    std::string notes;
    const Dispatcher dispatcher(options);
    for (const std::string& note : dispatcher.notes()) notes += note + "\n";
    return notes;
  }

  const Winner winner_ = {.problem = "n=1000 taps=5", .config = "VECTOR=4"};
};

TEST_F(TrustTest, ABinaryThatIsNotWhatWasStoredIsNotLoaded) {
  tune(winner_);
  sql("UPDATE binary SET bytes = CAST(substr(bytes, 1, 100) || x'00ff' || substr(bytes, 103) AS BLOB)");
  EXPECT_THAT(notes_of(options()), HasSubstr("its hash differs from the stored one"));
  Dispatcher dispatcher(options());
  const Plan plan = dispatcher.plan("smooth", "n=1000 taps=5");
  EXPECT_EQ(plan.match(), Match::exact);
  says(plan, "compiled now");
  check(plan, "smooth");
}

TEST_F(TrustTest, NativeCodeOfADatabaseIsRunOnlyWhereAskedFor) {
  tune(winner_);
  DispatcherOptions usual = options();
  usual.host_binaries = DispatcherOptions().host_binaries;
  EXPECT_THAT(notes_of(usual),
              HasSubstr("The binaries of 1 winner for the host are not run, such as that of smooth n=1000 "
                        "taps=5 dtype=f32, because DispatcherOptions::host_binaries is off."));
  EXPECT_THAT(notes_of(options()), Not(HasSubstr("host_binaries")));
  says(Dispatcher(usual).plan("smooth", "n=1000 taps=5"), "compiled now");
  says(Dispatcher(options()).plan("smooth", "n=1000 taps=5"), "its binary is in the database");
}

TEST_F(TrustTest, WhatOthersMayWriteIsNotUsed) {
  tune(winner_);
  EXPECT_TRUE(uses_the_winner(options()));
  for (const mode_t mode : {0620U, 0602U, 0666U}) {
    ASSERT_EQ(::chmod(database().c_str(), mode), 0);
    EXPECT_FALSE(uses_the_winner(options()));
    EXPECT_THAT(notes_of(options()), HasSubstr("run chmod go-w"));
  }
  ASSERT_EQ(::chmod(database().c_str(), 0644), 0);
  const std::string log = database() + "-wal";
  std::ofstream(log).close();
  ASSERT_EQ(::chmod(log.c_str(), 0666), 0);
  EXPECT_FALSE(uses_the_winner(options())) << "a log is read as a part of the file";
  std::filesystem::remove(log);
  ASSERT_EQ(::chmod(folder_.c_str(), 0777), 0);
  EXPECT_FALSE(uses_the_winner(options()));
  ASSERT_EQ(::chmod(folder_.c_str(), 01777), 0);
  EXPECT_TRUE(uses_the_winner(options())) << "in a sticky folder nobody replaces another's file";
}

// The file that the name leads to counts, as in ssh, and all folders above the file and above the name.
TEST_F(TrustTest, LinksAreFollowedAndAllFoldersCount) {
  tune(winner_);
  const std::filesystem::path inner = folder_ / "open" / "inner", link = folder_ / "link.db";
  std::filesystem::create_directories(inner);
  std::filesystem::rename(database(), inner / "t.db");
  std::filesystem::create_symlink(inner / "t.db", link);
  DispatcherOptions named = options(), by_link = options();
  named.database = inner / "t.db";
  by_link.database = link;
  EXPECT_TRUE(uses_the_winner(named));
  EXPECT_TRUE(uses_the_winner(by_link));
  ASSERT_EQ(::chmod((folder_ / "open").c_str(), 0777), 0);
  EXPECT_FALSE(uses_the_winner(named)) << "its folder may be replaced";
  EXPECT_FALSE(uses_the_winner(by_link));
  EXPECT_THAT(notes_of(by_link), HasSubstr("/open can be written by others (mode 0777)"));
  ASSERT_EQ(::chmod((folder_ / "open").c_str(), 0755), 0);
  std::ofstream(inner / "t.db-wal").close();
  ASSERT_EQ(::chmod((inner / "t.db-wal").c_str(), 0666), 0);
  EXPECT_FALSE(uses_the_winner(by_link)) << "the log lies beside the file, not beside the link";
  std::filesystem::remove(inner / "t.db-wal");
  const std::filesystem::path others = folder_ / "others";
  std::filesystem::create_directory(others);
  std::filesystem::create_symlink(inner / "t.db", others / "link.db");
  by_link.database = others / "link.db";
  EXPECT_TRUE(uses_the_winner(by_link));
  ASSERT_EQ(::chmod(others.c_str(), 0777), 0);
  EXPECT_FALSE(uses_the_winner(by_link)) << "the link may be replaced";
  std::filesystem::create_symlink("round.db", folder_ / "round.db");
  by_link.database = folder_ / "round.db";
  EXPECT_FALSE(uses_the_winner(by_link));
}

// A pipe without a writer must not block anything.
TEST_F(TrustTest, WhatIsNoRegularFileIsRefused) {
  ::alarm(120);
  tune(winner_);
  const std::filesystem::path away = folder_ / "away";
  for (const std::string part : {"", "-wal", "-journal"}) {
    const std::string pipe = database() + part;
    if (part.empty()) std::filesystem::rename(pipe, away);
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_FALSE(uses_the_winner(options())) << part;
    EXPECT_THAT(notes_of(options()), HasSubstr("is a pipe, a socket or a device"));
    EXPECT_THROW(Store::open(database(), Store::Mode::read_only), std::exception);
    std::filesystem::remove(pipe);
    if (part.empty()) std::filesystem::rename(away, pipe);
  }
  EXPECT_TRUE(uses_the_winner(options()));
  // An entry of the cache.
  DispatcherOptions cached = options();
  cached.database.clear();
  Dispatcher(cached).plan("smooth", "n=1000 taps=5");
  for (const auto& entry : std::filesystem::directory_iterator(cached.cache_folder)) {
    std::filesystem::remove(entry.path());
    ASSERT_EQ(::mkfifo(entry.path().c_str(), 0600), 0);
  }
  says(Dispatcher(cached).plan("smooth", "n=1000 taps=5"), "compiled now");
  // A kernel's file, its description and its list.
  const std::string kernel = (folder_ / "own.cu").string();
  ASSERT_EQ(::mkfifo(kernel.c_str(), 0600), 0);
  cached.kernels = {kernel};
  EXPECT_THROW(Dispatcher{cached}, std::exception);
  EXPECT_EQ(read_file(kernel), "");
  ::alarm(0);
}

TEST_F(TrustTest, WhatIsOfAnotherUserIsNotUsed) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  tune(winner_);
  ASSERT_EQ(::chown(database().c_str(), 12345, 12345), 0);
  EXPECT_FALSE(uses_the_winner(options()));
  EXPECT_THAT(notes_of(options()), HasSubstr("belongs to another user, number 12345"));
}

TEST_F(TrustTest, ACacheThatOthersMayWriteIsNotUsed) {
  DispatcherOptions chosen = options();
  Dispatcher(chosen).plan("smooth", "n=1000 taps=5");
  says(Dispatcher(chosen).plan("smooth", "n=1000 taps=5"), "compiled before");
  ASSERT_EQ(::chmod(chosen.cache_folder.c_str(), 0777), 0);
  says(Dispatcher(chosen).plan("smooth", "n=1000 taps=5"), "compiled now");
  EXPECT_THAT(notes_of(chosen), HasSubstr("The cache of binaries is not used."));
  ASSERT_EQ(::chmod(chosen.cache_folder.c_str(), 0700), 0);
  for (const auto& entry : std::filesystem::directory_iterator(chosen.cache_folder))
    ASSERT_EQ(::chmod(entry.path().c_str(), 0666), 0);
  says(Dispatcher(chosen).plan("smooth", "n=1000 taps=5"), "compiled now");
}

// Permissions restrict only an ordinary user.
TEST(BinaryCache, SaysThatItsFolderCannotBeWritten) {
  std::string folder = testing::TempDir() + "tunesmith_cache_XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const auto answer = [&](mode_t mode) {
    EXPECT_EQ(::chmod(folder.c_str(), mode), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) ::_exit(3);
      const auto why = BinaryCache(folder + "/tunesmith").why_unused();
      ::_exit(!why ? 0 : why->find("cannot be written: each process compiles") != std::string::npos ? 1 : 2);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WEXITSTATUS(status);
  };
  EXPECT_EQ(answer(0555), 1);
  if (::geteuid() != 0) {
    EXPECT_EQ(answer(0755), 0);
  }
  std::filesystem::remove(folder);
}

// A binary of an older compiler is made again if there is a newer compiler, and only then.
TEST_F(TrustTest, ACachedBinaryOfAnotherCompilerIsNotUsed) {
  const char* const given = std::getenv("TUNESMITH_CXX");
  const std::string compiler = given == nullptr ? "c++" : given;
  const std::string newer = (folder_ / "newer").string();
  write_file(newer, "#!/bin/sh\n[ \"$1\" = --version ] && exec echo newer\nexec '" + compiler + "' \"$@\"\n");
  std::filesystem::permissions(newer, std::filesystem::perms::owner_all);
  DispatcherOptions never = options();
  never.compile = Compile::never;
  const auto how = [&](const char* with, const DispatcherOptions& chosen, const char* words) {
    ::setenv("TUNESMITH_CXX", with, 1);
    says(Dispatcher(chosen).plan("smooth", "n=1000 taps=5"), words);
    ::setenv("TUNESMITH_CXX", compiler.c_str(), 1);
  };
  how(compiler.c_str(), options(), "compiled now");
  how(compiler.c_str(), options(), "compiled before");
  how(newer.c_str(), never, "compiled before");
  how("/no/compiler", options(), "compiled before");
  how(newer.c_str(), options(), "compiled now");
  how(newer.c_str(), options(), "compiled before");
  const auto entries = std::filesystem::directory_iterator(options().cache_folder);
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1) << "the older one has gone";
}

TEST_F(TrustTest, ACacheThatCannotBeWrittenIsANote) {
  DispatcherOptions chosen = options();
  write_file((folder_ / "file").string(), "");
  chosen.cache_folder = (folder_ / "file/cache").string();
  Dispatcher dispatcher(chosen);
  const std::size_t before = dispatcher.notes().size();
  for (const char* problem : {"n=1000 taps=5", "n=1000 taps=6"})
    check(dispatcher.plan("smooth", problem), "smooth");
  ASSERT_EQ(dispatcher.notes().size(), before + 1) << "once";
  EXPECT_THAT(dispatcher.notes().back(), HasSubstr("cannot be kept in the cache " + chosen.cache_folder));
}

TEST_F(TrustTest, AFileThatCannotBeReadIsANote) {
  const auto not_used = [&](const std::string& why) {
    EXPECT_FALSE(uses_the_winner(options()));
    const std::string notes = notes_of(options());
    EXPECT_THAT(notes, HasSubstr("is not used. "));
    EXPECT_THAT(notes, HasSubstr(why));
  };
  std::ofstream(database()) << std::string(10000, 'x');
  not_used("is damaged");
  std::ofstream(database(), std::ios::trunc).close();
  not_used("is empty");
  std::filesystem::remove(database());
  std::filesystem::create_directory(database());
  not_used("is a folder");
  std::filesystem::remove(database());
  tune(winner_);
  const std::filesystem::path whole = folder_ / "whole.db";
  std::filesystem::copy_file(database(), whole);
  sql("PRAGMA user_version = 9999");
  not_used("9999");
  std::filesystem::rename(whole, database());
  EXPECT_TRUE(uses_the_winner(options()));
  sql("DROP VIEW sessions; DROP VIEW failures; DROP VIEW results; DROP VIEW winners; DROP TABLE finalist");
  not_used("has no table finalist");
  std::filesystem::resize_file(database(), std::filesystem::file_size(database()) / 2);
  not_used("");
}

TEST_F(TrustTest, AFilesOwnViewsAndTriggersDoNotRun) {
  tune(winner_);
  const std::string endless =
      "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT * FROM n)";
  sql("DROP VIEW winners; CREATE VIEW winners AS SELECT * FROM " + endless +
      "; DROP VIEW current_measurement; CREATE VIEW current_measurement AS SELECT * FROM measurement, " +
      endless);
  EXPECT_TRUE(uses_the_winner(options()));
  sql("ALTER TABLE finalist RENAME TO other; CREATE VIEW finalist AS SELECT * FROM other, " + endless);
  EXPECT_FALSE(uses_the_winner(options()));
  EXPECT_THAT(notes_of(options()), HasSubstr("has no table finalist"));
}

TEST_F(TrustTest, WithoutAHomeThereIsNoDatabaseAndNoCache) {
  std::map<std::string, std::string> before;
  for (const char* name : {"HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "TUNESMITH_DB"}) {
    if (const char* value = std::getenv(name)) before[name] = value;
    unsetenv(name);
  }
  EXPECT_EQ(default_database(), "");
  EXPECT_EQ(default_cache_folder(), "");
  setenv("TUNESMITH_DB", "off", 1);
  setenv("HOME", "/home/u", 1);
  EXPECT_EQ(default_database(), "");
  unsetenv("TUNESMITH_DB");
  EXPECT_EQ(default_database(), "/home/u/.local/share/tunesmith/tunesmith.db");
  unsetenv("HOME");
  DispatcherOptions bare;
  bare.device = device_id();
  EXPECT_EQ(Dispatcher(bare).plan("smooth", "n=1000 taps=5").match(), Match::base);
  for (const auto& [name, value] : before) setenv(name.c_str(), value.c_str(), 1);
}

TEST(Devices, TheHostIsUsedOnlyByName) {
  if (first_device() == "cuda") GTEST_SKIP() << "there is a CUDA device";
  for (const char* word : {"auto", "cuda"}) {
    try {
      Dispatcher dispatcher({.device = word, .database = ""});
      FAIL() << word;
    } catch (const std::runtime_error& error) {
      EXPECT_THAT(std::string(error.what()), HasSubstr("host")) << error.what();
    }
  }
  EXPECT_EQ(DispatcherOptions().device, "cuda");
}

}  // namespace
}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <sys/wait.h>

#include "fixture.h"

namespace tunesmith {
namespace {

using FaultTest = DbTest;
using testing::AllOf;
using testing::HasSubstr;

TEST_F(FaultTest, WhatIsNotADatabaseIsLeftAsItIs) {
  std::ofstream(file()) << std::string(5000, 'x');
  for (const auto mode : {Mode::create, Mode::read_write, Mode::read_only}) {
    EXPECT_THAT(error_of([&] { Store::open(file(), mode); }),
                AllOf(HasSubstr(file().string()), HasSubstr("is not an SQLite database"),
                      HasSubstr("move it aside")));
  }
  EXPECT_EQ(bytes_of(file()), std::string(5000, 'x'));
  std::ofstream(file("short")) << "hello";
  EXPECT_THROW(Store::open(file("short"), Mode::create), StoreError);
  EXPECT_EQ(bytes_of(file("short")), "hello");
}

TEST_F(FaultTest, AnotherProgramsDatabaseIsLeftAsItIs) {
  sql(file(), "CREATE TABLE precious (x)");
  const auto before = bytes_of(file());
  EXPECT_THAT(error_of([&] { Store::open(file(), Mode::create); }), HasSubstr("belongs to another program"));
  EXPECT_EQ(bytes_of(file()), before);
}

TEST_F(FaultTest, ADamagedFileIsLeftAsItIs) {
  {
    auto store = Store::open(file(), Mode::create);
    populate(store);
  }
  const auto size = std::filesystem::file_size(file());
  {
    std::fstream damage(file(), std::ios::in | std::ios::out | std::ios::binary);
    damage.seekp(4096);
    damage << std::string(size - 4096 - 4096, '\x5a');
  }
  const auto before = bytes_of(file());
  EXPECT_THAT(error_of([&] { Store::open(file(), Mode::create); }),
              AllOf(HasSubstr("damaged"), HasSubstr("restore")));
  EXPECT_THAT(error_of([&] { static_cast<void>(Store::open(file(), Mode::read_only).results()); }),
              HasSubstr("damaged"));
  EXPECT_EQ(bytes_of(file()), before);

  std::filesystem::resize_file(file(), 12288);
  EXPECT_THAT(error_of([&] { Store::open(file(), Mode::create); }), HasSubstr("damaged"));
}

TEST_F(FaultTest, AnUnknownSchemaIsLeftAsItIs) {
  { auto store = Store::open(file(), Mode::create); }
  sql(file(), "PRAGMA user_version = 11");  // newer, or of a program before 0.1.0
  const auto before = bytes_of(file());
  for (const auto mode : {Mode::create, Mode::read_only}) {
    EXPECT_THAT(error_of([&] { Store::open(file(), mode); }),
                AllOf(HasSubstr("newer Tunesmith"), HasSubstr("schema 11"), HasSubstr("up to 1."),
                      HasSubstr("export it with the version that wrote it")));
  }
  EXPECT_THAT(error_of([&] { MergeSource::file(file()); }), HasSubstr("schema 11"));
  EXPECT_EQ(sql(file(), "PRAGMA user_version"), "11");
  EXPECT_EQ(bytes_of(file()), before);
}

TEST_F(FaultTest, AFullDiskKeepsWhatWasRecorded) {
  Store::Options options;
  options.busy_timeout_ms = 100;
  { auto store = Store::open(file(), Mode::create, options); }
  options.max_pages = static_cast<std::int64_t>(std::filesystem::file_size(file()) / 4096 + 4);
  auto store = Store::open(file(), Mode::create, options);
  const Ids ids(store);
  auto m = ids.ok(ids.variant(store, "v"), 1);
  m.samples_us.assign(1000, 1.5);
  std::size_t recorded = 0;
  const auto message = error_of([&] {
    for (; recorded < 1000; ++recorded) store.record(m);
  });
  EXPECT_THAT(message, AllOf(HasSubstr("full"), HasSubstr("free some space"), HasSubstr("same command")));
  EXPECT_GT(recorded, 0U);
  EXPECT_EQ(store.results({.history = true}).size(), recorded);
  EXPECT_EQ(store.status().check, "ok");
  EXPECT_EQ(Store::open(file(), Mode::read_only).results({.history = true}).size(), recorded);
  auto again = Store::open(file(), Mode::read_write);  // space was made
  again.record(m);
}

TEST_F(FaultTest, ASecondWriterIsToldSo) {
  Store::Options options;
  options.busy_timeout_ms = 50;
  auto store = Store::open(file(), Mode::create, options);
  const auto ids = populate(store);
  sqlite3* other = nullptr;
  sqlite3_open(file().c_str(), &other);
  sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr);
  const auto m = ids.ok(ids.variant(store, "fast"), 1);
  EXPECT_THAT(error_of([&] { store.record(m); }),
              AllOf(HasSubstr(file().string()), HasSubstr("another writer"), HasSubstr("50 ms")));
  EXPECT_THAT(error_of([&] { Store::open(file(), Mode::read_write, options); }), HasSubstr("another writer"));
  EXPECT_EQ(Store::open(file(), Mode::read_only, options).results().size(), 10U);  // readers still work
  sqlite3_exec(other, "ROLLBACK", nullptr, nullptr, nullptr);
  sqlite3_close(other);
  store.record(m);
}

TEST_F(FaultTest, WhatIsNotThereIsNamed) {
  for (const auto mode : {Mode::read_only, Mode::read_write}) {
    EXPECT_THAT(error_of([&] { Store::open(file(), mode); }),
                AllOf(HasSubstr("no database"), HasSubstr(file().string())));
  }
  EXPECT_FALSE(std::filesystem::exists(file()));
  EXPECT_THAT(error_of([&] { Store::open(folder_, Mode::create); }), HasSubstr("is a folder"));
  std::ofstream(file("plain")) << "x";
  EXPECT_THAT(error_of([&] { Store::open(folder_ / "plain" / "t.db", Mode::create); }),
              HasSubstr("cannot be"));
  std::ofstream(file("empty")).flush();
  EXPECT_THAT(error_of([&] { Store::open(file("empty"), Mode::read_only); }), HasSubstr("is empty"));
  auto made = Store::open(file("empty"), Mode::create);
  populate(made);
}

// Permissions restrict only an ordinary user, so the action runs as one.
template <typename Action>
std::string as_ordinary_user(const Action& action) {
  int answer[2];
  if (pipe(answer) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    std::string text;
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) {
      text = "cannot become an ordinary user";
    } else {
      try {
        text = action();
      } catch (const std::exception& error) {
        text = error.what();
      }
    }
    const auto written = write(answer[1], text.data(), text.size());
    _exit(written < 0 ? 1 : 0);
  }
  close(answer[1]);
  std::string text;
  char part[512];
  for (ssize_t size = 0; (size = read(answer[0], part, sizeof part)) > 0;)
    text.append(part, static_cast<std::size_t>(size));
  close(answer[0]);
  waitpid(child, nullptr, 0);
  return text;
}

TEST_F(FaultTest, AReadOnlyFileOrFolderServesReadersAndTellsWriters) {
  {
    auto store = Store::open(file(), Mode::create);
    populate(store);
  }
  const auto count = [&] { return std::to_string(Store::open(file(), Mode::read_only).results().size()); };
  const auto write = [&] {
    Store::open(file(), Mode::read_write);
    return std::string("written");
  };
  chmod(file().c_str(), 0444);
  chmod(folder_.c_str(), 0777);
  EXPECT_THAT(as_ordinary_user(write), HasSubstr("make the file writable"));
  EXPECT_EQ(as_ordinary_user(count), "10");
  chmod(file().c_str(), 0666);
  chmod(folder_.c_str(), 0555);
  EXPECT_THAT(as_ordinary_user(write), HasSubstr("folder is read-only"));
  EXPECT_EQ(as_ordinary_user(count), "10");
  EXPECT_THAT(as_ordinary_user([&] {
                Store::open(folder_ / "new" / "t.db", Mode::create);
                return std::string("made");
              }),
              HasSubstr("folder cannot be created"));
  chmod(folder_.c_str(), 0755);
}

// The log is as in a disk image of a killed run.
TEST_F(FaultTest, ALogThatCannotBeReadIsTold) {
  {
    auto store = Store::open(file(), Mode::create);
    populate(store);
  }
  const auto count = [&] { return std::to_string(Store::open(file(), Mode::read_only).results().size()); };
  std::ofstream(file().string() + "-wal") << std::string(100, 'x');
  chmod(folder_.c_str(), 0555);
  EXPECT_THAT(as_ordinary_user(count), AllOf(HasSubstr("has a log beside it"), HasSubstr("copy both files")));
  chmod(folder_.c_str(), 0755);
  std::ofstream(file().string() + "-wal") << "";
  chmod(folder_.c_str(), 0555);
  EXPECT_EQ(as_ordinary_user(count), "10") << "an empty log holds nothing";
  chmod(folder_.c_str(), 0755);
}

TEST_F(FaultTest, APathMayBeginWithTwoSlashes) {
  const std::filesystem::path twice = "/" + file().string();
  {
    auto store = Store::open(twice, Mode::create);
    populate(store);
  }
  EXPECT_EQ(Store::open(twice, Mode::read_only).results().size(), 10U);
  EXPECT_EQ(Store::open(file(), Mode::read_only).results().size(), 10U);
}

}  // namespace
}  // namespace tunesmith

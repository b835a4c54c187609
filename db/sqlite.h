// SPDX-License-Identifier: Apache-2.0
// RAII wrappers of SQLite that turn its errors into sentences. Private to db/; they do not know the meaning
// of the tables.
#pragma once

#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tunesmith::sqlite {

class Database {
 public:
  // `name` names the database in error messages; SQLite opens `uri`. Foreign keys are off.
  Database(std::filesystem::path name, const std::string& uri, int flags, int busy_timeout_ms);
  static Database in_memory(const std::filesystem::path& name);
  // Disables the file's own views and triggers and limits the size of its contents.
  void distrust();
  // Returns a copy in memory, to read an older schema from a file that must not change. The copy is
  // distrusted like a file that is only read (distrust()).
  [[nodiscard]] Database copy_in_memory() const;
  // Makes the tables of `source`, a database in memory, readable as `source.TABLE` until `detach_source`.
  void attach_source(const Database& source);
  void detach_source();

  void exec(const char* sql);
  void exec(const std::string& sql) { exec(sql.c_str()); }
  [[nodiscard]] sqlite3* handle() const { return handle_.get(); }
  [[nodiscard]] const std::filesystem::path& name() const { return name_; }
  [[noreturn]] void fail(int code) const;

 private:
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  std::filesystem::path name_;
  int busy_timeout_ms_;
  std::unique_ptr<sqlite3, Close> handle_;
};

class Statement {
 public:
  template <typename... Values>
  Statement(const Database& database, std::string_view sql, const Values&... values)
      : Statement(database, sql, Prepare{}) {
    (bind(values), ...);
  }

  bool step();  // true while there is a row
  void run() {
    while (step()) {
    }
  }
  void bind(std::int64_t value);
  void bind(int value) { bind(static_cast<std::int64_t>(value)); }
  void bind(bool value) { bind(static_cast<std::int64_t>(value)); }
  void bind(double value);
  void bind(std::string_view value);
  void bind(const std::string& value) { bind(std::string_view(value)); }
  void bind(const char* value) { bind(std::string_view(value)); }
  void bind(const std::vector<std::byte>& value);
  template <typename T>
  void bind(const std::optional<T>& value) {
    if (value) {
      bind(*value);
    } else {
      ++bound_;  // stays NULL
    }
  }

  // Reads the next column; columns are read left to right.
  Statement& operator>>(std::int64_t& value);
  Statement& operator>>(int& value);
  Statement& operator>>(bool& value);
  Statement& operator>>(double& value);
  Statement& operator>>(std::string& value);
  Statement& operator>>(std::vector<std::byte>& value);
  template <typename T>
  Statement& operator>>(std::optional<T>& value) {
    if (sqlite3_column_type(handle_.get(), column_) == SQLITE_NULL) {
      value.reset();
      ++column_;
      return *this;
    }
    return *this >> value.emplace();
  }

 private:
  struct Prepare {};
  struct Finalize {
    void operator()(sqlite3_stmt* handle) const { sqlite3_finalize(handle); }
  };
  Statement(const Database& database, std::string_view sql, Prepare);
  void check(int code) const;

  const Database* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
  int bound_ = 0;
  int column_ = 0;
};

template <typename T, typename... Values>
std::optional<T> first(const Database& database, std::string_view sql, const Values&... values) {
  Statement statement(database, sql, values...);
  if (!statement.step()) return std::nullopt;
  T value{};
  statement >> value;
  return value;
}

// Returns the current time in the form of the tables: UTC, ISO 8601 with milliseconds.
std::string now(const Database&);

// A transaction that is rolled back unless it is committed. A nested one becomes part of the outer one.
class Transaction {
 public:
  enum class Access {
    read,   // one consistent view of the file
    write,  // takes the write lock at once: a transaction that has read cannot wait for another writer
  };
  Transaction(Database& database, Access access);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Database* database_;
  bool open_ = true;
};

}  // namespace tunesmith::sqlite

// SPDX-License-Identifier: Apache-2.0
#include "db/sqlite.h"

#include "db/store.h"

namespace tunesmith::sqlite {
namespace {

// The largest text or binary that is read.
constexpr int most_read_bytes = 256 << 20;

std::string sentence(int code, const std::filesystem::path& path, const std::string& detail,
                     int busy_timeout_ms) {
  const std::string name = "The database " + path.string();
  switch (code & 0xff) {  // the primary code; detail has the rest
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return name + " is damaged, or is not an SQLite database (" + detail +
             "). It was not changed: move it aside or restore a copy, then run the command again.";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return name + " was locked by another writer for more than " + std::to_string(busy_timeout_ms) +
             " ms, or its file system has no locks, as some network file systems. Nothing was written: wait "
             "until the other program has ended, or give this run its own file, on a local disk, and merge "
             "the "
             "two afterwards.";
    case SQLITE_FULL:
      return name + " cannot grow: the disk is full, or a quota or page limit is reached (" + detail +
             "). Everything recorded before is safe: free some space, then run the same command again.";
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return name + " is read-only (" + detail +
             "). Make the file and its folder writable, or choose another database.";
    case SQLITE_CANTOPEN:
      return name + " cannot be opened (" + detail +
             "). Check that the file and its folder exist and are readable; for writing, the folder must be "
             "writable too.";
    case SQLITE_IOERR:
      return name + " cannot be read or written (" + detail +
             "). Everything recorded before is safe: check the disk, then run the same command again.";
    case SQLITE_AUTH:
      return name + " contains a statement that creates neither a table nor a row (" + detail +
             "). Nothing was imported from it.";
    case SQLITE_INTERRUPT:
      return name +
             " has a statement that takes longer than any that creates a table or a row. Nothing was "
             "imported from it.";
    case SQLITE_CONSTRAINT:
      return name + " refused a row: " + detail + ".";
    default:
      return name + ": " + detail + " (SQLite code " + std::to_string(code) + ").";
  }
}

}  // namespace

Database::Database(std::filesystem::path name, const std::string& uri, int flags, int busy_timeout_ms)
    : name_(std::move(name)), busy_timeout_ms_(busy_timeout_ms) {
  sqlite3* handle = nullptr;
  const int code =
      sqlite3_open_v2(uri.c_str(), &handle, flags | SQLITE_OPEN_URI | SQLITE_OPEN_EXRESCODE, nullptr);
  handle_.reset(handle);  // set even when opening failed
  if (code != SQLITE_OK) fail(code);
  sqlite3_busy_timeout(handle, busy_timeout_ms);
  // The views and triggers of a file from elsewhere must not run functions.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_FKEY, 0, nullptr);
  if ((flags & SQLITE_OPEN_READONLY) != 0) distrust();
}

void Database::distrust() {
  sqlite3_db_config(handle(), SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);  // except views in `temp`
  sqlite3_db_config(handle(), SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_limit(handle(), SQLITE_LIMIT_LENGTH, most_read_bytes);
  exec("PRAGMA temp_store = MEMORY; PRAGMA cell_size_check = ON");
}

Database Database::in_memory(const std::filesystem::path& name) {
  return {name, ":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, 0};
}

Database Database::copy_in_memory() const {
  Database copy = in_memory(name_);
  copy.distrust();
  sqlite3_backup* backup = sqlite3_backup_init(copy.handle(), "main", handle(), "main");
  if (backup == nullptr) copy.fail(sqlite3_extended_errcode(copy.handle()));
  sqlite3_backup_step(backup, -1);
  const int code = sqlite3_backup_finish(backup);
  if (code != SQLITE_OK) fail(code);
  return copy;
}

void Database::attach_source(const Database& source) {
  sqlite3_int64 size = 0;
  unsigned char* bytes = sqlite3_serialize(source.handle(), "main", &size, 0);
  if (bytes == nullptr || size < 100) {
    sqlite3_free(bytes);
    source.fail(SQLITE_NOMEM);
  }
  bytes[18] = bytes[19] = 1;  // file format: not WAL, which a database in memory cannot have
  try {
    exec("ATTACH ':memory:' AS source");
  } catch (...) {
    sqlite3_free(bytes);
    throw;
  }
  const int code = sqlite3_deserialize(handle(), "source", bytes, size, size, SQLITE_DESERIALIZE_FREEONCLOSE);
  if (code != SQLITE_OK) {
    detach_source();
    source.fail(code);
  }
}

void Database::detach_source() { exec("DETACH source"); }

void Database::exec(const char* sql) {
  const int code = sqlite3_exec(handle(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code);
}

void Database::fail(int code) const {
  // The connection's message belongs to its last call; other codes have a general one.
  std::string detail =
      handle_ && sqlite3_extended_errcode(handle()) == code ? sqlite3_errmsg(handle()) : sqlite3_errstr(code);
  throw StoreError(sentence(code, name_, detail, busy_timeout_ms_));
}

Statement::Statement(const Database& database, std::string_view sql, Prepare) : database_(&database) {
  sqlite3_stmt* handle = nullptr;
  const int code =
      sqlite3_prepare_v2(database.handle(), sql.data(), static_cast<int>(sql.size()), &handle, nullptr);
  handle_.reset(handle);
  check(code);
}

void Statement::check(int code) const {
  if (code != SQLITE_OK) database_->fail(code);
}

bool Statement::step() {
  column_ = 0;
  const int code = sqlite3_step(handle_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) database_->fail(code);
  return false;
}

void Statement::bind(std::int64_t value) { check(sqlite3_bind_int64(handle_.get(), ++bound_, value)); }
void Statement::bind(double value) { check(sqlite3_bind_double(handle_.get(), ++bound_, value)); }
void Statement::bind(std::string_view value) {
  // The data of an empty view may be a null pointer, which SQLite would store as NULL.
  check(sqlite3_bind_text64(handle_.get(), ++bound_, value.empty() ? "" : value.data(), value.size(),
                            SQLITE_TRANSIENT, SQLITE_UTF8));
}
void Statement::bind(const std::vector<std::byte>& value) {
  if (value.empty()) {
    check(sqlite3_bind_zeroblob(handle_.get(), ++bound_, 0));
  } else {
    check(sqlite3_bind_blob64(handle_.get(), ++bound_, value.data(), value.size(), SQLITE_TRANSIENT));
  }
}

Statement& Statement::operator>>(std::int64_t& value) {
  value = sqlite3_column_int64(handle_.get(), column_++);
  return *this;
}
Statement& Statement::operator>>(int& value) {
  value = sqlite3_column_int(handle_.get(), column_++);
  return *this;
}
Statement& Statement::operator>>(bool& value) {
  value = sqlite3_column_int(handle_.get(), column_++) != 0;
  return *this;
}
Statement& Statement::operator>>(double& value) {
  value = sqlite3_column_double(handle_.get(), column_++);
  return *this;
}
Statement& Statement::operator>>(std::string& value) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(handle_.get(), column_));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column_++));
  text == nullptr ? value.clear() : static_cast<void>(value.assign(text, size));
  return *this;
}
Statement& Statement::operator>>(std::vector<std::byte>& value) {
  const auto* bytes = static_cast<const std::byte*>(sqlite3_column_blob(handle_.get(), column_));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column_++));
  value.assign(bytes, bytes + size);
  return *this;
}

std::string now(const Database& database) {
  return *first<std::string>(database, "SELECT strftime('%Y-%m-%dT%H:%M:%fZ', 'now')");
}

Transaction::Transaction(Database& database, Access access)
    : database_(&database), open_(sqlite3_get_autocommit(database.handle()) != 0) {
  if (open_) database.exec(access == Access::write ? "BEGIN IMMEDIATE" : "BEGIN");
}

Transaction::~Transaction() {
  // On a full disk SQLite has already rolled back and reports an error that can be ignored here.
  if (open_) sqlite3_exec(database_->handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
  if (open_) database_->exec("COMMIT");
  open_ = false;
}

}  // namespace tunesmith::sqlite

// SPDX-License-Identifier: Apache-2.0
// Opens a database: finds the file, checks that it is ours, sets WAL and migrates to the newest schema.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <system_error>
#include <thread>

#include "db/schema.h"
#include "db/sqlite.h"
#include "db/store.h"

namespace fs = std::filesystem;

namespace tunesmith {
namespace {

using sqlite::Database;
using sqlite::first;
using sqlite::Transaction;

// Returns the file's URI. An absolute path follows an empty authority, because //tmp would be read as an
// authority.
std::string uri_of(const fs::path& path, bool immutable) {
  std::string uri = path.is_absolute() ? "file://" : "file:";
  for (const char c : path.string()) {
    switch (c) {
      case '%':
        uri += "%25";
        break;
      case '?':
        uri += "%3f";
        break;
      case '#':
        uri += "%23";
        break;
      default:
        uri += c;
    }
  }
  return immutable ? uri + "?immutable=1" : uri;
}

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : "."; }

bool may_write(const fs::path& path) { return ::access(path.c_str(), W_OK) == 0; }

// Creates the folder and the folders above it. Nobody else may write them, whatever the umask allows:
// dispatch would use no file there.
std::error_code make_folder(const fs::path& folder) {
  std::error_code error;
  if (fs::exists(folder, error)) return {};
  if (folder.has_parent_path() && folder.parent_path() != folder) {
    error = make_folder(folder.parent_path());
    if (error) return error;
  }
  if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) return {errno, std::generic_category()};
  return {};
}

// Returns the version of the file's schema; 0 if the file is empty. Throws if the file is not ours, before
// anything in it is changed.
std::int64_t version_of(const Database& database, schema::Migrations migrations) {
  const auto [version, application_id, objects] = schema::identify(database);
  const std::string name = "The database " + database.name().string();
  if (version == 0 && application_id == 0 && objects == 0) return 0;
  if (application_id != schema::application_id || version < 1) {
    throw StoreError(name + " belongs to another program. It was not changed: choose another file.");
  }
  schema::require_known(database, version, migrations);
  return version;
}

void use_wal(Database& database, int busy_timeout_ms) {
  if (first<std::string>(database, "PRAGMA journal_mode") == "wal") return;
  // SQLite itself does not wait when two processes make this change at once.
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(busy_timeout_ms);
  for (;;) {
    const int code = sqlite3_exec(database.handle(), "PRAGMA journal_mode = WAL", nullptr, nullptr, nullptr);
    if (code == SQLITE_OK) return;
    if ((code & 0xff) != SQLITE_BUSY || std::chrono::steady_clock::now() > end) database.fail(code);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace

fs::path default_database_path() {
  const auto variable = [](const char* name) -> fs::path {
    const char* value = ::secure_getenv(name);
    return value == nullptr ? "" : value;
  };
  if (auto path = variable("TUNESMITH_DB"); !path.empty()) {
    if (path == "off") {
      throw StoreError(
          "TUNESMITH_DB is off: no database is used unless one is given. Give one, or set "
          "TUNESMITH_DB to a file.");
    }
    return path;
  }
  const auto tail = fs::path("tunesmith") / "tunesmith.db";
  // The XDG specification says to ignore a relative path.
  if (auto path = variable("XDG_DATA_HOME"); path.is_absolute()) return path / tail;
  if (auto path = variable("HOME"); !path.empty()) return path / ".local" / "share" / tail;
  throw StoreError("No database is given and there is no home folder: set TUNESMITH_DB to a file.");
}

Store Store::open(const fs::path& path, Mode mode, const Options& options) {
  const std::string name = "The database " + path.string();
  std::error_code error;
  const auto kind = fs::status(path, error).type();
  const bool missing = kind == fs::file_type::not_found;
  if (kind == fs::file_type::directory) throw StoreError(name + " is a folder: choose a file.");
  // Reading a pipe would block for ever.
  for (const char* part : {"", "-wal", "-shm", "-journal"}) {
    const auto other = fs::status(path.string() + part, error).type();
    if (other != fs::file_type::regular && other != fs::file_type::not_found && other != fs::file_type::none)
      throw StoreError(name + part + " is a pipe, a socket, a folder or a device: choose a regular file.");
  }
  if (missing && mode != Mode::create) {
    throw StoreError("There is no database " + path.string() +
                     ": tune a problem first, or choose another file.");
  }
  const fs::path folder = folder_of(path);
  if (missing) {
    error = make_folder(folder);
    if (error) {
      throw StoreError(name + " cannot be created: its folder cannot be created (" + error.message() +
                       "). Create the folder, or choose another file.");
    }
  }
  const bool writes = mode != Mode::read_only;
  if (writes && !missing && !may_write(path)) {
    throw StoreError(name + " is read-only: make the file writable, or choose another one.");
  }
  if (writes && !may_write(folder)) {
    throw StoreError(name +
                     " cannot be written because its folder is read-only: SQLite keeps a log beside the "
                     "file. Make the folder writable, or choose another file.");
  }
  // If the file has no log and none can be created, nobody writes, and SQLite needs no locks.
  const bool frozen = !writes && !may_write(folder);
  const bool has_log = fs::file_size(path.string() + "-wal", error) > 0 && !error;
  if (frozen && has_log && !fs::exists(path.string() + "-shm", error)) {
    throw StoreError(
        name + " has a log beside it (" + path.filename().string() +
        "-wal), which a run that was killed left, and reading that needs a folder that can be "
        "written. Run \"tunesmith db status\" where the folder can be written, or copy both files "
        "into such a folder.");
  }
  const bool immutable = frozen && !has_log;
  const int flags = !writes                ? SQLITE_OPEN_READONLY
                    : mode == Mode::create ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                           : SQLITE_OPEN_READWRITE;
  Store store(std::make_unique<Database>(path, uri_of(path, immutable), flags, options.busy_timeout_ms),
              options);
  auto& database = *store.database_;

  const auto version = version_of(database, options.migrations);
  if (!writes) {
    if (version == 0) {
      throw StoreError(name + " is empty: tune a problem first, or choose another file.");
    }
    if (version < schema::newest_version(options.migrations)) {
      database = database.copy_in_memory();
      Transaction transaction(database, Transaction::Access::write);
      schema::migrate(database, options.migrations);
      transaction.commit();
    }
    schema::use_own_views(database);
    return store;
  }
  // The check prevents additions to a damaged file. It takes some 0.1 s for 50 MB, and grows with the size.
  if (first<std::string>(database, "PRAGMA quick_check(1)") != "ok") database.fail(SQLITE_CORRUPT);
  if (options.max_pages > 0) database.exec("PRAGMA max_page_count = " + std::to_string(options.max_pages));
  use_wal(database, options.busy_timeout_ms);
  // With FULL a commit is on the disk when it returns. It costs milliseconds; a measurement costs a hundred.
  database.exec("PRAGMA synchronous = FULL");
  {
    Transaction transaction(database, Transaction::Access::write);
    // Look again: now no other process can be creating or migrating the file.
    if (version_of(database, options.migrations) == 0) database.exec(schema::sql);
    schema::migrate(database, options.migrations);
    transaction.commit();
  }
  database.exec("PRAGMA foreign_keys = ON");
  return store;
}

}  // namespace tunesmith

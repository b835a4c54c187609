// What the tables mean: opening, recording, choosing winners, reading. transfer.cpp moves rows between files.
#include "db/store.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>
#include <thread>
#include <tuple>

#include "db/sqlite.h"

namespace fs = std::filesystem;

namespace tunesmith {
namespace {

using sqlite::Database;
using sqlite::first;
using sqlite::Statement;
using sqlite::Transaction;

// Oldest first; a released one is never edited. schema.sql always holds the newest schema.
constexpr Store::Migration migrations[] = {
    // 2: times with warm and with cold caches
    {"ALTER TABLE measurement ADD COLUMN caches TEXT NOT NULL DEFAULT 'warm' CHECK (caches IN ('warm', "
     "'cold'));"
     "DROP INDEX measurement_newest;"
     "CREATE INDEX measurement_newest ON measurement (device_id, problem_id, variant_id, caches, "
     "measured_at);"},
    // 3: a kernel's identity is what the compiler sees, no longer its whole text; carry_over() translates
    {"UPDATE variant SET source_hash = 'text:' || source_hash;"},
};

constexpr const char* now_sql = "SELECT strftime('%Y-%m-%dT%H:%M:%fZ', 'now')";

std::string uri_of(const fs::path& path, bool immutable) {
  std::string uri = "file:";
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

enum class Content { nothing, tunesmith };

// Reads only: a file that is not ours is never touched.
Content identify(const Database& database, int known_version) {
  const auto version = *first<std::int64_t>(database, "PRAGMA user_version");
  const auto application = *first<std::int64_t>(database, "PRAGMA application_id");
  const auto objects = *first<std::int64_t>(database, "SELECT count(*) FROM sqlite_master");
  const std::string name = "The database " + database.name().string();
  if (version == 0 && application == 0 && objects == 0) return Content::nothing;
  if (application != 1414745428 || version < 1) {
    throw StoreError(name + " belongs to another program. It was left as it is: name another file.");
  }
  if (version > known_version) {
    throw StoreError(name + " was written by a newer Tunesmith (schema " + std::to_string(version) +
                     "; this one knows up to " + std::to_string(known_version) +
                     "). It was left as it is: update Tunesmith, or name another file.");
  }
  return Content::tunesmith;
}

void use_wal(Database& database, int busy_timeout_ms) {
  if (first<std::string>(database, "PRAGMA journal_mode") == "wal") return;
  // SQLite does not wait for this change by itself where two processes make it at once.
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(busy_timeout_ms);
  for (;;) {
    const int code = sqlite3_exec(database.handle(), "PRAGMA journal_mode = WAL", nullptr, nullptr, nullptr);
    if (code == SQLITE_OK) return;
    if ((code & 0xff) != SQLITE_BUSY || std::chrono::steady_clock::now() > end) database.fail(code);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

// Names a process so that its end can be seen later: boot, process namespace, id, start. Empty where it
// cannot.
std::string process_tag(const std::string& pid) {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  std::error_code ignored;
  const std::string space = fs::read_symlink("/proc/self/ns/pid", ignored).string();
  std::ifstream file("/proc/" + pid + "/stat");
  const std::string stat{std::istreambuf_iterator<char>(file), {}};
  const auto name_end = stat.rfind(')');  // the name before it may hold anything
  if (boot.empty() || space.empty() || name_end == std::string::npos) return {};
  std::istringstream fields(stat.substr(name_end + 1));
  std::string start;
  for (int field = 3; field <= 22; ++field) fields >> start;  // 22: start time, clock ticks since boot
  return boot + ' ' + space + ' ' + pid + ' ' + start;
}

bool is_dead(const std::string& tag) {
  const std::string mine = process_tag(std::to_string(::getpid()));
  std::istringstream words(tag);
  std::istringstream my_words(mine);
  std::string boot;
  std::string space;
  std::string pid;
  std::string my_boot;
  std::string my_space;
  words >> boot >> space >> pid;
  my_words >> my_boot >> my_space;
  if (pid.empty() || my_boot.empty()) return false;
  if (boot != my_boot) return true;  // WAL works on one machine only: it has restarted
  return space == my_space && process_tag(pid) != tag;
}

std::optional<std::string> json_of(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  std::string text = "[";
  for (const double value : values) {
    if (text.size() > 1) text += ',';
    char digits[32];
    text.append(digits, std::to_chars(digits, std::end(digits), value).ptr);
  }
  return text + ']';
}

// A WHERE clause over the columns op, device, problem and `target`, and its values.
struct Where {
  std::string sql = " WHERE true";
  std::vector<std::string> values;
};

Where where_of(const QueryFilter& filter) {
  Where where;
  const auto add = [&where](const char* condition, const std::string& value) {
    where.sql += condition;
    where.values.push_back(value);
  };
  if (!filter.op.empty()) add(" AND r.op = ?", filter.op);
  if (!filter.device.empty()) {
    add(" AND (instr(lower(r.device), lower(?)) > 0", filter.device);
    add(" OR r.target = ?)", filter.device);
  }
  std::istringstream words(filter.problem);
  for (std::string word; words >> word;) {
    add(" AND instr(' ' || r.problem || ' ', ?) > 0", ' ' + word + ' ');
  }
  return where;
}

void bind_all(Statement& statement, const std::vector<std::string>& values) {
  for (const auto& value : values) statement.bind(value);
}

std::string limit_of(std::int64_t limit) { return limit > 0 ? " LIMIT " + std::to_string(limit) : ""; }

template <typename... Values>
std::int64_t get_or_create(Database& database, const char* select, std::size_t keys, const char* insert,
                           const Values&... values) {
  const auto find = [&] {
    Statement statement(database, select);
    std::size_t index = 0;
    ((index++ < keys ? statement.bind(values) : void()), ...);
    std::optional<std::int64_t> id;
    if (statement.step()) statement >> id.emplace();
    return id;
  };
  if (const auto id = find()) return *id;
  Statement(database, insert, values...).run();
  return *find();
}

}  // namespace

fs::path default_database_path() {
  const auto variable = [](const char* name) -> fs::path {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  if (auto path = variable("TUNESMITH_DB"); !path.empty()) return path;
  const auto tail = fs::path("tunesmith") / "tunesmith.db";
  // The XDG specification says that a relative path is to be ignored.
  if (auto path = variable("XDG_DATA_HOME"); path.is_absolute()) return path / tail;
  if (auto path = variable("HOME"); !path.empty()) return path / ".local" / "share" / tail;
  throw StoreError("No database is named and there is no home folder: set TUNESMITH_DB to a file.");
}

Store::Options::Options() : migrations(tunesmith::migrations) {}
Store::Store(std::unique_ptr<Database> database, const Options& options)
    : database_(std::move(database)), options_(options) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;
const fs::path& Store::path() const { return database_->name(); }

Store Store::open(const fs::path& path, Mode mode, const Options& options) {
  const std::string name = "The database " + path.string();
  std::error_code error;
  const auto kind = fs::status(path, error).type();
  const bool missing = kind == fs::file_type::not_found;
  if (kind == fs::file_type::directory) throw StoreError(name + " is a folder: name a file.");
  if (missing && mode != Mode::create) {
    throw StoreError("There is no database " + path.string() + ": tune first, or name another file.");
  }
  const fs::path folder = folder_of(path);
  if (missing) {
    fs::create_directories(folder, error);
    if (error) {
      throw StoreError(name + " cannot be made: its folder cannot be created (" + error.message() + ").");
    }
  }
  const bool writes = mode != Mode::read_only;
  if (writes && !missing && !may_write(path)) {
    throw StoreError(name + " is read-only: make the file writable, or name another one.");
  }
  if (writes && !may_write(folder)) {
    throw StoreError(
        name +
        " cannot be written because its folder is read-only: SQLite keeps a log beside the file. "
        "Make the folder writable, or name another file.");
  }
  // Where no log can be made beside the file and none is there, nobody writes, and SQLite may be told so.
  const bool immutable = !writes && !may_write(folder) && !fs::exists(path.string() + "-wal", error);
  const int flags = !writes                ? SQLITE_OPEN_READONLY
                    : mode == Mode::create ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                           : SQLITE_OPEN_READWRITE;
  Store store(std::make_unique<Database>(path, uri_of(path, immutable), flags, options.busy_timeout_ms),
              options);
  auto& database = *store.database_;
  const int known_version = static_cast<int>(options.migrations.size()) + 1;

  const Content content = identify(database, known_version);
  if (!writes) {
    if (content == Content::nothing) throw StoreError(name + " is empty: tune first, or name another file.");
    if (*first<std::int64_t>(database, "PRAGMA user_version") < known_version) {
      database = database.copy_in_memory();
      store.migrate(database);
    }
    return store;
  }
  // Before anything is added to a damaged file; takes time in proportion to its size, some 0.1 s for 50 MB.
  if (first<std::string>(database, "PRAGMA quick_check(1)") != "ok") database.fail(SQLITE_CORRUPT);
  if (options.max_pages > 0) database.exec("PRAGMA max_page_count = " + std::to_string(options.max_pages));
  use_wal(database, options.busy_timeout_ms);
  // FULL: a commit is on the disk when it returns. It costs milliseconds, a measurement a hundred.
  database.exec("PRAGMA synchronous = FULL");
  {
    Transaction transaction(database, Transaction::Kind::write);
    // Again, now that nobody else can be about to do the same.
    if (identify(database, known_version) == Content::nothing) database.exec(sqlite::schema_sql);
    transaction.commit();
  }
  store.migrate(database);
  database.exec("PRAGMA foreign_keys = ON");
  return store;
}

void Store::migrate(Database& database) const {
  const auto known_version = static_cast<std::int64_t>(options_.migrations.size()) + 1;
  if (*first<std::int64_t>(database, "PRAGMA user_version") == known_version) return carry_over(database);
  database.exec("PRAGMA foreign_keys = OFF");  // so that a migration may rebuild a table that others point to
  Transaction transaction(database, Transaction::Kind::write);
  for (auto version = *first<std::int64_t>(database, "PRAGMA user_version"); version < known_version;
       ++version) {
    database.exec(options_.migrations[static_cast<std::size_t>(version - 1)].sql);
    database.exec("PRAGMA user_version = " + std::to_string(version + 1));
  }
  const Database newest = Database::empty();
  Statement views(newest, "SELECT name, sql FROM sqlite_master WHERE type = 'view' ORDER BY rowid");
  while (views.step()) {
    std::string name;
    std::string sql;
    views >> name >> sql;
    database.exec("DROP VIEW IF EXISTS " + name + ";" + sql);
  }
  if (first<std::string>(database, "PRAGMA foreign_key_check")) {
    throw StoreError("The database " + database.name().string() +
                     " has rows that point to none, so that it was not " + "brought to schema " +
                     std::to_string(known_version) +
                     ". It was left as it is: restore a copy, or move it aside.");
  }
  transaction.commit();
  carry_over(database);
}

std::int64_t Store::id_of(const DeviceRow& d) {
  return get_or_create(
      *database_,
      "SELECT id FROM device WHERE kind = ? AND name = ? AND target = ? AND compute_capability = ? "
      "AND sm_count = ? AND memory_bytes = ?",
      6,
      "INSERT INTO device (kind, name, target, compute_capability, sm_count, memory_bytes) "
      "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
      d.kind, d.name, d.target, d.compute_capability, d.sm_count, d.memory_bytes);
}

std::int64_t Store::id_of(const TemplateRow& t) {
  return get_or_create(*database_, "SELECT id FROM template WHERE op = ? AND name = ? AND body_hash = ?", 3,
                       "INSERT INTO template (op, name, body_hash) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                       t.op, t.name, t.body_hash);
}

std::int64_t Store::id_of(const VariantRow& v) {
  return get_or_create(*database_, "SELECT id FROM variant WHERE target = ? AND source_hash = ?", 2,
                       "INSERT INTO variant (target, source_hash, template_id, config, compiled_in, entry) "
                       "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                       v.target, v.source_hash, v.template_id, v.config, v.compiled_in, v.entry);
}

std::int64_t Store::id_of(const ProblemRow& p) {
  return get_or_create(*database_, "SELECT id FROM problem WHERE op = ? AND text = ?", 2,
                       "INSERT INTO problem (op, text) VALUES (?, ?) ON CONFLICT DO NOTHING", p.op, p.text);
}

std::int64_t Store::begin_session(const SessionRow& s) {
  Transaction transaction(*database_, Transaction::Kind::write);
  std::vector<std::int64_t> dead;
  Statement running(*database_, "SELECT id, process FROM session WHERE state = 'running'");
  while (running.step()) {
    std::int64_t id = 0;
    std::string process;
    running >> id >> process;
    if (is_dead(process)) dead.push_back(id);
  }
  for (const auto id : dead) {
    Statement(
        *database_,
        "UPDATE session SET state = 'interrupted', process = NULL, ended_at = ifnull("
        "(SELECT max(measured_at) FROM measurement WHERE session_id = session.id), started_at) WHERE id = ?",
        id)
        .run();
  }
  Statement(
      *database_,
      "INSERT INTO session (uid, device_id, command, strategy, seed, budget, tunesmith_version, toolchain, "
      "driver, host_facts, state, started_at, process) VALUES (lower(hex(randomblob(16))), "
      "?, ?, ?, ?, ?, ?, ?, ?, ?, 'running', strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), ?)",
      s.device_id, s.command, s.strategy, s.seed, s.budget, s.tunesmith_version, s.toolchain, s.driver,
      s.host_facts, process_tag(std::to_string(::getpid())))
      .run();
  const auto id = sqlite3_last_insert_rowid(database_->handle());
  transaction.commit();
  return id;
}

void Store::end_session(std::int64_t session_id, End end) {
  Statement(*database_,
            "UPDATE session SET state = ?, ended_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), process = NULL "
            "WHERE id = ?",
            end == End::finished ? "finished" : "interrupted", session_id)
      .run();
  if (sqlite3_changes(database_->handle()) == 0) {
    throw StoreError("The database " + path().string() + " has no session " + std::to_string(session_id) +
                     ".");
  }
}

std::int64_t Store::record(const MeasurementRow& m) {
  Transaction transaction(*database_, Transaction::Kind::write);
  const auto sequence = *first<std::int64_t>(
      *database_, "SELECT ifnull(max(sequence), 0) + 1 FROM measurement WHERE session_id = ?", m.session_id);
  const auto measured_at = m.measured_at.empty() ? *first<std::string>(*database_, now_sql) : m.measured_at;
  Statement(*database_,
            "INSERT INTO measurement (session_id, sequence, variant_id, problem_id, device_id, is_base, "
            "verdict, reason, "
            "median_us, min_us, spread, samples_us, registers, static_shared_bytes, dynamic_shared_bytes, "
            "spill_bytes, "
            "max_error, compile_ms, toolchain, driver, measured_at, caches) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            m.session_id, sequence, m.variant_id, m.problem_id, m.device_id, m.is_base, m.verdict, m.reason,
            m.median_us, m.min_us, m.spread, json_of(m.samples_us), m.registers, m.static_shared_bytes,
            m.dynamic_shared_bytes, m.spill_bytes, m.max_error, m.compile_ms, m.toolchain, m.driver,
            measured_at, m.caches)
      .run();
  const auto id = sqlite3_last_insert_rowid(database_->handle());
  transaction.commit();
  return id;
}

std::map<SourceKey, KnownVerdict> Store::known(std::int64_t device_id, std::int64_t problem_id,
                                               std::string_view caches) const {
  std::map<SourceKey, KnownVerdict> known;
  Statement rows(
      *database_,
      "SELECT v.target, v.source_hash, m.id, m.verdict, m.reason, m.median_us, m.toolchain, m.driver, "
      "m.measured_at FROM current_measurement m JOIN variant v ON v.id = m.variant_id "
      "WHERE m.device_id = ? AND m.problem_id = ? AND (m.caches = ? OR m.verdict <> 'ok') "
      "ORDER BY m.measured_at, m.id",
      device_id, problem_id, caches);
  while (rows.step()) {
    SourceKey key;
    KnownVerdict k;
    rows >> key.target >> key.source_hash >> k.measurement_id >> k.verdict >> k.reason >> k.median_us >>
        k.toolchain >> k.driver >> k.measured_at;
    known.insert_or_assign(std::move(key), std::move(k));
  }
  return known;
}

std::vector<Store::Tried> Store::fastest(std::int64_t device_id, std::int64_t problem_id,
                                         std::string_view caches, std::int64_t limit) const {
  std::vector<Tried> tried;
  Statement rows(*database_,
                 "SELECT t.name, v.config FROM current_measurement m JOIN variant v ON v.id = m.variant_id "
                 "JOIN template t ON t.id = v.template_id "
                 "WHERE m.device_id = ? AND m.problem_id = ? AND m.caches = ? AND m.verdict = 'ok' "
                 "GROUP BY t.name, v.config ORDER BY min(m.median_us), t.name, v.config LIMIT ?",
                 device_id, problem_id, caches, limit);
  while (rows.step()) rows >> tried.emplace_back().template_name >> tried.back().config;
  return tried;
}

SetWinner Store::set_winner(std::int64_t measurement_id, std::int64_t alignment_bytes, bool winner_is_stale) {
  Transaction transaction(*database_, Transaction::Kind::write);
  auto result =
      choose(measurement_id, alignment_bytes, winner_is_stale, *first<std::string>(*database_, now_sql));
  transaction.commit();
  return result;
}

void Store::drop_winner(std::int64_t device_id, std::int64_t problem_id, std::int64_t alignment_bytes) {
  Transaction transaction(*database_, Transaction::Kind::write);
  const auto variant =
      first<std::int64_t>(*database_,
                          "DELETE FROM winner WHERE device_id = ? AND problem_id = ? AND alignment_bytes = ? "
                          "RETURNING (SELECT variant_id FROM measurement WHERE id = measurement_id)",
                          device_id, problem_id, alignment_bytes);
  if (variant) drop_binary(*variant);
  transaction.commit();
}

void Store::drop_binary(std::int64_t variant_id) {
  Statement(*database_,
            "DELETE FROM binary WHERE variant_id = ? AND NOT EXISTS (SELECT 1 FROM winner w "
            "JOIN measurement m ON m.id = w.measurement_id WHERE m.variant_id = binary.variant_id)",
            variant_id)
      .run();
}

SetWinner Store::choose(std::int64_t measurement_id, std::int64_t alignment_bytes, bool winner_is_stale,
                        std::string_view since) {
  struct Candidate {
    std::int64_t variant = 0;
    std::string verdict, measured_at, caches, op, template_name, body_hash;
    double median_us = 0;
  };
  const auto read = [this](std::int64_t id) {
    Statement row(
        *database_,
        "SELECT m.variant_id, m.verdict, m.measured_at, m.caches, t.op, t.name, t.body_hash, m.median_us "
        "FROM measurement m JOIN variant v ON v.id = m.variant_id JOIN template t ON t.id = v.template_id "
        "WHERE m.id = ?",
        id);
    Candidate c;
    if (!row.step()) {
      throw StoreError("The database " + path().string() + " has no measurement " + std::to_string(id) + ".");
    }
    row >> c.variant >> c.verdict >> c.measured_at >> c.caches >> c.op >> c.template_name >> c.body_hash >>
        c.median_us;
    return c;
  };
  const Candidate candidate = read(measurement_id);
  if (candidate.verdict != "ok")
    return {false, "Only an ok measurement can win; this one is " + candidate.verdict + "."};

  std::int64_t problem = 0;
  std::int64_t device = 0;
  {
    Statement row(*database_, "SELECT problem_id, device_id FROM measurement WHERE id = ?", measurement_id);
    row.step();
    row >> problem >> device;
  }
  const auto found_wrong = [&](std::int64_t variant) {
    const auto newest = first<std::string>(
        *database_,
        "SELECT verdict FROM current_measurement WHERE device_id = ? AND problem_id = ? AND variant_id = ? "
        "AND (caches = ? OR verdict <> 'ok') ORDER BY measured_at DESC, id DESC LIMIT 1",
        device, problem, variant, candidate.caches);
    return newest == "wrong_result" || newest == "out_of_bounds";
  };
  // All winners of a problem were measured with the same caches: those of the other kind leave.
  const auto drop_other_caches = [&] {
    Statement rows(*database_,
                   "DELETE FROM winner WHERE problem_id = ? AND device_id = ? AND measurement_id IN "
                   "(SELECT id FROM measurement WHERE problem_id = ? AND device_id = ? AND caches <> ?) "
                   "RETURNING (SELECT variant_id FROM measurement WHERE id = measurement_id)",
                   problem, device, problem, device, candidate.caches);
    std::vector<std::int64_t> variants;
    while (rows.step()) rows >> variants.emplace_back();
    for (const auto variant : variants) drop_binary(variant);
  };
  const auto take = [&](std::string why) -> SetWinner {
    Statement(*database_,
              "INSERT INTO winner (problem_id, device_id, alignment_bytes, measurement_id, since) "
              "VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET measurement_id = excluded.measurement_id, "
              "since = excluded.since",
              problem, device, alignment_bytes, measurement_id, since)
        .run();
    drop_other_caches();
    return {true, std::move(why)};
  };

  const auto winner = first<std::int64_t>(
      *database_,
      "SELECT measurement_id FROM winner WHERE problem_id = ? AND device_id = ? AND alignment_bytes = ?",
      problem, device, alignment_bytes);
  const auto later_kind =
      first<std::string>(*database_,
                         "SELECT m.caches FROM winner w JOIN measurement m ON m.id = w.measurement_id "
                         "WHERE w.problem_id = ? AND w.device_id = ? AND m.caches <> ? "
                         "AND (m.measured_at, m.id) > (?, ?)",
                         problem, device, candidate.caches, candidate.measured_at, measurement_id);
  if (later_kind && !winner_is_stale) {
    return {false, "The problem's winner was measured later and with " + *later_kind +
                       " caches; times with other caches are not compared."};
  }
  if (!winner) return take("There was no winner.");
  if (*winner == measurement_id) return {false, "It is the winner already."};
  const Candidate old = read(*winner);
  const bool later = std::pair(old.measured_at, *winner) < std::pair(candidate.measured_at, measurement_id);
  const bool other_caches = old.caches != candidate.caches;
  if (old.variant == candidate.variant) {
    if (!later && !other_caches) return {false, "The winner has a newer measurement of the same variant."};
    return take("The winner was measured again" +
                (other_caches ? ", with " + candidate.caches + " caches." : std::string(".")));
  }
  if (found_wrong(candidate.variant)) {
    return {false, "The variant has been found to give wrong results since this measurement."};
  }
  std::string why;
  // Measured again without winning, the old winner is worth what it was worth then.
  const auto old_us =
      first<double>(*database_,
                    "SELECT median_us FROM measurement WHERE device_id = ? AND problem_id = ? "
                    "AND variant_id = ? AND verdict = 'ok' AND caches = ? "
                    "ORDER BY measured_at DESC, id DESC LIMIT 1",
                    device, problem, old.variant, old.caches);
  if (other_caches) {
    why = "The winner was stale: it was measured with " + old.caches + " caches, and this one with " +
          candidate.caches + " ones.";
  } else if (winner_is_stale) {
    why = "The winner was stale.";
  } else if (std::tie(old.op, old.template_name) == std::tie(candidate.op, candidate.template_name) &&
             old.body_hash != candidate.body_hash && old.measured_at <= candidate.measured_at) {
    why = "The winner was made from an older body of the template.";
  } else if (found_wrong(old.variant)) {
    why = "The winner has been found to give wrong results.";
  } else if (candidate.median_us < *old_us) {
    why = "It is faster than the winner.";
  } else {
    return {false, "It is not faster than the winner."};
  }
  auto result = take(std::move(why));
  drop_binary(old.variant);
  return result;
}

void Store::put_binary(const BinaryRow& b) {
  Statement(*database_,
            "INSERT INTO binary (variant_id, toolchain, hash, bytes, made_at) "
            "VALUES (?, ?, ?, ?, strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) ON CONFLICT DO UPDATE SET "
            "toolchain = excluded.toolchain, hash = excluded.hash, bytes = excluded.bytes, made_at = "
            "excluded.made_at",
            b.variant_id, b.toolchain, b.hash, b.bytes)
      .run();
}

std::optional<BinaryRow> Store::binary(const SourceKey& key) const {
  Statement row(
      *database_,
      "SELECT b.variant_id, b.toolchain, b.hash, b.bytes FROM binary b JOIN variant v ON v.id = b.variant_id "
      "WHERE v.target = ? AND v.source_hash = ?",
      key.target, key.source_hash);
  if (!row.step()) return std::nullopt;
  BinaryRow b;
  row >> b.variant_id >> b.toolchain >> b.hash >> b.bytes;
  return b;
}

std::vector<ResultRow> Store::results(const QueryFilter& filter) const {
  Where where = where_of(filter);
  if (!filter.verdict.empty()) {
    where.sql += " AND r.verdict = ?";
    where.values.push_back(filter.verdict);
  }
  if (!filter.history) where.sql += " AND r.is_current";
  Statement rows(
      *database_,
      "SELECT measurement_id, session_id, op, device, problem, template, config, compiled_in, target, "
      "source_hash, is_base, is_current, verdict, reason, caches, median_us, min_us, spread, max_error, "
      "compile_ms, registers, static_shared_bytes, dynamic_shared_bytes, spill_bytes, toolchain, driver, "
      "measured_at "
      "FROM results r" +
          where.sql +
          " ORDER BY op, device, problem, caches DESC, verdict <> 'ok', median_us, measurement_id" +
          limit_of(filter.limit));
  bind_all(rows, where.values);
  std::vector<ResultRow> results;
  while (rows.step()) {
    ResultRow& r = results.emplace_back();
    rows >> r.measurement_id >> r.session_id >> r.op >> r.device >> r.problem >> r.template_name >>
        r.config >> r.compiled_in >> r.target >> r.source_hash >> r.is_base >> r.is_current >> r.verdict >>
        r.reason >> r.caches >> r.median_us >> r.min_us >> r.spread >> r.max_error >> r.compile_ms >>
        r.registers >> r.static_shared_bytes >> r.dynamic_shared_bytes >> r.spill_bytes >> r.toolchain >>
        r.driver >> r.measured_at;
  }
  return results;
}

std::vector<WinnerRow> Store::winners(const QueryFilter& filter, Load load) const {
  const bool compared = load == Load::report;
  const bool with_binary = load == Load::dispatch;
  const Where where = where_of(filter);
  // The comparisons read every measurement of a problem and a binary is large: each reader pays for its own
  // only.
  Statement rows(
      *database_,
      std::string("SELECT d.kind, d.name, d.target, d.compute_capability, d.sm_count, d.memory_bytes, "
                  "r.op, r.problem, r.op, t.name, t.body_hash, v.template_id, v.target, v.source_hash, "
                  "v.config, v.compiled_in, v.entry, r.device_id, r.problem_id, r.variant_id, "
                  "r.measurement_id, r.alignment_bytes, r.caches, r.median_us, r.spread, r.newest_verdict, "
                  "r.toolchain, r.driver, r.measured_at, r.since, ") +
          (compared ? "r.base_us, r.worst_us, " : "NULL, NULL, ") +
          (with_binary ? "b.toolchain, b.hash, b.bytes" : "NULL, NULL, NULL") +
          " FROM winners r JOIN device d ON d.id = r.device_id JOIN variant v ON v.id = r.variant_id "
          "JOIN template t ON t.id = v.template_id" +
          (with_binary ? " LEFT JOIN binary b ON b.variant_id = r.variant_id" : "") + where.sql +
          " ORDER BY r.op, r.device_id, r.problem, r.alignment_bytes" + limit_of(filter.limit));
  bind_all(rows, where.values);
  std::vector<WinnerRow> winners;
  while (rows.step()) {
    WinnerRow& w = winners.emplace_back();
    std::optional<std::string> binary_toolchain;
    BinaryRow binary;
    rows >> w.device.kind >> w.device.name >> w.device.target >> w.device.compute_capability >>
        w.device.sm_count >> w.device.memory_bytes >> w.problem.op >> w.problem.text >> w.template_.op >>
        w.template_.name >> w.template_.body_hash >> w.variant.template_id >> w.variant.target >>
        w.variant.source_hash >> w.variant.config >> w.variant.compiled_in >> w.variant.entry >>
        w.device_id >> w.problem_id >> w.variant_id >> w.measurement_id >> w.alignment_bytes >> w.caches >>
        w.median_us >> w.spread >> w.newest_verdict >> w.toolchain >> w.driver >> w.measured_at >> w.since >>
        w.base_us >> w.worst_us >> binary_toolchain >> binary.hash >> binary.bytes;
    if (binary_toolchain) {
      binary.variant_id = w.variant_id;
      binary.toolchain = std::move(*binary_toolchain);
      w.binary = std::move(binary);
    }
  }
  return winners;
}

std::vector<SessionSummary> Store::sessions(std::int64_t limit) const {
  Statement rows(
      *database_,
      "SELECT id, state, started_at, ended_at, device, command, strategy, measurements, ok, problems "
      "FROM sessions ORDER BY started_at DESC, id DESC" +
          limit_of(limit));
  std::vector<SessionSummary> sessions;
  while (rows.step()) {
    SessionSummary& s = sessions.emplace_back();
    rows >> s.id >> s.state >> s.started_at >> s.ended_at >> s.device >> s.command >> s.strategy >>
        s.measurements >> s.ok >> s.problems;
  }
  return sessions;
}

StoreStatus Store::status() const {
  StoreStatus status{.path = path()};
  std::error_code ignored;
  for (const char* suffix : {"", "-wal"}) {
    const auto size = fs::file_size(path().string() + suffix, ignored);
    if (!ignored) status.size_bytes += size;
  }
  Statement check(*database_, "PRAGMA quick_check(20)");
  while (check.step()) {
    std::string line;
    check >> line;
    status.check += (status.check.empty() ? "" : "\n") + line;
  }
  status.schema_version = static_cast<int>(*first<std::int64_t>(*database_, "PRAGMA user_version"));
  status.journal_mode = *first<std::string>(*database_, "PRAGMA journal_mode");
  for (const char* table :
       {"device", "template", "variant", "problem", "session", "measurement", "winner", "binary"}) {
    status.rows.emplace_back(table,
                             *first<std::int64_t>(*database_, std::string("SELECT count(*) FROM ") + table));
  }
  Statement verdicts(*database_,
                     "SELECT verdict || iif(caches = 'cold', ', cold caches', '') AS name, count(*) "
                     "FROM current_measurement GROUP BY name ORDER BY 2 DESC, 1");
  while (verdicts.step()) {
    auto& [verdict, count] = status.verdicts.emplace_back();
    verdicts >> verdict >> count;
  }
  if (auto newest = sessions(1); !newest.empty()) status.newest_session = std::move(newest.front());

  const auto hint = [&](const char* count_sql, const char* one, const char* many) {
    const auto count = *first<std::int64_t>(*database_, count_sql);
    if (count > 0) status.hints.push_back(std::to_string(count) + ' ' + (count == 1 ? one : many));
  };
  hint("SELECT count(*) FROM winners WHERE newest_verdict <> 'ok'",
       "winner failed when it was last measured and is not dispatched: tune its problem again.",
       "winners failed when they were last measured and are not dispatched: tune their problems again.");
  hint("SELECT count(*) FROM winners WHERE NOT has_binary",
       "winner has no binary: using it needs a compiler, or tuning its problem again.",
       "winners have no binary: using them needs a compiler, or tuning their problems again.");
  hint(
      "SELECT count(*) FROM winner w JOIN measurement m ON m.id = w.measurement_id "
      "JOIN variant v ON v.id = m.variant_id JOIN template t ON t.id = v.template_id WHERE EXISTS "
      "(SELECT 1 FROM template n WHERE n.op = t.op AND n.name = t.name AND n.id > t.id)",
      "winner comes from a template body that has since been edited: tune its problem again.",
      "winners come from template bodies that have since been edited: tune their problems again.");
  std::int64_t dead = 0;
  Statement running(*database_, "SELECT process FROM session WHERE state = 'running'");
  while (running.step()) {
    std::string process;
    running >> process;
    if (is_dead(process)) ++dead;
  }
  if (dead > 0) {
    status.hints.push_back(std::to_string(dead) + (dead == 1 ? " session" : " sessions") +
                           " ended without saying so: the same command continues where it stopped.");
  }
  return status;
}

}  // namespace tunesmith

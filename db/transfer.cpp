// SPDX-License-Identifier: Apache-2.0
// Transfers rows from one database into another: as SQL text, and by merging.
#include <istream>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "db/schema.h"
#include "db/sqlite.h"
#include "db/store.h"
#include "generator/error.h"
#include "generator/values.h"

namespace tunesmith {
namespace {

using sqlite::Database;
using sqlite::first;
using sqlite::Statement;
using sqlite::Transaction;

struct Table {
  const char* name;
  const char* order;
};
constexpr const char* cut_off =
    "The database given as text is cut off: its COMMIT is missing. Nothing was imported from it.";

constexpr Table tables[] = {  // in this order a row refers only to earlier tables
    {"device", "id"},
    {"template", "id"},
    {"variant", "id"},
    {"problem", "id"},
    {"session", "id"},
    {"measurement", "id"},
    {"choice", "id"},
    {"finalist", "winner_id, measurement_id"},
    {"winner", "problem_id, device_id, alignment_bytes"},
    {"anchor_table", "id"},
    {"trial", "id"},
    {"binary", "variant_id"}};

// The SQL expression that writes a column of a table: a running session becomes an interrupted one.
std::string expression(std::string_view table, const std::string& column) {
  if (table == "session" && column == "state") return "iif(state = 'running', 'interrupted', state)";
  if (table == "session" && column == "ended_at") {
    return "coalesce(ended_at, (SELECT max(measured_at) FROM measurement m WHERE m.session_id = session.id), "
           "started_at)";
  }
  return table == "session" && column == "process" ? "NULL" : '"' + column + '"';
}

void write_rows(std::ostream& out, const Database& database, const Database& schema, const Table& table) {
  std::string values;
  Statement columns(schema, "SELECT name FROM pragma_table_info(?) ORDER BY cid", table.name);
  while (columns.step()) {
    std::string column;
    columns >> column;
    values += (values.empty() ? "" : " || ',' || ") + ("quote(" + expression(table.name, column) + ")");
  }
  Statement rows(database, "SELECT " + values + " FROM " + table.name + " ORDER BY " + table.order);
  while (rows.step()) {
    std::string row;
    rows >> row;
    out << "INSERT INTO " << table.name << " VALUES(" << row << ");\n";
  }
}

// A text from elsewhere may create tables and rows of literals, and do nothing else.
int allow_data_only(void*, int action, const char* first_word, const char* second_word, const char*,
                    const char*) {
  const auto text = [](const char* word) { return std::string_view(word == nullptr ? "" : word); };
  switch (action) {
    case SQLITE_TRANSACTION:
    case SQLITE_INSERT:
    case SQLITE_READ:
    case SQLITE_CREATE_TABLE:
    case SQLITE_CREATE_INDEX:
    case SQLITE_CREATE_VIEW:
    case SQLITE_CREATE_TRIGGER:
    case SQLITE_REINDEX:  // for an index that is being created
      return SQLITE_OK;
    case SQLITE_UPDATE:  // for a table that is being created
      return text(first_word) == "sqlite_master" ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_PRAGMA:
      return text(first_word) == "user_version" || text(first_word) == "application_id" ? SQLITE_OK
                                                                                        : SQLITE_DENY;
    case SQLITE_FUNCTION:  // for the checks and indices in schema.sql
      for (const char* allowed : {"ifnull", "coalesce", "iif", "glob"})
        if (text(second_word) == allowed) return SQLITE_OK;
      return SQLITE_DENY;
    default:
      return SQLITE_DENY;
  }
}

// A statement of write_text takes at most some hundred steps.
constexpr int most_steps = 1'000'000;
constexpr std::size_t most_text_bytes = std::size_t{1} << 30;

std::string whole(std::istream& in) {
  std::string text;
  std::vector<char> piece(std::size_t{1} << 20);
  while (in.read(piece.data(), static_cast<std::streamsize>(piece.size())), in.gcount() > 0) {
    text.append(piece.data(), static_cast<std::size_t>(in.gcount()));
    if (text.size() > most_text_bytes) {
      throw StoreError(
          "The database given as text has more than 1 GiB. Nothing was imported from it: dump "
          "it without binaries.");
    }
  }
  if (text.find('\0') != std::string::npos)
    throw StoreError("The database given as text is not a text file. Nothing was imported from it.");
  return text;
}

Database database_of_text(std::istream& in) {
  const std::string text = whole(in);
  Database source = Database::in_memory("given as text");
  const bool is_empty = text.find_first_not_of(" \r\n\t") == std::string::npos;
  if (!is_empty && sqlite3_complete(text.c_str()) == 0) throw StoreError(cut_off);
  source.distrust();
  sqlite3_set_authorizer(source.handle(), allow_data_only, nullptr);
  sqlite3_progress_handler(
      source.handle(), most_steps, [](void*) { return 1; }, nullptr);
  source.exec(text);
  if (sqlite3_get_autocommit(source.handle()) == 0) throw StoreError(cut_off);
  sqlite3_set_authorizer(source.handle(), nullptr, nullptr);
  sqlite3_progress_handler(source.handle(), 0, nullptr, nullptr);
  return source;
}

// Checks the texts of configs and problems: an unreadable one would break each reader of the whole file.
void check_values(const Database& source) {
  Statement texts(
      source,
      "SELECT config FROM variant UNION SELECT compiled_in FROM variant UNION SELECT text FROM problem");
  while (texts.step()) {
    std::string text;
    texts >> text;
    try {
      Values::parse(text);
    } catch (const UsageError& error) {
      throw StoreError("The database " + source.name().string() +
                       " has a config or a problem that cannot be read: " + error.what() +
                       " Nothing was imported from it.");
    }
  }
}

void check_source(const Database& source) {
  if (first<std::string>(source, "PRAGMA quick_check(1)") != "ok") source.fail(SQLITE_CORRUPT);
  if (first<std::string>(source, "PRAGMA foreign_key_check")) {
    throw StoreError("The database " + source.name().string() +
                     " has rows that refer to missing rows. Nothing was imported from it: restore a copy.");
  }
  check_values(source);
}

// Copies rows from the attached `source` into this database and makes the maps of ids; devices are copied
// before.
constexpr const char* copy_rows = R"(
  INSERT INTO template (op, name, body_hash)
  SELECT op, name, body_hash FROM source.template WHERE true ORDER BY id ON CONFLICT DO NOTHING;
  INSERT INTO problem (op, text)
  SELECT op, text FROM source.problem WHERE true ORDER BY id ON CONFLICT DO NOTHING;

  CREATE TEMP TABLE template_map AS SELECT s.id AS theirs, t.id AS ours FROM source.template s JOIN main.template t
    USING (op, name, body_hash);
  CREATE TEMP TABLE problem_map AS SELECT s.id AS theirs, p.id AS ours FROM source.problem s JOIN main.problem p
    USING (op, text);

  INSERT INTO variant (template_id, target, source_hash, config, compiled_in, entry)
  SELECT t.ours, v.target, v.source_hash, v.config, v.compiled_in, v.entry
  FROM source.variant v JOIN template_map t ON t.theirs = v.template_id
  WHERE true ORDER BY v.id
  ON CONFLICT DO UPDATE SET template_id = excluded.template_id, config = excluded.config,  -- one code, two names
    compiled_in = excluded.compiled_in, entry = excluded.entry
  WHERE (SELECT op || ' ' || name || ' ' || body_hash FROM main.template WHERE id = excluded.template_id) || ' ' ||
          excluded.config || ' ' || excluded.compiled_in || ' ' || excluded.entry >
        (SELECT op || ' ' || name || ' ' || body_hash FROM main.template WHERE id = variant.template_id) || ' ' ||
          variant.config || ' ' || variant.compiled_in || ' ' || variant.entry;
  CREATE TEMP TABLE variant_map AS SELECT s.id AS theirs, v.id AS ours FROM source.variant s JOIN main.variant v
    USING (target, source_hash);

  -- theirs may have ended since the last merge; a running session of ours is left alone
  INSERT INTO session (uid, device_id, command, strategy, seed, budget, tunesmith_version, toolchain, driver, host_facts,
                       state, started_at, ended_at, device_uuid, generation)
  SELECT s.uid, d.ours, s.command, s.strategy, s.seed, s.budget, s.tunesmith_version, s.toolchain, s.driver, s.host_facts,
         iif(s.state = 'running', 'interrupted', s.state), s.started_at,
         coalesce(s.ended_at, (SELECT max(measured_at) FROM source.measurement m WHERE m.session_id = s.id), s.started_at),
         s.device_uuid, s.generation
  FROM source.session s JOIN device_map d ON d.theirs = s.device_id
  WHERE true ORDER BY s.id ON CONFLICT DO UPDATE SET state = excluded.state, ended_at = excluded.ended_at
  WHERE (session.ended_at, session.state = 'finished') < (excluded.ended_at, excluded.state = 'finished');
  CREATE TEMP TABLE session_map AS SELECT s.id AS theirs, o.id AS ours FROM source.session s JOIN main.session o USING (uid);

  INSERT INTO measurement (session_id, sequence, variant_id, problem_id, device_id, is_base, verdict, reason, median_us,
                           min_us, spread, samples_us, registers, static_shared_bytes, dynamic_shared_bytes, spill_bytes,
                           max_error, compile_ms, toolchain, driver, measured_at, caches, launches, low_us, high_us, loads,
                           energy_uj, clock_mhz, throttled, generation, stage, wall_ms, space_variants)
  SELECT s.ours, m.sequence, v.ours, p.ours, d.ours, m.is_base, m.verdict, m.reason, m.median_us,
         m.min_us, m.spread, m.samples_us, m.registers, m.static_shared_bytes, m.dynamic_shared_bytes, m.spill_bytes,
         m.max_error, m.compile_ms, m.toolchain, m.driver, m.measured_at, m.caches, m.launches, m.low_us, m.high_us, m.loads,
         m.energy_uj, m.clock_mhz, m.throttled, m.generation, m.stage, m.wall_ms, m.space_variants
  FROM source.measurement m JOIN session_map s ON s.theirs = m.session_id JOIN variant_map v ON v.theirs = m.variant_id
  JOIN problem_map p ON p.theirs = m.problem_id JOIN device_map d ON d.theirs = m.device_id
  WHERE true ORDER BY m.id ON CONFLICT (session_id, sequence) DO NOTHING;
  CREATE TEMP TABLE measurement_map AS SELECT m.id AS theirs, o.id AS ours FROM source.measurement m
    JOIN session_map s ON s.theirs = m.session_id
    JOIN main.measurement o ON o.session_id = s.ours AND o.sequence = m.sequence;
  CREATE UNIQUE INDEX temp.measurement_theirs ON measurement_map (theirs);

  INSERT INTO choice (session_id, sequence, generation, problem_id, device_id, alignment_bytes, measurement_id, objective,
                      chosen_at, provisional)
  SELECT s.ours, c.sequence, c.generation, p.ours, d.ours, c.alignment_bytes, m.ours, c.objective, c.chosen_at, c.provisional
  FROM source.choice c JOIN session_map s ON s.theirs = c.session_id JOIN problem_map p ON p.theirs = c.problem_id
  JOIN device_map d ON d.theirs = c.device_id LEFT JOIN measurement_map m ON m.theirs = c.measurement_id
  WHERE true ORDER BY c.id ON CONFLICT DO NOTHING;

  INSERT INTO finalist (winner_id, measurement_id, ratio, ratio_low, ratio_high, tied)
  SELECT w.ours, m.ours, f.ratio, f.ratio_low, f.ratio_high, f.tied
  FROM source.finalist f JOIN measurement_map w ON w.theirs = f.winner_id JOIN measurement_map m ON m.theirs = f.measurement_id
  WHERE true ORDER BY f.winner_id, f.measurement_id ON CONFLICT DO NOTHING;

  INSERT INTO anchor_table (session_id, sequence, generation, op, device_id, caches, launches, text, factors, made_at)
  SELECT s.ours, a.sequence, a.generation, a.op, d.ours, a.caches, a.launches, a.text, a.factors, a.made_at
  FROM source.anchor_table a JOIN session_map s ON s.theirs = a.session_id JOIN device_map d ON d.theirs = a.device_id
  WHERE true ORDER BY a.id ON CONFLICT DO NOTHING;

  INSERT INTO trial (first_use, place, generation, problem_id, device_id, template, config, source_hash, us, toolchain, driver,
                     tunesmith_version, tried_at)
  SELECT t.first_use, t.place, t.generation, p.ours, d.ours, t.template, t.config, t.source_hash, t.us, t.toolchain, t.driver,
         t.tunesmith_version, t.tried_at
  FROM source.trial t JOIN problem_map p ON p.theirs = t.problem_id JOIN device_map d ON d.theirs = t.device_id
  WHERE true ORDER BY t.id ON CONFLICT DO NOTHING;

  CREATE TEMP TABLE winner_before AS SELECT * FROM main.winner;
  CREATE TEMP TABLE their_winner AS SELECT p.ours AS problem_id, d.ours AS device_id, w.alignment_bytes,
    m.ours AS measurement_id FROM source.winner w JOIN problem_map p ON p.theirs = w.problem_id
    JOIN device_map d ON d.theirs = w.device_id JOIN measurement_map m ON m.theirs = w.measurement_id;
)";

}  // namespace

void Store::write_text(std::ostream& out, Blobs blobs) const {
  Transaction transaction(*database_, Transaction::Access::read);
  const auto pragma = [&](const char* name) {
    out << "PRAGMA " << name << " = "
        << std::to_string(*first<std::int64_t>(*database_, std::string("PRAGMA ") + name)) << ";\n";
  };
  out << "-- A Tunesmith database as text.\nBEGIN;\n";
  pragma("application_id");
  pragma("user_version");
  // A migrated table has the same columns in other words; the text always uses the words of schema.sql.
  const Database newest = schema::empty_database();
  Statement objects(
      newest,
      "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid");
  while (objects.step()) {
    std::string sql;
    objects >> sql;
    out << sql << ";\n";
  }
  for (const Table& table : tables) {
    if (std::string_view(table.name) == "binary" && blobs == Blobs::omit) continue;
    write_rows(out, *database_, newest, table);
  }
  out << "COMMIT;\n" << std::flush;
  if (!out) {
    throw StoreError("The database " + path().string() +
                     " could not be written as text: writing to the output failed. "
                     "Check whether its disk is full.");
  }
}

MergeSource::MergeSource(Database source, const Store::Options& options) {
  const auto identity = schema::identify(source);
  if (identity.application_id != schema::application_id || identity.version < 1) {
    throw StoreError("The database " + source.name().string() +
                     " is not a Tunesmith database. Nothing was imported from it.");
  }
  schema::require_known(source, identity.version, options.migrations);
  {
    Transaction migration(source, Transaction::Access::write);
    schema::migrate(source, options.migrations);
    migration.commit();
  }
  schema::require_tables(source);
  check_source(source);
  database_ = std::make_unique<Database>(std::move(source));
}
MergeSource::MergeSource(MergeSource&&) noexcept = default;
MergeSource& MergeSource::operator=(MergeSource&&) noexcept = default;
MergeSource::~MergeSource() = default;

MergeSource MergeSource::file(const std::filesystem::path& path, const Store::Options& options) {
  return {Store::open(path, Store::Mode::read_only, options).database_->copy_in_memory(), options};
}

MergeSource MergeSource::text(std::istream& in, const Store::Options& options) {
  return {database_of_text(in), options};
}

MergeReport Store::read_text(std::istream& in, Blobs blobs) {
  return merge(MergeSource::text(in, options_), blobs);
}

MergeReport Store::merge_from(const std::filesystem::path& other, Blobs blobs) {
  std::error_code ignored;
  if (std::filesystem::equivalent(other, path(), ignored)) {
    throw StoreError("The database " + other.string() + " cannot be merged into itself.");
  }
  return merge(MergeSource::file(other, options_), blobs);
}

MergeReport Store::merge(MergeSource given, Blobs blobs) {
  database_->attach_source(*given.database_);
  struct Detach {
    Database& database;
    ~Detach() { sqlite3_exec(database.handle(), "DETACH source", nullptr, nullptr, nullptr); }
  } const detach{*database_};

  MergeReport report;
  Transaction transaction(*database_, Transaction::Access::write);
  end_dead_sessions();
  const auto count = [this](const char* table) {
    return *first<std::int64_t>(*database_, std::string("SELECT count(*) FROM main.") + table);
  };
  const auto sessions = count("session");
  const auto measurements = count("measurement");
  // Ids of another file mean nothing here: a row's counterpart is the row with the same content.
  database_->exec(std::string("INSERT INTO main.device (kind, name, target, compute_capability, sm_count, "
                              "memory_bytes, l2_bytes, shared_bytes_per_sm, max_threads_per_sm, "
                              "max_shared_bytes_per_block) SELECT ") +
                  schema::device_columns + " FROM source.device d WHERE true ORDER BY d.id " +
                  schema::or_know_more_of_device);
  database_->exec(
      std::string("CREATE TEMP TABLE device_map AS SELECT s.id AS theirs, d.id AS ours FROM source.device s "
                  "JOIN main.device d ON ") +
      schema::same_device);
  database_->exec(copy_rows);
  if (blobs == Blobs::include) {
    database_->exec(R"(
      INSERT INTO binary (variant_id, toolchain, hash, bytes, made_at)
      SELECT v.ours, b.toolchain, b.hash, b.bytes, b.made_at
      FROM source.binary b JOIN variant_map v ON v.theirs = b.variant_id
      WHERE true ON CONFLICT DO UPDATE SET toolchain = excluded.toolchain, hash = excluded.hash, bytes = excluded.bytes,
        made_at = excluded.made_at
      WHERE (binary.made_at, binary.toolchain, binary.hash) < (excluded.made_at, excluded.toolchain, excluded.hash);
    )");
  }
  report.sessions = count("session") - sessions;
  report.measurements = count("measurement") - measurements;
  schema::refresh_all_winners(*database_);
  report.winners_taken = *first<std::int64_t>(
      *database_,
      "SELECT count(*) FROM (SELECT * FROM their_winner INTERSECT SELECT problem_id, device_id, "
      "alignment_bytes, "
      "measurement_id FROM main.winner EXCEPT SELECT problem_id, device_id, alignment_bytes, measurement_id "
      "FROM winner_before)");
  report.winners_kept =
      *first<std::int64_t>(*database_, "SELECT count(*) FROM their_winner") - report.winners_taken;
  report.other_kinds = *first<std::int64_t>(
      *database_,
      "SELECT count(*) FROM their_winner t JOIN main.measurement m ON m.id = t.measurement_id WHERE EXISTS "
      "(SELECT 1 FROM winner_before b JOIN main.measurement k ON k.id = b.measurement_id "
      "WHERE b.problem_id = t.problem_id AND b.device_id = t.device_id "
      "AND (k.caches, k.launches) <> (m.caches, m.launches))");
  database_->exec(
      "DROP TABLE temp.device_map; DROP TABLE temp.template_map; DROP TABLE temp.problem_map; "
      "DROP TABLE temp.variant_map; DROP TABLE temp.session_map; DROP TABLE temp.measurement_map; "
      "DROP TABLE temp.winner_before; DROP TABLE temp.their_winner;");
  transaction.commit();
  return report;
}

}  // namespace tunesmith

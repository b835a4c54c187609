// SPDX-License-Identifier: Apache-2.0
// Writes a tuner's results: devices, templates, variants, problems, measurements and binaries.
#include "db/store.h"

#include <iterator>

#include "db/schema.h"
#include "db/sqlite.h"
#include "generator/hash.h"
#include "generator/number_text.h"

namespace tunesmith {
namespace {

using sqlite::Database;
using sqlite::first;
using sqlite::Statement;
using sqlite::Transaction;

std::optional<std::string> json_of(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  std::string text = "[";
  for (const double value : values) {
    if (text.size() > 1) text += ',';
    text += ShortestText(value).get();
  }
  return text + ']';
}

// Returns the id of a row, which is created if missing. The first `keys` values identify the row.
template <typename... Values>
std::int64_t get_or_create(Database& database, const char* select, std::size_t keys, std::string_view insert,
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

Store::Store(std::unique_ptr<Database> database, const Options& options)
    : database_(std::move(database)), options_(options) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;
const std::filesystem::path& Store::path() const { return database_->name(); }

std::int64_t Store::id_of(const DeviceRow& d) {
  return get_or_create(
      *database_,
      "SELECT id FROM device WHERE kind = ? AND name = ? AND target = ? AND compute_capability = ? "
      "AND (sm_count = ?5 OR (kind = 'host' AND sm_count > ?5)) AND memory_bytes >= ? AND l2_bytes >= ? "
      "AND shared_bytes_per_sm >= ? "
      "AND max_threads_per_sm >= ? AND max_shared_bytes_per_block >= ?",
      10,
      std::string("INSERT INTO device (kind, name, target, compute_capability, sm_count, memory_bytes, "
                  "l2_bytes, shared_bytes_per_sm, max_threads_per_sm, max_shared_bytes_per_block) "
                  "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ") +
          schema::or_know_more_of_device,
      d.kind, d.name, d.target, d.compute_capability, d.sm_count, d.memory_bytes, d.l2_bytes,
      d.shared_bytes_per_sm, d.max_threads_per_sm, d.max_shared_bytes_per_block);
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

void Store::in_one_commit(const std::function<void()>& write) {
  Transaction transaction(*database_, Transaction::Access::write);
  write();
  transaction.commit();
}

std::int64_t Store::record(const MeasurementRow& m) {
  Transaction transaction(*database_, Transaction::Access::write);
  const auto sequence = *first<std::int64_t>(
      *database_, "SELECT ifnull(max(sequence), 0) + 1 FROM measurement WHERE session_id = ?", m.session_id);
  const auto measured_at = m.measured_at.empty() ? sqlite::now(*database_) : m.measured_at;
  // The generation places the row after all known rows of this kernel, also rows of sessions that began
  // later.
  const auto generation =
      *first<std::int64_t>(*database_,
                           "SELECT max(ifnull((SELECT generation FROM session WHERE id = ?1), 0), "
                           "ifnull((SELECT max(generation + (session_id <> ?1)) FROM measurement "
                           "WHERE device_id = ?2 AND problem_id = ?3 AND variant_id = ?4), 0))",
                           m.session_id, m.device_id, m.problem_id, m.variant_id);
  Statement(
      *database_,
      "INSERT INTO measurement (session_id, sequence, variant_id, problem_id, device_id, is_base, "
      "verdict, reason, median_us, min_us, spread, samples_us, registers, static_shared_bytes, "
      "dynamic_shared_bytes, spill_bytes, max_error, compile_ms, toolchain, driver, measured_at, caches, "
      "launches, low_us, high_us, loads, energy_uj, clock_mhz, throttled, generation, stage, wall_ms, "
      "space_variants) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
      "?, ?)",
      m.session_id, sequence, m.variant_id, m.problem_id, m.device_id, m.is_base, m.verdict, m.reason,
      m.median_us, m.min_us, m.spread, json_of(m.samples_us), m.registers, m.static_shared_bytes,
      m.dynamic_shared_bytes, m.spill_bytes, m.max_error, m.compile_ms, m.toolchain, m.driver, measured_at,
      m.caches, m.launches, m.low_us, m.high_us, m.loads, m.energy_uj, m.clock_mhz, m.throttled, generation,
      m.stage, m.wall_ms, m.space_variants)
      .run();
  const auto id = sqlite3_last_insert_rowid(database_->handle());
  if (first<std::int64_t>(*database_,
                          "SELECT 1 FROM choice c JOIN measurement n ON n.id = c.measurement_id "
                          "WHERE c.problem_id = ? AND c.device_id = ? AND n.variant_id = ? LIMIT 1",
                          m.problem_id, m.device_id, m.variant_id)) {
    schema::refresh_winners(*database_, m.problem_id, m.device_id);  // a winner may have been found wrong
  }
  transaction.commit();
  return id;
}

void Store::record_finalists(std::int64_t winner_id, const std::vector<FinalistRow>& finalists) {
  Transaction transaction(*database_, Transaction::Access::write);
  for (const FinalistRow& f : finalists) {
    Statement(*database_,
              "INSERT INTO finalist (winner_id, measurement_id, ratio, ratio_low, ratio_high, tied) "
              "VALUES (?, ?, ?, ?, ?, ?)",
              winner_id, f.measurement_id, f.ratio, f.ratio_low, f.ratio_high, f.tied)
        .run();
  }
  transaction.commit();
}

std::vector<FinalistRow> Store::finalists(std::int64_t winner_id) const {
  Statement rows(*database_,
                 "SELECT measurement_id, ratio, ratio_low, ratio_high, tied FROM finalist "
                 "WHERE winner_id = ? ORDER BY ratio, measurement_id",
                 winner_id);
  std::vector<FinalistRow> finalists;
  while (rows.step()) {
    FinalistRow& f = finalists.emplace_back();
    rows >> f.measurement_id >> f.ratio >> f.ratio_low >> f.ratio_high >> f.tied;
  }
  return finalists;
}

void Store::put_binary(const BinaryRow& b) {
  Statement(*database_,
            "INSERT INTO binary (variant_id, toolchain, hash, bytes, made_at) "
            "VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET toolchain = excluded.toolchain, "
            "hash = excluded.hash, bytes = excluded.bytes, made_at = excluded.made_at",
            b.variant_id, b.toolchain, b.hash, b.bytes, sqlite::now(*database_))
      .run();
}

bool is_whole(const BinaryRow& b) {
  return sha256({reinterpret_cast<const char*>(b.bytes.data()), b.bytes.size()}) == b.hash;
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

}  // namespace tunesmith

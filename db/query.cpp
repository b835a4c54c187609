// SPDX-License-Identifier: Apache-2.0
// Reads the database for the tuner (known, fastest), for dispatch (winners) and for people.
#include <cmath>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "db/schema.h"
#include "db/sqlite.h"
#include "db/store.h"
#include "generator/number_text.h"

namespace tunesmith {
namespace {

using schema::operator>>;
using sqlite::Statement;

// A WHERE clause on the columns op, device, problem and target of `r`, and its values.
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

// The numbers of a JSON array, as Store::record() writes them; none if the text is another one.
std::vector<double> numbers_of(std::string_view json) {
  std::vector<double> numbers;
  while (!json.empty() && json.front() != ']') {
    json.remove_prefix(1);  // "[" or ","
    const std::optional<double> number = take_number<double>(json);
    if (!number || !std::isfinite(*number)) return {};
    numbers.push_back(*number);
  }
  return numbers;
}

std::string limit_of(std::int64_t limit) { return limit > 0 ? " LIMIT " + std::to_string(limit) : ""; }

}  // namespace

std::map<SourceKey, KnownVerdict> Store::known(std::int64_t device_id, std::int64_t problem_id,
                                               const Conditions& conditions) const {
  std::map<SourceKey, KnownVerdict> known;
  Statement rows(
      *database_,
      "SELECT v.target, v.source_hash, m.id, m.verdict, m.reason, m.median_us, m.compile_ms, m.toolchain, "
      "m.driver, m.measured_at, ifnull(m.loads, 1), s.command FROM current_measurement m "
      "JOIN variant v ON v.id = m.variant_id JOIN session s ON s.id = m.session_id "
      "WHERE m.device_id = ? AND m.problem_id = ? "
      "AND (m.verdict <> 'ok' OR (m.caches = ? AND m.launches = ?)) "
      "ORDER BY m.generation, s.uid, m.sequence",
      device_id, problem_id, to_text(conditions.caches), to_text(conditions.launches));
  while (rows.step()) {
    SourceKey key;
    KnownVerdict k;
    rows >> key.target >> key.source_hash >> k.measurement_id >> k.verdict >> k.reason >> k.median_us >>
        k.compile_ms >> k.toolchain >> k.driver >> k.measured_at >> k.loads >> k.command;
    known.insert_or_assign(std::move(key), std::move(k));
  }
  return known;
}

std::vector<Store::Newest> Store::newest_of(std::string_view target, std::string_view source_hash,
                                            std::string_view device) const {
  Statement rows(
      *database_,
      "SELECT m.verdict, m.reason, p.text FROM variant v JOIN measurement m ON m.variant_id = v.id "
      "JOIN problem p ON p.id = m.problem_id JOIN device d ON d.id = m.device_id "
      "JOIN session s ON s.id = m.session_id "
      "WHERE v.target = ? AND v.source_hash = ? AND d.name = ? "
      "ORDER BY m.generation DESC, s.uid DESC, m.sequence DESC",
      target, source_hash, device);
  std::vector<Newest> all;
  std::set<std::string> problems;
  while (rows.step()) {
    Newest newest;
    rows >> newest.verdict >> newest.reason >> newest.problem;
    if (problems.insert(newest.problem).second) all.push_back(std::move(newest));
  }
  return all;
}

std::vector<Store::Fast> Store::fastest_of(std::string_view op, const Conditions& conditions,
                                           std::int64_t limit) const {
  std::vector<Fast> fast;
  Statement rows(
      *database_,
      "SELECT device_id, text, name, config FROM ("
      "SELECT m.device_id, p.text, t.name, v.config, row_number() OVER ("
      "PARTITION BY m.device_id, m.problem_id ORDER BY min(m.median_us), t.name, v.config) AS place "
      "FROM problem p JOIN current_measurement m ON m.problem_id = p.id "
      "JOIN kernel k ON k.measurement_id = m.id AND NOT k.is_stale "
      "JOIN variant v ON v.id = m.variant_id JOIN template t ON t.id = v.template_id "
      "WHERE p.op = ? AND m.caches = ? AND m.launches = ? AND m.verdict = 'ok' "
      "GROUP BY m.device_id, m.problem_id, t.name, v.config) "
      "WHERE place <= ? ORDER BY device_id, text, place",
      op, to_text(conditions.caches), to_text(conditions.launches), limit);
  while (rows.step()) {
    Fast& row = fast.emplace_back();
    rows >> row.device_id >> row.problem >> row.template_name >> row.config;
  }
  return fast;
}

std::vector<Store::TriedProblem> Store::tried(std::string_view op, std::int64_t device_id,
                                              const Conditions& conditions) const {
  std::vector<TriedProblem> tried;
  Statement rows(*database_,
                 "SELECT p.text, EXISTS (SELECT 1 FROM winner w WHERE w.problem_id = p.id "
                 "AND w.device_id = ?2 AND NOT w.provisional), max(m.stage = 'table') "
                 "FROM problem p JOIN measurement m ON m.problem_id = p.id "
                 "JOIN kernel k ON k.measurement_id = m.id AND NOT k.is_stale "
                 "WHERE p.op = ?1 AND m.device_id = ?2 AND m.caches = ?3 AND m.launches = ?4 "
                 "AND m.verdict = 'ok' GROUP BY p.id ORDER BY min(m.id)",
                 op, device_id, to_text(conditions.caches), to_text(conditions.launches));
  while (rows.step()) {
    TriedProblem& row = tried.emplace_back();
    rows >> row.problem >> row.has_winner >> row.is_anchor;
  }
  return tried;
}

std::int64_t Store::newest_measurement() const {
  return *sqlite::first<std::int64_t>(*database_, "SELECT ifnull(max(id), 0) FROM measurement");
}

// Reads only the newest rows: the + keeps SQLite from walking an index over all rows of the problem.
std::vector<Store::Verdict> Store::verdicts_of_others(std::int64_t session_id, std::int64_t device_id,
                                                      std::int64_t problem_id, const Conditions& conditions,
                                                      std::int64_t after) const {
  std::vector<Verdict> verdicts;
  Statement rows(*database_,
                 "SELECT m.id, t.name, v.config, m.verdict, ifnull(m.median_us, 0) FROM measurement m "
                 "JOIN variant v ON v.id = m.variant_id JOIN template t ON t.id = v.template_id "
                 "WHERE m.id > ? AND +m.problem_id = ? AND +m.device_id = ? AND m.session_id <> ? "
                 "AND (m.verdict <> 'ok' OR (m.caches = ? AND m.launches = ?)) ORDER BY m.id",
                 after, problem_id, device_id, session_id, to_text(conditions.caches),
                 to_text(conditions.launches));
  while (rows.step()) {
    Verdict& row = verdicts.emplace_back();
    rows >> row.id >> row.template_name >> row.config >> row.verdict >> row.median_us;
  }
  return verdicts;
}

std::vector<TimeRow> Store::times_of(std::string_view op, std::int64_t device_id,
                                     const Conditions& conditions, const BodyHashes& bodies) const {
  std::vector<TimeRow> times;
  Statement rows(*database_,
                 std::string("SELECT text, name, body_hash, config, median_us FROM ("
                             "SELECT p.text, t.name, t.body_hash, v.config, m.median_us, row_number() OVER ("
                             "PARTITION BY m.problem_id, v.template_id, v.config "
                             "ORDER BY m.generation DESC, s.uid DESC, m.sequence DESC) AS place "
                             "FROM problem p JOIN current_measurement m ON m.problem_id = p.id "
                             "JOIN variant v ON v.id = m.variant_id JOIN template t ON t.id = v.template_id "
                             "JOIN session s ON s.id = m.session_id ") +
                     (bodies.empty() ? "JOIN kernel k ON k.measurement_id = m.id AND NOT k.is_stale " : "") +
                     "WHERE p.op = ? AND m.device_id = ? AND m.caches = ? AND m.launches = ? "
                     "AND m.verdict = 'ok') WHERE place = 1 ORDER BY text, name, config",
                 op, device_id, to_text(conditions.caches), to_text(conditions.launches));
  while (rows.step()) {
    TimeRow row;
    rows >> row.problem >> row.template_name >> row.body_hash >> row.config >> row.median_us;
    const auto body = bodies.find(row.template_name);
    if (bodies.empty() || (body != bodies.end() && body->second == row.body_hash))
      times.push_back(std::move(row));
  }
  return times;
}

std::vector<ResultRow> Store::results(const QueryFilter& filter) const {
  Where where = where_of(filter);
  if (!filter.verdict.empty()) {
    where.sql += " AND r.verdict = ?";
    where.values.push_back(filter.verdict);
  }
  // A failure counts for all caches and launches.
  for (const auto& [column, value] : {std::pair("caches", &filter.caches), {"launches", &filter.launches}}) {
    if (value->empty()) continue;
    where.sql += std::string(" AND (r.verdict <> 'ok' OR r.") + column + " = ?)";
    where.values.push_back(*value);
  }
  if (!filter.history) where.sql += " AND r.is_current";
  Statement rows(
      *database_,
      "SELECT measurement_id, session_id, op, device, problem, template, config, compiled_in, target, "
      "source_hash, is_base, is_current, is_stale, verdict, reason, caches, launches, median_us, low_us, "
      "high_us, "
      "loads, "
      "min_us, spread, energy_uj, clock_mhz, throttled, max_error, compile_ms, registers, "
      "static_shared_bytes, dynamic_shared_bytes, spill_bytes, toolchain, driver, "
      "measured_at, stage, wall_ms, samples, " +
          std::string(filter.samples ? "ifnull(samples_us, '')" : "''") +
          ", space_variants "
          "FROM results r" +
          where.sql +
          " ORDER BY op, device, problem, caches DESC, launches, verdict <> 'ok', median_us, measurement_id" +
          limit_of(filter.limit));
  bind_all(rows, where.values);
  std::vector<ResultRow> results;
  std::string samples;
  while (rows.step()) {
    ResultRow& r = results.emplace_back();
    rows >> r.measurement_id >> r.session_id >> r.op >> r.device >> r.problem >> r.template_name >>
        r.config >> r.compiled_in >> r.target >> r.source_hash >> r.is_base >> r.is_current >> r.is_stale >>
        r.verdict >> r.reason >> r.caches >> r.launches >> r.median_us >> r.low_us >> r.high_us >> r.loads >>
        r.min_us >> r.spread >> r.energy_uj >> r.clock_mhz >> r.throttled >> r.max_error >> r.compile_ms >>
        r.registers >> r.static_shared_bytes >> r.dynamic_shared_bytes >> r.spill_bytes >> r.toolchain >>
        r.driver >> r.measured_at >> r.stage >> r.wall_ms >> r.samples >> samples >> r.space_variants;
    r.samples_us = numbers_of(samples);
  }
  return results;
}

std::vector<WinnerRow> Store::winners(const QueryFilter& filter, Load load) const {
  const bool compared = load == Load::report;
  const bool with_binary = load == Load::dispatch;
  const Where where = where_of(filter);
  // base_us and worst_us need every measurement of a problem, and a binary is large: so both are read only on
  // request.
  Statement rows(
      *database_,
      std::string("SELECT ") + schema::device_columns +
          ", r.op, r.problem, r.op, t.name, t.body_hash, v.template_id, v.target, v.source_hash, "
          "v.config, v.compiled_in, v.entry, r.device_id, r.problem_id, r.variant_id, "
          "r.measurement_id, r.alignment_bytes, r.caches, r.launches, r.objective, r.median_us, r.low_us, "
          "r.high_us, r.loads, r.spread, r.energy_uj, r.clock_mhz, r.throttled, r.tied, r.runner_up, "
          "r.runner_up_ratio, r.other_gpus, r.provisional, r.newest_verdict, "
          "r.toolchain, r.driver, r.measured_at, r.since, " +
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
    rows >> w.device >> w.problem.op >> w.problem.text >> w.template_.op >> w.template_.name >>
        w.template_.body_hash >> w.variant.template_id >> w.variant.target >> w.variant.source_hash >>
        w.variant.config >> w.variant.compiled_in >> w.variant.entry >> w.device_id >> w.problem_id >>
        w.variant_id >> w.measurement_id >> w.alignment_bytes >> w.caches >> w.launches >> w.objective >>
        w.median_us >> w.low_us >> w.high_us >> w.loads >> w.spread >> w.energy_uj >> w.clock_mhz >>
        w.throttled >> w.tied >> w.runner_up >> w.runner_up_ratio >> w.other_gpus >> w.provisional >>
        w.newest_verdict >> w.toolchain >> w.driver >> w.measured_at >> w.since >> w.base_us >> w.worst_us >>
        binary_toolchain >> binary.hash >> binary.bytes;
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

}  // namespace tunesmith

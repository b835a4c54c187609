// SPDX-License-Identifier: Apache-2.0
// Carries the measurements of a kernel over to another text of it that gives the same machine code. Rows are
// added, as by merging: the older rows stay and become history.
#include <cstdint>
#include <string>
#include <vector>

#include "db/schema.h"
#include "db/sqlite.h"
#include "db/store.h"

namespace tunesmith {
namespace {

using sqlite::Database;
using sqlite::first;
using sqlite::Statement;
using sqlite::Transaction;

// Each session with rows to carry gets a copy whose generation lies after all of the file, in the same order,
// so that concurrent sessions stay concurrent. temp.carry holds the number added to generations, and the
// words of the command.
constexpr const char* carried_rows_sql = R"(
  CREATE TEMP TABLE carried_row AS
    SELECT m.id AS theirs, m.session_id, c.now AS variant_id FROM main.measurement m
    JOIN temp.carried c USING (variant_id, problem_id, device_id)
    WHERE NOT EXISTS (SELECT 1 FROM main.measurement n WHERE n.variant_id = c.now AND n.problem_id = m.problem_id
                        AND n.device_id = m.device_id AND n.caches = m.caches AND n.launches = m.launches);
  CREATE TEMP TABLE carried_session AS
    SELECT id AS theirs, lower(hex(randomblob(16))) AS uid FROM main.session
    WHERE id IN (SELECT session_id FROM temp.carried_row UNION SELECT session_id FROM temp.carried_table);

  INSERT INTO main.session (uid, device_id, command, strategy, seed, budget, tunesmith_version, toolchain, driver,
                            host_facts, state, started_at, ended_at, device_uuid, generation)
  SELECT c.uid, s.device_id, x.words || '  # measured by: ' || s.command, s.strategy, s.seed, s.budget,
         s.tunesmith_version, s.toolchain, s.driver, s.host_facts, 'finished',
         strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), s.device_uuid,
         s.generation + x.generation
  FROM temp.carried_session c JOIN main.session s ON s.id = c.theirs JOIN temp.carry x ORDER BY s.id;
  CREATE TEMP TABLE session_map AS SELECT c.theirs, s.id AS ours FROM temp.carried_session c JOIN main.session s USING (uid);

  INSERT INTO main.measurement (session_id, sequence, variant_id, problem_id, device_id, is_base, verdict, reason, median_us,
                                min_us, spread, samples_us, registers, static_shared_bytes, dynamic_shared_bytes, spill_bytes,
                                max_error, compile_ms, toolchain, driver, measured_at, caches, launches, low_us, high_us, loads,
                                energy_uj, clock_mhz, throttled, generation, stage, wall_ms, space_variants)
  SELECT s.ours, m.sequence, r.variant_id, m.problem_id, m.device_id, m.is_base, m.verdict, m.reason, m.median_us,
         m.min_us, m.spread, m.samples_us, m.registers, m.static_shared_bytes, m.dynamic_shared_bytes, m.spill_bytes,
         m.max_error, m.compile_ms, m.toolchain, m.driver, m.measured_at, m.caches, m.launches, m.low_us, m.high_us, m.loads,
         m.energy_uj, m.clock_mhz, m.throttled, m.generation + x.generation, m.stage, m.wall_ms, m.space_variants
  FROM temp.carried_row r JOIN main.measurement m ON m.id = r.theirs JOIN temp.session_map s ON s.theirs = m.session_id
  JOIN temp.carry x ORDER BY m.id;
  CREATE TEMP TABLE measurement_map AS SELECT r.theirs, o.id AS ours FROM temp.carried_row r
    JOIN main.measurement m ON m.id = r.theirs JOIN temp.session_map s ON s.theirs = m.session_id
    JOIN main.measurement o ON o.session_id = s.ours AND o.sequence = m.sequence;
  CREATE UNIQUE INDEX temp.measurement_theirs ON measurement_map (theirs);

  CREATE TEMP TABLE carried_choice AS
    SELECT c.* FROM main.choice c JOIN temp.measurement_map m ON m.theirs = c.measurement_id
    WHERE c.session_id IN (SELECT theirs FROM temp.session_map);
  INSERT INTO main.choice (session_id, sequence, generation, problem_id, device_id, alignment_bytes, measurement_id, objective,
                           chosen_at, provisional)
  SELECT s.ours, c.sequence, c.generation + x.generation, c.problem_id, c.device_id, c.alignment_bytes, m.ours, c.objective,
         c.chosen_at, c.provisional
  FROM temp.carried_choice c JOIN temp.session_map s ON s.theirs = c.session_id
  JOIN temp.measurement_map m ON m.theirs = c.measurement_id JOIN temp.carry x ORDER BY c.id;

  INSERT INTO main.finalist (winner_id, measurement_id, ratio, ratio_low, ratio_high, tied)
  SELECT w.ours, m.ours, f.ratio, f.ratio_low, f.ratio_high, f.tied FROM main.finalist f
  JOIN temp.measurement_map w ON w.theirs = f.winner_id JOIN temp.measurement_map m ON m.theirs = f.measurement_id;

  INSERT INTO main.anchor_table (session_id, sequence, generation, op, device_id, caches, launches, text, factors, made_at)
  SELECT s.ours, a.sequence, a.generation + x.generation, a.op, a.device_id, a.caches, a.launches, t.text, a.factors, a.made_at
  FROM temp.carried_table t JOIN main.anchor_table a ON a.id = t.id JOIN temp.session_map s ON s.theirs = a.session_id
  JOIN temp.carry x ORDER BY a.id;
)";

constexpr const char* drop_tables = R"(
  DROP TABLE temp.carry; DROP TABLE temp.carried; DROP TABLE temp.carried_table; DROP TABLE temp.carried_row;
  DROP TABLE temp.carried_session; DROP TABLE temp.session_map; DROP TABLE temp.measurement_map;
  DROP TABLE temp.carried_choice;
)";

}  // namespace

std::vector<StoredKernel> Store::kernels(const std::string& op) const {
  std::vector<StoredKernel> kernels;
  Statement rows(
      *database_,
      "SELECT v.id, m.problem_id, m.device_id, t.op, t.name, v.target, v.source_hash, v.config, p.text, "
      "EXISTS (SELECT 1 FROM binary b WHERE b.variant_id = v.id) "
      "FROM (SELECT DISTINCT m.variant_id, m.problem_id, m.device_id FROM measurement m "
      "JOIN kernel k ON k.measurement_id = m.id WHERE NOT k.is_stale) m "
      "JOIN variant v ON v.id = m.variant_id JOIN template t ON t.id = v.template_id "
      "JOIN problem p ON p.id = m.problem_id WHERE ?1 = '' OR t.op = ?1 "
      "ORDER BY v.id, m.problem_id, m.device_id",
      op);
  while (rows.step()) {
    StoredKernel& k = kernels.emplace_back();
    rows >> k.variant_id >> k.problem_id >> k.device_id >> k.op >> k.template_name >> k.target >>
        k.source_hash >> k.config >> k.problem >> k.has_binary;
  }
  return kernels;
}

CarryReport Store::carry(const std::vector<CarriedKernel>& kernels, const std::vector<CarriedTable>& tables,
                         const std::string& command) {
  Transaction transaction(*database_, Transaction::Kind::write);
  end_dead_sessions();
  database_->exec(
      "CREATE TEMP TABLE carry (generation INTEGER, words TEXT);"
      "CREATE TEMP TABLE carried (variant_id INTEGER, problem_id INTEGER, device_id INTEGER, now INTEGER, "
      "PRIMARY KEY (variant_id, problem_id, device_id));"
      "CREATE TEMP TABLE carried_table (id INTEGER PRIMARY KEY, session_id INTEGER, text TEXT);");
  Statement(*database_, "INSERT INTO carry VALUES (?, ?)", generation() + 1, command).run();
  for (const CarriedKernel& k : kernels) {
    VariantRow variant = k.now;
    variant.template_id = id_of(k.template_now);
    Statement(*database_, "INSERT INTO carried VALUES (?, ?, ?, ?)", k.before.variant_id, k.before.problem_id,
              k.before.device_id, id_of(variant))
        .run();
  }
  for (const CarriedTable& t : tables)
    Statement(*database_, "INSERT INTO carried_table SELECT id, session_id, ? FROM anchor_table WHERE id = ?",
              t.text, t.id)
        .run();
  const auto count = [this](const char* table) {
    return *first<std::int64_t>(*database_, std::string("SELECT count(*) FROM ") + table);
  };
  database_->exec(carried_rows_sql);
  CarryReport report{.verdicts = count("temp.measurement_map"), .tables = count("temp.carried_table")};

  std::vector<std::pair<std::int64_t, std::int64_t>> problems;
  {
    Statement rows(*database_, "SELECT DISTINCT problem_id, device_id FROM temp.carried_choice");
    while (rows.step()) rows >> problems.emplace_back().first >> problems.back().second;
  }
  for (const auto& [problem, device] : problems) schema::refresh_winners(*database_, problem, device);
  report.winners = *first<std::int64_t>(
      *database_,
      "SELECT count(*) FROM winner w WHERE w.measurement_id IN (SELECT ours FROM temp.measurement_map)");
  for (const CarriedKernel& k : kernels) {
    if (k.binary.bytes.empty()) continue;
    BinaryRow binary = k.binary;
    binary.variant_id = *first<std::int64_t>(
        *database_, "SELECT now FROM temp.carried WHERE variant_id = ? AND problem_id = ? AND device_id = ?",
        k.before.variant_id, k.before.problem_id, k.before.device_id);
    put_binary(binary);
  }
  database_->exec(
      "DELETE FROM binary WHERE variant_id IN (SELECT variant_id FROM temp.carried UNION SELECT now FROM "
      "temp.carried) AND NOT EXISTS (SELECT 1 FROM winner w JOIN measurement m ON m.id = w.measurement_id "
      "WHERE m.variant_id = binary.variant_id)");
  database_->exec(drop_tables);
  transaction.commit();
  return report;
}

}  // namespace tunesmith

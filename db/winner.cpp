// The policy of winners: which measurement dispatch should use, and when a winner is replaced.
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "db/sqlite.h"
#include "db/store.h"

namespace tunesmith {
namespace {

using sqlite::Database;
using sqlite::first;
using sqlite::Statement;
using sqlite::Transaction;

struct Measured {
  std::int64_t id = 0, variant = 0, problem = 0, device = 0;
  std::string verdict, measured_at, caches, op, template_name, body_hash;
  double median_us = 0;  // 0 unless the verdict is ok
};

Measured measured(const Database& database, std::int64_t id) {
  Statement row(
      database,
      "SELECT m.id, m.variant_id, m.problem_id, m.device_id, m.verdict, m.measured_at, m.caches, t.op, "
      "t.name, t.body_hash, m.median_us FROM measurement m JOIN variant v ON v.id = m.variant_id "
      "JOIN template t ON t.id = v.template_id WHERE m.id = ?",
      id);
  if (!row.step()) {
    throw StoreError("The database " + database.name().string() + " has no measurement " +
                     std::to_string(id) + ".");
  }
  Measured m;
  row >> m.id >> m.variant >> m.problem >> m.device >> m.verdict >> m.measured_at >> m.caches >> m.op >>
      m.template_name >> m.body_hash >> m.median_us;
  return m;
}

std::optional<Measured> winner_of(const Database& database, std::int64_t problem, std::int64_t device,
                                  std::int64_t alignment_bytes) {
  const auto id = first<std::int64_t>(
      database,
      "SELECT measurement_id FROM winner WHERE problem_id = ? AND device_id = ? AND alignment_bytes = ?",
      problem, device, alignment_bytes);
  if (!id) return std::nullopt;
  return measured(database, *id);
}

// The caches of a winner of the same problem, of any alignment, that was measured later and with other
// caches.
std::optional<std::string> other_caches_later(const Database& database, const Measured& m) {
  return first<std::string>(database,
                            "SELECT m.caches FROM winner w JOIN measurement m ON m.id = w.measurement_id "
                            "WHERE w.problem_id = ? AND w.device_id = ? AND m.caches <> ? "
                            "AND (m.measured_at, m.id) > (?, ?)",
                            m.problem, m.device, m.caches, m.measured_at, m.id);
}

bool found_wrong_since(const Database& database, const Measured& m) {
  const auto newest = first<std::string>(
      database,
      "SELECT verdict FROM current_measurement WHERE device_id = ? AND problem_id = ? AND variant_id = ? "
      "AND (caches = ? OR verdict <> 'ok') ORDER BY measured_at DESC, id DESC LIMIT 1",
      m.device, m.problem, m.variant, m.caches);
  return newest == "wrong_result" || newest == "out_of_bounds";
}

// A winner that was measured again without winning is worth its newest time, not the one it won with.
double newest_us(const Database& database, const Measured& m) {
  return *first<double>(database,
                        "SELECT median_us FROM measurement WHERE device_id = ? AND problem_id = ? "
                        "AND variant_id = ? AND verdict = 'ok' AND caches = ? "
                        "ORDER BY measured_at DESC, id DESC LIMIT 1",
                        m.device, m.problem, m.variant, m.caches);
}

// Whether `candidate` is to replace `winner`, if there is one, and why.
SetWinner judge(const Database& database, const Measured& candidate, const std::optional<Measured>& winner,
                bool winner_is_stale) {
  if (candidate.verdict != "ok") {
    return {false, "Only a measurement that is ok can win; this one is " + candidate.verdict + "."};
  }
  if (const auto caches = other_caches_later(database, candidate); caches && !winner_is_stale) {
    return {false, "The problem's winner was measured later and with " + *caches +
                       " caches; times with different caches are not compared."};
  }
  if (!winner) return {true, "There was no winner."};
  if (winner->id == candidate.id) return {false, "It is already the winner."};

  const bool other_caches = winner->caches != candidate.caches;
  if (winner->variant == candidate.variant) {
    const bool later =
        std::tie(winner->measured_at, winner->id) < std::tie(candidate.measured_at, candidate.id);
    if (!later && !other_caches) return {false, "The winner has a newer measurement of the same variant."};
    return {true, "The winner was measured again" +
                      (other_caches ? ", with " + candidate.caches + " caches." : std::string("."))};
  }
  if (found_wrong_since(database, candidate)) {
    return {false, "The variant has been found to give wrong results since this measurement."};
  }
  if (other_caches) {
    return {true, "The winner was stale: it was measured with " + winner->caches +
                      " caches, and this one with " + candidate.caches + " ones."};
  }
  if (winner_is_stale) return {true, "The winner was stale."};
  if (std::tie(winner->op, winner->template_name) == std::tie(candidate.op, candidate.template_name) &&
      winner->body_hash != candidate.body_hash && winner->measured_at <= candidate.measured_at) {
    return {true, "The winner was made from an older body of the template."};
  }
  if (found_wrong_since(database, *winner)) {
    return {true, "The winner has been found to give wrong results."};
  }
  if (candidate.median_us < newest_us(database, *winner)) return {true, "It is faster than the winner."};
  return {false, "It is not faster than the winner."};
}

// Keeps it if another winner needs it.
void drop_binary(Database& database, std::int64_t variant_id) {
  Statement(database,
            "DELETE FROM binary WHERE variant_id = ? AND NOT EXISTS (SELECT 1 FROM winner w "
            "JOIN measurement m ON m.id = w.measurement_id WHERE m.variant_id = binary.variant_id)",
            variant_id)
      .run();
}

// All winners of a problem on a device have the same caches as the newest one.
void drop_winners_with_other_caches(Database& database, const Measured& newest) {
  Statement rows(database,
                 "DELETE FROM winner WHERE problem_id = ? AND device_id = ? AND measurement_id IN "
                 "(SELECT id FROM measurement WHERE problem_id = ? AND device_id = ? AND caches <> ?) "
                 "RETURNING (SELECT variant_id FROM measurement WHERE id = measurement_id)",
                 newest.problem, newest.device, newest.problem, newest.device, newest.caches);
  std::vector<std::int64_t> variants;
  while (rows.step()) rows >> variants.emplace_back();
  for (const auto variant : variants) drop_binary(database, variant);
}

}  // namespace

SetWinner Store::set_winner(std::int64_t measurement_id, std::int64_t alignment_bytes, bool winner_is_stale) {
  Transaction transaction(*database_, Transaction::Kind::write);
  auto result = choose(measurement_id, alignment_bytes, winner_is_stale, sqlite::now(*database_));
  transaction.commit();
  return result;
}

SetWinner Store::choose(std::int64_t measurement_id, std::int64_t alignment_bytes, bool winner_is_stale,
                        std::string_view since) {
  const Measured candidate = measured(*database_, measurement_id);
  const auto winner = winner_of(*database_, candidate.problem, candidate.device, alignment_bytes);
  auto judged = judge(*database_, candidate, winner, winner_is_stale);
  if (!judged.taken) return judged;
  Statement(*database_,
            "INSERT INTO winner (problem_id, device_id, alignment_bytes, measurement_id, since) "
            "VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET measurement_id = excluded.measurement_id, "
            "since = excluded.since",
            candidate.problem, candidate.device, alignment_bytes, measurement_id, since)
      .run();
  drop_winners_with_other_caches(*database_, candidate);
  if (winner) drop_binary(*database_, winner->variant);
  return judged;
}

void Store::drop_winner(std::int64_t device_id, std::int64_t problem_id, std::int64_t alignment_bytes) {
  Transaction transaction(*database_, Transaction::Kind::write);
  const auto variant =
      first<std::int64_t>(*database_,
                          "DELETE FROM winner WHERE device_id = ? AND problem_id = ? AND alignment_bytes = ? "
                          "RETURNING (SELECT variant_id FROM measurement WHERE id = measurement_id)",
                          device_id, problem_id, alignment_bytes);
  if (variant) drop_binary(*database_, *variant);
  transaction.commit();
}

}  // namespace tunesmith

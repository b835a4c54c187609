// SPDX-License-Identifier: Apache-2.0
// The policy of winners: chooses the measurement that dispatch should use, and decides when a winner is
// replaced.
#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
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

// The total order of all rows that sessions write, the same in every file.
struct Place {
  std::int64_t generation = 0;
  std::string session_uid;
  std::int64_t sequence = 0;
  auto operator<=>(const Place&) const = default;  // NOLINT(modernize-use-nullptr): a false alarm
};

struct Measurement {
  Place place;
  std::int64_t id = 0, session = 0, variant = 0, problem = 0, device = 0;
  std::string verdict, caches, launches, op, template_name, body_hash;
  double median_us = 0;  // 0 unless the verdict is ok
  std::optional<double> energy_uj;
  std::string objective;     // the objective by which it is, or may become, the winner
  bool provisional = false;  // as in the table `choice`
};

Measurement measured(const Database& database, std::int64_t id, std::string_view objective) {
  Statement row(
      database,
      "SELECT m.generation, s.uid, m.sequence, m.id, m.session_id, m.variant_id, m.problem_id, "
      "m.device_id, m.verdict, m.caches, m.launches, t.op, t.name, t.body_hash, m.median_us, "
      "m.energy_uj FROM measurement m JOIN session s ON s.id = m.session_id "
      "JOIN variant v ON v.id = m.variant_id JOIN template t ON t.id = v.template_id WHERE m.id = ?",
      id);
  if (!row.step()) {
    throw StoreError("The database " + database.name().string() + " has no measurement " +
                     std::to_string(id) + ".");
  }
  Measurement m;
  row >> m.place.generation >> m.place.session_uid >> m.place.sequence >> m.id >> m.session >> m.variant >>
      m.problem >> m.device >> m.verdict >> m.caches >> m.launches >> m.op >> m.template_name >>
      m.body_hash >> m.median_us >> m.energy_uj;
  m.objective = objective;
  return m;
}

// Only measurements of one kind are compared.
auto kind(const Measurement& m) { return std::tie(m.caches, m.launches, m.objective); }

// Describes how the kind of `m` differs from that of `other`: "with cold caches and for the objective
// energy".
std::string what_differs(const Measurement& m, const Measurement& other) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : " and ") + part; };
  if (m.caches != other.caches) add("with " + m.caches + " caches");
  if (m.launches != other.launches) add("with " + m.launches + " launches");
  if (m.objective != other.objective) add("for the objective " + m.objective);
  return text;
}

// The value that the objective minimises. A measurement without energy is the worst if the objective needs
// the energy.
double worth(const Measurement& m) {
  if (m.objective == "time") return m.median_us;
  const double energy = m.energy_uj.value_or(std::numeric_limits<double>::infinity());
  return m.objective == "energy" ? energy : energy * m.median_us;
}

std::vector<Measurement> winners_of(const Database& database, std::int64_t problem, std::int64_t device,
                                    std::optional<std::int64_t> alignment_bytes = std::nullopt) {
  std::vector<Measurement> winners;
  Statement rows(
      database,
      "SELECT measurement_id, objective, provisional FROM winner WHERE problem_id = ? AND device_id = ? "
      "AND alignment_bytes = ifnull(?, alignment_bytes) ORDER BY alignment_bytes",
      problem, device, alignment_bytes);
  while (rows.step()) {
    std::int64_t id = 0;
    std::string objective;
    bool provisional = false;
    rows >> id >> objective >> provisional;
    winners.push_back(measured(database, id, objective));
    winners.back().provisional = provisional;
  }
  return winners;
}

// True if the newest verdict that counts for its variant is wrong_result or out_of_bounds. It uses no view,
// because a database from elsewhere may use none.
bool found_wrong(const Database& database, const Measurement& m) {
  const auto newest = first<std::string>(
      database,
      "SELECT verdict FROM (SELECT m.verdict, m.caches, m.launches, m.generation, s.uid, m.sequence, "
      "row_number() OVER (PARTITION BY m.caches, m.launches "
      "ORDER BY m.generation DESC, s.uid DESC, m.sequence DESC) AS place "
      "FROM measurement m JOIN session s ON s.id = m.session_id "
      "WHERE m.device_id = ? AND m.problem_id = ? AND m.variant_id = ?) "
      "WHERE place = 1 AND (verdict <> 'ok' OR (caches = ? AND launches = ?)) "
      "ORDER BY generation DESC, uid DESC, sequence DESC LIMIT 1",
      m.device, m.problem, m.variant, m.caches, m.launches);
  return newest == "wrong_result" || newest == "out_of_bounds";
}

// A winner that was measured again without winning is worth its newest time, not the one it won with.
Measurement newest_ok(const Database& database, const Measurement& m) {
  const auto id = first<std::int64_t>(
      database,
      "SELECT m.id FROM measurement m JOIN session s ON s.id = m.session_id WHERE m.device_id = ? "
      "AND m.problem_id = ? AND m.variant_id = ? AND m.verdict = 'ok' AND m.caches = ? AND m.launches = ? "
      "ORDER BY m.generation DESC, s.uid DESC, m.sequence DESC LIMIT 1",
      m.device, m.problem, m.variant, m.caches, m.launches);
  return measured(database, *id, m.objective);
}

// Decides whether `candidate` replaces `winner`, if there is one, and why.
SetWinner judge(const Database& database, const Measurement& candidate,
                const std::optional<Measurement>& winner, bool winner_is_stale) {
  if (candidate.verdict != "ok") {
    return {false, "Only a measurement that is ok can win; this one is " + candidate.verdict + "."};
  }
  for (const Measurement& other : winners_of(database, candidate.problem, candidate.device)) {
    if (candidate.provisional && !other.provisional && !found_wrong(database, other))
      return {false, "Finals have named the problem's winner."};
    if (other.provisional != candidate.provisional) continue;
    if (winner_is_stale || kind(other) == kind(candidate) || other.place < candidate.place) continue;
    return {false, "The problem's winner was measured later and " + what_differs(other, candidate) +
                       "; such measurements are not compared."};
  }
  if (found_wrong(database, candidate)) {
    return {false, "The variant has been found to give wrong results since this measurement."};
  }
  if (!winner) return {true, "There was no winner."};
  if (winner->provisional != candidate.provisional) return {true, "The winner was provisional."};
  if (winner->id == candidate.id && winner->objective == candidate.objective)
    return {false, "It is already the winner."};

  const bool other_kind = kind(*winner) != kind(candidate);
  if (winner->variant == candidate.variant) {
    if (candidate.place < winner->place && !other_kind)
      return {false, "The winner has a newer measurement of the same variant."};
    return {true, "The winner was measured again" +
                      (other_kind ? ", " + what_differs(candidate, *winner) + "." : std::string("."))};
  }
  if (other_kind) {
    return {true, "The winner was stale: it was measured " + what_differs(*winner, candidate) +
                      ", and this one " + what_differs(candidate, *winner) + "."};
  }
  if (winner_is_stale) return {true, "The winner was stale."};
  if (std::tie(winner->op, winner->template_name) == std::tie(candidate.op, candidate.template_name) &&
      winner->body_hash != candidate.body_hash && winner->place < candidate.place) {
    return {true, "The winner was made from an older body of the template."};
  }
  if (found_wrong(database, *winner)) return {true, "The winner has been found to give wrong results."};
  const bool by_time = candidate.objective == "time";
  if (worth(candidate) < worth(newest_ok(database, *winner)))
    return {true, by_time ? "It is faster than the winner." : "It is better than the winner."};
  return {false, by_time ? "It is not faster than the winner." : "It is not better than the winner."};
}

// Appends a choice after all choices on the problem that its session could know.
void append_choice(const Database& database, std::int64_t session, std::int64_t problem, std::int64_t device,
                   std::int64_t alignment_bytes, std::optional<std::int64_t> measurement,
                   std::string_view objective, bool provisional) {
  Statement(
      database,
      "INSERT INTO choice (session_id, sequence, generation, problem_id, device_id, alignment_bytes, "
      "measurement_id, objective, chosen_at, provisional) VALUES (?1, "
      "1 + ifnull((SELECT max(sequence) FROM choice WHERE session_id = ?1), 0), "
      "max(ifnull((SELECT generation FROM session WHERE id = ?1), 0), ifnull((SELECT "
      "max(generation + (session_id <> ?1)) FROM choice WHERE problem_id = ?2 AND device_id = ?3), 0)), "
      "?2, ?3, ?4, ?5, ?6, ?7, ?8)",
      session, problem, device, alignment_bytes, measurement, objective, sqlite::now(database), provisional)
      .run();
}

// Deletes the binaries of this problem's past winners, unless another problem's winner needs them.
void drop_binaries(const Database& database, std::int64_t problem, std::int64_t device) {
  Statement(database,
            "DELETE FROM binary WHERE variant_id IN (SELECT m.variant_id FROM choice c "
            "JOIN measurement m ON m.id = c.measurement_id WHERE c.problem_id = ? AND c.device_id = ?) "
            "AND NOT EXISTS (SELECT 1 FROM winner w JOIN measurement m ON m.id = w.measurement_id "
            "WHERE m.variant_id = binary.variant_id)",
            problem, device)
      .run();
}

struct Choice {
  Place place;
  std::string chosen_at, device_uuid;
  std::int64_t alignment_bytes = 0;
  std::optional<Measurement> named;  // empty: the winner was dropped
  bool sound = true;                 // it has not been found wrong since
};

std::vector<Choice> choices_in_order(const Database& database, std::int64_t problem, std::int64_t device) {
  std::vector<Choice> choices;
  Statement rows(
      database,
      "SELECT c.generation, s.uid, c.sequence, c.chosen_at, s.device_uuid, c.alignment_bytes, "
      "c.objective, c.measurement_id, c.provisional FROM choice c JOIN session s ON s.id = c.session_id "
      "WHERE c.problem_id = ? AND c.device_id = ? "
      "ORDER BY c.generation, s.uid, c.sequence, c.alignment_bytes",
      problem, device);
  while (rows.step()) {
    Choice& c = choices.emplace_back();
    std::string objective;
    std::optional<std::int64_t> id;
    bool provisional = false;
    rows >> c.place.generation >> c.place.session_uid >> c.place.sequence >> c.chosen_at >> c.device_uuid >>
        c.alignment_bytes >> objective >> id >> provisional;
    if (!id) continue;
    c.named = measured(database, *id, objective);
    c.named->provisional = provisional;
    c.sound = !found_wrong(database, *c.named);
  }
  return choices;
}

// Keeps drops and the choices that may win: those of the kind of the last sound one, and none from before
// another kind was chosen.
void keep_one_kind(std::vector<Choice>& choices) {
  const Choice* last = nullptr;
  for (const Choice& c : choices)
    if (c.named && (last == nullptr || c.sound || !last->sound)) last = &c;
  if (last == nullptr) return;
  const Measurement kept = *last->named;
  auto from = std::numeric_limits<std::int64_t>::min();
  for (const Choice& c : choices)
    if (c.named && c.sound && kind(*c.named) != kind(kept)) from = std::max(from, c.place.generation);
  std::erase_if(choices, [&](const Choice& c) {
    return c.named && (kind(*c.named) != kind(kept) || c.place.generation < from);
  });
}

// Returns the winner among the choices of one alignment, which are in order, and fills in the concurrent
// choices that it was compared with.
const Choice* best_of(const std::vector<const Choice*>& choices, std::vector<const Choice*>& concurrent) {
  std::map<std::string, const Choice*> last_of_session;
  for (const Choice* c : choices)
    if (c->sound) last_of_session[c->place.session_uid] = c;
  if (last_of_session.empty()) return choices.back();  // found wrong, and nothing has replaced it
  auto generation = std::numeric_limits<std::int64_t>::min();
  for (const auto& entry : last_of_session) generation = std::max(generation, entry.second->place.generation);
  const Choice* best = nullptr;
  for (const auto& entry : last_of_session) {
    const Choice* c = entry.second;
    if (!c->named || c->place.generation < generation) continue;
    concurrent.push_back(c);
    if (best == nullptr || worth(*c->named) <= worth(*best->named)) best = c;
  }
  return best;
}

// Writes the winners that follow from these choices; returns true if one of them is sound.
bool write_winners(const Database& database, std::int64_t problem_id, std::int64_t device_id,
                   std::vector<Choice> choices) {
  keep_one_kind(choices);
  std::map<std::int64_t, std::vector<const Choice*>> of_alignment;
  for (const Choice& c : choices) of_alignment[c.alignment_bytes].push_back(&c);
  Statement(database, "DELETE FROM winner WHERE problem_id = ? AND device_id = ?", problem_id, device_id)
      .run();
  bool sound = false;
  for (const auto& [alignment_bytes, its] : of_alignment) {
    std::vector<const Choice*> concurrent;
    const Choice* best = best_of(its, concurrent);
    if (best == nullptr || !best->named) continue;
    sound = sound || best->sound;
    std::set<std::string> gpus;
    for (const Choice* c : concurrent) gpus.insert(c->device_uuid);
    gpus.erase(best->device_uuid);
    Statement(database,
              "INSERT INTO winner (problem_id, device_id, alignment_bytes, measurement_id, since, objective, "
              "other_gpus, provisional) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
              problem_id, device_id, alignment_bytes, best->named->id, best->chosen_at,
              best->named->objective, static_cast<std::int64_t>(gpus.size()), best->named->provisional)
        .run();
  }
  return sound;
}

}  // namespace

// A provisional choice of an interrupted run counts only if finals have named no sound winner.
void schema::refresh_winners(const Database& database, std::int64_t problem_id, std::int64_t device_id) {
  const std::vector<Choice> all = choices_in_order(database, problem_id, device_id);
  std::vector<Choice> of_finals = all;
  std::erase_if(of_finals, [](const Choice& c) { return c.named && c.named->provisional; });
  if (!write_winners(database, problem_id, device_id, of_finals) && of_finals.size() < all.size())
    write_winners(database, problem_id, device_id, all);
}

void schema::refresh_all_winners(const Database& database) {
  std::vector<std::pair<std::int64_t, std::int64_t>> all;
  {
    Statement problems(database, "SELECT DISTINCT problem_id, device_id FROM main.choice");
    while (problems.step()) problems >> all.emplace_back().first >> all.back().second;
  }
  for (const auto& [problem, device] : all) refresh_winners(database, problem, device);
}

SetWinner Store::set_winner(std::int64_t measurement_id, std::int64_t alignment_bytes, bool winner_is_stale,
                            Objective objective, Evidence evidence) {
  Transaction transaction(*database_, Transaction::Access::write);
  Measurement candidate = measured(*database_, measurement_id, to_text(objective));
  candidate.provisional = evidence == Evidence::provisionally;
  const auto winner = winners_of(*database_, candidate.problem, candidate.device, alignment_bytes);
  auto judged = judge(*database_, candidate, winner.empty() ? std::nullopt : std::optional(winner.front()),
                      winner_is_stale);
  if (judged.taken) {
    append_choice(*database_, candidate.session, candidate.problem, candidate.device, alignment_bytes,
                  measurement_id, to_text(objective), candidate.provisional);
    schema::refresh_winners(*database_, candidate.problem, candidate.device);
    drop_binaries(*database_, candidate.problem, candidate.device);
  }
  transaction.commit();
  return judged;
}

void Store::drop_winner(std::int64_t session_id, std::int64_t problem_id, std::int64_t alignment_bytes) {
  Transaction transaction(*database_, Transaction::Access::write);
  const auto device =
      *first<std::int64_t>(*database_, "SELECT device_id FROM session WHERE id = ?", session_id);
  const auto dropped = winners_of(*database_, problem_id, device, alignment_bytes);
  if (!dropped.empty()) {
    append_choice(*database_, session_id, problem_id, device, alignment_bytes, std::nullopt,
                  dropped.front().objective, false);
    schema::refresh_winners(*database_, problem_id, device);
    drop_binaries(*database_, problem_id, device);
  }
  transaction.commit();
}

}  // namespace tunesmith

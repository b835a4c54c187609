// SPDX-License-Identifier: Apache-2.0
// Begins and ends sessions. A session is one run of a command that measures.
#include <unistd.h>

#include <string>
#include <vector>

#include "db/process.h"
#include "db/sqlite.h"
#include "db/store.h"

namespace tunesmith {

using sqlite::Statement;
using sqlite::Transaction;

std::int64_t Store::generation() const {
  return *sqlite::first<std::int64_t>(*database_,
                                      "SELECT max(0, ifnull((SELECT max(generation) FROM session), 0), "
                                      "ifnull((SELECT max(generation) FROM measurement), 0), "
                                      "ifnull((SELECT max(generation) FROM choice), 0), "
                                      "ifnull((SELECT max(generation) FROM anchor_table), 0))");
}

void Store::end_dead_sessions() {
  std::vector<std::int64_t> dead;
  Statement running(*database_, "SELECT id, process FROM main.session WHERE state = 'running'");
  while (running.step()) {
    std::int64_t id = 0;
    std::string process;
    running >> id >> process;
    if (is_dead(process)) dead.push_back(id);
  }
  for (const auto id : dead) {
    Statement(
        *database_,
        "UPDATE main.session SET state = 'interrupted', process = NULL, ended_at = ifnull((SELECT "
        "max(measured_at) FROM main.measurement WHERE session_id = session.id), started_at) WHERE id = ?",
        id)
        .run();
  }
}

std::int64_t Store::begin_session(const SessionRow& s) {
  Transaction transaction(*database_, Transaction::Access::write);
  end_dead_sessions();
  Statement(*database_,
            "INSERT INTO session (uid, device_id, command, strategy, seed, budget, tunesmith_version, "
            "toolchain, driver, host_facts, state, started_at, process, device_uuid, generation) "
            "VALUES (lower(hex(randomblob(16))), ?, ?, ?, ?, ?, ?, ?, ?, ?, 'running', ?, ?, ?, ?)",
            s.device_id, s.command, s.strategy, s.seed, s.budget, s.tunesmith_version, s.toolchain, s.driver,
            s.host_facts, sqlite::now(*database_), process_tag(::getpid()), s.device_uuid, 1 + generation())
      .run();
  const auto id = sqlite3_last_insert_rowid(database_->handle());
  transaction.commit();
  return id;
}

void Store::end_session(std::int64_t session_id, End end) {
  Statement(*database_, "UPDATE session SET state = ?, ended_at = ?, process = NULL WHERE id = ?",
            end == End::finished ? "finished" : "interrupted", sqlite::now(*database_), session_id)
      .run();
  if (sqlite3_changes(database_->handle()) == 0) {
    throw StoreError("The database " + path().string() + " has no session " + std::to_string(session_id) +
                     ".");
  }
}

}  // namespace tunesmith

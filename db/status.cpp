// SPDX-License-Identifier: Apache-2.0
// Reports the state of a database, and hints on what a person should do.
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "db/process.h"
#include "db/sqlite.h"
#include "db/store.h"

namespace fs = std::filesystem;

namespace tunesmith {

using sqlite::first;
using sqlite::Statement;

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
  for (const char* table : {"device", "template", "variant", "problem", "session", "measurement", "choice",
                            "finalist", "winner", "anchor_table", "trial", "binary"}) {
    status.rows.emplace_back(table,
                             *first<std::int64_t>(*database_, std::string("SELECT count(*) FROM ") + table));
  }
  Statement verdicts(*database_,
                     "SELECT verdict || iif(caches = 'cold', ', cold caches', '') || "
                     "iif(launches = 'chained', ', chained launches', '') AS name, count(*) "
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
  hint("SELECT count(*) FROM winner WHERE other_gpus > 0",
       "winner was chosen among times of several GPUs, which do not compare: tune its problem again on one.",
       "winners were chosen among times of several GPUs, which do not compare: tune their problems again on "
       "one.");
  hint("SELECT count(*) FROM winner WHERE provisional",
       "winner is provisional, because its run was interrupted before the finals: run \"tunesmith finals\".",
       "winners are provisional, because their runs were interrupted before the finals: run "
       "\"tunesmith finals\".");
  hint("SELECT count(*) FROM winners WHERE NOT has_binary",
       "winner has no binary, so using it needs a compiler: tune its problem again to store one.",
       "winners have no binary, so using them needs a compiler: tune their problems again to store them.");
  hint(
      "SELECT count(*) FROM winner w JOIN measurement m ON m.id = w.measurement_id "
      "JOIN variant v ON v.id = m.variant_id JOIN template t ON t.id = v.template_id WHERE EXISTS "
      "(SELECT 1 FROM template n WHERE n.op = t.op AND n.name = t.name AND n.id > t.id)",
      "winner was made from a template body that has changed since: tune its problem again.",
      "winners were made from template bodies that have changed since: tune their problems again.");
  std::int64_t damaged = 0;
  Statement binaries(*database_, "SELECT hash, bytes FROM binary");
  while (binaries.step()) {
    BinaryRow binary;
    binaries >> binary.hash >> binary.bytes;
    if (!is_whole(binary)) ++damaged;
  }
  if (damaged > 0) {
    const std::string found =
        std::to_string(damaged) +
        (damaged == 1
             ? " binary is damaged (its hash differs from the stored one) and is not used: tune its "
               "problem again."
             : " binaries are damaged (their hashes differ from the stored ones) and are not used: tune "
               "their problems again.");
    status.check = status.check == "ok" ? found : status.check + "\n" + found;
  }
  std::int64_t dead = 0;
  Statement running(*database_, "SELECT process FROM session WHERE state = 'running'");
  while (running.step()) {
    std::string process;
    running >> process;
    if (is_dead(process)) ++dead;
  }
  if (dead > 0) {
    status.hints.push_back(
        std::to_string(dead) +
        (dead == 1 ? " session was interrupted: run its command again to continue where it stopped."
                   : " sessions were interrupted: run their commands again to continue where they stopped."));
  }
  return status;
}

}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
// Stores and reads the variants that applications tried at first uses. They are kept apart from verdicts and
// never mixed with them.
#include <sstream>
#include <string>
#include <vector>

#include "db/schema.h"
#include "db/sqlite.h"
#include "db/store.h"

namespace tunesmith {

using sqlite::first;
using sqlite::Statement;
using sqlite::Transaction;

void Store::put_first_use(const FirstUseRow& f) {
  Transaction transaction(*database_, Transaction::Access::write);
  const auto uid = *first<std::string>(*database_, "SELECT lower(hex(randomblob(16)))");
  const auto generation = *first<std::int64_t>(
      *database_, "SELECT 1 + ifnull(max(generation), 0) FROM trial WHERE problem_id = ? AND device_id = ?",
      f.problem_id, f.device_id);
  const std::string now = sqlite::now(*database_);
  std::int64_t place = 0;
  for (const TrialRow& t : f.trials) {
    Statement(*database_,
              "INSERT INTO trial (first_use, place, generation, problem_id, device_id, template, config, "
              "source_hash, us, toolchain, driver, tunesmith_version, tried_at) "
              "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
              uid, ++place, generation, f.problem_id, f.device_id, t.template_name, t.config, t.source_hash,
              t.us, t.toolchain, f.driver, f.tunesmith_version, now)
        .run();
  }
  transaction.commit();
}

std::vector<StoredTrial> Store::trials(const QueryFilter& filter) const {
  std::string sql = std::string("SELECT ") + schema::device_columns +
                    ", t.op, t.problem, t.template, t.config, t.source_hash, t.us, t.toolchain, t.place, "
                    "t.is_current, t.is_tuned, ifnull(t.newest_verdict, ''), t.driver, t.tunesmith_version, "
                    "t.tried_at, t.first_use FROM trials t JOIN device d ON d.id = t.device_id "
                    "WHERE (?1 = '' OR t.op = ?1) "
                    "AND (?2 = '' OR instr(lower(d.name), lower(?2)) > 0 OR d.target = ?2)";
  if (!filter.history) sql += " AND t.is_current";
  std::istringstream words(filter.problem);
  std::vector<std::string> parts;
  for (std::string word; words >> word;) {
    sql += " AND instr(' ' || t.problem || ' ', ?) > 0";
    parts.push_back(' ' + word + ' ');
  }
  sql += " ORDER BY t.op, d.name, t.problem, t.tried_at DESC, t.first_use, t.place";
  if (filter.limit > 0) sql += " LIMIT " + std::to_string(filter.limit);
  Statement rows(*database_, sql, filter.op, filter.device);
  for (const std::string& part : parts) rows.bind(part);
  std::vector<StoredTrial> trials;
  while (rows.step()) {
    StoredTrial& t = trials.emplace_back();
    schema::operator>>(rows, t.device) >> t.problem.op >> t.problem.text >> t.trial.template_name >>
        t.trial.config >> t.trial.source_hash >> t.trial.us >> t.trial.toolchain >> t.place >> t.is_current >>
        t.is_tuned >> t.newest_verdict >> t.driver >> t.tunesmith_version >> t.tried_at >> t.first_use;
  }
  return trials;
}

}  // namespace tunesmith

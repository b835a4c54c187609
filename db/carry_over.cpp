// Rows of schema 2 and older know a kernel by the hash of its whole text. Those that Options::identify
// recognises get the identity of today and count as measured; the others stay what they were.
#include "db/schema.h"

namespace tunesmith::schema {

using sqlite::Database;
using sqlite::first;
using sqlite::Statement;
using sqlite::Transaction;

bool has_old_identities(const Database& database) {
  return first<std::int64_t>(database, "SELECT 1 FROM variant WHERE source_hash LIKE 'text:%' LIMIT 1")
      .has_value();
}

void carry_over(Database& database, const Store::Options& options) {
  if (!options.identify || !has_old_identities(database)) return;
  std::vector<OldVariant> old;
  {
    Statement rows(
        database,
        std::string("SELECT v.id, t.op, t.name, v.target, v.config, p.text, substr(v.source_hash, 6), ") +
            device_columns +
            " FROM variant v "
            "JOIN template t ON t.id = v.template_id "
            "JOIN measurement m ON m.id = (SELECT max(id) FROM measurement WHERE variant_id = v.id) "
            "JOIN problem p ON p.id = m.problem_id JOIN device d ON d.id = m.device_id "
            "WHERE v.source_hash LIKE 'text:%'" +
            (options.identify_winners_only ? " AND v.id IN (SELECT variant_id FROM measurement WHERE id IN "
                                             "(SELECT measurement_id FROM winner))"
                                           : "") +
            " ORDER BY v.id");
    while (rows.step()) {
      OldVariant& v = old.emplace_back();
      rows >> v.id >> v.op >> v.template_name >> v.target >> v.config >> v.problem >> v.text_hash >> v.device;
    }
  }
  const std::vector<NewIdentity> found = options.identify(old);
  Transaction transaction(database, Transaction::Kind::write);
  for (const NewIdentity& identity : found) {
    Statement(database,
              "INSERT INTO template (op, name, body_hash) SELECT t.op, t.name, ? FROM variant v "
              "JOIN template t ON t.id = v.template_id WHERE v.id = ? ON CONFLICT DO NOTHING",
              identity.body_hash, identity.variant_id)
        .run();
    // Measured again since under today's identity, the old row has nothing to add.
    Statement(database,
              "UPDATE OR IGNORE variant SET source_hash = ?, template_id = (SELECT n.id FROM template n "
              "JOIN template t ON t.id = variant.template_id AND n.op = t.op AND n.name = t.name "
              "WHERE n.body_hash = ?) WHERE id = ?",
              identity.source_hash, identity.body_hash, identity.variant_id)
        .run();
  }
  if (!options.identify_winners_only) {
    database.exec(
        "UPDATE variant SET source_hash = 'stale:' || substr(source_hash, 6) "
        "WHERE source_hash LIKE 'text:%'");
  }
  transaction.commit();
}

}  // namespace tunesmith::schema

#include "dispatch/known.h"

#include <algorithm>

#include "dispatch/packed.h"
#include "generator/error.h"
#include "generator/listed.h"
#include "generator/number_text.h"
#include "generator/ops.h"

namespace tunesmith {
namespace {

// By a table that is known already. What one of them says of its variants is not known of the other's.
bool is_replaced(const DeviceTable& table, const std::vector<Candidate>& known) {
  return std::any_of(known.begin(), known.end(), [&](const Candidate& other) {
    return other.problem.empty() && other.op == table.table.op && same_model(other.device, table.device) &&
           replaces(other.times.size(), table.table.anchors.size());
  });
}

}  // namespace

void complete(Candidate& candidate) {
  try {
    candidate.problem = complete_problem(find_op(candidate.op), candidate.problem);
  } catch (const Error& error) {
    candidate.fault = error.what();
  }
}

void add_portfolio(std::vector<Candidate>& candidates, const DeviceTable& read, Candidate::Origin origin) {
  for (Candidate& candidate : candidates_of(read)) {
    candidate.origin = origin;
    candidates.push_back(std::move(candidate));
  }
}

namespace {

void add_winners(std::vector<Candidate>& candidates, const std::vector<TableRow>& rows,
                 Candidate::Origin origin) {
  for (const TableRow& row : rows) {
    Candidate& candidate = candidates.emplace_back(row.winner);
    candidate.origin = origin;
    candidate.low_us = row.low_us;
    candidate.high_us = row.high_us;
    candidate.has_binary = !packed(packed_name(candidate.device.target, candidate.source_hash)).empty();
    complete(candidate);
  }
}

}  // namespace

void add_known(std::vector<Candidate>& candidates, std::vector<DeviceTable>& tables,
               const std::vector<TableRow>& rows, Candidate::Origin origin) {
  std::erase_if(tables, [&](const DeviceTable& table) { return is_replaced(table, candidates); });
  for (const DeviceTable& read : tables) add_portfolio(candidates, read, origin);
  add_winners(candidates, rows, origin);
}

std::vector<Candidate> candidates_of(const Known& known, std::string_view op) {
  std::vector<Candidate> candidates;
  const auto add_table = [&](const Known::Table& table) {
    try {
      const DeviceTable read = table.read();
      if (table.origin == Candidate::Origin::database || !is_replaced(read, candidates))
        add_portfolio(candidates, read, table.origin);
    } catch (const Error& error) {
      Candidate& none = candidates.emplace_back();
      none.origin = table.origin;
      none.device = table.device;
      none.op = table.op;
      none.fault =
          "The table of " + table.op + " for " + table.device.name + " cannot be used: " + error.what();
    }
  };
  auto table = known.tables.begin();
  for (std::size_t w = 0; w <= known.winners.size(); ++w) {
    for (; table != known.tables.end() && table->place == w; ++table)
      if (table->op == op) add_table(*table);
    if (w < known.winners.size() && known.winners[w].op == op) candidates.push_back(known.winners[w]);
  }
  return candidates;
}

std::size_t add_packed(Known& known, const std::string& folder, Candidate::Origin origin) {
  const auto file = [folder](std::string_view name) {
    return std::string(packed(folder + std::string(name)));
  };
  for (UnreadTable& table : anchor_tables(file, ops()))
    known.tables.push_back({std::move(table), origin, known.winners.size()});
  const std::vector<TableRow> rows = read_table(file);
  add_winners(known.winners, rows, origin);
  return rows.size();
}

Known read_known(const Sources& sources) {
  Known known;
  try {
    read_database(sources, known);
  } catch (const std::exception& error) {  // an application goes on without the file
    known = {};
    known.notes.push_back("The database " + sources.database + " is not used. " + error.what());
  }
  for (const std::string& kernel : sources.kernels) read_kernel_folder(kernel, sources, known);
  std::size_t count = add_packed(known, own_folder, Candidate::Origin::built_in);
  count += add_packed(known, "", Candidate::Origin::built_in);
  known.notes.push_back("The library has " + counted(count, "built-in winner") + ".");
  return known;
}

std::string describe(const Candidate& candidate) {
  const auto rounded = [](double us) { return printed("%.4g", us); };
  const char* const origin = candidate.origin == Candidate::Origin::database   ? "database"
                             : candidate.origin == Candidate::Origin::exported ? "exported"
                                                                               : "built in";
  const std::string what =
      candidate.op + "/" + candidate.template_name + " " + candidate.config.text() + " (" + origin;
  if (candidate.problem.empty())
    return what + ", measured on " + counted(candidate.times.size(), "problem") + " on " +
           candidate.device.name + ")";
  return what + ", " + rounded(candidate.median_us) +
         (candidate.cold_caches ? " us with cold caches on " : " us on ") + candidate.device.name + " for " +
         candidate.problem.text() +
         (candidate.high_us > 0
              ? "; " + rounded(candidate.low_us) + " to " + rounded(candidate.high_us) + " us over loads"
              : "") +
         (candidate.tied > 1 ? "; tied with " + std::to_string(candidate.tied - 1) + " more" : "") + ")";
}

}  // namespace tunesmith

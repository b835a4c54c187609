// SPDX-License-Identifier: Apache-2.0
#include "choose/candidate_set.h"

#include <algorithm>

#include "generator/error.h"
#include "kernel_file/find_op.h"

namespace tunesmith {
namespace {

// True if a table that is known already replaces this one. The two tables' times are not compared with each
// other.
bool is_replaced(const DeviceTable& table, const std::vector<Candidate>& known) {
  std::size_t anchors = 0;
  std::set<std::string> templates;
  for (const Candidate& other : known) {
    if (!other.problem.empty() || other.op != table.table.op || !same_model(other.device, table.device))
      continue;
    anchors = std::max(anchors, other.times.size());
    templates.insert(other.template_name);
  }
  return anchors > 0 && replaces(anchors, templates, table.table);
}

void add_portfolio(std::vector<Candidate>& candidates, const DeviceTable& read, Candidate::Origin origin) {
  for (Candidate& candidate : candidates_of(read)) {
    candidate.origin = origin;
    candidates.push_back(std::move(candidate));
  }
}

}  // namespace

bool replaces(std::size_t anchors, const std::set<std::string>& templates, const TimingTable& shipped) {
  constexpr std::size_t enough = 100;
  const auto is_shipped = [&](const std::string& name) {
    return std::any_of(shipped.variants.begin(), shipped.variants.end(),
                       [&](const TimingTable::Variant& variant) { return variant.template_name == name; });
  };
  return 2 * anchors >= shipped.anchors.size() ||
         (anchors >= enough && !std::all_of(templates.begin(), templates.end(), is_shipped));
}

Candidate candidate_of(const WinnersFileRow& row, Candidate::Origin origin) {
  Candidate candidate = row.winner;
  candidate.origin = origin;
  if (!candidate.fault.empty()) return candidate;
  try {
    candidate.problem = complete_problem(find_op(candidate.op), candidate.problem);
    candidate.problem.forget_derived();  // only few of many candidates are used
  } catch (const Error& error) {
    candidate.fault = error.what();
  }
  return candidate;
}

void add_winners(std::vector<Candidate>& candidates, std::vector<DeviceTable>& tables,
                 const std::vector<WinnersFileRow>& rows, Candidate::Origin origin) {
  std::erase_if(tables, [&](const DeviceTable& table) { return is_replaced(table, candidates); });
  for (const DeviceTable& read : tables) add_portfolio(candidates, read, origin);
  for (const WinnersFileRow& row : rows) candidates.push_back(candidate_of(row, origin));
}

std::vector<Candidate> candidates_of(const CandidateSet& known, std::string_view op) {
  std::vector<Candidate> candidates;
  const auto add_table = [&](const CandidateSet::Table& table) {
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

}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
#include "dispatch/tuning_data.h"

#include "dispatch/packed.h"
#include "generator/listed.h"
#include "generator/ops.h"
#include "kernel_file/find_op.h"

namespace tunesmith {

std::size_t add_packed(TuningData& data, const std::string& folder, Candidate::Origin origin) {
  const auto file = [folder](std::string_view name) { return packed(folder + std::string(name)); };
  for (UnreadTable& table : timing_tables(file, ops()))
    data.tables.push_back({std::move(table), origin, data.winners.size()});
  const std::vector<WinnersFileRow> rows = read_winners(file);
  for (const WinnersFileRow& row : rows) {
    Candidate& winner = data.winners.emplace_back(candidate_of(row, origin));
    winner.has_binary = is_packed(packed_name(winner.device.target, winner.source_hash));
  }
  return rows.size();
}

ReadyConfigs packed_configs(const Op& op, std::string_view target) {
  ReadyConfigs configs;
  for (const std::string& one : targets_that_run_on(target))
    read_ready_configs(packed(ready_configs_file(one, op.name)), configs);
  return configs;
}

TuningData read_tuning_data(const Sources& sources) {
  TuningData data;
  try {
    read_database(sources, data);
  } catch (const std::exception& error) {  // an application goes on without the file
    data = {};
    data.notes.push_back("The database " + sources.database + " is not used. " + error.what());
  }
  for (const std::string& kernel : sources.kernels) read_kernel_folder(kernel, sources, data);
  std::size_t count = add_packed(data, own_folder, Candidate::Origin::built_in);
  count += add_packed(data, "", Candidate::Origin::built_in);
  data.notes.push_back("The library has " + counted(count, "built-in winner") + ".");
  return data;
}

}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/table_run.h"

#include <chrono>
#include <set>
#include <utility>

#include "choose/portfolio.h"
#include "db/device_row.h"
#include "generator/same_model.h"
#include "tuner/run/interrupt.h"

namespace tunesmith {
namespace {

// Shares of the time for a table: for the search; and up to when the best variants are measured on all
// searched problems. The portfolio is measured in the remaining time.
constexpr double share_of_search = 0.38;
constexpr double share_of_choice = 0.62;
constexpr std::size_t contenders = 3 * most_in_portfolio / 2;

}  // namespace

std::vector<TimeRow> times_for_table(const Store& store, const Op& op, std::int64_t device_id) {
  return store.times_of(op.name, device_id, Conditions(), bodies_of(op));
}

std::vector<std::vector<TimeRow>> times_of_model(const std::filesystem::path& database, const Op& op,
                                                 const DeviceFacts& device) {
  std::vector<std::vector<TimeRow>> all;
  std::error_code ignored;
  if (!std::filesystem::exists(database, ignored)) return all;
  const Store store = Store::open(database, Store::Mode::read_only);
  for (const StoredDevice& stored : store.devices())
    if (same_model(facts_of(stored.device), device)) all.push_back(times_for_table(store, op, stored.id));
  return all;
}

void run_table(const DeviceRuns& device_runs, const Op& op, const TuneOptions& options,
               const std::vector<Problem>& problems, const std::vector<Task>& tasks,
               Clock::time_point started, TuneResult& result) {
  const TableOptions& asked = *options.table;
  const auto after = [&](double share) -> std::optional<Clock::time_point> {
    if (asked.seconds <= 0) return std::nullopt;
    const std::chrono::duration<double> time(share * asked.seconds);
    return started + std::chrono::duration_cast<Clock::duration>(time);
  };
  const DeviceFacts& device = device_runs.front()->device();
  const std::int64_t id = device_runs.front()->database_id();
  const auto times = [&] {
    return times_for_table(Store::open(options.database, Store::Mode::read_only), op, id);
  };
  const std::set<std::string> known = known_well(times());
  std::vector<Task> searched = tasks;
  std::erase_if(searched, [&](const Task& task) {
    return task.problem >= asked.searched || known.contains(problems[task.problem].text());
  });
  if (!searched.empty()) {
    result.problems =
        run_tasks(device_runs, problems, searched, {.mode = modes::search, .until = after(share_of_search)});
  }
  if (interrupted()) return;
  const auto measure = [&](const std::vector<Task>& on, std::size_t most, double until) {
    std::vector<NamedVariant> variants = asked.portfolio;
    VariantLists lists = asked.lists;
    if (variants.empty()) {
      const TimingTable best = asked.known ? *asked.known : portfolio_table(op, device, times(), most);
      variants = variants_of(best);
      if (op.kind) lists.merge(lists_by_kind(best, op, device, problems));
    }
    run_tasks(device_runs, problems, on,
              {.mode = modes::table, .listed = variants, .lists = &lists, .until = after(until)});
  };
  std::vector<Task> known_best = tasks;
  std::erase_if(known_best, [&](const Task& task) { return task.problem >= asked.searched; });
  if (!known_best.empty()) measure(known_best, contenders, share_of_choice);
  if (interrupted()) return;
  measure(tasks, most_in_portfolio, 1);
  if (interrupted()) return;
  result.table = asked.known ? extended(*asked.known, op, device, times()) : best_table(op, device, times());
  device_runs.front()->put_anchor_table(row_of(device, *result.table));
}

}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
// query: shows the contents of a database.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "choose/candidate.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "cli/text_table.h"
#include "cli/user_metrics.h"
#include "db/store.h"
#include "generator/error.h"
#include "generator/listed.h"
#include "generator/number_text.h"
#include "kernel_file/find_op.h"
#include "kernel_file/user_kernel.h"
#include "tuner/search/verdict.h"

namespace tunesmith {
namespace {

struct QueryRequest {
  QueryFilter filter;
  std::filesystem::path database;
  std::string format = "table";
  bool all = false, axes = false, first_uses = false;
  std::string pareto;
};

Cell ratio(const std::optional<double>& slower, double faster) {
  return slower && faster > 0 ? Cell(*slower / faster) : Cell();
}

// Shows only unusual conditions to people: their tables leave out columns without content.
Cell where_cold(const std::string& caches) { return caches == "cold" ? Cell(caches) : Cell(); }

Cell where_chained(const std::string& launches) { return launches == "chained" ? Cell(launches) : Cell(); }

// A stored problem as people read it; one that this version cannot read stays as it is.
std::string shown(const std::string& op, const std::string& problem) {
  try {
    return shown_problem(op, Problem::parse(problem));
  } catch (const UsageError&) {
    return problem;
  }
}

// The op, if the row is one of its.
const Op* of_problem(const Op* op, const std::string& name) {
  return op != nullptr && op->name == name ? op : nullptr;
}

TextTable winners_table(const std::vector<WinnerRow>& rows, bool for_people, const Op* op) {
  if (for_people) {
    TextTable table(
        with_metric_names({"op", "device", "problem", "caches", "launches", "median us", "low us", "high us",
                           "tied", "x base", "x worst", "alignment", "template", "config", "state"},
                          op));
    for (const WinnerRow& row : rows) {
      table.add(with_metrics(
          {row.problem.op, row.device.name, shown(row.problem.op, row.problem.text), where_cold(row.caches),
           where_chained(row.launches), row.median_us, cell(row.low_us), cell(row.high_us),
           row.tied > 1 ? Cell(row.tied) : Cell(), ratio(row.base_us, row.median_us),
           ratio(row.worst_us, row.median_us), row.alignment_bytes, row.template_.name, row.variant.config,
           row.newest_verdict != "ok" ? row.newest_verdict + ", not dispatched"
           : row.provisional          ? std::string("provisional: no finals")
                                      : std::string()},
          of_problem(op, row.problem.op), row.problem.text, row.variant.config, row.median_us));
    }
    return table;
  }
  TextTable table(with_metric_names({"op",
                                     "device",
                                     "target",
                                     "problem",
                                     "template",
                                     "config",
                                     "compiled_in",
                                     "alignment_bytes",
                                     "caches",
                                     "launches",
                                     "objective",
                                     "median_us",
                                     "low_us",
                                     "high_us",
                                     "loads",
                                     "spread",
                                     "energy_uj",
                                     "clock_mhz",
                                     "throttled",
                                     "base_us",
                                     "speedup_over_base",
                                     "worst_us",
                                     "speedup_over_worst",
                                     "tied",
                                     "runner_up",
                                     "runner_up_ratio",
                                     "newest_verdict",
                                     "other_gpus",
                                     "provisional",
                                     "source_hash",
                                     "toolchain",
                                     "driver",
                                     "measured_at",
                                     "since"},
                                    op));
  for (const WinnerRow& row : rows) {
    table.add(with_metrics({row.problem.op,
                            row.device.name,
                            row.device.target,
                            row.problem.text,
                            row.template_.name,
                            row.variant.config,
                            row.variant.compiled_in,
                            row.alignment_bytes,
                            row.caches,
                            row.launches,
                            row.objective,
                            row.median_us,
                            cell(row.low_us),
                            cell(row.high_us),
                            cell(row.loads),
                            cell(row.spread),
                            cell(row.energy_uj),
                            cell(row.clock_mhz),
                            row.throttled,
                            cell(row.base_us),
                            ratio(row.base_us, row.median_us),
                            cell(row.worst_us),
                            ratio(row.worst_us, row.median_us),
                            row.tied,
                            row.runner_up.value_or(""),
                            cell(row.runner_up_ratio),
                            row.newest_verdict,
                            row.other_gpus,
                            std::int64_t{row.provisional},
                            row.variant.source_hash,
                            row.toolchain,
                            row.driver,
                            row.measured_at,
                            row.since},
                           of_problem(op, row.problem.op), row.problem.text, row.variant.config,
                           row.median_us));
  }
  return table;
}

// Marks rows that --history adds.
std::string age_of(const ResultRow& row) { return row.is_stale ? "stale" : row.is_current ? "" : "replaced"; }

TextTable results_table(const std::vector<ResultRow>& rows, bool for_people, const Op* op) {
  if (for_people) {
    TextTable table(with_metric_names({"op", "device", "problem", "verdict", "state", "caches", "launches",
                                       "median us", "spread", "template", "config", "reason"},
                                      op));
    for (const ResultRow& row : rows) {
      table.add(with_metrics({row.op, row.device, shown(row.op, row.problem), row.verdict, age_of(row),
                              where_cold(row.caches), where_chained(row.launches), cell(row.median_us),
                              cell(row.spread), row.template_name, row.config, row.reason},
                             of_problem(op, row.op), row.problem, row.config, row.median_us));
    }
    return table;
  }
  TextTable table(with_metric_names({"op",
                                     "device",
                                     "target",
                                     "problem",
                                     "template",
                                     "config",
                                     "compiled_in",
                                     "verdict",
                                     "reason",
                                     "caches",
                                     "launches",
                                     "median_us",
                                     "low_us",
                                     "high_us",
                                     "loads",
                                     "min_us",
                                     "spread",
                                     "energy_uj",
                                     "clock_mhz",
                                     "throttled",
                                     "max_error",
                                     "registers",
                                     "static_shared_bytes",
                                     "dynamic_shared_bytes",
                                     "spill_bytes",
                                     "compile_ms",
                                     "stage",
                                     "wall_ms",
                                     "samples",
                                     "space_variants",
                                     "is_base",
                                     "is_current",
                                     "is_stale",
                                     "source_hash",
                                     "toolchain",
                                     "driver",
                                     "measured_at",
                                     "session_id",
                                     "measurement_id"},
                                    op));
  for (const ResultRow& row : rows) {
    table.add(with_metrics({row.op,
                            row.device,
                            row.target,
                            row.problem,
                            row.template_name,
                            row.config,
                            row.compiled_in,
                            row.verdict,
                            row.reason,
                            row.caches,
                            row.launches,
                            cell(row.median_us),
                            cell(row.low_us),
                            cell(row.high_us),
                            cell(row.loads),
                            cell(row.min_us),
                            cell(row.spread),
                            cell(row.energy_uj),
                            cell(row.clock_mhz),
                            row.throttled,
                            cell(row.max_error),
                            cell(row.registers),
                            cell(row.static_shared_bytes),
                            cell(row.dynamic_shared_bytes),
                            cell(row.spill_bytes),
                            cell(row.compile_ms),
                            row.stage,
                            cell(row.wall_ms),
                            row.samples,
                            cell(row.space_variants),
                            std::int64_t{row.is_base},
                            std::int64_t{row.is_current},
                            std::int64_t{row.is_stale},
                            row.source_hash,
                            row.toolchain,
                            row.driver,
                            row.measured_at,
                            row.session_id,
                            row.measurement_id},
                           of_problem(op, row.op), row.problem, row.config, row.median_us));
  }
  return table;
}

// A second objective, beside the time.
struct Objective {
  std::string name;
  bool larger_is_better = false;
  std::function<std::optional<double>(const ResultRow&)> value;
};

Objective objective_of(const std::string& name, const Op* op) {
  const UserKernel* const own = op != nullptr ? op->user_kernel : nullptr;
  std::vector<std::string> names = {"energy_uj", "error", "registers"};
  if (own != nullptr)
    for (const UserMetric& one : own->metrics) {
      names.push_back(one.name);
      if (one.name != name) continue;
      return {name, one.larger_is_better, [&one, op](const ResultRow& row) -> std::optional<double> {
                if (!row.median_us) return std::nullopt;
                return value_of(*op, row.problem, row.config,
                                [&](const Problem& problem, const Values& config) {
                                  return one.value(problem, config, *row.median_us);
                                });
              }};
    }
  if (name == "energy_uj") return {name, false, [](const ResultRow& row) { return row.energy_uj; }};
  if (name == "registers")
    return {name, false, [](const ResultRow& row) -> std::optional<double> {
              if (!row.registers) return std::nullopt;
              return static_cast<double>(*row.registers);
            }};
  if (name == "error")
    return {name, false, [own, op](const ResultRow& row) -> std::optional<double> {
              if (!row.max_error || own == nullptr || !own->permitted_times) return row.max_error;
              return value_of(*op, row.problem, row.config,
                              [&](const Problem& problem, const Values& config) {
                                return *row.max_error * own->permitted_times(problem, config);
                              });
            }};
  throw UsageError(
      "--pareto is \"" + name + "\"; it may be " + listed(names) +
      (own == nullptr ? ", and of a kernel of yours (query FILE.cu) a metric of its [metrics]." : "."));
}

// Returns the variants of each problem than which no other one is both faster and better by the objective,
// the fastest first.
std::vector<std::pair<ResultRow, double>> pareto_set(const std::vector<ResultRow>& rows,
                                                     const Objective& objective) {
  std::map<std::tuple<std::string, std::string, std::string, std::string, std::string>,
           std::vector<std::pair<ResultRow, double>>>
      groups;
  for (const ResultRow& row : rows) {
    if (row.verdict != "ok" || !row.is_current || !row.median_us) continue;
    if (const auto value = objective.value(row))
      groups[{row.op, row.device, row.problem, row.caches, row.launches}].emplace_back(row, *value);
  }
  std::vector<std::pair<ResultRow, double>> set;
  for (auto& [key, all] : groups) {
    const auto is_better = [&](double a, double b) { return objective.larger_is_better ? a > b : a < b; };
    std::stable_sort(all.begin(), all.end(), [&](const auto& a, const auto& b) {
      if (*a.first.median_us != *b.first.median_us) return *a.first.median_us < *b.first.median_us;
      return is_better(a.second, b.second);
    });
    std::optional<double> best;
    for (auto& one : all) {
      if (best && !is_better(one.second, *best)) continue;
      best = one.second;
      set.push_back(std::move(one));
    }
  }
  return set;
}

TextTable pareto_table(const std::vector<std::pair<ResultRow, double>>& set, bool for_people,
                       const Objective& objective) {
  TextTable table({"op", "device", "problem", "caches", "launches", for_people ? "median us" : "median_us",
                   objective.name, "template", "config"});
  for (const auto& [row, value] : set)
    table.add({row.op, row.device, for_people ? shown(row.op, row.problem) : row.problem,
               for_people ? where_cold(row.caches) : Cell(row.caches),
               for_people ? where_chained(row.launches) : Cell(row.launches), cell(row.median_us), value,
               row.template_name, row.config});
  return table;
}

std::string state_of(const StoredTrial& row) {
  if (!row.newest_verdict.empty() && row.newest_verdict != "ok")
    return row.newest_verdict + " when it was tuned";
  if (!row.trial.us) return "could not be launched";
  if (!row.is_current) return "replaced by a later first use";
  if (row.is_tuned) return "the problem is tuned now";
  return row.place == 1 ? "used" : "";
}

TextTable trials_table(const std::vector<StoredTrial>& rows, bool for_people) {
  TextTable table = for_people
                        ? TextTable({"op", "device", "problem", "us", "template", "config", "state"})
                        : TextTable({"op", "device", "target", "problem", "place", "us", "template", "config",
                                     "is_current", "is_tuned", "newest_verdict", "source_hash", "toolchain",
                                     "driver", "tunesmith_version", "tried_at", "first_use"});
  for (const StoredTrial& row : rows) {
    const TrialRow& trial = row.trial;
    if (for_people) {
      table.add({row.problem.op, row.device.name, shown(row.problem.op, row.problem.text), cell(trial.us),
                 trial.template_name, trial.config, state_of(row)});
    } else {
      table.add({row.problem.op, row.device.name, row.device.target, row.problem.text, row.place,
                 cell(trial.us), trial.template_name, trial.config, std::int64_t{row.is_current},
                 std::int64_t{row.is_tuned}, row.newest_verdict, trial.source_hash, trial.toolchain,
                 row.driver, row.tunesmith_version, row.tried_at, row.first_use});
    }
  }
  return table;
}

// Checks that the names belong to the op; a part of a problem is enough.
void check_names(const Op& op, const Values& part) {
  for (const auto& entry : part.entries()) {
    const auto named = [&](const Parameter& parameter) { return parameter.name == entry.first; };
    if (std::none_of(op.parameters.begin(), op.parameters.end(), named)) {
      throw UsageError(entry.first + " is not a parameter of " + op.name + "; \"tunesmith ops " + op.name +
                       "\" lists them.");
    }
  }
}

bool is_of_host(const ResultRow& row) { return row.target == "host"; }
bool is_of_host(const WinnerRow& row) { return row.device.kind == "host"; }
bool is_of_host(const StoredTrial& row) { return row.device.kind == "host"; }

// Returns the rows of one problem whose times are comparable: all that are `ok` and were measured under its
// winners' conditions, and the failures.
std::vector<ResultRow> ranked(const Store& store, QueryFilter filter) {
  filter.limit = 0;
  if (filter.caches.empty()) filter.caches = "warm";
  std::vector<ResultRow> rows = store.results(filter);
  const auto same = [&](const ResultRow& row) {
    return row.problem == rows.front().problem && row.device == rows.front().device &&
           (row.launches == rows.front().launches || row.verdict != "ok");
  };
  std::stable_partition(rows.begin(), rows.end(), [](const ResultRow& row) { return row.verdict == "ok"; });
  if (!rows.empty() && !std::all_of(rows.begin(), rows.end(), same)) {
    throw UsageError(
        "--axes compares times of one problem on one device, but the database has several that match: " +
        rows.front().problem + " on " + rows.front().device + ", " + rows.back().problem + " on " +
        rows.back().device + ". Give all of --problem, and --device.");
  }
  return rows;
}

// "64: 5, 128: 3 + 2 failed", smallest first.
struct VerdictCount {
  std::int64_t ok = 0, failed = 0;
};
std::string counts_text(const std::map<std::string, VerdictCount>& counts) {
  std::vector<std::pair<Value, VerdictCount>> sorted;
  for (const auto& [value, count] : counts) sorted.emplace_back(to_value(value), count);
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string text;
  for (const auto& [value, count] : sorted) {
    text += (text.empty() ? "" : ", ") + to_text(value) + ": " + std::to_string(count.ok);
    if (count.failed > 0) text += " + " + std::to_string(count.failed) + " failed";
  }
  return text;
}

// Shows by how much the best time grows if an axis has its worst value, which is the cost of choosing that
// axis wrong, and the number of variants behind each value.
TextTable axes_table(const std::vector<ResultRow>& rows) {
  using Key = std::pair<std::string, std::string>;            // template and axis
  std::map<Key, std::map<std::string, double>> best;          // by value
  std::map<Key, std::map<std::string, VerdictCount>> counts;  // by value
  std::map<std::string, std::int64_t> variants;               // by template
  for (const ResultRow& row : rows) {
    const Values config = Values::parse(row.config);
    if (row.median_us) ++variants[row.template_name];
    for (const auto& [axis, value] : config.entries()) {
      VerdictCount& count = counts[{row.template_name, axis}][to_text(value)];
      ++(row.median_us ? count.ok : count.failed);
      if (!row.median_us) continue;
      double& us = best[{row.template_name, axis}].try_emplace(to_text(value), *row.median_us).first->second;
      us = std::min(us, *row.median_us);
    }
  }
  struct Axis {
    std::string template_name, name, fastest, slowest;
    std::int64_t values;
    double best_us, matters;
    std::string counted;
  };
  std::vector<Axis> axes;
  for (const auto& [of, values] : best) {
    const auto [fast, slow] = std::minmax_element(
        values.begin(), values.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    axes.push_back({of.first, of.second, fast->first, slow->first, static_cast<std::int64_t>(values.size()),
                    fast->second, slow->second / fast->second, counts_text(counts[of])});
  }
  std::stable_sort(axes.begin(), axes.end(), [](const Axis& a, const Axis& b) {
    return std::tuple(a.best_us, -a.matters) < std::tuple(b.best_us, -b.matters);
  });
  TextTable table(
      {"template", "variants", "axis", "values", "best", "worst", "x best", "best us", "variants by value"});
  for (const Axis& axis : axes) {
    table.add({axis.template_name, variants[axis.template_name], axis.name, axis.values, axis.fastest,
               axis.slowest, axis.matters, axis.best_us, axis.counted});
  }
  return table;
}

void run_query(QueryRequest& request) {
  QueryFilter& filter = request.filter;
  const Values part = Values::parse(filter.problem);
  const std::filesystem::path path = database_or_default(request.database);
  // Imported kernels have their own names, which only their file knows.
  const bool may_be_imported =
      !filter.op.empty() && op_or_null(filter.op) == nullptr && std::filesystem::exists(path);
  if (!filter.op.empty() && !may_be_imported) check_names(find_op(filter.op), part);
  const Store store = Store::open(path, Store::Mode::read_only);
  if (may_be_imported && store.results({.op = filter.op, .limit = 1}).empty()) find_op(filter.op);
  filter.problem = part.text();
  filter.device = device_filter(filter.device);
  const bool for_people = request.format == "table";
  const bool verdicts = request.all || filter.history || !filter.verdict.empty();
  const Op* const op = filter.op.empty() ? nullptr : op_or_null(filter.op);
  bool of_host = false;
  const auto noted = [&](auto rows) {
    for (const auto& row : rows) of_host = of_host || is_of_host(row);
    return rows;
  };
  const auto pareto = [&] {
    const Objective objective = objective_of(request.pareto, op);
    const std::int64_t most = std::exchange(filter.limit, 0);
    std::vector<std::pair<ResultRow, double>> set = pareto_set(noted(store.results(filter)), objective);
    if (most > 0 && set.size() > static_cast<std::size_t>(most)) set.resize(static_cast<std::size_t>(most));
    return pareto_table(set, for_people, objective);
  };
  const TextTable table = !request.pareto.empty() ? pareto()
                          : request.axes          ? axes_table(noted(ranked(store, filter)))
                          : request.first_uses    ? trials_table(noted(store.trials(filter)), for_people)
                          : verdicts ? results_table(noted(store.results(filter)), for_people, op)
                                     : winners_table(noted(store.winners(filter)), for_people, op);
  if (table.empty() && for_people) {
    filter.limit = 1;
    const bool untold = !verdicts && !request.axes && !request.first_uses && !store.results(filter).empty();
    std::cout << "Nothing in " << store.path().string() << " matches this query"
              << (untold ? ", but verdicts without a winner do: --all shows them, and \"tunesmith finals\" "
                           "chooses winners.\n"
                         : ".\n");
  } else {
    if (of_host && for_people) std::cout << "Among them is the host, " << emulated << ".\n";
    (for_people ? std::cout : exact_output()) << table.as(request.format);
  }
  warn_if_unused(path);
}

}  // namespace

void add_query_command(CLI::App& app) {
  CLI::App* query = app.add_subcommand("query", "Show the winners in the database, or every verdict");
  auto request = std::make_shared<QueryRequest>();
  QueryFilter& filter = request->filter;
  add_op_option(query, filter.op, "Only this op");
  query->add_option("--problem", filter.problem, "Only problems with these values, such as \"height=1000\"");
  query->add_option("--device", filter.device,
                    "Only this device: auto, cuda, cuda:N, host, or part of a device's name");
  query
      ->add_option("--format", request->format,
                   "Output format: table, json or csv; json and csv have every column")
      ->capture_default_str()
      ->check(CLI::IsMember({"table", "json", "csv"}));
  query->add_flag("--all", request->all, "Show every variant that was tried, with its verdict");
  query->add_flag("--axes", request->axes,
                  "Show by how much the best time of a problem grows where an axis has its worst value");
  CLI::Option* first_uses =
      query->add_flag("--first-uses", request->first_uses,
                      "Show what applications tried when they first used a problem (tune_on_first_use); with "
                      "--history also what later ones replaced");
  first_uses->excludes("--all")->excludes("--axes");
  query
      ->add_option(
          "--pareto", request->pareto,
          "Show the variants than which no other is both faster and better by this: error, energy_uj, "
          "registers, or a metric of a kernel of yours")
      ->excludes("--all")
      ->excludes("--axes")
      ->excludes("--first-uses");
  query->add_option("--verdict", filter.verdict, "Only variants with this verdict: ok, wrong_result, ...")
      ->check(CLI::IsMember(std::vector<std::string>(verdict_names.begin(), verdict_names.end())));
  query->add_flag(
      "--history", filter.history,
      "Show earlier verdicts too: on the same variant, and on older bodies of its kernel (stale)");
  query->add_option("--limit", filter.limit, "Show at most this many rows")->check(whole_number(0));
  add_db_option(query, request->database);
  query->callback([request] { run_query(*request); });
}

}  // namespace tunesmith

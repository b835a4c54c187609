// SPDX-License-Identifier: Apache-2.0
// The part of read_tuning_data that reads a database: an exported library has exported.cpp in its place.
#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include "choose/portfolio.h"
#include "db/device_row.h"
#include "db/store.h"
#include "dispatch/packed.h"
#include "dispatch/tuning_data.h"
#include "generator/error.h"
#include "generator/listed.h"
#include "runtime/executable.h"
#include "runtime/trust.h"
#include "tunesmith/dispatcher.h"

namespace tunesmith {
namespace {

WinnersFileRow to_file_row(const WinnerRow& row) {
  WinnersFileRow made{.winner = {},
                      .alignment_bytes = row.alignment_bytes,
                      .base_us = row.base_us.value_or(0),
                      .toolchain = row.toolchain,
                      .driver = row.driver,
                      .measured_at = row.measured_at};
  Candidate& winner = made.winner;
  winner.device = facts_of(row.device);
  winner.op = row.problem.op;
  winner.template_name = row.template_.name;
  winner.median_us = row.median_us;
  winner.low_us = row.low_us.value_or(0);
  winner.high_us = row.high_us.value_or(0);
  winner.tied = row.tied;
  winner.conditions = conditions_of(row);
  winner.source_hash = row.variant.source_hash;
  try {
    winner.problem = Problem::parse(row.problem.text);
    winner.config = Values::parse(row.variant.config);
  } catch (const Error& error) {
    winner.fault = error.what();
  }
  if (!row.newest_verdict.empty() && row.newest_verdict != "ok")
    winner.fault = "Its last measurement has the verdict " + row.newest_verdict + ".";
  return made;
}

DeviceTable to_table(const StoredAnchorTable& row) {
  DeviceTable table{facts_of(row.device),
                    read_timing_table(row.table.text, "the stored table of " + row.table.op)};
  read_factors(row.table.factors, table.table);
  return table;
}

// True for the times that dispatch compares: of warm, apart launches.
bool is_used(const AnchorTableRow& row) { return row.caches == "warm" && row.launches == "apart"; }

// A stored binary is run, so its bytes must still have the stored hash. It belongs to the right source: its
// key is the hash of the source that this library renders.
bool is_usable(const WinnerRow& row, const Sources& sources, TuningData& data,
               std::vector<const WinnerRow*>& not_asked_for) {
  if (!row.binary || row.variant.target != sources.device.target) return false;
  if (sources.device.kind == DeviceKind::host && !sources.host_binaries) {
    if (!is_packed(packed_name(row.variant.target, row.variant.source_hash))) not_asked_for.push_back(&row);
    return false;
  }
  if (is_whole(*row.binary)) return true;
  data.notes.push_back(
      "The binary of " + row.problem.op + "/" + row.template_.name + " " + row.variant.config +
      " in the database " + sources.database +
      " is damaged (its hash differs from the stored one) and is not used: tune the problem " +
      row.problem.text + " again.");
  return false;
}

std::string driver_of(const DeviceFacts& device) {
  return device.kind == DeviceKind::cuda ? cuda_driver() : "";
}

// The first uses on this model of device with its current driver.
std::vector<FirstUseOutcome> first_uses(const Store& store, const DeviceFacts& device) {
  const std::string driver = driver_of(device);
  std::vector<FirstUseOutcome> outcomes;
  std::string last;
  for (const StoredTrial& row : store.trials({.device = device.name})) {
    if (row.driver != driver || !same_model(facts_of(row.device), device)) continue;
    if (row.first_use != last) outcomes.push_back({row.problem.op, row.problem.text, {}});
    last = row.first_use;
    const bool failed = !row.newest_verdict.empty() && row.newest_verdict != "ok";
    outcomes.back().tried.push_back({row.trial.template_name, row.trial.config, row.trial.source_hash,
                                     failed ? 0 : row.trial.us.value_or(0), row.trial.toolchain});
  }
  for (FirstUseOutcome& one : outcomes)
    std::stable_partition(one.tried.begin(), one.tried.end(),
                          [](const TriedVariant& tried) { return tried.us > 0; });
  return outcomes;
}

// Readers wait only for a program that repairs the log, for some milliseconds; a program that starts should
// not wait for a file system without locks.
Store open_to_read(const std::filesystem::path& database) {
  Store::Options options;
  options.busy_timeout_ms = 200;
  return Store::open(database, Store::Mode::read_only, options);
}

}  // namespace

void read_database(const Sources& sources, TuningData& data) {
  if (sources.database.empty()) {
    data.notes.push_back("No database is used: only built-in winners are known.");
    return;
  }
  std::error_code error;
  if (!std::filesystem::exists(sources.database, error)) {
    data.notes.push_back("There is no database " + sources.database + ": only built-in winners are known.");
    return;
  }
  if (const auto why = why_untrusted(sources.database)) {
    data.notes.push_back("The database " + sources.database + " is not used. " + *why);
    return;
  }
  const Store store = open_to_read(sources.database);
  std::size_t count = 0;
  std::vector<const WinnerRow*> not_asked_for;
  const std::vector<WinnerRow> winners = store.winners({}, Store::Load::dispatch);
  for (const WinnerRow& row : winners) {
    Candidate& candidate =
        data.winners.emplace_back(candidate_of(to_file_row(row), Candidate::Origin::database));
    candidate.has_binary = is_usable(row, sources, data, not_asked_for);
    if (candidate.has_binary) {
      data.binaries.emplace(packed_name(sources.device.target, row.variant.source_hash),
                            StoredBinary{std::string(reinterpret_cast<const char*>(row.binary->bytes.data()),
                                                     row.binary->bytes.size())});
    }
    ++count;
  }
  data.notes.push_back("The database " + sources.database + " has " + counted(count, "winner") + ".");
  if (!not_asked_for.empty()) {
    const WinnerRow& first = *not_asked_for.front();
    data.notes.push_back(
        "The binaries of " + counted(not_asked_for.size(), "winner") +
        " for the host are not run, such as that of " + first.problem.op + " " + first.problem.text +
        ", because DispatcherOptions::host_binaries is off. A first call "
        "launches what is ready while they are compiled in the background: prepare() waits for "
        "that, and with host_binaries they are run at once.");
  }
  for (StoredAnchorTable& row : store.anchor_tables()) {
    if (!is_used(row.table)) continue;
    data.tables.push_back({{facts_of(row.device), row.table.op, [row] { return to_table(row); }},
                           Candidate::Origin::database,
                           data.winners.size()});
  }
  if (sources.first_uses) data.first_uses = first_uses(store, sources.device);
}

void write_first_uses(const std::string& database, const DeviceFacts& device,
                      const std::vector<FirstUseOutcome>& outcomes, std::chrono::milliseconds patience) {
  // An existing file may be read only if it is trusted; for a missing one, its nearest existing folder must
  // be trusted.
  std::filesystem::path place = std::filesystem::absolute(database);
  while (place.has_relative_path() && !std::filesystem::exists(place.parent_path()))
    place = place.parent_path();
  if (const auto why = why_untrusted(place)) throw Error(*why);
  Store::Options options;
  options.busy_timeout_ms = static_cast<int>(patience.count());
  Store store = Store::open(database, Store::Mode::create, options);
  store.in_one_commit([&] {
    const std::int64_t device_id = store.id_of(row_of(device));
    for (const FirstUseOutcome& one : outcomes) {
      FirstUseRow row{.problem_id = store.id_of(ProblemRow{.op = one.op, .text = one.problem}),
                      .device_id = device_id,
                      .driver = driver_of(device),
                      .tunesmith_version = TUNESMITH_VERSION};
      for (const TriedVariant& tried : one.tried)
        row.trials.push_back({.template_name = tried.template_name,
                              .config = tried.config,
                              .source_hash = tried.source_hash,
                              .us = tried.us > 0 ? std::optional(tried.us) : std::nullopt,
                              .toolchain = tried.made_by});
      store.put_first_use(row);
    }
  });
}

BaseFaults faults_of_base(const std::string& database, const DeviceFacts& device,
                          const std::string& source_hash) {
  BaseFaults faults;
  std::error_code error;
  if (database.empty() || !std::filesystem::exists(database, error) || why_untrusted(database)) return faults;
  try {
    const Store store = open_to_read(database);
    for (const Store::Newest& newest : store.newest_of(device.target, source_hash, device.name)) {
      const std::string fault = newest.verdict == "ok"
                                    ? ""
                                    : "The base may be wrong here: its last measurement on this device, on " +
                                          newest.problem + ", has the verdict " + newest.verdict + ". " +
                                          newest.reason;
      if (faults.by_problem.empty()) faults.newest = fault;
      faults.by_problem.emplace(newest.problem, fault);
    }
  } catch (const std::exception&) {
    // read_database() has said why
  }
  return faults;
}

std::vector<WinnersFileRow> winners_of(const std::filesystem::path& database, const QueryFilter& filter) {
  const Store store = Store::open(database, Store::Mode::read_only);
  std::vector<WinnersFileRow> rows;
  for (const WinnerRow& row : store.winners(filter)) {
    if (row.provisional) continue;  // shipped winners have had their finals
    WinnersFileRow& made = rows.emplace_back(to_file_row(row));
    made.winner = candidate_of(made, Candidate::Origin::database);
  }
  return rows;
}

std::vector<DeviceTable> tables_of(const std::filesystem::path& database, const QueryFilter& filter) {
  std::vector<DeviceTable> tables;
  const Store store = Store::open(database, Store::Mode::read_only);
  for (const StoredAnchorTable& row : store.anchor_tables(filter))
    if (is_used(row.table)) tables.push_back(to_table(row));
  return tables;
}

TimingTable current_table(const Op& op, const DeviceFacts& device, const std::filesystem::path& database) {
  TimingTable known;
  const auto file = [](std::string_view name) { return packed(name); };
  for (const UnreadTable& shipped : timing_tables(file, {&op, 1})) {
    if (!same_model(shipped.device, device)) continue;
    known = completed(shipped.read().table, op);
    break;
  }
  std::error_code error;
  if (!std::filesystem::exists(database, error)) return known;
  for (DeviceTable& own : tables_of(database, {.op = op.name})) {
    if (!same_model(own.device, device)) continue;
    std::set<std::string> templates;
    for (const TimingTable::Variant& variant : own.table.variants) templates.insert(variant.template_name);
    if (replaces(own.table.anchors.size(), templates, known)) return completed(std::move(own.table), op);
  }
  return known;
}

inline namespace TUNESMITH_ABI {
std::string default_database() {
  try {
    return default_database_path().string();
  } catch (const StoreError&) {
    return "";  // switched off, or there is no home folder
  }
}
}  // namespace TUNESMITH_ABI

}  // namespace tunesmith

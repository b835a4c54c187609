// SPDX-License-Identifier: Apache-2.0
#include "cli/export.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "choose/time_model.h"
#include "choose/winners_file.h"
#include "db/store.h"
#include "dispatch/tuning_data.h"
#include "generator/error.h"
#include "generator/number_text.h"
#include "generator/ops.h"
#include "generator/rates.h"
#include "kernel_file/find_op.h"
#include "runtime/files.h"

namespace tunesmith {
namespace {

std::vector<WinnersFileRow> table_of(const std::filesystem::path& folder) {
  return read_winners([&](std::string_view name) { return read_file(folder / name); });
}

}  // namespace

void leave_out_unknown(std::vector<DeviceTable>& tables, std::vector<std::string>& notes) {
  std::erase_if(tables, [&](const DeviceTable& one) {
    if (std::any_of(ops().begin(), ops().end(), [&](const Op& op) { return op.name == one.table.op; }))
      return false;
    notes.push_back("Left out the table of " + one.table.op + " on " + one.device.name +
                    ": the library has no such op; a kernel of your own is not exported.");
    return true;
  });
}

bool keep_current(DeviceTable& one, std::vector<std::string>& notes) {
  const std::vector<TimingTable::Variant>& variants = one.table.variants;
  const std::size_t all = variants.size();
  std::vector<std::size_t> current;
  for (std::size_t v = 0; v < all; ++v)
    if (fault_of(find_op(one.table.op), variants[v]).empty()) current.push_back(v);
  const std::size_t stale = all - current.size();
  if (stale > 0) {
    notes.push_back("Left out " + std::to_string(stale) + " of the " + std::to_string(all) +
                    " variants in the table of " + one.table.op + " on " + one.device.name +
                    ": their templates have changed since they were measured; tune again.");
    one.table = with_variants(one.table, current);
  }
  if (current.empty()) return false;
  if (stale > 0 || !is_fitted(one.table.weights)) fit_table(find_op(one.table.op), one.device, one.table);
  return true;
}

void require_current(const Candidate& winner) {
  if (!winner.fault.empty()) throw Error(winner.fault);
  const Op& op = find_op(winner.op);
  const Template& tmpl = find_template(op, winner.template_name);
  const Problem problem = complete_problem(op, winner.problem);
  const Config config = tmpl.space(problem, winner.device).legal(winner.config);
  if (render(op, tmpl, problem, config, winner.device.target).hash != winner.source_hash)
    throw Error("Its template has changed since it was tuned; tune it again.");
  if (!reentrant(tmpl.work(problem, config, winner.device)))
    throw Error("It keeps state in its module between two steps, so dispatch does not use it.");
}

namespace {

// True if some variants of the table are unchanged since they were measured.
bool is_current(const TimingTable& table) {
  const Op& op = find_op(table.op);
  return std::any_of(table.variants.begin(), table.variants.end(), [&](const TimingTable::Variant& variant) {
    return std::any_of(op.templates.begin(), op.templates.end(), [&](const Template& tmpl) {
      return tmpl.name == variant.template_name &&
             body_hash(op, tmpl, files_of(op)).compare(0, variant.body.size(), variant.body) == 0;
    });
  });
}

std::vector<DeviceTable> anchor_tables_of(const std::filesystem::path& folder) {
  return read_timing_tables([&](std::string_view name) { return read_file(folder / name); }, ops());
}

bool same_key(const WinnersFileRow& a, const WinnersFileRow& b) {
  return !stands_before(a, b) && !stands_before(b, a);
}

std::vector<std::string> files_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().extension() == ".csv") names.push_back(entry.path().filename().string());
  return names;
}

// True for the rates of a device of the tables.
bool is_rates_of(const Texts& tables, const std::string& name) {
  return std::any_of(tables.begin(), tables.end(), [&](const auto& table) {
    return table.first.ends_with(".csv") && rates_file(table.first.substr(0, table.first.size() - 4)) == name;
  });
}

}  // namespace

ExportReport export_winners(const std::filesystem::path& database, const std::string& device,
                            const std::filesystem::path& folder) {
  if (!std::filesystem::exists(database)) {
    throw UsageError("There is no database " + database.string() +
                     "; tune first, or name another with --db.");
  }
  ExportReport report;
  std::vector<WinnersFileRow> rows;
  const auto take = [&](WinnersFileRow row, const char* verb) {
    try {
      require_current(row.winner);
      rows.push_back(std::move(row));
      return true;
    } catch (const Error& error) {
      report.notes.push_back(std::string(verb) + " " + describe(row.winner) + ": " + error.what());
      return false;
    }
  };

  QueryFilter filter;
  filter.device = device;
  for (WinnersFileRow& row : winners_of(database, filter))
    report.exported += take(std::move(row), "Left out") ? 1 : 0;
  std::vector<DeviceTable> anchors = tables_of(database, filter);
  leave_out_unknown(anchors, report.notes);
  report.tables = static_cast<int>(anchors.size());
  if (report.exported == 0 && anchors.empty()) {
    std::string why;
    for (const std::string& note : report.notes) why += " " + note;
    throw UsageError("The database " + database.string() + " has no winner to export" +
                     (device.empty() ? "" : " for the device " + device) + "; nothing was written." + why);
  }
  const std::vector<WinnersFileRow> exported = rows;
  for (WinnersFileRow& row : table_of(folder)) {
    if (std::none_of(exported.begin(), exported.end(),
                     [&](const WinnersFileRow& other) { return same_key(row, other); })) {
      report.kept += take(std::move(row), "Dropped") ? 1 : 0;
    }
  }

  for (DeviceTable& kept : anchor_tables_of(folder)) {
    if (std::none_of(anchors.begin(), anchors.end(),
                     [&](const DeviceTable& other) {
                       return other.table.op == kept.table.op && same_model(other.device, kept.device);
                     }) &&
        is_current(kept.table))
      anchors.push_back(std::move(kept));
  }

  for (DeviceTable& one : anchors)
    if (!is_fitted(one.table.weights)) fit_table(find_op(one.table.op), one.device, one.table);

  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const Texts tables = write_winners(rows, anchors);
  const std::vector<std::string> old_files = files_in(folder);
  for (const auto& [name, text] : tables) write_file(folder / name, text);
  for (const std::string& name : old_files)
    if (!tables.contains(name) && !is_rates_of(tables, name)) std::filesystem::remove(folder / name, error);
  return report;
}

std::vector<std::string> check_exported(const std::filesystem::path& folder) {
  std::vector<std::string> wrong;
  std::set<std::string> named = {std::string(devices_file)};
  for (const std::string& name : tuned_devices(read_file(folder / devices_file))) {
    named.insert(name + ".csv");
    named.insert(rates_file(name));
    for (const Op& op : ops()) named.insert(timing_table_file(name, op.name));
  }
  for (const DeviceTable& one : anchor_tables_of(folder)) {
    if (!is_current(one.table))
      wrong.push_back("The table of " + one.table.op + " on " + one.device.name +
                      " was measured with other templates; tune and export it again.");
  }
  for (const WinnersFileRow& row : table_of(folder)) {
    try {
      require_current(row.winner);
    } catch (const Error& error) {
      wrong.push_back(describe(row.winner) + ": " + error.what());
    }
  }
  for (const std::string& name : files_in(folder)) {
    if (name.ends_with(".rates.csv")) static_cast<void>(read_rates(read_file(folder / name), name));
    if (!named.contains(name)) wrong.push_back("No table refers to " + name + "; delete it.");
  }
  return wrong;
}

}  // namespace tunesmith

#include "cli/export.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "db/store.h"
#include "dispatch/known.h"
#include "dispatch/table.h"
#include "generator/error.h"
#include "generator/ops.h"
#include "runtime/files.h"

namespace tunesmith {
namespace {

std::vector<TableRow> table_of(const std::filesystem::path& folder) {
  return read_table(read_file(folder / table_file));
}

// The row's text as the templates are now. Throws Error if it is stale.
Source source_of(const Candidate& winner) {
  if (!winner.fault.empty()) throw Error(winner.fault);
  const Op& op = find_op(winner.op);
  const Template& tmpl = find_template(op, winner.template_name);
  const Problem problem = complete_problem(op, winner.problem);
  const Config config = tmpl.space(problem, winner.device).legal(winner.config);
  Source source = render(op, tmpl, problem, config, winner.device.target);
  if (source.hash != winner.source_hash)
    throw Error("Its template has changed since it was tuned; tune it again.");
  if (!reentrant(tmpl.work(problem, config, winner.device))) {
    throw Error("It keeps state in its module between two steps, so dispatch does not use it.");
  }
  return source;
}

std::string file_name(const Candidate& winner) {
  return winner.op + "_" + winner.template_name + "_" + winner.device.target + "_" +
         winner.source_hash.substr(0, 12) + ".cu";
}

bool same_key(const TableRow& a, const TableRow& b) { return !before(a, b) && !before(b, a); }

}  // namespace

ExportReport export_winners(const std::filesystem::path& database, const std::string& device,
                            const std::filesystem::path& folder) {
  if (!std::filesystem::exists(database)) {
    throw UsageError("There is no database " + database.string() +
                     "; tune first, or name another with --db.");
  }
  ExportReport report;
  std::map<std::string, std::string> files;
  std::vector<TableRow> rows;
  const auto take = [&](TableRow row, const char* verb) {
    try {
      const Source source = source_of(row.winner);
      row.file = file_name(row.winner);
      files[row.file] = source.text;
      rows.push_back(std::move(row));
      return true;
    } catch (const Error& error) {
      report.notes.push_back(std::string(verb) + " " + describe(row.winner) + ": " + error.what());
      return false;
    }
  };

  QueryFilter filter;
  filter.device = device;
  for (TableRow& row : winners_of(database, filter))
    report.exported += take(std::move(row), "Left out") ? 1 : 0;
  if (report.exported == 0) {
    std::string why;
    for (const std::string& note : report.notes) why += " " + note;
    throw UsageError("The database " + database.string() + " has no winner to export" +
                     (device.empty() ? "" : " for the device " + device) + "; nothing was written." + why);
  }
  const std::vector<TableRow> exported = rows;
  std::vector<std::string> old_files;
  for (TableRow& row : table_of(folder)) {
    old_files.push_back(row.file);
    if (std::none_of(exported.begin(), exported.end(),
                     [&](const TableRow& other) { return same_key(row, other); })) {
      report.kept += take(std::move(row), "Dropped") ? 1 : 0;
    }
  }

  std::error_code error;
  std::filesystem::create_directories(folder, error);
  for (const auto& [name, text] : files) write_file(folder / name, text);
  write_file(folder / table_file, write_table(rows));  // after what it names
  for (const std::string& name : old_files) {
    if (!files.contains(name))
      std::filesystem::remove(folder / std::filesystem::path(name).filename(), error);
  }
  report.files = static_cast<int>(files.size());
  return report;
}

std::vector<std::string> check_exported(const std::filesystem::path& folder) {
  std::vector<std::string> wrong;
  std::set<std::string> named;
  for (const TableRow& row : table_of(folder)) {
    named.insert(row.file);
    try {
      const Source source = source_of(row.winner);
      if (!std::filesystem::exists(folder / row.file)) {
        wrong.push_back("The table names " + row.file + ", which does not exist.");
      } else if (read_file(folder / row.file) != source.text) {
        wrong.push_back(row.file + " is not what its template renders to.");
      }
    } catch (const Error& error) {
      wrong.push_back(row.file + ": " + error.what());
    }
  }
  if (!std::filesystem::exists(folder)) return wrong;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() == ".cu" && !named.contains(name)) {
      wrong.push_back("The table does not name " + name + ".");
    }
  }
  return wrong;
}

}  // namespace tunesmith

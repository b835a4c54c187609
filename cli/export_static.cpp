// SPDX-License-Identifier: Apache-2.0
#include "cli/export_static.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "choose/packed_variants.h"
#include "choose/time_model.h"
#include "cli/cli.h"
#include "cli/export.h"
#include "cli/static_build.h"
#include "db/store.h"
#include "dispatch/explanation.h"
#include "dispatch/packed.h"
#include "dispatch/tuning_data.h"
#include "generator/csv.h"
#include "generator/error.h"
#include "generator/listed.h"
#include "generator/ops.h"
#include "generator/render.h"
#include "generator/target.h"
#include "kernel_file/find_op.h"
#include "runtime/executable.h"

namespace tunesmith {
namespace {

// The entries of one source that are still valid for the templates.
struct WinnersAndTables {
  std::vector<WinnersFileRow> rows;
  std::vector<DeviceTable> tables;
};

bool is_asked(const std::vector<std::string>& words, const std::string& word) {
  return words.empty() || std::find(words.begin(), words.end(), word) != words.end();
}

WinnersAndTables built_in(const std::string& device) {
  const auto file = [](std::string_view name) { return packed(name); };
  WinnersAndTables known{read_winners(file), read_timing_tables(file, ops())};
  std::erase_if(known.rows, [&](const WinnersFileRow& row) { return !is_named(row.winner.device, device); });
  std::erase_if(known.tables, [&](const DeviceTable& one) { return !is_named(one.device, device); });
  return known;
}

WinnersAndTables of_database(const StaticRequest& request) {
  if (!std::filesystem::exists(request.database)) return {};
  QueryFilter filter;
  filter.device = request.device;
  return {winners_of(request.database, filter), tables_of(request.database, filter)};
}

// Removes other ops and stale entries.
void keep_current(WinnersAndTables& known, const std::vector<std::string>& asked, StaticReport& report) {
  leave_out_unknown(known.tables, report.notes);
  std::erase_if(known.rows, [&](const WinnersFileRow& row) {
    if (!is_asked(asked, row.winner.op)) return true;
    try {
      require_current(row.winner);
      return false;
    } catch (const Error& error) {
      report.notes.push_back("Left out " + describe(row.winner) + ": " + error.what());
      return true;
    }
  });
  std::erase_if(known.tables, [&](DeviceTable& one) {
    if (!is_asked(asked, one.table.op)) return true;
    if (!keep_current(one, report.notes)) return true;
    return false;
  });
  for (const WinnersFileRow& row : known.rows) report.ops.push_back(row.winner.op);
  for (const DeviceTable& one : known.tables) report.ops.push_back(one.table.op);
}

void make_unique(std::vector<std::string>& words) {
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
}

// Returns the device models that something is known of, and a nameless device for each further target.
std::vector<DeviceFacts> devices_of(const StaticRequest& request, const std::vector<Candidate>& candidates) {
  std::vector<DeviceFacts> devices;
  for (const Candidate& candidate : candidates) {
    const DeviceFacts device = candidate.device.kind == DeviceKind::host ? host_facts() : candidate.device;
    if (std::none_of(devices.begin(), devices.end(),
                     [&](const DeviceFacts& other) { return same_model(other, device); }))
      devices.push_back(device);
  }
  for (const std::string& word : request.targets) {
    const std::optional<Target> target = Target::parse(word);
    if (!target || target->is_virtual())
      throw UsageError("--target is " + word + ", but a target is host or a GPU's, such as sm_80 or sm_90a.");
    if (std::any_of(devices.begin(), devices.end(),
                    [&](const DeviceFacts& device) { return device.target == word; }))
      continue;
    DeviceFacts device =
        target->kind == Target::Kind::host ? host_facts() : facts_of_capability(target->compute_capability);
    device.target = word;
    devices.push_back(std::move(device));
  }
  return devices;
}

// Collects kernels; each once, even if it serves several problems.
class Kernels {
 public:
  Kernels(const StaticRequest& request, const std::vector<Candidate>& candidates,
          const WinnersAndTables& database, const WinnersAndTables& built_in)
      : request_(request), candidates_(candidates) {
    for (const WinnersAndTables* known : {&database, &built_in})
      for (const DeviceTable& one : known->tables) tables_.push_back(&one);
  }

  void add(const Op& op, const DeviceFacts& device) {
    const Chooser chooser(op, device, candidates_);
    for (const PackedVariant& base : bases_of(op)) add(base, device);
    for (const ProblemsOfOp& asked : request_.problems) {
      if (asked.op != &op) continue;
      for (const Problem& problem : asked.problems) add_plan(op, chooser, device, problem);
    }
    if (!request_.problems.empty()) return;
    for (const PortfolioVariant& its :
         portfolio_of(op, chooser, candidates_, problems_of_tables(op, device), true))
      add(its.variant, device);
    for (const Candidate& candidate : candidates_) {
      if (candidate.op != op.name || candidate.problem.empty() || !candidate.fault.empty()) continue;
      add_plan(op, chooser, device, candidate.problem);
      if (candidate.device.target != device.target) continue;
      const Template& tmpl = find_template(op, candidate.template_name);
      add({&op, &tmpl, candidate.problem,
           tmpl.space(candidate.problem, candidate.device).legal(candidate.config)},
          device);
    }
  }

  std::vector<StaticKernel> all() {
    std::vector<StaticKernel> list;
    for (auto& [name, kernel] : kernels_) {
      make_unique(kernel.targets);
      list.push_back(std::move(kernel));
    }
    return list;
  }

 private:
  // Returns the anchors of the device's tables, or of all tables if it has none.
  std::vector<Problem> problems_of_tables(const Op& op, const DeviceFacts& device) const {
    std::vector<Problem> own;
    std::vector<Problem> all;
    for (const DeviceTable* one : tables_) {
      if (one->table.op != op.name) continue;
      for (const TimingTable::Anchor& anchor : one->table.anchors) {
        all.push_back(complete_problem(op, anchor.problem));
        if (same_model(one->device, device)) own.push_back(all.back());
      }
    }
    return own.empty() ? all : own;
  }

  void add_plan(const Op& op, const Chooser& chooser, const DeviceFacts& device, const Problem& problem) {
    for (const PackedVariant& one : launched_of(op, chooser, device, problem)) add(one, device);
  }

  void add(const PackedVariant& one, const DeviceFacts& device) {
    if (why_not(*one.tmpl, one.problem, device)) return;
    const bool on_host = device.target == "host";
    const std::string key = key_of(one.spec());
    StaticKernel& kernel = kernels_[(on_host ? "host " : "gpu ") + key];
    kernel.targets.push_back(device.target);
    if (!kernel.hash.empty()) return;
    kernel.body = body_text(*one.op, *one.tmpl, one.problem, device.target, template_files());
    const Source source =
        render_body(*one.op, *one.tmpl, one.problem, one.config, device.target, kernel.body);
    kernel.on_host = on_host;
    kernel.key = key;
    kernel.hash = source.hash;
    kernel.name = one.op->name + "_" + one.tmpl->name + "_" + source.hash.substr(0, 12);
    kernel.text = source.text;
  }

  const StaticRequest& request_;
  const std::vector<Candidate>& candidates_;
  std::vector<const DeviceTable*> tables_;
  std::map<std::string, StaticKernel> kernels_;
};

}  // namespace

StaticReport export_static(const StaticRequest& request, const std::filesystem::path& folder) {
  StaticReport report;
  std::vector<std::string> asked = request.ops;
  for (const ProblemsOfOp& of_op : request.problems) asked.push_back(of_op.op->name);
  for (const std::string& name : asked) static_cast<void>(find_op(name));
  WinnersAndTables database = of_database(request);
  WinnersAndTables library = built_in(request.device);
  keep_current(database, asked, report);
  keep_current(library, asked, report);
  if (report.ops.empty()) {
    throw UsageError("Neither the database " + request.database.string() +
                     " nor the library has a winner or a table" +
                     (request.device.empty() ? "" : " for the device " + request.device) +
                     (asked.empty() ? "" : " of " + listed(asked)) + "; nothing was written.");
  }
  report.ops.insert(report.ops.end(), asked.begin(), asked.end());
  make_unique(report.ops);

  std::vector<Candidate> known;  // as the exported library will read it
  add_winners(known, database.tables, database.rows, Candidate::Origin::database);
  add_winners(known, library.tables, library.rows, Candidate::Origin::built_in);
  for (Candidate& candidate : known) candidate.has_binary = !candidate.problem.empty();
  report.winners = static_cast<int>(database.rows.size() + library.rows.size());
  report.tables = static_cast<int>(database.tables.size() + library.tables.size());
  Kernels kernels(request, known, database, library);
  for (const DeviceFacts& device : devices_of(request, known)) {
    report.targets.push_back(device.target);
    for (const std::string& op : report.ops) kernels.add(find_op(op), device);
  }
  make_unique(report.targets);
  StaticFolder files{.ops = report.ops,
                     .targets = report.targets,
                     .kernels = kernels.all(),
                     .tables = {},
                     .tvm_ffi = request.tvm_ffi};
  report.kernels = static_cast<int>(files.kernels.size());
  for (auto& [name, text] : write_solved_winners(database.rows, database.tables))
    files.tables["database/" + name] = text;
  for (auto& [name, text] : write_solved_winners(library.rows, library.tables)) files.tables[name] = text;
  write_static_folder(files, folder);
  return report;
}

}  // namespace tunesmith

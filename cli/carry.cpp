// SPDX-License-Identifier: Apache-2.0
// db carry: keeps the times of kernels whose text was edited since they were measured and whose machine code
// did not change. It works on a database, or on the folder that the library is built from.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "choose/nearest.h"
#include "choose/portfolio.h"
#include "choose/timing_table.h"
#include "choose/winners_file.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "cli/same_code.h"
#include "cli/text_table.h"
#include "db/device_row.h"
#include "db/store.h"
#include "generator/error.h"
#include "generator/hash.h"
#include "generator/listed.h"
#include "generator/ops.h"
#include "kernel_file/find_op.h"
#include "runtime/files.h"
#include "runtime/toolchain.h"

namespace tunesmith {
namespace {

using State = MeasuredKernel::State;

constexpr std::size_t body_digits = 12;  // TimingTable::Variant::body

struct CarryRequest {
  std::filesystem::path old, database, folder;
  std::string op;
  std::size_t per_variant = 8;
  int jobs = 0;
  std::string command;
};

// The variants of a timing table whose templates have changed. The table records only the template of each,
// so the kernels to compare are those of the table's problems.
struct TableKernels {
  std::string device;
  TimingTable* table = nullptr;
  std::vector<std::vector<MeasuredKernel>> of_variant;  // empty for a variant whose template has not changed
};

class Carrying {
 public:
  explicit Carrying(const CarryRequest& request)
      : request_(request),
        old_text_(old_text_from(request.old)),
        threads_(static_cast<std::size_t>(
            request.jobs > 0 ? request.jobs
                             : std::max(1, static_cast<int>(std::thread::hardware_concurrency()) - 1))) {}

  bool wants(const std::string& op) const {
    return (request_.op.empty() || request_.op == op) && op_or_null(op) != nullptr;
  }

  // Returns the config that a table's variant is on an anchor; its own text if it is none there any more.
  static std::string config_text(const Op& op, const Template* tmpl, const Problem& anchor,
                                 const DeviceFacts& device, const Values& config) {
    if (tmpl == nullptr || !op.kind) return config.text();
    const Problem problem = complete_problem(op, anchor);
    if (why_not(*tmpl, problem, device)) return config.text();
    const auto its = config_on(op, *tmpl, problem, device, tmpl->space(problem, device), config);
    return its ? its->text() : config.text();
  }

  // Selects the kernels of a table to compare: some of each variant, chosen by the hash of their text.
  TableKernels kernels_of(TimingTable& table, const DeviceFacts& device) {
    TableKernels found{device.name, &table, {}};
    const Op& op = find_op(table.op);
    const BodyHashes now = bodies_of(op);
    for (std::size_t v = 0; v < table.variants.size(); ++v) {
      const TimingTable::Variant& variant = table.variants[v];
      std::vector<MeasuredKernel>& kernels = found.of_variant.emplace_back();
      const auto body = now.find(variant.template_name);
      if (body != now.end() && body->second.starts_with(variant.body)) continue;
      const Template* const tmpl = body == now.end() ? nullptr : &find_template(op, variant.template_name);
      std::set<std::string>
          constants;  // the compiled-in values, which determine a text unless it is generated
      for (const TimingTable::Anchor& anchor : table.anchors) {
        if (anchor.us[v] <= 0) continue;
        if (tmpl != nullptr && !tmpl->generated &&
            !constants.insert(compiled_in(op, *tmpl, anchor.problem).text()).second)
          continue;
        kernels.push_back({table.op, variant.template_name, anchor.problem.text(),
                           config_text(op, tmpl, anchor.problem, device, variant.config), device, ""});
      }
      std::vector<MeasuredKernel*> all;
      for (MeasuredKernel& kernel : kernels) all.push_back(&kernel);
      render_now(all, threads_);
      // Each text once, in an order that does not depend on the problems.
      std::stable_sort(kernels.begin(), kernels.end(), [](const MeasuredKernel& a, const MeasuredKernel& b) {
        return a.now.hash < b.now.hash;
      });
      kernels.erase(std::unique(kernels.begin(), kernels.end(),
                                [](const MeasuredKernel& a, const MeasuredKernel& b) {
                                  return a.now.hash == b.now.hash;
                                }),
                    kernels.end());
      if (request_.per_variant > 0 && kernels.size() > request_.per_variant)
        kernels.resize(request_.per_variant);
    }
    return found;
  }

  void compare(std::vector<MeasuredKernel>& kernels, std::vector<TableKernels>& tables) {
    std::vector<MeasuredKernel*> all;
    for (MeasuredKernel& kernel : kernels) all.push_back(&kernel);
    render_now(all, threads_);
    for (TableKernels& table : tables)
      for (std::vector<MeasuredKernel>& variant : table.of_variant)
        for (MeasuredKernel& kernel : variant) all.push_back(&kernel);
    compare_code(all, old_text_, threads_, [](const std::string& line) { std::cerr << line << std::endl; });
    for (const MeasuredKernel& kernel : kernels) count(kernel);
    // A program that renders another text than the measured one cannot be trusted for tables, which do not
    // record the measured text.
    std::set<std::pair<std::string, std::string>> refuted;
    for (const MeasuredKernel& kernel : kernels)
      if (kernel.state == State::not_found) refuted.emplace(kernel.op, kernel.template_name);
    for (TableKernels& table : tables) take(table, refuted);
  }

  // Prints what became of the kernels; returns true if everything that changed was carried.
  bool print() const {
    TextTable table(
        {"op", "template", "unchanged", "carried", "differ", "not compiled", "lost", "no older text"});
    const auto number = [](std::size_t count) {
      return count == 0 ? Cell() : Cell(static_cast<std::int64_t>(count));
    };
    for (const auto& [name, counts] : counts_) {
      const auto of = [&, &its = counts](State state) {
        const auto found = its.find(state);
        return number(found == its.end() ? 0 : found->second);
      };
      table.add({name.first, name.second, of(State::unchanged), of(State::same), of(State::differs),
                 of(State::not_compiled), of(State::lost), of(State::not_found)});
    }
    if (!table.empty()) std::cout << table.text();
    for (const auto& [of, reason] : reasons_) std::cout << reason << (reason.ends_with('\n') ? "" : "\n");
    return reasons_.empty();
  }

 private:
  void count(const MeasuredKernel& kernel) {
    ++counts_[{kernel.op, kernel.template_name}][kernel.state];
    if (kernel.state == State::unchanged || kernel.state == State::same) return;
    constexpr std::size_t most = 500;  // characters of a compiler's message
    reasons_.try_emplace(std::tuple(kernel.op, kernel.template_name, kernel.state),
                         kernel.op + "/" + kernel.template_name + " " + kernel.config + " for " +
                             kernel.problem + ": " + kernel.why.substr(0, most));
  }

  // Assigns the current template to variants whose compared kernels are all the same.
  void take(TableKernels& its, const std::set<std::pair<std::string, std::string>>& refuted) {
    const BodyHashes now = bodies_of(find_op(its.table->op));
    for (std::size_t v = 0; v < its.of_variant.size(); ++v) {
      std::vector<MeasuredKernel>& kernels = its.of_variant[v];
      if (kernels.empty()) continue;
      TimingTable::Variant& variant = its.table->variants[v];
      if (refuted.contains({its.table->op, variant.template_name})) {
        for (MeasuredKernel& kernel : kernels) {
          kernel.state = State::not_found;
          kernel.why = "The older text of other kernels of this template is not what was measured.";
        }
      }
      const auto other = std::find_if(kernels.begin(), kernels.end(), [](const MeasuredKernel& kernel) {
        return kernel.state != State::same;
      });
      count(other == kernels.end() ? kernels.front() : *other);
      if (other == kernels.end()) variant.body = now.at(variant.template_name).substr(0, body_digits);
    }
  }

  const CarryRequest& request_;
  OldText old_text_;
  std::size_t threads_;
  std::map<std::pair<std::string, std::string>, std::map<State, std::size_t>> counts_;
  std::map<std::tuple<std::string, std::string, State>, std::string>
      reasons_;  // the first reason of each kind
};

// Returns the older text of a table with the current lines of its variants: all else stays to the byte.
std::string with_variants_of(const std::string& now, const std::string& text) {
  static constexpr std::string_view variant = "variant,";
  std::istringstream lines_now(now), lines(text);
  std::string made;
  for (std::string line; std::getline(lines, line);) {
    std::string other;
    while (line.starts_with(variant) && !other.starts_with(variant) && std::getline(lines_now, other)) {
    }
    made += (line.starts_with(variant) ? other : line) + "\n";
  }
  return made;
}

// Writes temporary files in the same folder first, so that a full disk leaves the folder as it was.
void replace_files(const std::filesystem::path& folder, const Texts& texts) {
  const auto beside = [&](const std::string& name) { return folder / (name + ".new"); };
  for (const auto& [name, text] : texts) write_file(beside(name), text);
  for (const auto& [name, text] : texts) std::filesystem::rename(beside(name), folder / name);
}

bool carry_folder(const CarryRequest& request) {
  const auto text_of = [&](std::string_view name) { return read_file(request.folder / name); };
  if (text_of(devices_file).empty())
    throw UsageError("The folder " + request.folder.string() + " has no " + std::string(devices_file) +
                     "; give one that \"tunesmith export\" has written, such as generated/.");
  std::vector<WinnersFileRow> rows = read_winners(text_of);
  std::vector<DeviceTable> tables = read_timing_tables(text_of, ops());
  Carrying carrying(request);
  std::vector<MeasuredKernel> kernels;
  std::vector<WinnersFileRow*> row_of;
  for (WinnersFileRow& row : rows) {
    const Candidate& winner = row.winner;
    if (!carrying.wants(winner.op)) continue;
    kernels.push_back({winner.op, winner.template_name, winner.problem.text(), winner.config.text(),
                       winner.device, winner.source_hash});
    row_of.push_back(&row);
  }
  std::vector<TableKernels> of_tables;
  for (DeviceTable& one : tables)
    if (carrying.wants(one.table.op)) of_tables.push_back(carrying.kernels_of(one.table, one.device));
  carrying.compare(kernels, of_tables);
  std::size_t carried = 0;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (kernels[i].state != State::same) continue;
    row_of[i]->winner.source_hash = kernels[i].now.hash;
    ++carried;
  }
  Texts changed = write_winners(rows, tables);
  for (auto& [name, text] : changed)
    if (name != devices_file && !text.starts_with("op,problem,"))
      text = with_variants_of(text, text_of(name));
  std::erase_if(changed, [&](const auto& one) { return text_of(one.first) == one.second; });
  replace_files(request.folder, changed);
  const bool all = carrying.print();
  std::cout << counted(carried, "winner") << " carried; " << counted(changed.size(), "file") << " of "
            << request.folder.string() << " written.\n";
  return all;
}

CarriedKernel carried(const StoredKernel& stored, MeasuredKernel& kernel, const std::string& toolchain) {
  const Op& op = find_op(kernel.op);
  CarriedKernel made{.before = stored,
                     .template_now = {kernel.op, kernel.template_name,
                                      body_hash(op, find_template(op, kernel.template_name), files_of(op))},
                     .now = {.target = stored.target,
                             .source_hash = kernel.now.hash,
                             .config = stored.config,
                             .compiled_in = kernel.compiled_in,
                             .entry = kernel.now.kernels.front() + kernel.now.suffix},
                     .binary = {}};
  if (!kernel.binary.empty()) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(kernel.binary.data());
    made.binary = {.toolchain = toolchain,
                   .hash = sha256(kernel.binary),
                   .bytes = {bytes, bytes + kernel.binary.size()}};
  }
  return made;
}

bool carry_database(const CarryRequest& request) {
  const std::filesystem::path path = database_or_default(request.database);
  Store store = Store::open(path, Store::Mode::read_write);
  Carrying carrying(request);
  std::map<std::int64_t, DeviceFacts> devices;
  for (const StoredDevice& one : store.devices()) devices[one.id] = facts_of(one.device);
  std::vector<StoredKernel> stored = store.kernels(request.op);
  std::set<std::string> unknown;
  std::erase_if(stored, [&](const StoredKernel& one) {
    return !carrying.wants(one.op) && (unknown.insert(one.op), true);
  });
  std::vector<MeasuredKernel> kernels;
  for (const StoredKernel& one : stored) {
    kernels.push_back(
        {one.op, one.template_name, one.problem, one.config, devices.at(one.device_id), one.source_hash});
    kernels.back().keeps_binary = one.has_binary;
  }
  std::vector<StoredAnchorTable> rows = store.anchor_tables({.op = request.op});
  std::erase_if(rows, [&](const StoredAnchorTable& row) { return !carrying.wants(row.table.op); });
  std::vector<TimingTable> tables;
  for (const StoredAnchorTable& row : rows)
    tables.push_back(read_timing_table(row.table.text, "the stored table of " + row.table.op));
  std::vector<TableKernels> of_tables;
  for (std::size_t i = 0; i < rows.size(); ++i)
    of_tables.push_back(carrying.kernels_of(tables[i], facts_of(rows[i].device)));
  carrying.compare(kernels, of_tables);

  std::map<std::string, std::string> toolchains;  // by target
  std::vector<CarriedKernel> all;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (kernels[i].state != State::same) continue;
    std::string& toolchain = toolchains[stored[i].target];
    if (toolchain.empty()) toolchain = make_toolchain(stored[i].target)->identity();
    all.push_back(carried(stored[i], kernels[i], toolchain));
  }
  std::vector<CarriedTable> changed;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string text = with_variants_of(write_timing_table(tables[i]), rows[i].table.text);
    if (text != rows[i].table.text) changed.push_back({rows[i].id, text});
  }
  CarryReport report;
  if (!all.empty() || !changed.empty()) report = store.carry(all, changed, request.command);
  const bool is_whole = carrying.print();
  if (!unknown.empty()) {
    std::cout << "Left out " << listed(std::vector<std::string>(unknown.begin(), unknown.end()))
              << ": this program has no such op.\n";
  }
  const auto number = [](std::int64_t count, const char* noun) {
    return counted(static_cast<std::size_t>(count), noun);
  };
  std::cout << number(report.verdicts, "verdict") << ", " << number(report.winners, "winner") << " and "
            << number(report.tables, "timing table") << " carried in " << path.string() << ".\n";
  return is_whole;
}

}  // namespace

void add_carry_command(CLI::App& db, const std::string& command_line, int& exit_code) {
  auto request = std::make_shared<CarryRequest>();
  request->command = command_line;
  CLI::App* command = db.add_subcommand(
      "carry", "Keep the times of kernels whose text was cleaned, where their machine code is the same");
  command
      ->add_option(
          "OLD", request->old,
          "What the times were measured with: an older tunesmith program, or a checkout of its sources,\n"
          "whose templates are then rendered by this program")
      ->required();
  CLI::Option* folder =
      command->add_option("--folder", request->folder,
                          "In place of a database: a folder that export has written, such as generated/");
  command->add_option("--op", request->op, "Only this op");
  command
      ->add_option("--per-variant", request->per_variant,
                   "Kernels of each variant of a timing table that are compared; 0: all")
      ->check(whole_number(0))
      ->capture_default_str();
  command
      ->add_option("--jobs", request->jobs,
                   "Number of compilers that run at the same time; 0: number of processors - 1")
      ->check(whole_number(0, 1024))
      ->capture_default_str();
  add_db_option(command, request->database);
  command->get_option("--db")->excludes(folder);
  command->callback([request, &exit_code] {
    if (!request->op.empty()) find_op(request->op);
    if (!(request->folder.empty() ? carry_database(*request) : carry_folder(*request))) exit_code = 1;
  });
}

}  // namespace tunesmith

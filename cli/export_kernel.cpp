// SPDX-License-Identifier: Apache-2.0
#include "cli/export_kernel.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "choose/packed_variants.h"
#include "cli/export.h"
#include "db/store.h"
#include "dispatch/kernel_folder.h"
#include "dispatch/packed.h"
#include "dispatch/tuning_data.h"
#include "generator/error.h"
#include "generator/ops.h"
#include "kernel_file/add.h"
#include "kernel_file/find_op.h"
#include "kernel_file/user_kernel.h"
#include "runtime/executable.h"
#include "runtime/files.h"
#include "runtime/toolchain.h"

namespace tunesmith {
namespace {

namespace fs = std::filesystem;

// The database's entries on the op that are still valid for the kernel.
struct Part {
  std::vector<WinnersFileRow> rows;
  std::vector<DeviceTable> tables;
};

Part known_of(const std::string& op, const fs::path& database, const std::string& device,
              std::vector<std::string>& notes) {
  QueryFilter filter;
  filter.op = op;
  filter.device = device;
  Part part{winners_of(database, filter), tables_of(database, filter)};
  std::erase_if(part.rows, [&](const WinnersFileRow& row) {
    try {
      require_current(row.winner);
      return false;
    } catch (const Error& error) {
      notes.push_back("Left out " + describe(row.winner) + ": " + error.what());
      return true;
    }
  });
  std::erase_if(part.tables, [&](DeviceTable& one) { return !keep_current(one, notes); });
  return part;
}

// For each target, the kernels that a dispatcher may need for the tuned problems, each once.
using KernelSources = std::map<std::pair<std::string, std::string>, Source>;  // by target and key_of

KernelSources sources_of(const Op& op, const Part& part, const std::vector<Candidate>& candidates) {
  std::vector<DeviceFacts> devices;
  std::vector<Problem> problems;
  const auto add_device = [&](const DeviceFacts& device) {
    if (std::none_of(devices.begin(), devices.end(),
                     [&](const DeviceFacts& other) { return same_model(other, device); }))
      devices.push_back(device.kind == DeviceKind::host ? host_facts() : device);
  };
  for (const WinnersFileRow& row : part.rows) add_device(row.winner.device);
  for (const DeviceTable& one : part.tables) {
    add_device(one.device);
    for (const TimingTable::Anchor& anchor : one.table.anchors)
      problems.push_back(complete_problem(op, anchor.problem));
  }
  KernelSources all;
  for (const DeviceFacts& device : devices) {
    const auto add = [&](const PackedVariant& one) {
      if (why_not(*one.tmpl, one.problem, device)) return;
      auto& source = all[{device.target, key_of(one.spec())}];
      if (source.hash.empty()) source = render(op, *one.tmpl, one.problem, one.config, device.target);
    };
    const Chooser chooser(op, device, candidates);
    for (const PackedVariant& base : bases_of(op)) add(base);
    for (const PortfolioVariant& its : portfolio_of(op, chooser, candidates, problems, true))
      add(its.variant);
    for (const WinnersFileRow& row : part.rows) {
      const Problem problem = complete_problem(op, row.winner.problem);
      const Template& tmpl = find_template(op, row.winner.template_name);
      for (const PackedVariant& one : launched_of(op, chooser, device, problem)) add(one);
      if (row.winner.device.target == device.target)
        add({&op, &tmpl, problem, tmpl.space(problem, device).legal(row.winner.config)});
    }
  }
  return all;
}

// Gets binaries from the database, or compiles missing ones.
class Binaries {
 public:
  explicit Binaries(const fs::path& database) : store_(Store::open(database, Store::Mode::read_only)) {}

  /// Returns the binary; empty, with a note, if there is none.
  std::string of(const Source& source, std::vector<std::string>& notes) {
    const auto stored = store_.binary({source.target, source.hash});
    if (stored && is_whole(*stored))
      return {reinterpret_cast<const char*>(stored->bytes.data()), stored->bytes.size()};
    try {
      std::unique_ptr<Toolchain>& toolchain = toolchains_[source.target];
      if (!toolchain) toolchain = make_toolchain(source.target);
      Compilation compiled = toolchain->compile(source);
      if (compiled.ok) return std::move(compiled.bytes);
      note("A kernel for " + source.target + " does not compile: " + located(compiled.log, source.text),
           notes);
    } catch (const Error& error) {
      note("Kernels for " + source.target + " that the database has no binary of are left out. " +
               error.what(),
           notes);
    }
    return {};
  }

 private:
  static void note(const std::string& sentence, std::vector<std::string>& notes) {
    if (std::find(notes.begin(), notes.end(), sentence) == notes.end()) notes.push_back(sentence);
  }

  Store store_;
  std::map<std::string, std::unique_ptr<Toolchain>> toolchains_;
};

// Removes write permission of others, because dispatch uses only files that nobody else may write.
void keep_to_oneself(const fs::path& path) {
  fs::permissions(path, fs::perms::group_write | fs::perms::others_write, fs::perm_options::remove);
}

void make_folder(const fs::path& folder) {
  std::vector<fs::path> missing;
  for (fs::path one = fs::absolute(folder).lexically_normal(); !fs::exists(one); one = one.parent_path())
    if (one.has_filename()) missing.push_back(one);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw Error("The folder " + folder.string() + " cannot be made: " + error.message() +
                "; check the disk, or choose another with --to.");
  for (const fs::path& made : missing) keep_to_oneself(made);
}

void write_folder(const fs::path& folder, const fs::path& tuned, const Texts& kernel, const Texts& files) {
  if (fs::exists(tuned) && !fs::exists(tuned / list_of_files))
    throw UsageError("The folder " + tuned.string() +
                     " was not written by an export; move it away, or choose another with --to.");
  make_folder(folder);
  fs::remove_all(tuned);
  for (const auto& [name, bytes] : kernel) {
    make_folder((folder / name).parent_path());
    if (read_file(folder / name) != bytes) write_file(folder / name, bytes);
  }
  const auto write = [&](const fs::path& file, const std::string& bytes) {
    make_folder(file.parent_path());
    keep_to_oneself(file.parent_path());
    write_file(file, bytes);
    keep_to_oneself(file);
  };
  for (const auto& [name, bytes] : files) write(folder / name, bytes);
  keep_to_oneself(tuned);
  Texts all = kernel;
  all.insert(files.begin(), files.end());
  write(tuned / list_of_files, write_list(all));
}

}  // namespace

KernelExportReport export_kernel(const std::string& name, const fs::path& database, const std::string& device,
                                 const fs::path& folder) {
  const Op& op = find_op(name);
  const UserKernel* own = op.user_kernel;
  if (own == nullptr)
    throw UsageError(
        name +
        " is an op of Tunesmith's own; name the file of a kernel of yours, or none to export all of "
        "Tunesmith's ops.");
  const Texts kernel = kernel_files(own->file);
  for (const auto& [file, text] : kernel)
    if (fs::path(file).lexically_normal().string().starts_with("..") || fs::path(file).is_absolute())
      throw UsageError(own->file.path + " includes " + file +
                       " from outside its folder, so it cannot be exported; move that file into the folder.");
  if (!fs::exists(database))
    throw UsageError("There is no database " + database.string() +
                     "; tune first, or name another with --db.");
  KernelExportReport report;
  report.kernel = folder / fs::path(own->file.path).filename();
  const fs::path description = fs::path(report.kernel).replace_extension(".toml");
  if (own->file.description.empty() && fs::exists(description))
    throw UsageError("The file " + description.string() + " would stand for the description in " +
                     own->file.path + "; remove it, or choose another folder with --to.");
  const Part part = known_of(op.name, database, device, report.notes);
  if (part.rows.empty() && part.tables.empty()) {
    std::string why;
    for (const std::string& note : report.notes) why += " " + note;
    throw UsageError("The database " + database.string() + " has no winner of " + op.name + " to export" +
                     (device.empty() ? "" : " for the device " + device) + "; nothing was written." + why);
  }
  std::vector<Candidate> candidates;
  std::vector<DeviceTable> tables = part.tables;
  add_winners(candidates, tables, part.rows, Candidate::Origin::exported);
  for (Candidate& candidate : candidates) candidate.has_binary = !candidate.problem.empty();

  const fs::path tuned = tuned_folder(report.kernel);
  const std::string below = tuned.filename().string() + "/";
  Texts files;
  for (auto& [file, text] : write_solved_winners(part.rows, part.tables))
    files[below + file] = std::move(text);
  Binaries binaries(database);
  for (const auto& [key, source] : sources_of(op, part, candidates)) {
    std::string bytes = binaries.of(source, report.notes);
    if (bytes.empty()) continue;
    if (files.emplace(below + packed_name(source.target, source.hash), std::move(bytes)).second)
      ++report.binaries;
    if (report.targets.empty() || report.targets.back() != source.target)
      report.targets.push_back(source.target);
  }
  write_folder(folder, tuned, kernel, files);
  report.winners = part.rows.size();
  report.tables = part.tables.size();
  return report;
}

}  // namespace tunesmith

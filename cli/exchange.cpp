// SPDX-License-Identifier: Apache-2.0
// db import and db export: read and write verdicts in the formats of other tuners.
#include <iostream>
#include <memory>

#include "cli/cli.h"
#include "cli/nvbench_text.h"
#include "cli/output.h"
#include "cli/recordings.h"
#include "db/store.h"
#include "generator/error.h"

namespace tunesmith {
namespace {

struct ExchangeRequest {
  std::filesystem::path database, file;
  std::string format = "t4";
  std::string op, problem, device;  // for a file that does not name them
  QueryFilter filter;
};

void run_export(const ExchangeRequest& request) {
  QueryFilter filter = request.filter;
  filter.device = device_filter(filter.device);
  const bool is_nvbench = request.format == "nvbench";  // whose files hold any number of problems
  filter.samples = is_nvbench;
  const std::vector<Recording> found = read_recordings(database_or_default(request.database), filter);
  if (found.empty() || (found.size() > 1 && !is_nvbench)) {
    std::string names;
    for (const Recording& each : found) names += "\n  " + text(each) + " on " + each.device;
    throw UsageError((
        found.empty() ? "No space matches; give another OP, --problem or --device."
                      : "A file holds what was measured of one problem on one device in one way, and " +
                            std::to_string(found.size()) +
                            " match; choose with OP, --problem, --device, --caches and --launches:" + names));
  }
  const std::string written =
      is_nvbench ? nvbench_text(found) : recording_text(found.front(), request.format);
  if (request.file.empty()) {
    exact_output() << written;
  } else {
    write_file(request.file, written);
  }
}

void run_import(const ExchangeRequest& request) {
  std::vector<Recording> recordings = read_recordings(request.file);
  for (Recording& recording : recordings) {
    if (!request.op.empty()) recording.op = request.op;
    if (!request.problem.empty()) recording.problem = Values::parse(request.problem).text();
    if (!request.device.empty()) recording.device = request.device;
    if (recording.op.empty() || recording.device.empty()) {
      throw UsageError("The file " + request.file.string() + " does not say what its kernel " +
                       "or its device is called; add --op and --device.");
    }
  }
  Store store = Store::open(database_or_default(request.database), Store::Mode::create);
  for (const Recording& recording : recordings) {
    const std::size_t count =
        import_recording(store, recording, "tunesmith db import " + request.file.filename().string());
    std::cout << recording.op << ' ' << recording.problem << " on " << recording.device << ": " << count
              << " of " << recording.rows.size()
              << (count == 1 ? " verdicts was new.\n" : " verdicts were new.\n");
  }
}

}  // namespace

void add_exchange_commands(CLI::App& db) {
  auto request = std::make_shared<ExchangeRequest>();
  CLI::App* give = db.add_subcommand(
      "export", "Write all verdicts on one problem as T4, CSV or JSON, or those on any as nvbench does");
  give->add_option("OP", request->filter.op, "Only this op");
  give->add_option("--problem", request->filter.problem, "Only problems with these values");
  give->add_option("--device", request->filter.device, "Only this device");
  add_kind_options(give, request->filter);
  give->add_option("--format", request->format, "t4 (for other tuners and benchmarks), nvbench, csv or json")
      ->capture_default_str()
      ->check(CLI::IsMember({"t4", "nvbench", "csv", "json"}));
  give->add_option("-o,--output", request->file, "File to write (default: stdout)");
  add_db_option(give, request->database);
  give->callback([request] { run_export(*request); });

  CLI::App* take = db.add_subcommand("import", "Add the verdicts of a T4 file or a Kernel Tuner cache");
  take->add_option("FILE", request->file,
                   "T4 file or Kernel Tuner cache (.json, .json.gz), or .csv as \"export\" writes it")
      ->required();
  take->add_option("--op", request->op, "Name of the kernel, where the file has none");
  take->add_option("--problem", request->problem, "Problem, where the file has none");
  take->add_option("--device", request->device, "Name of the device, where the file has none");
  add_db_option(take, request->database);
  take->callback([request] { run_import(*request); });
}

}  // namespace tunesmith

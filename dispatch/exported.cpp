// SPDX-License-Identifier: Apache-2.0
// The parts that an exported library (tunesmith export --static) has instead of rendered.cpp, database.cpp
// and compilers: the list of its kernels, and the tables that it was exported with.
#include <map>

#include "dispatch/packed.h"
#include "dispatch/source.h"
#include "dispatch/tuning_data.h"
#include "generator/csv.h"
#include "generator/error.h"
#include "generator/listed.h"
#include "runtime/toolchain.h"
#include "tunesmith/dispatcher.h"

namespace tunesmith {
namespace {

// The hashes by kind of target and key_of. kernels.csv has lines KIND,KEY,HASH,FILE after its header.
using Hashes = std::map<std::string, std::string, std::less<>>;

Hashes read_hashes() {
  Hashes hashes;
  const std::string file = packed("kernels.csv");
  std::string_view text = file;
  for (bool header = true; !text.empty(); header = false) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::vector<std::string> fields = csv_fields(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!header && fields.size() == 4) hashes.emplace(fields[0] + " " + fields[1], fields[2]);
  }
  return hashes;
}

}  // namespace

Source source_of(const VariantSpec& spec, std::string_view target) {
  static const auto& hashes = *new Hashes(read_hashes());  // never destroyed: threads may ask at the end
  Source source;
  source.kernels = spec.tmpl.kernels;
  source.target = target;
  const auto found = hashes.find((target == "host" ? "host " : "gpu ") + key_of(spec));
  if (found == hashes.end()) return source;
  source.hash = found->second;
  source.suffix = "_" + source.hash.substr(0, 8);  // as render_body names them
  return source;
}

void add_kernel_file(const std::string& path) {
  throw UsageError("An exported library compiles nothing, so it cannot take the kernel " + path +
                   "; leave DispatcherOptions::kernels empty, or link tunesmith::shared.");
}

// Always true: the export leaves out variants that are not current.
bool is_current(const Op&, const Template&, std::string_view) { return true; }

bool is_exported() { return true; }

void read_database(const Sources& sources, TuningData& data) {
  if (!sources.database.empty())
    data.notes.push_back("The database " + sources.database +
                         " is not used: an exported library has only what it was exported with.");
  const std::size_t count = add_packed(data, "database/", Candidate::Origin::database);
  data.notes.push_back("The library was exported with " + counted(count, "winner") + " of a database.");
}

void read_kernel_folder(const std::string&, const Sources&, TuningData&) {}

void write_first_uses(const std::string&, const DeviceFacts&, const std::vector<FirstUseOutcome>&,
                      std::chrono::milliseconds) {}

BaseFaults faults_of_base(const std::string&, const DeviceFacts&, const std::string&) { return {}; }

inline namespace TUNESMITH_ABI {
std::string default_database() { return ""; }
}  // namespace TUNESMITH_ABI

std::unique_ptr<Toolchain> make_toolchain(std::string_view) {
  throw Error("An exported library compiles nothing; export it again with the problem.");
}

}  // namespace tunesmith

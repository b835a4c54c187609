// SPDX-License-Identifier: Apache-2.0
#include "dispatch/kernel_folder.h"

#include <algorithm>
#include <memory>

#include "dispatch/packed.h"
#include "dispatch/tuning_data.h"
#include "generator/csv.h"
#include "generator/error.h"
#include "generator/hash.h"
#include "generator/listed.h"
#include "kernel_file/add.h"
#include "kernel_file/read.h"
#include "kernel_file/user_kernel.h"
#include "runtime/files.h"
#include "runtime/trust.h"

namespace tunesmith {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view header = "file,sha256\n";

// The last line of a list: the hash of all lines before it, which shows if the list was cut off.
std::string end_of(std::string_view lines) { return "," + sha256(lines) + "\n"; }

Texts read_list(const fs::path& file) {
  Texts hashes;
  const std::string text = read_file(file);
  const std::size_t end_size = end_of("").size();
  std::string_view lines = std::string_view(text).substr(0, text.size() - std::min(end_size, text.size()));
  if (!lines.starts_with(header) || text.substr(lines.size()) != end_of(lines))
    throw Error("The file " + file.string() + " is not what an export wrote.");
  for (lines.remove_prefix(header.size()); !lines.empty();) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(line.size() + 1);
    const std::vector<std::string> fields = csv_fields(line);
    hashes[fields.front()] = fields.back();
  }
  return hashes;
}

// The files beside a kernel, each compared with the list before it is used.
class ExportedFolder {
 public:
  explicit ExportedFolder(const fs::path& kernel)
      : folder_(kernel.parent_path()), tuned_(tuned_folder(kernel)), name_(tuned_.filename().string()) {
    const fs::path list = tuned_ / list_of_files;
    if (const auto why = why_untrusted(list)) throw Error(*why);
    hashes_ = read_list(list);
  }

  /// Throws Error if the kernel is not the one that was exported.
  void check_kernel(const Texts& files) const {
    for (const auto& [name, text] : files) {
      const auto listed = hashes_.find(name);
      if (listed == hashes_.end() || listed->second != sha256(text))
        throw Error("The file " + (folder_ / name).string() + " has changed since.");
    }
  }

  /// Reads a file; empty if there is none of that name. Throws Error if it is not the exported one.
  std::string read(std::string_view name) const {
    const auto listed = hashes_.find(name_ + "/" + std::string(name));
    if (listed == hashes_.end()) return {};
    const fs::path file = tuned_ / name;
    if (const auto why = why_untrusted(file)) throw Error(*why);
    std::string bytes = read_file(file);
    if (sha256(bytes) != listed->second)
      throw Error("The file " + file.string() + " is missing or damaged, its hash is not the one in " +
                  list_of_files + ".");
    return bytes;
  }

  void check_tables() const {
    const std::vector<std::string> devices = tuned_devices(read(devices_file));
    if (devices.empty() || std::any_of(devices.begin(), devices.end(), [&](const std::string& device) {
          return read(device + ".csv").empty();
        }))
      throw Error("The file " + (tuned_ / list_of_files).string() + " is not what an export wrote.");
  }

  /// The identities of the kernels that have binaries.
  std::vector<std::string> binaries(const std::string& target) const {
    const std::string folder = name_ + "/" + target + "/";
    std::vector<std::string> hashes;
    for (const auto& [name, hash] : hashes_)
      if (name.starts_with(folder)) hashes.push_back(name.substr(folder.size()));
    std::erase_if(hashes, [](const std::string& hash) {
      return hash.find_first_not_of("0123456789abcdef") != std::string::npos;
    });
    return hashes;
  }

 private:
  fs::path folder_, tuned_;
  std::string name_;
  Texts hashes_;
};

}  // namespace

fs::path tuned_folder(const fs::path& kernel) { return fs::path(kernel).replace_extension(".tuned"); }

Texts kernel_files(const KernelFile& text) {
  const fs::path file = fs::path(text.path).filename();
  Texts files = {{file.string(), text.cu}};
  if (!text.description.empty()) files[fs::path(file).replace_extension(".toml").string()] = text.description;
  for (const auto& [name, included] : text.included) files[name] = included;
  return files;
}

std::string write_list(const Texts& files) {
  std::string text(header);
  for (const auto& [name, bytes] : files) text += csv_field(name) + "," + sha256(bytes) + "\n";
  return text + end_of(text);
}

void read_kernel_folder(const std::string& kernel, const Sources& sources, TuningData& data) {
  const fs::path tuned = tuned_folder(kernel);
  std::error_code error;
  if (!fs::exists(tuned, error)) return;
  const std::string& target = sources.device.target;
  const std::string again = " Export " + kernel + " again.";
  TuningData read;
  try {
    const auto exported = std::make_shared<const ExportedFolder>(kernel);
    const KernelFile text = read_kernel_file(kernel);
    exported->check_kernel(kernel_files(text));
    exported->check_tables();
    const Op& op = add_user_kernel(text).op;
    const auto file = [exported](std::string_view name) { return exported->read(name); };
    const bool is_native = sources.device.kind == DeviceKind::host && !sources.host_binaries;
    for (const std::string& hash : exported->binaries(target)) {
      if (is_native) {
        read.notes.push_back("The binaries for the host in " + tuned.string() +
                             ", native code of this process, are not used: "
                             "DispatcherOptions::host_binaries is off.");
        break;
      }
      try {
        read.binaries.emplace(packed_name(target, hash),
                              StoredBinary{exported->read(target + "/" + hash), true});
      } catch (const Error& why) {
        read.notes.push_back("A binary is not used. " + std::string(why.what()) + again);
      }
    }
    for (UnreadTable& table : timing_tables(file, {&op, 1}))
      read.tables.push_back({std::move(table), Candidate::Origin::exported, data.winners.size()});
    for (const WinnersFileRow& row : read_winners(file)) {
      if (row.winner.op != op.name) continue;
      Candidate& candidate = read.winners.emplace_back(candidate_of(row, Candidate::Origin::exported));
      candidate.has_binary = read.binaries.contains(packed_name(target, candidate.source_hash));
    }
    read.notes.push_back(tuned.string() + " has " + counted(read.winners.size(), "winner") + " and " +
                         counted(read.binaries.size(), "compiled kernel") + " for " + target + ".");
  } catch (const std::exception& why) {
    data.notes.push_back("The winners and binaries in " + tuned.string() + " are not used. " + why.what() +
                         again);
    return;
  }
  data.winners.insert(data.winners.end(), read.winners.begin(), read.winners.end());
  data.tables.insert(data.tables.end(), read.tables.begin(), read.tables.end());
  data.binaries.merge(read.binaries);
  data.notes.insert(data.notes.end(), read.notes.begin(), read.notes.end());
}

}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
// All tuning data that dispatch may use: the user's database, and the data built into the library.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "choose/candidate_set.h"
#include "choose/ready_configs.h"

namespace tunesmith {

struct QueryFilter;

/// A variant that was tried for a problem.
struct TriedVariant {
  std::string template_name, config, source_hash;
  /// Time of one launch; 0: it could not be loaded or launched, or has failed a check since.
  double us = 0;
  std::string made_by;  ///< the toolchain that compiled it now; else the origin of its binary, in words
  bool operator==(const TriedVariant&) const = default;
};

/// The outcome of a problem's first use, the fastest variant first.
struct FirstUseOutcome {
  std::string op, problem;
  std::vector<TriedVariant> tried;
};

/// A binary that is kept beside the winners: in the database, or exported with a kernel of a user's own.
struct StoredBinary {
  std::string bytes;
  bool is_exported = false;
};
using StoredBinaries = std::map<std::string, StoredBinary, std::less<>>;  ///< by packed_name

struct TuningData : CandidateSet {
  StoredBinaries binaries;                  ///< of the asked target only
  std::vector<FirstUseOutcome> first_uses;  ///< if Sources asks for them
  std::vector<std::string> notes;           ///< sentences on the sources
};

struct Sources {
  std::string database;  ///< empty: only built-in data
  DeviceFacts device;
  bool host_binaries = false;             ///< take the database's binaries, if the device is the host
  std::vector<std::string> kernels = {};  ///< a user's own files, which this process knows as ops
  bool first_uses = false;                ///< read the first uses on this device with its current driver
};
/// Reads all sources. A database that is missing, damaged, newer, or may have been written by somebody else
/// becomes a note.
TuningData read_tuning_data(const Sources& sources);

/// The part of read_tuning_data that is not in the library. Throws Error or StoreError.
void read_database(const Sources& sources, TuningData& data);

/// Reads the data that was exported with a user's own kernel (kernel_folder.h), if any. Data that is not as
/// it was exported becomes a note.
void read_kernel_folder(const std::string& kernel, const Sources& sources, TuningData& data);

/// Adds the outcomes to a user's own database, which is created if there is none. Waits for another writer
/// for at most `patience`. Throws Error or StoreError; an exported library does nothing.
void write_first_uses(const std::string& database, const DeviceFacts& device,
                      const std::vector<FirstUseOutcome>& outcomes, std::chrono::milliseconds patience);

/// Why a base may be wrong on a device: sentences, empty where its newest measurement was ok.
struct BaseFaults {
  std::map<std::string, std::string> by_problem;
  std::string newest;  ///< the newest of all faults
  const std::string& on(const std::string& problem) const {
    const auto its = by_problem.find(problem);
    return its == by_problem.end() ? newest : its->second;
  }
};

/// The database's faults of the base with that source on the device.
BaseFaults faults_of_base(const std::string& database, const DeviceFacts& device,
                          const std::string& source_hash);

/// Adds the library's packed files whose names begin with `folder` (packed.h). Returns the number of winners.
std::size_t add_packed(TuningData& data, const std::string& folder, Candidate::Origin origin);

/// The configs of the op with binaries in the library for a target.
ReadyConfigs packed_configs(const Op& op, std::string_view target);

/// The database's winners that match the filter, with no body named; a row that cannot be used has a fault.
std::vector<WinnersFileRow> winners_of(const std::filesystem::path& database, const QueryFilter& filter);

/// The database's timing tables of warm, apart launches.
std::vector<DeviceTable> tables_of(const std::filesystem::path& database, const QueryFilter& filter);

/// The table that dispatch chooses from on this model of device: the database's, or the built-in one. Without
/// anchors if there is none.
TimingTable current_table(const Op& op, const DeviceFacts& device, const std::filesystem::path& database);

}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
// All tuning data that dispatch may use: what the user's database has, and what is built into the library.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "choose/candidate_set.h"

namespace tunesmith {

struct QueryFilter;

/// A variant that was tried for a problem.
struct TriedVariant {
  std::string template_name, config, source_hash;
  double us = 0;        ///< of one launch; 0: it could not be loaded or launched, or has failed a check since
  std::string made_by;  ///< the toolchain that compiled it now; else where its binary is from, in words
  bool operator==(const TriedVariant&) const = default;
};

/// What the first use of a problem found, the fastest first.
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
  std::string database;  ///< empty: only what is built in
  DeviceFacts device;
  bool host_binaries = false;             ///< whether those of the database are taken, if it is the host
  std::vector<std::string> kernels = {};  ///< files of a user's own, which this process knows as ops
  bool first_uses = false;  ///< whether what was tried on this device, with its driver of now, is read
};
/// A database that is missing, damaged, newer, or may have been written by somebody else is a note.
TuningData read_tuning_data(const Sources& sources);

/// The part of read_tuning_data that is not in the library. Throws Error or StoreError.
void read_database(const Sources& sources, TuningData& data);

/// What was exported with a kernel of a user's own (kernel_folder.h), if anything. What is not as it was
/// exported is a note.
void read_kernel_folder(const std::string& kernel, const Sources& sources, TuningData& data);

/// Adds them to a database of the user's own, which is made if there is none. Waits for another writer so
/// long. Throws Error or StoreError; an exported library does nothing.
void write_first_uses(const std::string& database, const DeviceFacts& device,
                      const std::vector<FirstUseOutcome>& outcomes, std::chrono::milliseconds patience);

/// Why a base may be wrong on a device: sentences, empty where its newest measurement was ok.
struct BaseFaults {
  std::map<std::string, std::string> by_problem;
  std::string newest;  ///< of all
  const std::string& on(const std::string& problem) const {
    const auto its = by_problem.find(problem);
    return its == by_problem.end() ? newest : its->second;
  }
};

/// What the database has of the base with that source on the device.
BaseFaults faults_of_base(const std::string& database, const DeviceFacts& device,
                          const std::string& source_hash);

/// What the library has of the packed files `folder`* (packed.h); the number of winners.
std::size_t add_packed(TuningData& data, const std::string& folder, Candidate::Origin origin);

/// The database's winners that the filter lets through, with no body named; a row that cannot be used has a
/// fault.
std::vector<WinnersFileRow> winners_of(const std::filesystem::path& database, const QueryFilter& filter);

/// The database's timing tables of warm launches that lie apart.
std::vector<DeviceTable> tables_of(const std::filesystem::path& database, const QueryFilter& filter);

/// The table that dispatch chooses from on this model of device: the database's, or the one that is built in.
/// No anchors: there is none.
TimingTable current_table(const Op& op, const DeviceFacts& device, const std::filesystem::path& database);

}  // namespace tunesmith

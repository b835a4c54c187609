// SPDX-License-Identifier: Apache-2.0
// `tunesmith export`: writes a database's winners into a folder (generated/) that the build packs into the
// library.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "choose/winners_file.h"

namespace tunesmith {

struct ExportReport {
  int exported = 0;                ///< winners taken from the database
  int kept = 0;                    ///< winners in the folder for which the database has nothing
  int tables = 0;                  ///< anchor tables taken from the database
  std::vector<std::string> notes;  ///< sentences on what was left out or dropped, and why
};

/// Writes the files of winners_file.h. `device` is a part of a device's name in any case, or its whole
/// target; empty: all. The folder's entries for other devices and problems stay unless they are stale. The
/// folder belongs to export alone: a .csv that no winner needs is removed. The same content gives the same
/// bytes. Throws UsageError if nothing matches, Error if the folder cannot be written, StoreError if the
/// database cannot be read.
ExportReport export_winners(const std::filesystem::path& database, const std::string& device,
                            const std::filesystem::path& folder);

/// Throws Error if the winner is stale, or dispatch does not use it.
void require_current(const Candidate& winner);

/// Returns the faults of such a folder, as sentences: a row that does not render to its hash, a file that no
/// table names. A folder without a table counts as empty.
std::vector<std::string> check_exported(const std::filesystem::path& folder);

/// Removes variants that have changed since they were measured, and adds a note. Returns false if none is
/// left.
bool keep_current(DeviceTable& table, std::vector<std::string>& notes);

/// Removes the tables of ops that this program was not built with, and adds notes.
void leave_out_unknown(std::vector<DeviceTable>& tables, std::vector<std::string>& notes);

}  // namespace tunesmith

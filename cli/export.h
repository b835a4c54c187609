// SPDX-License-Identifier: Apache-2.0
// `tunesmith export`: freezes a database's winners into a folder (generated/) that the build packs into the
// library.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "choose/winners_file.h"

namespace tunesmith {

struct ExportReport {
  int exported = 0;                ///< winners taken from the database
  int kept = 0;                    ///< winners that the folder had and the database has nothing for
  int tables = 0;                  ///< anchor tables taken from the database
  std::vector<std::string> notes;  ///< sentences: what was left out or dropped, and why
};

/// Writes the files of winners_file.h. `device` is a part of a device's name in any case, or its whole
/// target; empty: all. What the folder has of other devices and problems stays; what of it is stale goes. The
/// folder is export's own: a .csv that no winner needs is removed. The same content gives the same bytes.
/// Throws UsageError if nothing matches, Error if the folder cannot be written, StoreError if the database
/// cannot be read.
ExportReport export_winners(const std::filesystem::path& database, const std::string& device,
                            const std::filesystem::path& folder);

/// Throws Error if the winner is stale, or is none that dispatch uses.
void require_current(const Candidate& winner);

/// What is wrong with such a folder, as sentences: a row that does not render to its hash, a file
/// that no table names. A folder without a table is an empty one.
std::vector<std::string> check_exported(const std::filesystem::path& folder);

/// Leaves out variants that are not what was measured any more, and says so. False: none is left.
bool keep_current(DeviceTable& table, std::vector<std::string>& notes);

/// Erases those of ops that this program was not built with, and says so.
void leave_out_unknown(std::vector<DeviceTable>& tables, std::vector<std::string>& notes);

}  // namespace tunesmith

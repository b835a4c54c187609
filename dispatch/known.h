// All winners that dispatch may use: those of the user's database and those built into the library.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "dispatch/select.h"
#include "dispatch/table.h"

namespace tunesmith {

struct QueryFilter;

struct Known {
  std::vector<Candidate> candidates;
  std::map<std::string, std::string, std::less<>> binaries;  ///< by packed_name; of the asked target only
  std::vector<std::string> notes;                            ///< sentences on the sources
};

struct Sources {
  std::string database;  ///< empty: only what is built in
  DeviceFacts device;
  bool host_binaries = false;  ///< whether those of the database are taken, if it is the host
};
/// A database that is missing, damaged, newer, or may have been written by somebody else is a note.
Known read_known(const Sources& sources);

/// The database's winners that the filter lets through, with no body named; a row that cannot be used has a
/// fault.
std::vector<TableRow> winners_of(const std::filesystem::path& database, const QueryFilter& filter);

/// The database's anchor tables of warm launches that lie apart.
std::vector<DeviceTable> tables_of(const std::filesystem::path& database, const QueryFilter& filter);

/// For people: "tiled BLOCK_X=32 (database, NVIDIA H200, height=…, 5.1 us)".
std::string describe(const Candidate& candidate);

}  // namespace tunesmith

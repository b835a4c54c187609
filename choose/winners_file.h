// SPDX-License-Identifier: Apache-2.0
// The winners of generated/ as text files, which the build packs into the library: one winner per line, so
// that a re-tune is a diff that a person can review. This file knows no folder.
//   devices.csv    one tuned device per line, with the name of its file
//   DEVICE.csv     one winner per line
//   DEVICE.OP.csv  the timing table of an op (timing_table.h)
//   DEVICE.OP.factors  the factors of that table from the model of times, in binary: not in generated/, but
//                      where an application reads the tables
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "choose/candidate.h"
#include "choose/timing_table.h"

namespace tunesmith {

struct WinnersFileRow {
  Candidate winner;  ///< origin built_in, no binary
  std::int64_t alignment_bytes = 1;
  double base_us = 0;  ///< the time of the op's base on the same problem and device; 0: not measured
  std::string toolchain, driver, measured_at;
};

struct DeviceTable {
  DeviceFacts device;
  TimingTable table;
};

/// File texts by name below generated/.
using Texts = std::map<std::string, std::string, std::less<>>;

inline constexpr std::string_view devices_file = "devices.csv";

/// True if `a` precedes `b` in the order of write_winners(): by device, op, problem, alignment.
bool stands_before(const WinnersFileRow& a, const WinnersFileRow& b);

/// Writes devices.csv and the files of each device. The same rows in any order give the same bytes.
Texts write_winners(std::vector<WinnersFileRow> rows, const std::vector<DeviceTable>& tables = {});

/// Writes the same with the tables' factors, as an application reads them.
Texts write_solved_winners(const std::vector<WinnersFileRow>& rows, const std::vector<DeviceTable>& tables);

/// A table as it is stored: its text, and the factors of the times in the text (write_factors).
/// stored_table() computes missing factors, which takes some seconds.
struct StoredTable {
  std::string text, factors;
};
StoredTable stored_table(const DeviceFacts& device, const TimingTable& table);

/// Reads all winners. `file` returns the text of that name, empty if there is none. Throws Error that names
/// file and line.
std::vector<WinnersFileRow> read_winners(const std::function<std::string(std::string_view name)>& file);

/// A table that has not been read yet, because reading takes about a millisecond.
struct UnreadTable {
  DeviceFacts device;
  std::string op;
  std::function<DeviceTable()> read;
};

/// Returns the existing tables of every device in devices.csv. `file` and errors as in read_winners(); `file`
/// is called again when a table is read.
std::vector<UnreadTable> timing_tables(const std::function<std::string(std::string_view name)>& file,
                                       std::span<const Op> ops);
std::vector<DeviceTable> read_timing_tables(const std::function<std::string(std::string_view name)>& file,
                                            std::span<const Op> ops);

/// Solves the table if its factors are missing or do not belong to its times, which takes some seconds.
void complete_factors(const DeviceFacts& device, TimingTable& table);

/// Returns the table's variants as candidates, with a fault if the template has changed since it was
/// measured. Factors that do not belong to the table's times are recomputed (complete_factors). Throws
/// UsageError if this version does not have the op or a problem.
std::vector<Candidate> candidates_of(DeviceTable table);

/// Returns "nvidia_h200.conv2d.csv"; `device` as in tuned_devices().
std::string timing_table_file(std::string_view device, std::string_view op);
/// Returns "nvidia_h200.conv2d.factors".
std::string factors_file(std::string_view device, std::string_view op);

/// Returns the names of the devices' files without .csv, as listed in devices.csv.
std::vector<std::string> tuned_devices(std::string_view devices_csv);

}  // namespace tunesmith

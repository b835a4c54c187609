// SPDX-License-Identifier: Apache-2.0
// The winners of generated/ as text files: what the build packs into the library, one winner per line, so
// that a re-tune is a diff that a person can review. Knows no folder.
//   devices.csv    one tuned device per line, with the name of its file
//   DEVICE.csv     one winner per line
//   DEVICE.OP.csv  what is known of an op beside the winners (timing_table.h)
//   DEVICE.OP.factors  what follows from that by the model of times, in binary: not in generated/, but where
//   an
//                  application reads the tables
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
  double base_us = 0;  ///< of the op's base on the same problem and device; 0: not measured
  std::string toolchain, driver, measured_at;
};

struct DeviceTable {
  DeviceFacts device;
  TimingTable table;
};

/// By name below generated/.
using Texts = std::map<std::string, std::string, std::less<>>;

inline constexpr std::string_view devices_file = "devices.csv";

/// The order of write_winners: by device, op, problem, alignment.
bool stands_before(const WinnersFileRow& a, const WinnersFileRow& b);

/// devices.csv and the files of each device. The same rows give the same bytes, whatever their order.
Texts write_winners(std::vector<WinnersFileRow> rows, const std::vector<DeviceTable>& tables = {});

/// The same with the tables' factors, for what an application reads.
Texts write_solved_winners(const std::vector<WinnersFileRow>& rows, const std::vector<DeviceTable>& tables);

/// A table as it is stored: its text, and the factors that are of the times as the text has them
/// (write_factors). They are found, in some seconds, where the table does not have them.
struct StoredTable {
  std::string text, factors;
};
StoredTable stored_table(const TimingTable& table);

/// `file` gives the text of that name, empty where there is none. Throws Error naming file and line.
std::vector<WinnersFileRow> read_winners(const std::function<std::string(std::string_view name)>& file);

/// One that has not been read: that takes about a millisecond.
struct UnreadTable {
  DeviceFacts device;
  std::string op;
  std::function<DeviceTable()> read;
};

/// Of every device in devices.csv, where there is one. `file` and errors as in read_winners; it is called
/// again when a table is read.
std::vector<UnreadTable> timing_tables(const std::function<std::string(std::string_view name)>& file,
                                       std::span<const Op> ops);
std::vector<DeviceTable> read_timing_tables(const std::function<std::string(std::string_view name)>& file,
                                            std::span<const Op> ops);

/// Gives the table factors that are of its times, where it has none: solves it, in some seconds.
void complete_factors(TimingTable& table);

/// The table's variants, with a fault where the template is not what was measured any more. Factors that are
/// not of the table's times are found anew (complete_factors). Throws UsageError where this version does not
/// have the op or a problem.
std::vector<Candidate> candidates_of(DeviceTable table);

/// "nvidia_h200.conv2d.csv"; `device` as in tuned_devices.
std::string timing_table_file(std::string_view device, std::string_view op);
/// "nvidia_h200.conv2d.factors"
std::string factors_file(std::string_view device, std::string_view op);

/// The names of the devices' files without .csv, as devices.csv has them.
std::vector<std::string> tuned_devices(std::string_view devices_csv);

}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
// Rates that a model of a kernel's time needs: data of generated/*.rates.csv, one file for a model of GPU,
// which are in the library as text. They are per multiprocessor and clock, so that a GPU without a file of
// its own is served from another's by its number of multiprocessors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "generator/device_facts.h"

namespace tunesmith {

struct Rate {
  std::string op, name;
  double value = 0;
  std::string unit;  ///< such as "clocks" or "bytes per clock"
};

struct Rates {
  DeviceFacts device;  ///< with a kind, name, target and number of multiprocessors alone
  std::vector<Rate> rates;
  std::vector<std::string> origins;  ///< sentences: from which times the rates are

  /// The value of an op's rate. Throws Error if there is none.
  double value(std::string_view op, std::string_view name) const;
  bool has(std::string_view op) const;  ///< any rate of the op
};

/// The name of the file of a device, such as "nvidia_h200".
inline std::string rates_file(std::string_view device) { return std::string(device) + ".rates.csv"; }

/// Writes CSV with three kinds of lines: device, from and rate. The same rates give the same bytes.
std::string write_rates(const Rates& rates);

/// Throws Error that names `where` and the line.
Rates read_rates(std::string_view text, std::string_view where);

/// The rates of the model of GPU that is most like this one, of those that have rates of the op. Throws Error
/// if none has.
const Rates& rates_of(std::string_view op, const DeviceFacts& device);

}  // namespace tunesmith

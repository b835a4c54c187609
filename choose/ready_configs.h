// SPDX-License-Identifier: Apache-2.0
// The configs of which a library has binaries, whatever problems they were packed for. While a problem's
// choice is compiled, one of the same template stands in for it.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "choose/variant.h"

namespace tunesmith {

struct ReadyConfig {
  std::string constants;  ///< compiled_in() as text: the problems that the binary serves
  Values config;
  bool operator==(const ReadyConfig&) const = default;
};
using ReadyConfigs = std::map<std::string, std::vector<ReadyConfig>, std::less<>>;  ///< of an op, by template

/// Returns the name of the packed file that lists the configs of an op with binaries for a target:
/// "ready.sm_90a.tensor.csv".
std::string ready_configs_file(std::string_view target, std::string_view op);

/// Writes CSV, a config a line, without those of the op's first template, whose base is always there.
std::string write_ready_configs(const Op& op, std::span<const PackedVariant> variants);

/// Adds a file's configs. Lines that have not three fields are left out.
void read_ready_configs(std::string_view text, ReadyConfigs& configs);

/// The number of octaves that a config is away from another one of the same space, over all axes; a category
/// counts as one octave.
double octaves_apart(const Config& a, const Config& b);

/// How much slower a config is expected to be for each octave that it is away from the choice, as a
/// logarithm: a rate of the device (generator/rates.h).
double loss_by_octave(const DeviceFacts& device);

}  // namespace tunesmith

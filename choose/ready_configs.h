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

/// How much slower than `wanted` a config of the same space is expected to be, as a logarithm.
double stand_in_loss(const Config& wanted, const Config& config);

}  // namespace tunesmith

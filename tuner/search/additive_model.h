// SPDX-License-Identifier: Apache-2.0
// Learns from examples how much each value of each axis adds to a number: least squares with a small penalty,
// so that few examples give small effects. For logarithms of times the effects are factors.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "generator/config.h"

namespace tunesmith {

class AdditiveModel {
 public:
  void learn(const Config& config, double value);
  /// Predicts the number; nothing until there are enough examples.
  std::optional<double> predict(const Config& config) const;

 private:
  std::vector<std::string> terms(const Config& config) const;
  void solve() const;

  std::size_t examples_ = 0;
  std::map<std::string, std::size_t> columns_ = {{"", 0}};  // "BLOCK_X=32"; "" is the same for all configs
  std::vector<std::vector<double>> products_ = {{0}};       // of the columns, summed over the examples
  std::vector<double> moments_ = {0};                       // of the columns with the values
  mutable std::vector<double> effects_;                     // of the columns that existed when it was solved
  mutable std::size_t solve_at_ = 0;  // the number of examples at which it is solved again
};

}  // namespace tunesmith

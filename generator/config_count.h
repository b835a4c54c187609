// SPDX-License-Identifier: Apache-2.0
// The number of configs of a space, which may exceed any integer with 24 axes. Space (space.h) counts with
// it.
#pragma once

#include <cstdint>
#include <string>

namespace tunesmith {

struct ConfigCount {
  enum class Kind {
    exact,     ///< exact up to 2^53, rounded beyond
    estimate,  ///< from random draws
    at_least,  ///< the walk saw this number, and random draws find no config
  };
  double configs = 0;
  Kind kind = Kind::exact;

  bool is_at_most(double limit) const { return kind != Kind::at_least && configs <= limit; }
  std::int64_t saturated() const;  ///< at most 2^63 - 1
  std::string text() const;        ///< "4608", "1.0e24", "about 3.1e12", "at least 5000"
};

/// Writes a count that may come from saturated(): the largest value is "more than 9.2e18".
std::string count_text(std::int64_t count);

}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
// How many configs a space has: 24 axes may have more than any integer counts.
#pragma once

#include <cstdint>
#include <string>

namespace tunesmith {

struct ConfigCount {
  enum class Kind {
    exact,     ///< up to 2^53; a rounded number beyond
    estimate,  ///< from random draws
    at_least,  ///< so many were seen, and random draws find none
  };
  double configs = 0;
  Kind kind = Kind::exact;

  bool is_at_most(double limit) const { return kind != Kind::at_least && configs <= limit; }
  std::int64_t saturated() const;  ///< at most 2^63 - 1
  std::string text() const;        ///< "4608", "1.0e24", "about 3.1e12", "at least 5000"
};

/// Of a number that saturated() may have made: the largest is "more than 9.2e18".
std::string count_text(std::int64_t count);

}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
#include "generator/config_count.h"

#include <cmath>
#include <limits>

#include "generator/number_text.h"

namespace tunesmith {
namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

// Writes all digits if the number is below `most_digits`, so that a double holds them and a reader can take
// them in.
std::string number_text(double number, double most_digits) {
  if (number < most_digits) return printed("%.0f", number);
  const int exponent = static_cast<int>(std::floor(std::log10(number)));
  const std::string digits = printed("%.1f", number / std::pow(10.0, exponent));
  return digits == "10.0" ? "1.0e" + std::to_string(exponent + 1) : digits + "e" + std::to_string(exponent);
}

}  // namespace

std::int64_t ConfigCount::saturated() const {
  return configs < static_cast<double>(most) ? static_cast<std::int64_t>(configs) : most;
}

std::string ConfigCount::text() const {
  switch (kind) {
    case Kind::exact:
      return number_text(configs, 1e15);
    case Kind::estimate:
      return "about " + number_text(configs, 1e4);
    case Kind::at_least:
      return "at least " + number_text(configs, 1e15);
  }
  return {};
}

std::string count_text(std::int64_t count) {
  return count == most ? "more than 9.2e18" : ConfigCount{static_cast<double>(count)}.text();
}

}  // namespace tunesmith

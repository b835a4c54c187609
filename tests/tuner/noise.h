// SPDX-License-Identifier: Apache-2.0
// Simulates times of loads with the noise that was seen on an H200, and worse; it measures nothing.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace tunesmith {

struct Noise {
  const char* what;
  double between;    ///< standard deviation between loads, as a part of the time
  double often = 0;  ///< this part of the loads is off …
  double off = 0;    ///< … by this part of the time, exponentially distributed about it
  double state = 0;  ///< or is in a second state, this part away
};

inline constexpr Noise noises[] = {
    {"as most are", 0.0025},
    {"0.65 %", 0.0065},
    {"2.6 %", 0.026},
    {"a load in twenty takes up to a tenth longer", 0.005, 0.05, 0.05},
    {"a load in twenty is faster by 5 %", 0.002, 0.05, 0, -0.05},
    {"two states", 0.002, 0.3, 0, 0.02},
};

class Loads {
 public:
  Loads(const Noise& noise, std::uint64_t seed) : noise_(noise), random_(seed) {}

  /// The time of a load of a kernel that takes about 1.
  double next() {
    double log = noise_.between * normal_(random_) + within * normal_(random_);
    if (uniform_(random_) < noise_.often) log += noise_.state - noise_.off * std::log(1 - uniform_(random_));
    return std::exp(log);
  }
  double long_run_median() const {
    Loads loads(noise_, 1);
    std::vector<double> values(400'001);
    for (double& value : values) value = loads.next();
    std::nth_element(values.begin(), values.begin() + 200'000, values.end());
    return values[200'000];
  }

 private:
  static constexpr double within = 0.0015;  // of the median of a few samples of one load

  Noise noise_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_;
};

}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
// Random numbers that are the same on every machine and library: SplitMix64 (Steele, Lea, Flood 2014).
#pragma once

#include <cstdint>

namespace tunesmith {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  /// Advances the state as if `values` numbers had been taken.
  void skip(std::uint64_t values) { state_ += values * 0x9e3779b97f4a7c15u; }

  /// 0 <= result < bound; the bias of the modulo is below 2^-32 for the bounds used here.
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }

  /// -1 <= result < 1, 53 bits.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-52 - 1.0; }

 private:
  std::uint64_t state_;
};

}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
#include "generator/hash.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace tunesmith {
namespace {

// The first 32 bits of the fractional parts of the first primes' cube roots and square roots.
struct Constants {
  std::array<std::uint32_t, 64> cube{};
  std::array<std::uint32_t, 8> square{};
};

Constants constants() {
  Constants all;
  std::size_t found = 0;
  for (int candidate = 2; found < 64; ++candidate) {
    bool prime = true;
    for (int divisor = 2; divisor * divisor <= candidate; ++divisor)
      prime = prime && candidate % divisor != 0;
    if (!prime) continue;
    const auto fraction = [](long double root) {
      return static_cast<std::uint32_t>((root - std::floor(root)) * 4294967296.0L);
    };
    all.cube[found] = fraction(std::cbrt(static_cast<long double>(candidate)));
    if (found < 8) all.square[found] = fraction(std::sqrt(static_cast<long double>(candidate)));
    ++found;
  }
  return all;
}

}  // namespace

std::string sha256(std::string_view text) {
  static const Constants k = constants();
  std::string padded(text);
  padded += static_cast<char>(0x80);
  while (padded.size() % 64 != 56) padded += '\0';
  for (int shift = 56; shift >= 0; shift -= 8) {
    padded += static_cast<char>((static_cast<std::uint64_t>(text.size()) * 8) >> shift);
  }
  std::array<std::uint32_t, 8> state = k.square;
  for (std::size_t block = 0; block < padded.size(); block += 64) {
    std::array<std::uint32_t, 64> w{};
    for (std::size_t i = 0; i < 64; ++i) {
      const auto byte = [&](std::size_t at) {
        return static_cast<std::uint32_t>(static_cast<unsigned char>(padded[block + at]));
      };
      if (i < 16) {
        w[i] = byte(4 * i) << 24 | byte(4 * i + 1) << 16 | byte(4 * i + 2) << 8 | byte(4 * i + 3);
      } else {
        const std::uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
        const std::uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
      }
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t i = 0; i < 64; ++i) {
      const std::uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
      const std::uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + k.cube[i] + w[i];
      const std::uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
      const std::uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
      h = g;
      g = f;
      f = e;
      e = d + t1;
      d = c;
      c = b;
      b = a;
      a = t1 + t2;
    }
    const std::array<std::uint32_t, 8> mixed = {a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < 8; ++i) state[i] += mixed[i];
  }
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string hex;
  for (const std::uint32_t word : state) {
    for (int shift = 28; shift >= 0; shift -= 4) hex += digits[(word >> shift) & 15];
  }
  return hex;
}

}  // namespace tunesmith

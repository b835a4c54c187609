// SPDX-License-Identifier: Apache-2.0
// Tests the host's version of the types of 16 bits (common/float16.cuh).
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "generator/random.h"
#include "tests/host/loaded.h"
#include "tests/kernels.h"
#include "tuner/device/check_data.h"

namespace tunesmith {
namespace {

// Converts every pattern to float and back, and rounds floats of every size, and compares with check_data's
// conversions.
TEST(Float16, AgreesWithThePackedBytesOfTheChecks) {
  LoadedBinary kernel = load("#include \"common/float16.cuh\"\n" + std::string(float16_kernel),
                             {1 << 10, 1, 1}, {1024, 1, 1}, 4, 0, {std::int32_t{1 << 20}, std::int32_t{0}});
  constexpr std::size_t count = 1 << 20;
  std::vector<float> in(count);
  Random random(7);
  for (float& value : in) {
    const auto bits = static_cast<std::uint32_t>(random.next());
    std::memcpy(&value, &bits, sizeof(value));
  }
  // Around every value of 16 bits: the middle to the next value, and its neighbours.
  for (std::uint32_t n = 0; n < 65536; ++n) {
    for (const std::uint32_t add : {0x7fffu, 0x8000u, 0x8001u}) {
      const std::uint32_t bits = (n << 16) + add;
      std::memcpy(&in[n * 3 + add - 0x7fffu], &bits, sizeof(float));
    }
  }
  for (std::uint32_t n = 0; n < 0x7c00; ++n) {
    const float halfway = static_cast<float>(
        (unpack(DType::f16, std::string{static_cast<char>(n & 255), static_cast<char>(n >> 8)})[0] +
         (n == 0x7bff ? 65536.0
                      : unpack(DType::f16, std::string{static_cast<char>((n + 1) & 255),
                                                       static_cast<char>((n + 1) >> 8)})[0])) /
        2);
    in[200000 + 3 * n] = halfway;
    in[200000 + 3 * n + 1] = -std::nextafter(halfway, 0.0f);
    in[200000 + 3 * n + 2] = std::nextafter(halfway, 1e9f);
  }
  const std::vector<double> in_double(in.begin(), in.end());
  for (const DType dtype : {DType::f16, DType::bf16}) {
    Launch launch{.kernel = "kernel", .grid = {1 << 10, 1, 1}, .block = {1024, 1, 1}};
    for (int n = 0; n < 4; ++n) launch.arguments.push_back(ArgumentPointer{n});
    launch.arguments.push_back(std::int32_t{count});
    launch.arguments.push_back(std::int32_t{dtype == DType::f16 ? 1 : 0});
    std::vector<float> wide(65536);
    std::vector<std::uint16_t> back(65536), rounded(count);
    void* arguments[] = {wide.data(), back.data(), in.data(), rounded.data()};
    ASSERT_EQ(kernel.executable->with(Work{.steps = {launch}})->launch(arguments, nullptr, nullptr), 0);
    std::string patterns(2 * 65536, '\0');
    for (std::size_t n = 0; n < 65536; ++n) {
      patterns[2 * n] = static_cast<char>(n & 255);
      patterns[2 * n + 1] = static_cast<char>(n >> 8);
    }
    const std::vector<double> values = unpack(dtype, patterns);
    const auto is_nan = [&](std::uint16_t bits) {
      return dtype == DType::f16 ? (bits & 0x7fff) > 0x7c00 : (bits & 0x7fff) > 0x7f80;
    };
    for (std::size_t n = 0; n < 65536; ++n) {
      if (is_nan(static_cast<std::uint16_t>(n))) {
        ASSERT_TRUE(std::isnan(wide[n]) && is_nan(back[n])) << n;
      } else {
        ASSERT_EQ(static_cast<double>(wide[n]), values[n]) << n;
        ASSERT_EQ(back[n], n);
      }
    }
    const std::string packed = pack(dtype, in_double);
    for (std::size_t n = 0; n < count; ++n) {
      std::uint16_t expected = 0;
      std::memcpy(&expected, packed.data() + 2 * n, 2);
      if (is_nan(expected)) {
        ASSERT_TRUE(is_nan(rounded[n])) << in[n];
      } else {
        ASSERT_EQ(rounded[n], expected) << name(dtype) << " of " << in[n];
      }
    }
  }
}

}  // namespace
}  // namespace tunesmith

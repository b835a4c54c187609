// SPDX-License-Identifier: Apache-2.0
// Tests elements of 16 bits against slow and plain arithmetic, and the usual values of inputs.
#include "generator/element.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "generator/error.h"

namespace tunesmith {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Rounds by the definition of the format: a whole number of units, ties to even.
double slowly_rounded(int fraction_bits, int bias, double value) {
  int exponent = 0;
  std::frexp(value, &exponent);
  const int unit = std::max(exponent - 1, 1 - bias) - fraction_bits;
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
  return std::abs(rounded) < std::ldexp(1.0, bias + 1) ? rounded : std::copysign(infinity, value);
}

TEST(Element, SixteenBitsAreTheNearestWithTiesToEven) {
  Random random(3);
  std::vector<double> values = {0x1p-24,    0x1p-25, 0x1.8p-25, 0x1.000001p-25, 65504,
                                65519.99,   65520,   1e300,     0x1p-133,       0x1p-134,
                                0x1.8p-134, 1e-300,  5e-324,    0x1.FFp127,     0x1.FEFFp127};
  for (int i = 0; i < 200000; ++i) {
    const double digits = 1 + std::abs(random.uniform());
    values.push_back(std::ldexp(digits, static_cast<int>(random.below(310)) - 155));
    values.push_back(
        std::ldexp(std::floor(digits * 0x1p12) / 0x1p12, static_cast<int>(random.below(48)) - 28));
  }
  for (const double magnitude : values) {
    for (const double value : {magnitude, -magnitude}) {
      ASSERT_EQ(round_to(DType::f16, value), slowly_rounded(10, 15, value)) << value;
      ASSERT_EQ(round_to(DType::bf16, value), slowly_rounded(7, 127, value)) << value;
    }
  }
  EXPECT_TRUE(std::signbit(round_to(DType::f16, -0.0)));
  EXPECT_EQ(round_to(DType::f16, -infinity), -infinity);
  EXPECT_TRUE(std::isnan(round_to(DType::bf16, std::numeric_limits<double>::quiet_NaN())));
}

TEST(Element, BytesAreThoseOfTheRoundedValue) {
  const std::vector<double> values = {0, -1, 0.3, 77.5, -1e9, 1e300};
  for (const DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16, DType::u8, DType::i8, DType::u16,
                            DType::i16, DType::u32, DType::i32, DType::u64, DType::i64, DType::boolean}) {
    std::vector<char> packed(values.size() * static_cast<std::size_t>(bytes(dtype)));
    encode(dtype, values, packed.data());
    std::vector<double> back(values.size());
    decode(dtype, packed.data(), back);
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_EQ(back[i], round_to(dtype, values[i])) << name(dtype) << " " << values[i];
  }
  std::array<char, 16> to{};
  EXPECT_THROW(encode(DType::b32, std::array{1.0}, to.data()), Error);
  EXPECT_THROW(round_to(DType::b128, 1), Error);
}

TEST(Element, UsualValuesFillTheirRangeOneRandomNumberEach) {
  struct Range {
    DType dtype;
    double least, most;
  };
  for (const Range& range : {Range{DType::f32, -1, 1}, Range{DType::bf16, -1, 1}, Range{DType::i8, -100, 100},
                             Range{DType::i64, -100, 100}, Range{DType::u8, 0, 200},
                             Range{DType::u64, 0, 200}, Range{DType::boolean, 0, 1}}) {
    Random random(1), skipping(1);
    std::vector<double> values(1000);
    for (double& value : values) value = usual_value(range.dtype, random);
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    const double edge = 0.02 * (range.most - range.least);
    EXPECT_GE(*least, range.least);
    EXPECT_LT(*least, range.least + edge) << name(range.dtype);
    EXPECT_LE(*most, range.most);
    EXPECT_GT(*most, range.most - edge) << name(range.dtype);
    skipping.skip(1000);  // so that each thread can make a part
    EXPECT_EQ(random.next(), skipping.next()) << name(range.dtype);
  }
}

}  // namespace
}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/check_data.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace tunesmith {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(CheckData, RoundsToTheNearestTiesToEven) {
  EXPECT_EQ(round_to(DType::f16, 1 + 0x1p-11), 1.0);
  EXPECT_EQ(round_to(DType::f16, 1 + 0x3p-11), 1 + 0x1p-9);
  EXPECT_EQ(round_to(DType::f16, 65519), 65504);
  EXPECT_EQ(round_to(DType::f16, 65520), infinity);
  EXPECT_EQ(round_to(DType::f16, 0x1p-25), 0.0);
  EXPECT_EQ(round_to(DType::f16, 0x1.8p-25), 0x1p-24);
  EXPECT_EQ(round_to(DType::bf16, 1 + 0x1p-8), 1.0);
  EXPECT_EQ(round_to(DType::bf16, -(1 + 0x1p-7)), -(1 + 0x1p-7));
  EXPECT_EQ(round_to(DType::f32, 0.1), static_cast<double>(0.1f));
  EXPECT_EQ(round_to(DType::u8, 300), 255);
  EXPECT_EQ(round_to(DType::u16, 7e4), 65535);
  EXPECT_EQ(round_to(DType::i16, -7e4), -32768);
  EXPECT_EQ(round_to(DType::i32, -2.5), -2);
}

// Every bit pattern of the 16-bit formats is preserved.
TEST(CheckData, SixteenBitsSurvive) {
  for (const DType dtype : {DType::f16, DType::bf16}) {
    for (unsigned pattern = 0; pattern < 0x10000; ++pattern) {
      const std::string bytes = {static_cast<char>(pattern & 0xff), static_cast<char>(pattern >> 8)};
      const std::vector<double> values = unpack(dtype, bytes);
      ASSERT_EQ(values.size(), 1u);
      if (std::isnan(values[0])) {
        EXPECT_TRUE(std::isnan(unpack(dtype, pack(dtype, values))[0]));
      } else {
        ASSERT_EQ(pack(dtype, values), bytes) << name(dtype) << " " << pattern;
        ASSERT_EQ(round_to(dtype, values[0]), values[0]);
      }
    }
  }
}

TEST(CheckData, PacksWhatItRounds) {
  const std::vector<double> values = {0, -1, 0.3, 77.5, -1e9, 1e300, -infinity, 6e-8};
  for (const DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16, DType::u8, DType::i32,
                            DType::i64, DType::u16, DType::i16}) {
    const std::string bytes = pack(dtype, values);
    ASSERT_EQ(bytes.size(), values.size() * static_cast<std::size_t>(tunesmith::bytes(dtype)));
    const std::vector<double> back = unpack(dtype, bytes);
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_EQ(back[i], round_to(dtype, values[i])) << name(dtype) << " " << values[i];
  }
}

TEST(CheckData, PermittedErrorsAreNeverRoundedDown) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr double most = std::numeric_limits<float>::max();
  const std::vector<double> errors = {0, 1, 0.1, 1e-60, 1e-44, 1 + 0x1p-30, most, 1e200, inf};
  for (const DType dtype : {DType::f32, DType::f16, DType::i64, DType::u8}) {
    ASSERT_EQ(permitted_bytes(dtype), 4);
    const std::string kept = pack_permitted(dtype, errors);
    for (std::size_t i = 0; i < errors.size(); ++i) {
      const double found = unpack_permitted(dtype, kept.data() + 4 * i);
      EXPECT_GE(found, std::min(errors[i], errors[i] == inf ? inf : most)) << errors[i];
      EXPECT_LE(found, errors[i] * (1 + 0x1p-23) + 0x1p-149) << errors[i];
    }
  }
  ASSERT_EQ(permitted_bytes(DType::f64), 8);
  const std::string kept = pack_permitted(DType::f64, errors);
  for (std::size_t i = 0; i < errors.size(); ++i)
    EXPECT_EQ(unpack_permitted(DType::f64, kept.data() + 8 * i), errors[i]);
}

Op copy_op() {
  const auto size = [](const Problem& p) { return std::vector<std::int64_t>{p.integer("size")}; };
  Op op;
  op.arguments = {{"from", Role::input, size}, {"to", Role::output, size}, {"sum", Role::inout, size}};
  op.reference = [](const Problem&, std::span<const std::vector<double>> arguments, int, std::int64_t begin,
                    std::int64_t end, std::span<double> value, std::span<double> permitted) {
    if (begin > 5000 && arguments[0][0] == 2) throw std::runtime_error("no");
    for (std::int64_t i = begin; i < end; ++i) {
      value[static_cast<std::size_t>(i - begin)] = arguments[0][static_cast<std::size_t>(i)];
      permitted[static_cast<std::size_t>(i - begin)] = static_cast<double>(i);
    }
  };
  return op;
}

TEST(CheckData, AnArgumentSaysItsOtherValues) {
  Op op = copy_op();
  const Problem problem = {{"size", 10001}, {"dtype", "f32"}};
  EXPECT_EQ(value_sets(op), 3);  // also if an op has no contents
  op.arguments[0].contents = {
      {Contents::uniform, 2, 3},   {Contents::uniform, 7, 7}, {Contents::magnitudes, 1e-3, 1e3},
      {Contents::ascending, 5, 6}, {Contents::few, -1, 1},    {Contents::huge},
      {Contents::denormal}};
  op.arguments[2].contents = {{Contents::uniform, 9, 9}};
  ASSERT_EQ(value_sets(op), 8);
  const auto made = [&](int set) { return make_inputs(op, problem, 1, set)[0]; };
  const auto least = [&](int set) { return std::ranges::min(made(set)); };
  const auto most = [&](int set) { return std::ranges::max(made(set)); };
  EXPECT_GE(least(1), 2);
  EXPECT_LE(most(1), 3);
  EXPECT_EQ(made(2), std::vector<double>(10001, 7));
  EXPECT_LT(least(3), -900);
  EXPECT_LT(std::abs(made(3)[0]), 1001);
  std::vector<double> sorted = made(4);
  EXPECT_TRUE(std::ranges::is_sorted(sorted));
  EXPECT_EQ(sorted.front(), 5);
  EXPECT_EQ(sorted.back(), 6);
  const std::vector<double> few = made(5);
  EXPECT_EQ(std::set<double>(few.begin(), few.end()), (std::set<double>{-1, 0, 1}));
  EXPECT_GT(most(6), 3e38);
  EXPECT_GT(most(7), 0);
  EXPECT_LT(most(7), 0x1p-126);
  EXPECT_EQ(make_inputs(op, problem, 1, 6)[2][0], 9);  // an input with fewer sets begins again
  EXPECT_EQ(describe_inputs(op, 2), "from holds 7 everywhere, sum holds 9 everywhere");
  const Problem bytes = {{"size", 1000}, {"dtype", "u8"}};
  op.arguments[0].contents = {{Contents::uniform, -100, 100}};
  EXPECT_GT(std::ranges::max(make_inputs(op, bytes, 1, 1)[0]), 190);  // its range was moved up
}

TEST(CheckData, InputsFollowTheSeedAndTheReferenceCoversEveryElement) {
  const Op op = copy_op();
  const Problem problem = {{"size", 10001}, {"dtype", "f16"}};
  std::vector<std::vector<double>> inputs = make_inputs(op, problem, 1);
  ASSERT_EQ(inputs.size(), 3u);
  EXPECT_EQ(inputs[0].size(), 10001u);
  EXPECT_TRUE(inputs[1].empty());
  EXPECT_EQ(inputs[2].size(), 10001u);
  EXPECT_NE(inputs[0], inputs[2]);
  EXPECT_EQ(inputs, make_inputs(op, problem, 1));
  EXPECT_NE(inputs, make_inputs(op, problem, 2));
  const ExpectedOutput expected = reference_of(op, problem, inputs, 1);
  EXPECT_EQ(expected.value, inputs[0]);
  EXPECT_EQ(expected.permitted_error[10000], 10000);
  inputs[0][0] = 2;
  EXPECT_THROW(reference_of(op, problem, inputs, 1), std::runtime_error);
}

}  // namespace
}  // namespace tunesmith

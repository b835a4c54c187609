// SPDX-License-Identifier: Apache-2.0
// Tests of conv_covariance: its reference against numbers from NumPy, its typed function on the host, its
// spaces and its refusals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "generator/error.h"
#include "generator/ops.h"
#include "kernel_file/find_op.h"
#include "tests/refusal.h"
#include "tuner/device/check_data.h"
#include "tunesmith/conv_covariance.h"

namespace tunesmith::conv_covariance_test {
namespace {

using testing::HasSubstr;

const Op& op() { return find_op("conv_covariance"); }

Problem problem(const std::string& text) { return complete_problem(op(), Problem::parse(text)); }

std::string refusal(const std::string& text) { return refusal(op(), text); }

// (n a mod m - o) / s for n = 0, 1, …
std::vector<double> sequence(std::size_t count, int a, int m, int o, double s) {
  std::vector<double> values(count);
  for (std::size_t n = 0; n < count; ++n)
    values[n] = (static_cast<int>(n * static_cast<std::size_t>(a) % static_cast<std::size_t>(m)) - o) / s;
  return values;
}

// This shape, batch=2 channels_out=2 channels_in=2 height=3 width=4 mask_height=2 mask_width=3, has an output
// of 2 x 2.
const ConvCovarianceShape shape = {.batch = 2,
                                   .channels_out = 2,
                                   .channels_in = 2,
                                   .height = 3,
                                   .width = 4,
                                   .mask_height = 2,
                                   .mask_width = 3};
const std::string shape_text =
    "batch=2 channels_out=2 channels_in=2 height=3 width=4 mask_height=2 mask_width=3";
constexpr std::size_t pixels = 4;

std::vector<std::vector<double>> known_arguments() {
  return {sequence(128, 3, 17, 8, 2), sequence(1152, 7, 11, 5, 4), sequence(48, 5, 13, 6, 4), {0.5, -1.5}};
}

// 32 input[b, c0, :, :, c0, :, :] after the call, from numpy.einsum over sliding_window_view of mu and
// shifted slices of gamma. Every number is exact in all three dtypes.
constexpr std::array<int, 64> known_diagonal = {
    136,  -198, -180, 44,   -62, 280,  140,  12,  60,   -116, 26,   -84, -28,  -20,  52,  178,
    -824, 370,  508,  28,   218, -616, -276, 300, 28,   -68,  -302, 220, -76,  92,   68,  -390,
    29,   -87,  -18,  150,  5,   252,  -26,  -76, -270, 34,   149,  -20, 166,  -100, -16, 82,
    -183, 357,  70,   -242, 65,  -484, -274, 68,  522,  -198, -351, 76,  -338, 380,  320, -598};

std::vector<double> known_result() {
  std::vector<double> input = known_arguments()[0];
  for (std::size_t n = 0; n < known_diagonal.size(); ++n) {
    const std::size_t second = n % pixels, first = n / pixels % pixels, image = n / pixels / pixels;  // b, c0
    input[((image * pixels + first) * 2 + image % 2) * pixels + second] = known_diagonal[n] / 32.0;
  }
  return input;
}

TEST(ConvCovarianceReference, AgreesWithNumPy) {
  const auto arguments = known_arguments();
  const std::vector<double> expected = known_result();
  for (const char* dtype : {"f32", "f64", "f16"}) {
    const Problem wanted = problem(shape_text + " dtype=" + dtype);
    std::vector<double> value(128), permitted(128);
    // Ranges may begin and end anywhere.
    for (std::int64_t begin = 0; begin < 128; begin += 7) {
      const std::int64_t end = std::min<std::int64_t>(begin + 7, 128);
      const auto at = static_cast<std::size_t>(begin), size = static_cast<std::size_t>(end - begin);
      op().reference(wanted, arguments, 0, begin, end, std::span(value).subspan(at, size),
                     std::span(permitted).subspan(at, size));
    }
    EXPECT_EQ(value, expected);
    for (std::size_t n = 0; n < 128; ++n) {
      const bool same_channel = n / pixels % 2 == n / (pixels * pixels * 2) % 2;
      EXPECT_EQ(permitted[n] > 0, same_channel) << n;
      EXPECT_LT(permitted[n], dtype == std::string("f16") ? 0.03 : 1e-4) << n;
    }
  }
}

TEST(ConvCovarianceReference, OverflowOfF16IsInfinityAndItsNeighbourhoodIsFree) {
  const Problem wanted =
      problem("channels_out=1 channels_in=1 height=1 width=1 mask_height=1 mask_width=1 dtype=f16");
  const auto result = [&](double gamma) {
    const std::vector<std::vector<double>> arguments = {{60000}, {gamma}, {0}, {1}};
    std::array<double, 2> found = {};
    op().reference(wanted, arguments, 0, 0, 1, std::span(found).first(1), std::span(found).last(1));
    return found;
  };
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(result(8000), (std::array<double, 2>{infinity, 0}));
  EXPECT_EQ(result(5520)[1], infinity);
  EXPECT_EQ(result(1000)[0], 61000);
  EXPECT_LT(result(1000)[1], 32);
}

// ---- the typed function

Dispatcher& host() {
  static Dispatcher dispatcher({.device = "host", .database = "", .cache_folder = ""});
  return dispatcher;
}

template <typename T>
std::vector<T> packed(const std::vector<double>& values) {
  const DType dtype = std::is_same_v<T, float>    ? DType::f32
                      : std::is_same_v<T, double> ? DType::f64
                                                  : DType::f16;
  const std::string bytes = pack(dtype, values);
  std::vector<T> elements(values.size());
  std::memcpy(elements.data(), bytes.data(), bytes.size());
  return elements;
}

template <typename T>
class ConvCovarianceFunction : public testing::Test {};
using Types = testing::Types<float, double, std::uint16_t>;
TYPED_TEST_SUITE(ConvCovarianceFunction, Types);

TYPED_TEST(ConvCovarianceFunction, AddsAndLeavesPairsOfDifferentChannelsAlone) {
  const auto arguments = known_arguments();
  std::vector<TypeParam> input = packed<TypeParam>(arguments[0]);
  const auto gamma = packed<TypeParam>(arguments[1]), mu = packed<TypeParam>(arguments[2]),
             c = packed<TypeParam>(arguments[3]);
  std::vector<TypeParam> expected = packed<TypeParam>(known_result());
  // Pairs of different channels get a signalling NaN with a payload, and -0.
  const std::size_t nan_at = pixels, zero_at = pixels + 1;
  std::memset(&input[nan_at], 0xfd, sizeof(TypeParam));
  if constexpr (std::is_same_v<TypeParam, float>) {
    input[nan_at] = std::bit_cast<float>(0x7f812345u);
  } else if constexpr (std::is_same_v<TypeParam, double>) {
    input[nan_at] = std::bit_cast<double>(0x7ff0000012345678u);
  } else {
    input[nan_at] = 0x7d23;
  }
  input[zero_at] = packed<TypeParam>({-0.0})[0];
  std::memcpy(&expected[nan_at], &input[nan_at], 2 * sizeof(TypeParam));

  const Plan plan = conv_covariance_plan<TypeParam>(host(), shape);
  const char* dtype = std::is_same_v<TypeParam, float>    ? "f32"
                      : std::is_same_v<TypeParam, double> ? "f64"
                                                          : "f16";
  EXPECT_EQ(plan.problem(), shape_text + " dtype=" + dtype);
  const Status status = conv_covariance(host(), input.data(), gamma.data(), mu.data(), c.data(), shape);
  ASSERT_TRUE(status) << status.message();
  EXPECT_EQ(std::memcmp(input.data(), expected.data(), expected.size() * sizeof(TypeParam)), 0);

  // A second launch adds the same again.
  ASSERT_TRUE(conv_covariance(host(), input.data(), gamma.data(), mu.data(), c.data(), shape));
  std::vector<double> twice = known_result();
  for (std::size_t n = 0; n < twice.size(); ++n) twice[n] += twice[n] - arguments[0][n];
  const auto expected_twice = packed<TypeParam>(twice);
  EXPECT_EQ(input[0], expected_twice[0]);
  EXPECT_EQ(input.back(), expected_twice.back());
}

TYPED_TEST(ConvCovarianceFunction, NothingIsAddedForSizesOfZero) {
  std::vector<TypeParam> input = packed<TypeParam>({1, 2, 3, 4});
  const auto before = input;
  const auto c = packed<TypeParam>({std::numeric_limits<double>::infinity(), 1});
  ConvCovarianceShape none = {.batch = 1,
                              .channels_out = 2,
                              .channels_in = 0,
                              .height = 2,
                              .width = 3,
                              .mask_height = 2,
                              .mask_width = 3};
  const TypeParam* const null = nullptr;
  const Status no_input_channels = conv_covariance(host(), input.data(), null, null, c.data(), none);
  EXPECT_TRUE(no_input_channels) << no_input_channels.message();
  EXPECT_EQ(input, before);
  none.channels_in = 1;
  none.batch = 0;
  EXPECT_TRUE(conv_covariance(host(), static_cast<TypeParam*>(nullptr), null, null, c.data(), none));
  none.batch = 1;
  none.channels_out = 0;
  const auto gamma = packed<TypeParam>(std::vector<double>(36, 1)),
             mu = packed<TypeParam>(std::vector<double>(6, 1));
  EXPECT_TRUE(conv_covariance(host(), static_cast<TypeParam*>(nullptr), gamma.data(), mu.data(), null, none));
}

TEST(ConvCovariance, RoundsF16Once) {
  // Neighbours of 2048 are 2 apart in f16: if 16 terms of a quarter were added one by one, all would be lost.
  const ConvCovarianceShape one = {.batch = 1,
                                   .channels_out = 1,
                                   .channels_in = 1,
                                   .height = 4,
                                   .width = 4,
                                   .mask_height = 4,
                                   .mask_width = 4};
  const auto mu = packed<std::uint16_t>(std::vector<double>(16, 0)), c = packed<std::uint16_t>({1});
  for (const auto& [term, expected] : {std::pair(0.25, 2052.0), {0.0625, 2048.0}, {0.1875, 2052.0}}) {
    auto input = packed<std::uint16_t>({2048});
    const auto gamma = packed<std::uint16_t>(std::vector<double>(256, term));
    ASSERT_TRUE(conv_covariance(host(), input.data(), gamma.data(), mu.data(), c.data(), one));
    EXPECT_EQ(input, packed<std::uint16_t>({expected})) << term;
  }
}

TEST(ConvCovariance, ANaNReachesTheSumsThatHoldItAndNoOthers) {
  const ConvCovarianceShape row = {.batch = 1,
                                   .channels_out = 1,
                                   .channels_in = 1,
                                   .height = 1,
                                   .width = 4,
                                   .mask_height = 1,
                                   .mask_width = 2};
  const std::vector<float> mu(4, 1), c = {1};
  std::vector<float> gamma(16, 1), input(9, 0);
  gamma[1 * 4 + 2] = std::numeric_limits<float>::quiet_NaN();  // the covariance of pixels 1 and 2
  ASSERT_TRUE(conv_covariance(host(), input.data(), gamma.data(), mu.data(), c.data(), row));
  for (int j = 0; j < 3; ++j) {
    for (int jp = 0; jp < 3; ++jp) {
      const bool holds = (j == 0 && jp == 1) || (j == 1 && jp == 2);
      EXPECT_EQ(std::isnan(input[static_cast<std::size_t>(j * 3 + jp)]), holds) << j << ", " << jp;
      if (!holds) {
        EXPECT_EQ(input[static_cast<std::size_t>(j * 3 + jp)], 4);
      }
    }
  }
}

TEST(ConvCovariance, PointersThatCannotBeAreInTheStatus) {
  const auto arguments = known_arguments();
  std::vector<float> input = packed<float>(arguments[0]), gamma = packed<float>(arguments[1]),
                     mu = packed<float>(arguments[2]), c = packed<float>(arguments[3]);
  const auto before = input;
  const auto code = [&](float* a, const float* b, const float* d, const float* e) {
    return conv_covariance(host(), a, b, d, e, shape).code();
  };
  EXPECT_EQ(code(nullptr, gamma.data(), mu.data(), c.data()), Status::null_argument);
  EXPECT_EQ(code(input.data(), nullptr, mu.data(), c.data()), Status::null_argument);
  EXPECT_EQ(code(gamma.data(), gamma.data(), mu.data(), c.data()), Status::overlapping_arguments);
  EXPECT_EQ(code(gamma.data() + 1151, gamma.data(), mu.data(), c.data()), Status::overlapping_arguments);
  EXPECT_EQ(code(input.data(), gamma.data(), input.data() + 80, c.data()), Status::overlapping_arguments);
  EXPECT_EQ(code(input.data(), gamma.data(), mu.data(), input.data() + 126), Status::overlapping_arguments);
  const auto misaligned = reinterpret_cast<const float*>(reinterpret_cast<const char*>(gamma.data()) + 2);
  EXPECT_EQ(code(input.data(), misaligned, mu.data(), c.data()), Status::misaligned_argument);
  EXPECT_EQ(input, before);
  // Several inputs may be the same array.
  EXPECT_EQ(code(input.data(), gamma.data(), gamma.data(), c.data()), Status::success);
}

TEST(ConvCovariance, RefusesSizesThatCannotBeInWholeSentences) {
  const std::string channels = "channels_out=1 channels_in=1 ";
  EXPECT_EQ(
      refusal(channels + "height=3 width=9 mask_height=5 mask_width=2"),
      "The conv_covariance problem's mask_height is 5, but its height is 3; a mask is at most as large as "
      "the image.");
  EXPECT_THAT(refusal(channels + "height=9 width=3 mask_height=1 mask_width=4"),
              HasSubstr("mask_width is 4"));
  EXPECT_THAT(refusal(channels + "height=65536 width=65536 mask_height=1 mask_width=1"),
              HasSubstr("2^59 elements"));
  EXPECT_THAT(refusal("channels_out=-1 channels_in=1 height=3 width=3 mask_height=1 mask_width=1"),
              HasSubstr("channels_out is -1; allowed are whole numbers from 0"));
  EXPECT_THAT(refusal(channels + "height=3 width=3 mask_height=0 mask_width=1"),
              HasSubstr("mask_height is 0"));
  EXPECT_THAT(refusal(channels + "height=3 width=3 mask_height=1 mask_width=1 dtype=bf16"),
              HasSubstr("f32, f64, f16"));
  ConvCovarianceShape wrong = shape;
  wrong.mask_width = 5;
  EXPECT_THROW((void)conv_covariance_plan<float>(host(), wrong), std::runtime_error);
  const Template& factored = find_template(op(), "factored");
  const std::string tall = channels + "height=70 width=3 mask_width=3 mask_height=";
  EXPECT_EQ(factored.refuses(problem(tall + "65")), "");
  EXPECT_THAT(factored.refuses(problem(tall + "66")), HasSubstr("mask_height of 66 is beyond the 65"));
  EXPECT_THAT(factored.refuses(problem(tall + "65 dtype=f64")), HasSubstr("beyond the 33"));
}

// ---- spaces

TEST(ConvCovarianceSpace, HasSomeThousandPromisingConfigsAndADefaultForEveryProblem) {
  DeviceFacts device;
  device.kind = DeviceKind::cuda;
  std::vector<std::string> texts = op().examples;
  texts.insert(texts.end(), op().large_examples.begin(), op().large_examples.end());
  texts.emplace_back("batch=4 channels_out=3 channels_in=3 height=34 width=34 mask_height=3 mask_width=3");
  texts.emplace_back(
      "channels_out=16 channels_in=16 height=16 width=16 mask_height=5 mask_width=5 dtype=f64");
  for (const std::string& text : texts) {
    const Problem wanted = problem(text);
    for (const Template& tmpl : op().templates) {
      if (tmpl.refuses && !tmpl.refuses(wanted).empty()) continue;
      const Space space = tmpl.space(wanted);
      const std::int64_t count = space.count(Space::Subset::promising);
      EXPECT_GE(count, tmpl.name == "base" ? 2 : 400) << tmpl.name << " " << text;
      EXPECT_LE(count, 12000) << tmpl.name << " " << text;
      EXPECT_FALSE(exceeds(tmpl.work(wanted, space.complete({})), device)) << tmpl.name << " " << text;
    }
  }
}

TEST(ConvCovarianceSpace, AConfigIsLegalWhateverTheImageHoldsItsVectors) {
  const std::string rest = " batch=3 channels_out=5 channels_in=3 mask_height=3 mask_width=3";
  const Problem large = problem("height=50 width=34" + rest), small = problem("height=3 width=6" + rest);
  for (const char* name : {"direct", "factored", "factored_any"}) {
    const Template& tmpl = find_template(op(), name);
    for (const Config& config : tmpl.space(large).sample(200, 1)) {
      EXPECT_FALSE(tmpl.space(small).why_not(config.values())) << config.text();
    }
  }
}

TEST(ConvCovarianceSpace, RefusesWhatCannotBeRightAndAllowsWhatIsOnlySlow) {
  struct Case {
    const char* tmpl;
    const char* problem;
    const char* config;
    const char* broken;  // part of the rule that it breaks, or nothing
  };
  const std::string image = "channels_out=1 channels_in=4 height=40 width=40 ";
  const Case cases[] = {
      {"direct", "mask_height=3 mask_width=3", "BLOCK_X=128 BLOCK_Y=8", ""},
      {"direct", "mask_height=3 mask_width=3", "BLOCK_X=128 BLOCK_Y=16", "at most 1024 threads"},
      {"direct", "mask_height=8 mask_width=16", "UNROLL=3", ""},
      {"direct", "mask_height=40 mask_width=40", "UNROLL=3", ""},
      {"factored", "mask_height=3 mask_width=5", "BLOCK_X=64 BLOCK_D=4 BLOCK_J=4", ""},
      {"factored", "mask_height=3 mask_width=5", "BLOCK_X=64 BLOCK_D=4 BLOCK_J=8", "at most 1024 threads"},
      {"factored", "mask_height=3 mask_width=4", "VECTOR=2", "VECTOR divides the output's columns"},
      {"factored", "mask_height=3 mask_width=5 dtype=f64", "VECTOR=4", "at most 16 bytes"},
      {"factored", "mask_height=3 mask_width=5 dtype=f64", "GAMMA_VECTOR=4", "GAMMA_VECTOR divides"},
      {"factored", "mask_height=9 mask_width=5", "OUT_J=4 VECTOR=4", ""},
      {"factored", "mask_height=10 mask_width=5", "OUT_J=4 VECTOR=4", "128 of the 255 registers"},
      {"factored", "mask_height=3 mask_width=13", "BOX=window OUT_J=4 VECTOR=4", ""},
      {"factored", "mask_height=3 mask_width=15", "BOX=window OUT_J=4 VECTOR=1", "A window takes"},
      {"factored", "mask_height=3 mask_width=5 dtype=f16", "STORE=streaming VECTOR=1", "at least 4 bytes"},
      {"factored", "mask_height=3 mask_width=5", "AHEAD=1 BLOCK_X=8 BLOCK_J=1 OUT_J=8 VECTOR=4",
       "Rows loaded ahead"},
      {"factored", "mask_height=1 mask_width=1", "AHEAD=1 STAGING=flat BLOCK_J=1", ""},
  };
  for (const auto& [tmpl, sizes, config, broken] : cases) {
    const Space space = find_template(op(), tmpl).space(problem(image + sizes));
    Values values = space.complete({}).values();
    const Values changed = Values::parse(config);
    for (const auto& [name, value] : changed.entries()) values.set(name, value);
    const std::optional<std::string> why = space.why_not(values);
    EXPECT_EQ(!why, std::string(broken).empty()) << sizes << ", " << config << ": " << why.value_or("legal");
    EXPECT_THAT(why.value_or(""), HasSubstr(broken)) << why.value_or("legal");
  }
}

TEST(ConvCovarianceSpace, OffsetsOf32BitsEndWithTheMatricesTheyReach) {
  const std::string mask = " mask_height=1 mask_width=1 channels_in=1 width=1 height=1 channels_out=";
  for (const char* name : {"direct", "factored", "factored_any"}) {
    const Template& tmpl = find_template(op(), name);
    EXPECT_EQ(tmpl.space(problem("batch=99" + mask + "46340")).complete({})[IntegerAxis("INDEX_BITS")], 32);
    EXPECT_EQ(tmpl.space(problem("batch=99" + mask + "46341")).complete({})[IntegerAxis("INDEX_BITS")], 64);
    EXPECT_THROW(tmpl.space(problem("batch=99" + mask + "46341")).complete({{"INDEX_BITS", 32}}), UsageError);
  }
}

TEST(ConvCovarianceSpace, OneBinaryServesEveryMaskAndNumberOfChannels) {
  const Template& any = find_template(op(), "factored_any");
  DeviceFacts device;
  device.kind = DeviceKind::cuda;
  const Problem small = problem("channels_out=1 channels_in=3 height=9 width=9 mask_height=3 mask_width=3");
  const Config config = any.space(small).complete(*any.untuned(small, device));
  for (const char* text : {"channels_out=4 channels_in=64 height=9 width=9 mask_height=5 mask_width=7",
                           "channels_out=4 channels_in=1 height=99 width=98 mask_height=99 mask_width=1"}) {
    const Problem other = problem(text);
    EXPECT_FALSE(why_not(any, other, device));
    EXPECT_FALSE(any.space(other).why_not(config.values())) << text;
    EXPECT_EQ(render(op(), any, small, config, "sm_90a").hash,
              render(op(), any, other, config, "sm_90a").hash);
    const Config own = any.space(other).complete(*any.untuned(other, device));
    EXPECT_FALSE(exceeds(any.work(other, own), device)) << text;
    EXPECT_EQ(alignment_bytes(any, other, own), 4) << text;
  }
}

}  // namespace
}  // namespace tunesmith::conv_covariance_test

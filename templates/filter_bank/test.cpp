// SPDX-License-Identifier: Apache-2.0
// Tests of filter_bank: SciPy's numbers; norms of numbers whose squares overflow or vanish; numbers that are
// not finite; refusals; spaces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "generator/ops.h"
#include "kernel_file/find_op.h"
#include "runtime/toolchain.h"
#include "templates/filter_bank/op.h"
#include "tests/refusal.h"
#include "tests/rules.h"
#include "tuner/device/device.h"
#include "tuner/device/device_memory.h"
#include "tunesmith/filter_bank.h"

namespace tunesmith::filter_bank_test {
namespace {

using testing::HasSubstr;

const Op& op() { return find_op("filter_bank"); }
Problem problem(const std::string& text) { return complete_problem(op(), Problem::parse(text)); }

constexpr float infinity = std::numeric_limits<float>::infinity();

class FilterBankOnHost : public testing::Test {
 protected:
  std::vector<float> filtered(const std::vector<float>& image, const std::vector<float>& column_masks,
                              const std::vector<float>& row_masks, const FilterBankShape& shape) {
    const bool each = shape.results == FilterBankResults::each;
    std::vector<float> output(image.size() * static_cast<std::size_t>(each ? shape.filters : 1), 99);
    const Status status =
        filter_bank(dispatcher_, image.data(), column_masks.data(), row_masks.data(), output.data(), shape);
    EXPECT_TRUE(status) << status.message();
    return output;
  }
  Dispatcher dispatcher_{{.device = "host", .database = "", .cache_folder = ""}};
};

// scipy.ndimage.sobel([[1, 9, 2], [8, 3, 5]], 0) and 1, mode=...
TEST_F(FilterBankOnHost, APairOfSobelsIsSciPys) {
  using enum Boundary;
  const std::vector<float> x = {1, 9, 2, 8, 3, 5}, down = {-1, 0, 1, 1, 2, 1}, across = {1, 2, 1, -1, 0, 1};
  FilterBankShape shape{.height = 2, .width = 3, .filters = 2, .taps_y = 3, .taps_x = 3};
  using All = std::vector<float>;
  EXPECT_EQ(filtered(x, down, across, shape), All({15, -2, 3, 15, -2, 3, 19, 0, -19, -7, -8, -1}));
  shape.boundary = zero;
  EXPECT_EQ(filtered(x, down, across, shape), All({19, 19, 13, -11, -21, -13, 21, -1, -21, 15, -5, -15}));
  shape.results = FilterBankResults::sum;
  EXPECT_EQ(filtered(x, down, across, shape), All({40, 18, -8, 4, -26, -28}));
  shape.boundary = constant;
  shape.value = 1;
  // These numbers come from correlate() with the products of the masks: sobel() also uses the value outside
  // next to the sums of its first direction.
  EXPECT_EQ(filtered(x, down, across, shape), All({34, 14, -8, 4, -22, -22}));
}

TEST_F(FilterBankOnHost, OriginsAndEvenMasksAreSciPys) {
  FilterBankShape shape{.height = 1, .width = 4, .filters = 1, .taps_y = 1, .taps_x = 2};
  const std::vector<float> x = {1, 2, 3, 4};
  using All = std::vector<float>;
  EXPECT_EQ(filtered(x, {1}, {10, 1}, shape), All({11, 12, 23, 34}));  // correlate1d(x, [10, 1])
  shape.origin_x = -1;
  EXPECT_EQ(filtered(x, {1}, {10, 1}, shape), All({12, 23, 34, 44}));  // origin=-1
  shape.origin_x = 0;
  shape.channels = 2;
  shape.width = 2;
  EXPECT_EQ(filtered(x, {1}, {10, 1}, shape), All({11, 22, 13, 24}));
}

TEST_F(FilterBankOnHost, WhatCannotBeIsRefused) {
  const FilterBankShape shape{.height = 3, .width = 3, .filters = 1, .taps_y = 3, .taps_x = 3};
  std::vector<float> x(9, 1);
  float* const none = nullptr;
  EXPECT_TRUE(filter_bank(dispatcher_, x.data(), x.data(), x.data(), none,
                          {.height = 0, .width = 3, .filters = 1, .taps_y = 3, .taps_x = 3}));
  EXPECT_EQ(filter_bank(dispatcher_, x.data(), x.data(), x.data(), x.data(), shape).code(),
            Status::overlapping_arguments);
  EXPECT_EQ(filter_bank(dispatcher_, x.data(), none, x.data(), x.data(), shape).code(),
            Status::null_argument);
  EXPECT_THAT(
      error_of([&] { (void)filter_bank(dispatcher_, "f64", x.data(), x.data(), x.data(), x.data(), shape); }),
      HasSubstr("masks and an output of double"));
  expect_refusals(op(), "height=9 width=9 ",
                  {{"filters=5 taps_y=3 taps_x=3", "filters"},
                   {"filters=1 taps_y=1025 taps_x=3", "1024"},
                   {"filters=1 taps_y=4 taps_x=3 origin_y=2", "from -2 to 1"},
                   {"filters=1 taps_y=4 taps_x=3 origin_x=-2", "from -1 to 1"},
                   {"filters=4 taps_y=3 taps_x=3 batch=2000000000 channels=9", "2^40"},
                   {"filters=1 taps_y=3 taps_x=3 dtype=i32", "i32"},
                   {"filters=1 taps_y=3 taps_x=3 results=all", "each, sum, norm"}});
}

TEST_F(FilterBankOnHost, TheTypedFunctionsPlanTheirProblem) {
  EXPECT_EQ(filter_bank_plan(dispatcher_,
                             {.batch = 2,
                              .height = 5,
                              .width = 6,
                              .channels = 3,
                              .filters = 4,
                              .taps_y = 7,
                              .taps_x = 8,
                              .results = FilterBankResults::norm,
                              .boundary = Boundary::constant,
                              .value = 0.5,
                              .origin_y = -1,
                              .origin_x = 1},
                             "f16")
                .problem(),
            "batch=2 height=5 width=6 channels=3 filters=4 taps_y=7 taps_x=8 results=norm boundary=constant "
            "origin_y=-1 origin_x=1 dtype=f16 value=0.5");
}

// ---- both templates, on images of float

std::vector<float> output_of(const char* name, const std::string& text, const std::string& config,
                             const std::vector<float>& image, const std::vector<float>& column_masks,
                             const std::vector<float>& row_masks) {
  const Problem wanted = problem(text);
  const Template& tmpl = find_template(op(), name);
  const Config chosen = tmpl.space(wanted).complete(Values::parse(config));
  const Work work = tmpl.work(wanted, chosen);
  const Source source = render(op(), tmpl, wanted, chosen, "host", template_files());
  const Compilation compiled = make_host_toolchain()->compile(source);
  EXPECT_TRUE(compiled.ok) << compiled.log;
  if (!compiled.ok) return {};
  const std::unique_ptr<Device> device = make_host_device();
  const std::unique_ptr<Executable> executable = device->load(compiled.bytes, source.suffix, work);
  const std::vector<float>* const inputs[] = {&image, &column_masks, &row_masks};
  const std::int64_t image_bytes = std::ssize(image) * 4;
  const DeviceMemory owned[] = {{*device, image_bytes},
                                {*device, std::ssize(column_masks) * 4},
                                {*device, std::ssize(row_masks) * 4},
                                {*device, image_bytes}};
  for (std::size_t n = 0; n < 3; ++n)
    device->upload(owned[n].get(), inputs[n]->data(), std::ssize(*inputs[n]) * 4);
  void* const arguments[] = {owned[0].get(), owned[1].get(), owned[2].get(), owned[3].get()};
  EXPECT_EQ(executable->launch(arguments, nullptr, nullptr), 0);
  std::vector<float> output(image.size());
  device->download(output.data(), owned[3].get(), image_bytes);
  return output;
}

struct Case {
  const char* template_name;
  const char* config;
};
constexpr Case cases[] = {{"base", ""}, {"sliding", "BLOCK=64 ROWS=4 COLUMNS=2"}};

TEST(FilterBankNorm, SquaresNeitherOverflowNorVanish) {
  for (const Case& which : cases) {
    SCOPED_TRACE(which.template_name);
    std::vector<float> image;
    for (const float size : {1.0F, 1e-45F, 3e-39F, 1e-30F, 1e-13F, 1e15F, 1e25F, 2e38F, 0.0F, infinity})
      image.insert(image.end(), {size, -size});
    image.push_back(std::nanf(""));
    image.push_back(-0.0F);
    // Each filter has one weight. They are 3 and 4 quarters, whose norm is 5 quarters.
    const std::vector<float> found =
        output_of(which.template_name, "height=1 width=22 filters=2 taps_y=1 taps_x=1 results=norm",
                  which.config, image, {std::sqrt(0.75F), 1.0F}, {std::sqrt(0.75F), 1.0F});
    for (std::size_t n = 0; n < image.size(); ++n) {
      if (std::isnan(image[n])) {
        EXPECT_TRUE(std::isnan(found[n]));
      } else if (std::isinf(image[n])) {
        EXPECT_EQ(found[n], infinity);
      } else {
        const double expected = 1.25 * std::abs(static_cast<double>(image[n]));
        EXPECT_NEAR(found[n], expected, expected * 1e-6 + 0x1p-148) << image[n];
      }
    }
  }
}

TEST(FilterBankValues, ThatAreNotFiniteReachTheirWindowsAlone) {
  for (const Case& which : cases) {
    SCOPED_TRACE(which.template_name);
    constexpr std::int64_t height = 13, width = 40;
    std::vector<float> image(height * width, 1);
    image[5 * width + 7] = std::nanf("");
    image[9 * width + 30] = infinity;
    const std::vector<float> found =
        output_of(which.template_name,
                  "height=13 width=40 filters=1 taps_y=3 taps_x=5 results=sum boundary=constant value=inf",
                  which.config, image, {0.25F, 1.0F, 0.5F}, {0.25F, 1.0F, 0.5F, 2.0F, 1.0F});
    const auto near = [](std::int64_t y, std::int64_t x, std::int64_t at_y, std::int64_t at_x) {
      return std::abs(y - at_y) <= 1 && std::abs(x - at_x) <= 2;
    };
    for (std::int64_t y = 0; y < height; ++y) {
      for (std::int64_t x = 0; x < width; ++x) {
        const float one = found[static_cast<std::size_t>(y * width + x)];
        const bool at_edge = y < 1 || y >= height - 1 || x < 2 || x >= width - 2;
        if (near(y, x, 5, 7)) {
          EXPECT_TRUE(std::isnan(one)) << y << ", " << x;
        } else if (at_edge || near(y, x, 9, 30)) {
          EXPECT_EQ(one, infinity) << y << ", " << x;
        } else {
          EXPECT_TRUE(std::isfinite(one)) << y << ", " << x;
        }
      }
    }
  }
}

// Derivatives of areas of one value are exactly 0, regardless of rounding.
TEST(FilterBankValues, HalvesThatDifferInSignAloneAreOpposite) {
  const std::vector<float> even = {0.1F, 0.7F, 0.3F, 0.7F, 0.1F};
  const std::vector<float> odds[] = {{-0.1F, -0.7F, 0.0F, 0.7F, 0.1F},
                                     {0.1F, -0.7F, 0.3F, -0.3F, 0.7F, -0.1F}};
  for (const Case& which : cases) {
    for (const std::vector<float>& odd : odds) {
      for (const bool in_columns : {true, false}) {
        const std::string taps = std::to_string(odd.size());
        SCOPED_TRACE(which.template_name + std::string(in_columns ? " taps_y=" : " taps_x=") + taps);
        const std::vector<float> found =
            output_of(which.template_name,
                      "height=19 width=40 filters=1 results=sum " +
                          (in_columns ? "taps_y=" + taps + " taps_x=5" : "taps_y=5 taps_x=" + taps),
                      which.config, std::vector<float>(19 * 40, 0.1F), in_columns ? odd : even,
                      in_columns ? even : odd);
        for (const float one : found) ASSERT_EQ(one, 0);
      }
    }
  }
}

// ---- spaces

TEST(FilterBankSpace, RulesAreSaid) {
  const RuleCase rules[] = {
      {"sliding", "height=9 width=67 filters=2 taps_y=3 taps_x=3", "VECTOR=4", "no vectors"},
      {"sliding", "height=9 width=64 filters=2 taps_y=3 taps_x=129", "BLOCK=64 COLUMNS=2", "overhang"},
      {"sliding", "height=9 width=64 filters=4 taps_y=3 taps_x=3", "BLOCK=512 COLUMNS=4 RESIDENT_WARPS=8",
       "at most 200 KiB"},
      {"sliding", "height=9 width=64 filters=4 taps_y=47 taps_x=3", "COLUMNS=2 ROWS=16 RESIDENT_WARPS=8",
       "at most 6000"},
      {"sliding", "height=9 width=64 filters=1 taps_y=25 taps_x=3", "COLUMNS=4", "208 registers"},
      {"sliding", "height=9 width=64 filters=2 taps_y=3 taps_x=3", "OUTPUTS=12", ""},
  };
  expect_rules(op(), rules);
}

TEST(FilterBankSpace, TheTemplateSaysWhatItIsNotFor) {
  expect_refusals(op(), "sliding", "width=7 ",
                  {{"height=0 filters=1 taps_y=3 taps_x=3", "nothing"},
                   {"height=9 filters=2 taps_y=142 taps_x=3", "142 weights"},
                   {"height=9 filters=1 taps_y=3 taps_x=386", "384 elements"},
                   {"height=1073741824 filters=1 taps_y=3 taps_x=3", "32 bits"},
                   {"height=9 filters=1 taps_y=3 taps_x=1 channels=134217728", "32 bits"},
                   {"height=9 filters=2 taps_y=141 taps_x=141", ""},
                   {"height=9 filters=2 taps_y=69 taps_x=69 dtype=f64", ""}});
}

// The first guess, for problems without a measurement, is legal for every size of mask that the template does
// not refuse.
TEST(FilterBankSpace, FirstGuessesAreLegal) {
  const Template& sliding = find_template(op(), "sliding");
  for (const char* dtype : {"f32", "f64", "u8"}) {
    for (const int filters : {1, 2, 4}) {
      for (const int taps_y : {1, 3, 25, 41, 141}) {
        for (const int taps_x : {1, 9, 33, 127, 129, 385}) {
          for (const int width : {1, 62, 4096}) {
            const Problem one =
                problem("height=300 width=" + std::to_string(width) + " filters=" + std::to_string(filters) +
                        " taps_y=" + std::to_string(taps_y) + " taps_x=" + std::to_string(taps_x) +
                        " dtype=" + dtype);
            if (!sliding.refuses(one).empty()) continue;
            for (const int multiprocessors : {20, 132}) {
              DeviceFacts device = facts_of_capability(90);
              device.multiprocessors = multiprocessors;
              const std::optional<Values> guess = sliding.untuned(one, device);
              ASSERT_TRUE(guess);
              const Space space = sliding.space(one, device);
              ASSERT_EQ(error_of([&] { space.complete(*guess); }), "") << one.text();
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace tunesmith::filter_bank_test

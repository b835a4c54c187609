// SPDX-License-Identifier: Apache-2.0
// Tests of conv2d against numbers from SciPy 1.17.1: boundaries, origins, output sizes, masks of even sides,
// images of one pixel; the typed functions; and refusals.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kernel_file/find_op.h"
#include "templates/image/test_scipy.h"
#include "tests/refusal.h"
#include "tunesmith/conv2d.h"

namespace tunesmith::conv2d_boundary_test {
namespace {

const Op& conv2d_op() { return find_op("conv2d"); }

// The numbers come from scipy.ndimage.correlate and convolve with their `mode`, cval=5 and origin=(origin_y,
// origin_x), and from scipy.signal.convolve2d and correlate2d with mode=size and boundary=fill, symm or wrap,
// as named behind each case.
const std::vector<ScipyCase>& cases() {
  static const std::vector<ScipyCase> all = {
      {"height=3 width=4 mask_height=2 mask_width=3 boundary=zero origin_x=1",
       {6, 11, -21, -24, 21, 2, 8, 8, 17, 20, 8, -14}},  // correlate
      {"height=3 width=4 mask_height=5 mask_width=4 boundary=zero mode=convolution origin_y=2 origin_x=1",
       {9, 9, -31, 19, 28, -15, -7, 25, 4, -24, 5, 6}},  // convolve
      {"height=3 width=4 mask_height=2 mask_width=3 boundary=constant value=5 origin_y=-1 origin_x=1",
       {6, -13, 8, 8, 2, 5, 8, -14, -1, -8, -11, 14}},  // correlate
      {"height=3 width=4 mask_height=5 mask_width=4 boundary=constant value=5 mode=convolution origin_y=2 "
       "origin_x=-2",
       {3, -9, -12, -1, 2, -14, -10, 18, -1, -4, 10, 9}},  // convolve
      {"height=3 width=4 mask_height=2 mask_width=3 boundary=nearest origin_x=1",
       {0, 21, 9, -24, -12, -13, 8, 8, 10, -2, 8, -14}},  // correlate
      {"height=3 width=4 mask_height=5 mask_width=4 boundary=nearest mode=convolution origin_y=2 origin_x=1",
       {17, 43, -21, 16, 40, 11, -31, -5, 34, -17, -4, 0}},  // convolve
      {"height=3 width=4 mask_height=2 mask_width=3 boundary=reflect origin_y=-1 origin_x=1",
       {-22, -13, 8, 8, 22, -2, 8, -14, 12, -12, 9, 9}},  // correlate
      {"height=3 width=4 mask_height=5 mask_width=4 boundary=reflect mode=convolution origin_y=2 origin_x=-2",
       {-17, 54, -7, -11, 7, -54, 17, 13, 63, -86, 7, 36}},  // convolve
      {"height=3 width=4 mask_height=2 mask_width=3 boundary=mirror origin_x=1",
       {-8, 23, -23, -23, 23, -23, 8, 8, 23, 10, 8, -14}},  // correlate
      {"height=3 width=4 mask_height=5 mask_width=4 boundary=mirror mode=convolution origin_y=2 origin_x=1",
       {-10, 31, -31, 10, 4, -21, -28, 24, 1, -13, 13, -1}},  // convolve
      {"height=3 width=4 mask_height=2 mask_width=3 boundary=wrap origin_y=-1 origin_x=1",
       {-10, -10, 8, 8, 23, 1, 8, -14, -7, 15, -22, 0}},  // correlate
      {"height=3 width=4 mask_height=5 mask_width=4 boundary=wrap mode=convolution origin_y=2 origin_x=-2",
       {19, -22, 19, -8, -36, 11, -3, -8, 13, 27, -20, 8}},                   // convolve
      {"height=1 width=1 mask_height=4 mask_width=5 boundary=nearest", {0}},  // correlate
      {"height=1 width=3 mask_height=2 mask_width=9 boundary=nearest mode=convolution origin_y=-1 origin_x=4",
       {-4, 14, 6}},                                                                           // convolve
      {"height=2 width=1 mask_height=7 mask_width=3 boundary=nearest origin_y=-3", {-14, 0}},  // correlate
      {"height=1 width=1 mask_height=4 mask_width=5 boundary=reflect", {0}},                   // correlate
      {"height=1 width=3 mask_height=2 mask_width=9 boundary=reflect mode=convolution origin_y=-1 origin_x=4",
       {-5, 12, 27}},                                                                         // convolve
      {"height=2 width=1 mask_height=7 mask_width=3 boundary=reflect origin_y=-3", {7, 21}},  // correlate
      {"height=1 width=1 mask_height=4 mask_width=5 boundary=mirror", {0}},                   // correlate
      {"height=1 width=3 mask_height=2 mask_width=9 boundary=mirror mode=convolution origin_y=-1 origin_x=4",
       {20, -4, 11}},                                                                          // convolve
      {"height=2 width=1 mask_height=7 mask_width=3 boundary=mirror origin_y=-3", {-14, 14}},  // correlate
      {"height=1 width=1 mask_height=4 mask_width=5 boundary=wrap", {0}},                      // correlate
      {"height=1 width=3 mask_height=2 mask_width=9 boundary=wrap mode=convolution origin_y=-1 origin_x=4",
       {-2, -3, 24}},                                                                        // convolve
      {"height=2 width=1 mask_height=7 mask_width=3 boundary=wrap origin_y=-3", {-14, 14}},  // correlate
      {"height=3 width=4 mask_height=2 mask_width=3 boundary=zero mode=convolution size=full",
       {-6,  -11, 21, 24, 12, 2,  -21, -2,  -8, -8,  31, 12,
        -17, -20, -8, 14, -6, 19, -4,  -12, 1,  -24, 5,  6}},  // convolve2d
      {"height=3 width=4 mask_height=2 mask_width=2 boundary=zero size=full",
       {-3, -7, 4, 4, 2, 0, 28, 2, -13, 4, 23, 1, -14, 26, -13, 12, -8, 21, -5, -6}},  // correlate2d
      {"height=4 width=3 mask_height=2 mask_width=4 boundary=zero mode=convolution origin_y=-1 origin_x=-1",
       {-11, 21, 25, -36, 21, 28, -36, 20, 25, -36, 19, 22}},  // convolve2d
      {"height=3 width=4 mask_height=4 mask_width=3 boundary=zero origin_y=-1",
       {4, -45, -18, -24, -6, 29, 3, -37, 20, 8, -14, 6}},  // correlate2d
      {"height=4 width=5 mask_height=2 mask_width=3 boundary=zero mode=convolution size=valid",
       {-38, 17, 17, -5, -5, 28, 17, -38, 17}},  // convolve2d
      {"height=3 width=4 mask_height=2 mask_width=3 boundary=constant value=5 mode=convolution size=full",
       {4,  -16, 11, 14, -8,  -3, -6, 13, -8, -8,  16, -3,
        -2, -5,  -8, 14, -21, 4,  1,  8,  11, -14, 10, -4}},  // convolve2d
      {"height=3 width=4 mask_height=2 mask_width=2 boundary=constant value=5 size=full",
       {7, -2, 9, 9, 2, -5, 28, 2, -13, 14, 18, 1, -14, 26, -3, 2, -8, 21, -5, 9}},  // correlate2d
      {"height=4 width=3 mask_height=2 mask_width=4 boundary=constant value=5 mode=convolution origin_y=-1 "
       "origin_x=-1",
       {-26, 1, 0, -46, 6, 3, -46, 5, 0, -46, 4, -3}},  // convolve2d
      {"height=3 width=4 mask_height=4 mask_width=3 boundary=constant value=5 origin_y=-1",
       {14, -35, -8, -4, -36, 14, -12, -22, -5, -2, -24, 11}},  // correlate2d
      {"height=4 width=5 mask_height=2 mask_width=3 boundary=constant value=5 mode=convolution size=valid",
       {-38, 17, 17, -5, -5, 28, 17, -38, 17}},  // convolve2d
      {"height=3 width=4 mask_height=2 mask_width=3 boundary=reflect mode=convolution size=full",
       {21,  -21, -9, 24, 12,  -12, 22,  13, -8, -8, 13, 22,
        -22, 2,   -8, 14, -20, -11, -12, 12, -9, -9, 12, -12}},  // convolve2d
      {"height=3 width=4 mask_height=2 mask_width=2 boundary=reflect size=full",
       {3, 17, 2, -2, 2, 3, 28, 2, -13, 2, 9, 1, -14, 26, 8, 4, -4, 14, -1, 3}},  // correlate2d
      {"height=4 width=3 mask_height=2 mask_width=2 boundary=reflect mode=convolution origin_y=-1 "
       "origin_x=-1",
       {3, -4, 14, 2, -5, 13, 1, -6, 12, 0, -7, 11}},  // convolve2d
      {"height=3 width=4 mask_height=2 mask_width=3 boundary=reflect origin_y=-1",
       {-13, 8, 8, -13, -2, 8, -14, 20, -12, 9, 9, -12}},  // correlate2d
      {"height=4 width=5 mask_height=2 mask_width=3 boundary=reflect mode=convolution size=valid",
       {-38, 17, 17, -5, -5, 28, 17, -38, 17}},  // convolve2d
      {"height=3 width=4 mask_height=2 mask_width=3 boundary=wrap mode=convolution size=full",
       {7,   -15, 22, 0,  7,   -15, 10, 10,  -8, -8, 10, 10,
        -23, -1,  -8, 14, -23, -1,  7,  -15, 22, 0,  7,  -15}},  // convolve2d
      {"height=3 width=4 mask_height=2 mask_width=2 boundary=wrap size=full",
       {5, -15, 25, -1, 5, 4, 28, 2, -13, 4, 10, 1, -14, 26, 10, 5, -15, 25, -1, 5}},  // correlate2d
      {"height=4 width=3 mask_height=2 mask_width=2 boundary=wrap mode=convolution origin_y=-1 origin_x=-1",
       {9, -4, 14, 8, -5, 13, 7, -6, 12, 6, -7, 11}},  // convolve2d
      {"height=3 width=4 mask_height=2 mask_width=3 boundary=wrap origin_y=-1",
       {-10, 8, 8, -10, 1, 8, -14, 23, 15, -22, 0, -7}},  // correlate2d
      {"height=4 width=5 mask_height=2 mask_width=3 boundary=wrap mode=convolution size=valid",
       {-38, 17, 17, -5, -5, 28, 17, -38, 17}},  // convolve2d
      {"height=2 width=3 mask_height=4 mask_width=5 boundary=wrap mode=convolution size=valid",
       {25, 11, 11, -24, -10, 25, -3, -10, -24}},  // convolve2d
      {"height=2 width=3 mask_height=4 mask_width=5 boundary=constant value=5 size=valid",
       {-25, -11, -11, 24, 10, -25, 3, 10, 24}},  // correlate2d
      {"height=2 width=3 mask_height=4 mask_width=3 boundary=reflect size=valid",
       {-24, -24, 11}},  // correlate2d
  };
  return all;
}

TEST(Conv2dBoundary, TheReferenceIsSciPys) { expect_reference_is_scipys(conv2d_op(), cases()); }

TEST(Conv2dBoundary, LaunchesGiveSciPysNumbers) { expect_launches_are_scipys(conv2d_op(), cases()); }

TEST(Conv2dBoundary, TypedFunctionsTakeEveryWordAndOnePlanEveryValue) {
  Dispatcher dispatcher({.device = "host", .database = "", .compile = Compile::never, .cache_folder = ""});
  const std::vector<std::uint8_t> image = {1, 2, 3};
  const std::vector<float> mask = {10, 1};
  Conv2dShape shape{.height = 1, .width = 3, .mask_height = 1, .mask_width = 2};
  std::vector<float> output;
  const auto run = [&](Conv2dMode mode = Conv2dMode::correlation) {
    output.assign(static_cast<std::size_t>(conv2d_output_height(shape) * conv2d_output_width(shape)), -1);
    const Status status =
        conv2d(dispatcher, Conv2dImage::u8, image.data(), mask.data(), output.data(), shape, mode);
    EXPECT_TRUE(status.ok()) << status.message();
    return output;
  };
  using Output = std::vector<float>;
  EXPECT_EQ(run(), (Output{1, 12, 23}));
  shape.boundary = Boundary::wrap;
  EXPECT_EQ(run(), (Output{31, 12, 23}));
  shape.origin_x = -1;
  EXPECT_EQ(run(), (Output{12, 23, 31}));
  shape.origin_x = 0;
  shape.size = Conv2dSize::full;
  EXPECT_EQ(run(), (Output{31, 12, 23, 31}));
  EXPECT_EQ(run(Conv2dMode::convolution), (Output{13, 21, 32, 13}));
  shape.size = Conv2dSize::valid;
  EXPECT_EQ(run(), (Output{12, 23}));
  shape.size = Conv2dSize::same;
  shape.boundary = Boundary::constant;
  for (const float value : {0.5f, 7.0f, -1.0f}) {
    shape.value = value;
    EXPECT_EQ(run(), (Output{value * 10 + 1, 12, 23}));
  }
  EXPECT_EQ(dispatcher.summary().front().problem.find("value=\"0\"") != std::string::npos, true);
  shape.value = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(run()[0]));
  EXPECT_EQ(output[1], 12);
  const Plan plan = conv2d_plan(dispatcher, Conv2dImage::u8,
                                {.height = 1,
                                 .width = 3,
                                 .mask_height = 1,
                                 .mask_width = 2,
                                 .boundary = Boundary::constant,
                                 .value = 4});
  void* const arguments[] = {const_cast<std::uint8_t*>(image.data()), const_cast<float*>(mask.data()),
                             output.data()};
  EXPECT_TRUE(plan.launch(arguments).ok());
  EXPECT_EQ(output[0], 41);
  EXPECT_TRUE(plan.launch(arguments, std::vector<double>{2}).ok());
  EXPECT_EQ(output[0], 21);
  EXPECT_EQ(plan.launch(arguments, std::vector<double>{2, 3}).code(), Status::wrong_number_count);
  const std::vector<float> floats = {1, 2, 3};
  EXPECT_TRUE(conv2d(dispatcher, floats.data(), mask.data(), output.data(), shape).ok());
  EXPECT_TRUE(std::isnan(output[0]));
}

TEST(Conv2dBoundary, WhatIsNotAllowedIsSaid) {
  const std::string image = "height=9 width=9 mask_height=4 mask_width=5 ";
  expect_refusals(
      conv2d_op(), image,
      {{"origin_y=2", "with origin_y=2; for 4 places there, allowed are whole numbers from -2 to 1."},
       {"origin_x=-3", "from -2 to 2"},
       {"origin_x=1 size=full",
        "The conv2d problem's origin_x is 1, but size is full; an origin is for size=same only."},
       {"boundary=symm", "zero, constant, nearest, reflect, mirror, wrap"},
       {"boundary=constant value=five", "'five' is not a decimal number"}});
  expect_refusals(conv2d_op(), "",
                  {{"height=2147482624 width=1 mask_height=4 mask_width=1 size=full",
                    "more than 2147482624 rows or columns"}});
  for (const std::string more : {"boundary=wrap", "size=full", "origin_y=-1", "dtype=u8"})
    expect_refusals(conv2d_op(), "tiled", image, {{more, "not " + more + "; take another template."}});
}

// This holds on any GPU, for masks of 31 x 31 at least.
TEST(Conv2dBounded, HasADefaultThatFits) {
  const Template& bounded = find_template(conv2d_op(), "bounded");
  DeviceFacts device;
  device.kind = DeviceKind::cuda;
  for (const char* text :
       {"height=4096 width=4096 mask_height=3 mask_width=3",
        "height=4095 width=4095 mask_height=31 mask_width=31 dtype=f64",
        "height=1000 width=999 mask_height=31 mask_width=31 size=full dtype=u8",
        "height=200 width=200 mask_height=13 mask_width=13 dtype=bf16",
        "height=700 width=700 mask_height=63 mask_width=63", "height=1 width=1 mask_height=1 mask_width=1"}) {
    const Problem problem =
        complete_problem(conv2d_op(), Problem::parse(std::string(text) + " boundary=reflect"));
    ASSERT_EQ(bounded.refuses(problem), "") << text;
    const Space space = bounded.space(problem);
    EXPECT_FALSE(exceeds(bounded.work(problem, space.complete({})), device)) << text;
    EXPECT_EQ(space.broken_worth(space.complete({})), 0u) << text;
    EXPECT_GE(space.count(Space::Subset::promising), 100) << text;
    EXPECT_LE(space.count(Space::Subset::promising), 8000) << text;
  }
  expect_refusals(conv2d_op(), "bounded", "",
                  {{"height=9 width=9 mask_height=99 mask_width=99 size=full", "shared memory"},
                   {"height=2000000000 width=1 mask_height=1 mask_width=1 dtype=u8", "beyond the 1073741824"},
                   {"height=9 width=9 mask_height=3 mask_width=3", "take one of them"}});
}

// Texts that were stored before these parameters existed keep their meaning.
TEST(Conv2dBoundary, OlderTextsMeanTheSame) {
  const Problem problem = complete_problem(
      conv2d_op(),
      Problem::parse("batch=1 height=9 width=8 mask_height=3 mask_width=4 mode=correlation boundary=zero "
                     "dtype=f32"));
  EXPECT_EQ(problem.text(),
            "batch=1 height=9 width=8 mask_height=3 mask_width=4 mode=correlation boundary=zero dtype=f32 "
            "size=same origin_y=0 origin_x=0 value=\"0\"");
  EXPECT_EQ(conv2d_op().launch_numbers(problem), nullptr);
  for (const char* name : {"tiled", "sliding"})
    EXPECT_EQ(find_template(conv2d_op(), name).refuses(problem), "") << name;
}

}  // namespace
}  // namespace tunesmith::conv2d_boundary_test

// SPDX-License-Identifier: Apache-2.0
// Tests of conv1d against numbers from SciPy 1.17.1 and NumPy: boundaries, origins, even numbers of taps,
// kernels that are longer than the signal, types of signals; the typed functions; and refusals.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernel_file/find_op.h"
#include "templates/image/test_scipy.h"
#include "tests/refusal.h"
#include "tunesmith/conv1d.h"

namespace tunesmith::conv1d_boundary_test {
namespace {

const Op& conv1d_op() { return find_op("conv1d"); }

// The numbers come from scipy.ndimage.convolve1d and correlate1d with their `mode`, cval=5 and `origin`, or
// from the function named behind each case.
const std::vector<ScipyCase>& cases() {
  static const std::vector<ScipyCase> all = {
      {"length=6 taps=3 mode=same boundary=constant value=5 function=correlate "
       "origin=1",
       {8, 9, 30, 0, 3, 28}},  // correlate1d
      {"length=6 taps=4 mode=same boundary=constant value=5 origin=1",
       {21, -16, 13, 12, 1, 5}},  // convolve1d
      {"length=5 taps=4 mode=same boundary=constant value=5 function=correlate "
       "origin=-1 batch=2",
       {3, 28, -9, -2, 23, -2, -3, 26, -9, -8}},                               // correlate1d
      {"length=1 taps=5 mode=same boundary=constant value=5 origin=2", {-4}},  // convolve1d
      {"length=2 taps=9 mode=same boundary=constant value=5 function=correlate "
       "origin=-4",
       {24, -5}},                                                              // correlate1d
      {"length=3 taps=8 mode=same boundary=constant value=5", {-8, -30, -3}},  // convolve1d
      {"length=6 taps=3 mode=same boundary=nearest function=correlate origin=1",
       {6, 13, 30, 0, 3, 28}},                                                              // correlate1d
      {"length=6 taps=4 mode=same boundary=nearest origin=-2", {3, -11, 18, 21, -16, 13}},  // convolve1d
      {"length=5 taps=4 mode=same boundary=nearest function=correlate "
       "origin=-1 batch=2",
       {7, 28, -9, -6, 23, -2, -3, 26, -4, -8}},                      // correlate1d
      {"length=1 taps=5 mode=same boundary=nearest origin=2", {-6}},  // convolve1d
      {"length=2 taps=9 mode=same boundary=nearest function=correlate "
       "origin=-4",
       {24, 10}},                                                    // correlate1d
      {"length=3 taps=8 mode=same boundary=nearest", {-7, -24, 2}},  // convolve1d
      {"length=6 taps=3 mode=same boundary=reflect function=correlate origin=1",
       {-8, 13, 30, 0, 3, 28}},                                                            // correlate1d
      {"length=6 taps=4 mode=same boundary=reflect origin=1", {21, -16, 13, 12, -7, 23}},  // convolve1d
      {"length=5 taps=4 mode=same boundary=reflect function=correlate "
       "origin=-1 batch=2",
       {7, 28, -9, -6, 30, -2, -3, 26, -4, -12}},                     // correlate1d
      {"length=1 taps=5 mode=same boundary=reflect origin=2", {-6}},  // convolve1d
      {"length=2 taps=9 mode=same boundary=reflect function=correlate "
       "origin=-4",
       {45, 24}},                                                     // correlate1d
      {"length=3 taps=8 mode=same boundary=reflect", {-21, -20, 3}},  // convolve1d
      {"length=6 taps=3 mode=same boundary=mirror function=correlate origin=1",
       {21, -1, 30, 0, 3, 28}},                                                            // correlate1d
      {"length=6 taps=4 mode=same boundary=mirror origin=-2", {28, -7, 11, 21, -16, 13}},  // convolve1d
      {"length=5 taps=4 mode=same boundary=mirror function=correlate origin=-1 "
       "batch=2",
       {-7, 28, -9, 1, 19, 6, -3, 26, -8, -12}},                                             // correlate1d
      {"length=1 taps=5 mode=same boundary=mirror origin=2", {-6}},                          // convolve1d
      {"length=2 taps=9 mode=same boundary=mirror function=correlate origin=-4", {17, -4}},  // correlate1d
      {"length=3 taps=8 mode=same boundary=mirror", {11, -43, -7}},                          // convolve1d
      {"length=6 taps=3 mode=same boundary=wrap function=correlate origin=1",
       {0, 9, 30, 0, 3, 28}},                                                            // correlate1d
      {"length=6 taps=4 mode=same boundary=wrap origin=1", {21, -16, 13, 16, -15, 16}},  // convolve1d
      {"length=5 taps=4 mode=same boundary=wrap function=correlate origin=-1 "
       "batch=2",
       {-5, 28, -9, 0, 16, 8, -3, 26, -9, -4}},                                            // correlate1d
      {"length=1 taps=5 mode=same boundary=wrap origin=2", {-6}},                          // convolve1d
      {"length=2 taps=9 mode=same boundary=wrap function=correlate origin=-4", {17, -4}},  // correlate1d
      {"length=3 taps=8 mode=same boundary=wrap", {-18, -29, 9}},                          // convolve1d
      {"length=4 taps=3 boundary=constant value=5",
       {14, -6, 21, 24, 2, 7}},                                       // numpy.pad, numpy.convolve valid
      {"length=4 taps=3 boundary=nearest", {6, -8, 21, 24, 8, 4}},    // numpy.pad, numpy.convolve valid
      {"length=4 taps=3 boundary=reflect", {13, -8, 21, 24, 8, -4}},  // numpy.pad, numpy.convolve valid
      {"length=4 taps=3 boundary=mirror", {30, -1, 21, 24, 0, 0}},    // numpy.pad, numpy.convolve valid
      {"length=4 taps=3 boundary=wrap", {6, -9, 21, 24, 6, -9}},      // numpy.pad, numpy.convolve valid
      {"length=6 taps=4 mode=valid boundary=wrap", {21, -16, 13}},    // numpy.convolve
      {"length=6 taps=4 mode=same", {-11, 21, 21, -16, 13, 22}},      // numpy.convolve
      {"length=3 taps=5 mode=valid boundary=wrap", {21, 25, -13}},    // numpy.convolve
      {"length=3 taps=5 mode=same", {-11, 21, 25, -13, -36}},         // numpy.convolve
  };
  return all;
}

TEST(Conv1dBoundary, TheReferenceIsSciPys) { expect_reference_is_scipys(conv1d_op(), cases()); }

TEST(Conv1dBoundary, LaunchesGiveSciPysNumbers) { expect_launches_are_scipys(conv1d_op(), cases()); }

TEST(Conv1dBoundary, TypedFunctionsTakeEveryWordAndOnePlanEveryValue) {
  Dispatcher dispatcher({.device = "host", .database = "", .compile = Compile::never, .cache_folder = ""});
  const std::vector<std::uint8_t> signal = {1, 2, 3};
  const std::vector<float> kernel = {10, 1};
  Conv1dShape shape{.length = 3, .taps = 2};
  std::vector<float> output;
  const auto run = [&](Conv1dMode mode, Conv1dFunction function = Conv1dFunction::correlate) {
    output.assign(static_cast<std::size_t>(conv1d_output_length(shape, mode)), -1);
    const Status status = conv1d(dispatcher, Conv1dSignal::u8, signal.data(), kernel.data(), output.data(),
                                 shape, mode, function);
    EXPECT_TRUE(status.ok()) << status.message();
    return output;
  };
  using Output = std::vector<float>;
  EXPECT_EQ(run(Conv1dMode::same), (Output{1, 12, 23}));
  shape.boundary = Boundary::wrap;
  EXPECT_EQ(run(Conv1dMode::same), (Output{31, 12, 23}));
  shape.origin = -1;
  EXPECT_EQ(run(Conv1dMode::same), (Output{12, 23, 31}));
  shape.origin = 0;
  EXPECT_EQ(run(Conv1dMode::full), (Output{31, 12, 23, 31}));
  EXPECT_EQ(run(Conv1dMode::full, Conv1dFunction::convolve), (Output{13, 21, 32, 13}));
  EXPECT_EQ(run(Conv1dMode::valid), (Output{12, 23}));
  shape.boundary = Boundary::constant;
  for (const float value : {0.5f, 7.0f}) {
    shape.value = value;
    EXPECT_EQ(run(Conv1dMode::same), (Output{value * 10 + 1, 12, 23}));
  }
  const Plan plan = conv1d_plan(dispatcher, Conv1dSignal::u8, shape, Conv1dMode::same);
  EXPECT_EQ(Problem::parse(plan.problem()).string("value"), "7");
  shape.taps = 5;  // as in SciPy; NumPy would have as many outputs as taps
  EXPECT_EQ(conv1d_output_length(shape, Conv1dMode::same), 3);
}

TEST(Conv1dBoundary, WhatIsNotAllowedIsSaid) {
  const std::string not_here =
      "The conv1d problem's origin is 1; an origin is for mode=same with another boundary than zero, such as "
      "boundary=constant.";
  expect_refusals(conv1d_op(), "length=9 taps=4 ",
                  {{"mode=same boundary=wrap origin=2", "with origin=2; for 4 places"},
                   {"mode=same origin=1", not_here},
                   {"boundary=wrap origin=1", not_here}});
  expect_refusals(conv1d_op(), "tiled", "length=9 taps=4 ",
                  {{"boundary=wrap", "not boundary=wrap"},
                   {"dtype=u8", "not dtype=u8"},
                   {"mode=valid boundary=wrap", ""}});  // no sample outside counts
}

TEST(Conv1dBounded, HasADefaultThatFits) {
  const Template& bounded = find_template(conv1d_op(), "bounded");
  DeviceFacts device;
  device.kind = DeviceKind::cuda;
  for (const char* text : {"length=10000000 taps=5", "length=999 taps=4096", "length=1 taps=1",
                           "batch=1000 length=50 taps=7 dtype=u8", "batch=30 length=4001 taps=31 dtype=f64",
                           "length=100000 taps=255 mode=same dtype=i16"}) {
    const Problem problem =
        complete_problem(conv1d_op(), Problem::parse(std::string(text) + " boundary=reflect"));
    ASSERT_EQ(bounded.refuses(problem), "") << text;
    const Space space = bounded.space(problem);
    EXPECT_FALSE(exceeds(bounded.work(problem, space.complete({})), device)) << text;
    EXPECT_EQ(space.broken_worth(space.complete({})), 0u) << text;
    EXPECT_GE(space.count(Space::Subset::promising), 30) << text;
    EXPECT_LE(space.count(Space::Subset::promising), 12000) << text;
  }
  expect_refusals(conv1d_op(), "bounded", "length=9 ",
                  {{"taps=4097 boundary=wrap", "4097 taps"},
                   {"taps=4096 boundary=wrap dtype=f64", "shared memory"},
                   {"taps=3", "take one of them"}});
}

TEST(Conv1dSliding, ServesEveryProblemByADefaultThatFitsEveryGpu) {
  const Template& sliding = find_template(conv1d_op(), "sliding");
  EXPECT_TRUE(sliding.untuned);
  DeviceFacts device;
  device.kind = DeviceKind::cuda;
  for (const char* text :
       {"length=10000000 taps=5", "length=1000000 taps=64", "length=999 taps=4097 boundary=reflect",
        "length=1 taps=1 boundary=wrap", "batch=1000 length=50 taps=7 dtype=u8 boundary=mirror",
        "batch=100000 length=64 taps=5", "batch=30 length=4001 taps=31 dtype=f64 boundary=nearest",
        "length=100000 taps=255 mode=same dtype=i16 boundary=constant value=2", "length=5 taps=100000",
        "length=1000000 taps=31 dtype=bf16", "length=100000000 taps=100000 dtype=f64"}) {
    const Problem problem = complete_problem(conv1d_op(), Problem::parse(text));
    EXPECT_FALSE(why_not(sliding, problem, device)) << text;
    const Space space = sliding.space(problem);
    const Config config = space.complete({});
    const Work work = sliding.work(problem, config);
    EXPECT_FALSE(exceeds(work, device)) << text;
    EXPECT_LE(std::get<Launch>(work.steps.front()).dynamic_shared_bytes, 48 * 1024) << text;
    EXPECT_EQ(space.broken_worth(config), 0u) << text << ": " << config.text();
    EXPECT_EQ(alignment_bytes(sliding, problem, config), bytes(dtype_of(problem))) << text;
  }
}

}  // namespace
}  // namespace tunesmith::conv1d_boundary_test

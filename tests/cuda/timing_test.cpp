// SPDX-License-Identifier: Apache-2.0
// Tests the times and energies of launches on the CUDA device.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <numeric>

#include "tests/cuda/cuda_device.h"
#include "tuner/device/device_memory.h"
#include "tuner/search/policy.h"

namespace tunesmith {
namespace {

TEST_F(CudaDevice, TimesAnEmptyKernel) {
  const auto executable = load(device(), {Launch{.kernel = "empty"}});
  const auto start = Clock::now();
  std::vector<double> samples = device().time_us(*executable, {}, nullptr, {}).samples_us;
  const double cost = milliseconds_since(start);
  ASSERT_EQ(samples.size(), 5u);
  std::sort(samples.begin(), samples.end());
  std::cout << "an empty kernel: " << samples[2] << " us (" << samples.front() << " to " << samples.back()
            << "), timed in " << cost << " ms\n";
  EXPECT_GT(samples[2], 0.1);
  EXPECT_LT(samples[2], 10);
}

TEST_F(CudaDevice, TimeGrowsWithWork) {
  float* out = put(std::vector<float>{0});
  void* arguments[] = {out};
  double last = 0;
  for (const std::int32_t rounds : {2'000, 20'000, 200'000, 2'000'000}) {
    const auto executable = load(
        device(), {Launch{.kernel = "burn", .block = {32, 1, 1}, .arguments = {ArgumentPointer{0}, rounds}}});
    const auto start = Clock::now();
    std::vector<double> samples = device().time_us(*executable, arguments, nullptr, {}).samples_us;
    const double cost = milliseconds_since(start);
    std::sort(samples.begin(), samples.end());
    const double median = samples[samples.size() / 2];
    std::cout << rounds << " rounds: " << median << " us, " << samples.size() << " samples, spread "
              << 100 * (samples.back() / samples.front() - 1) << " %, timed in " << cost << " ms\n";
    if (last > 0) {
      EXPECT_NEAR(median / last, 10, 2);
    }
    last = median;

    const auto samples_below = [&](double limit_us) {
      return device()
          .time_us(*executable, arguments, nullptr, {.give_up_above_us = limit_us})
          .samples_us.size();
    };
    EXPECT_EQ(samples_below(median / 2), 1u);
    EXPECT_GE(samples_below(1.5 * median), 3u);
  }
  const auto lasting = static_cast<std::int32_t>(2e6 * 150'000 / last);
  const auto executable = load(
      device(), {Launch{.kernel = "burn", .block = {32, 1, 1}, .arguments = {ArgumentPointer{0}, lasting}}});
  const std::vector<double> samples = device().time_us(*executable, arguments, nullptr, {}).samples_us;
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_NEAR(samples.front(), 150'000, 15'000);
}

TEST_F(CudaDevice, ColdCachesMakeAReadSlower) {
  constexpr std::int32_t n =
      8 << 20;  // 32 MiB: well inside the 50 MiB or more that large GPUs cache since 9.0
  const DeviceFacts& facts = device().facts();
  if (facts.compute_capability < 90 || facts.multiprocessors < 100)
    GTEST_SKIP() << "The second-level cache may be too small.";
  const DeviceMemory in(device(), std::int64_t{4} * n);
  device().fill(in.get(), 0, in.bytes());
  float* out = put(std::vector<float>{0});
  void* arguments[] = {in.get(), out};
  const auto executable = load(device(), {Launch{.kernel = "read_all",
                                                 .grid = {8 * facts.multiprocessors, 1, 1},
                                                 .block = {256, 1, 1},
                                                 .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, n}}});
  const auto time = [&](const Timing& timing) {
    const auto start = Clock::now();
    std::vector<double> samples = device().time_us(*executable, arguments, nullptr, timing).samples_us;
    const double cost = milliseconds_since(start);
    const Summary summary = summarize(samples);
    std::cout << (timing.conditions.caches == Caches::cold ? "cold: " : "warm: ") << summary.median_us
              << " us, spread " << 100 * summary.spread << " %, " << samples.size() << " samples in " << cost
              << " ms\n";
    return samples;
  };
  const double warm = summarize(time({})).median_us;
  const std::vector<double> samples = time({.conditions = {Caches::cold}});
  ASSERT_EQ(samples.size(), 5u);
  const double cold = summarize(samples).median_us;
  EXPECT_GT(cold, 1.2 * warm);
  EXPECT_NEAR(summarize(time({.conditions = {Caches::cold}})).median_us / cold, 1, 0.02);
  EXPECT_EQ(time({.give_up_above_us = cold / 2, .conditions = {Caches::cold}}).size(), 1u);
  EXPECT_EQ(time({.give_up_above_us = 1.5 * cold, .conditions = {Caches::cold}}).size(), 5u);
}

TEST_F(CudaDevice, ColdTimesGrowWithTheBytesRead) {
  const DeviceFacts& facts = device().facts();
  double last_us = 0;
  for (const std::int32_t n : {1 << 10, 1 << 16, 1 << 20, 1 << 22, 1 << 24, 1 << 26}) {
    const DeviceMemory in(device(), std::int64_t{4} * n);
    device().fill(in.get(), 0, in.bytes());
    float* out = put(std::vector<float>{0});
    void* arguments[] = {in.get(), out};
    const Launch step = {.kernel = "read_all",
                         .grid = {std::min<std::int64_t>(8 * facts.multiprocessors, (n + 255) / 256), 1, 1},
                         .block = {256, 1, 1},
                         .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, n}};
    std::vector<double> of_loads;
    double cost = 0;
    for (int load_number = 0; load_number < 5; ++load_number) {
      const auto executable = load(device(), {step});
      const auto start = Clock::now();
      of_loads.push_back(
          summarize(
              device().time_us(*executable, arguments, nullptr, {.conditions = {Caches::cold}}).samples_us)
              .median_us);
      cost = milliseconds_since(start);
    }
    const Summary cold = summarize(of_loads);
    const double warm =
        summarize(device().time_us(*load(device(), {step}), arguments, nullptr, {}).samples_us).median_us;
    std::cout << "read of " << 4e-3 * n << " kB: cold " << cold.median_us << " us (spread "
              << 100 * cold.spread << " %), warm " << warm << " us, one in " << cost << " ms\n";
    EXPECT_GT(cold.median_us, 0.98 * warm) << n;
    EXPECT_GT(cold.median_us, last_us) << n;
    last_us = cold.median_us;
  }
}

// With cold caches a launch works on a copy of the buffers: each copy has the inputs and zeroed counters.
TEST_F(CudaDevice, ColdLaunchesFindTheirInputsAndCounters) {
  constexpr std::int32_t n = 100'000;
  std::vector<int> values(n);
  std::iota(values.begin(), values.end(), 0);
  int* const wrong = put(std::vector<int>(8, 0)) + 4;  // not the start of an allocation, so it is not copied
  int* const out = put(std::vector<int>(n, -1));
  unsigned* const counter = put(std::vector<unsigned>(64, 0));
  void* arguments[] = {put(values), out, wrong};
  const auto executable = load(device(), {Launch{.kernel = "demand",
                                                 .grid = {(n + 255) / 256, 1, 1},
                                                 .block = {256, 1, 1},
                                                 .arguments = {ArgumentPointer{0}, n, ArgumentPointer{1},
                                                               WorkspacePointer{0}, ArgumentPointer{2}}}});
  for (const int repeats : {1, 7, 50}) {
    device().fill(out, 0xff, std::int64_t{4} * n);
    device().time_us(*executable, arguments, counter, {.repeats = repeats, .conditions = {Caches::cold}});
    EXPECT_EQ(get(wrong, 1).front(), 0) << repeats;
    EXPECT_EQ(get(out, n), values) << repeats;
  }
}

// Kernels of a known number of clocks, from 0.7 us to 1 ms: the other costs of a launch are the same for all.
TEST_F(CudaDevice, TimesAreThoseOfKnownClocks) {
  const std::int64_t blocks = device().facts().multiprocessors;
  for (const bool chained : {false, true}) {
    double last_us = 0;
    std::int64_t last_count = 0;
    for (const std::int64_t count : {0, 500, 2'000, 10'000, 50'000, 200'000, 1'000'000, 2'000'000}) {
      std::vector<double> of_loads;
      TimeSamples timed;
      double cost = 0;
      for (int load_number = 0; load_number < 5; ++load_number) {
        const auto executable = load(
            device(),
            {Launch{.kernel = "clocks", .grid = {blocks, 1, 1}, .block = {64, 1, 1}, .arguments = {count}}});
        const auto start = Clock::now();
        timed = device().time_us(*executable, {}, nullptr,
                                 {.conditions = {.launches = chained ? Launches::chained : Launches::apart}});
        cost = milliseconds_since(start);
        of_loads.push_back(summarize(timed.samples_us).median_us);
      }
      const double us = summarize(of_loads).median_us;
      std::cout << (chained ? "chained " : "apart ") << count << " clocks: " << us << " us, "
                << timed.clock_mhz << " MHz " << timed.throttled << ", one in " << cost << " ms\n";
      if (last_count >= 500 && timed.clock_mhz > 0) {
        const double expected = static_cast<double>(count - last_count) / timed.clock_mhz;
        EXPECT_NEAR(us - last_us, expected, 0.012 + 0.01 * expected) << count;
      }
      last_us = us;
      last_count = count;
    }
  }
}

TEST_F(CudaDevice, OnlyAKernelThatOverlapsIsFasterBehindItself) {
  if (device().facts().compute_capability < 90)
    GTEST_SKIP() << "Launches overlap from compute capability 9.0 on.";
  const auto ratio = [&](const char* kernel, bool overlaps) {
    const auto time = [&](bool chained) {
      std::vector<double> of_loads;
      for (int load_number = 0; load_number < 7; ++load_number) {
        const auto executable = load(device(), {Launch{.kernel = kernel,
                                                       .grid = {device().facts().multiprocessors, 1, 1},
                                                       .block = {64, 1, 1},
                                                       .arguments = {std::int64_t{2000}},
                                                       .overlaps_previous = overlaps}});
        of_loads.push_back(summarize(device()
                                         .time_us(*executable, {}, nullptr,
                                                  {.conditions = {.launches = chained ? Launches::chained
                                                                                      : Launches::apart}})
                                         .samples_us)
                               .median_us);
      }
      return summarize(of_loads).median_us;
    };
    const double apart = time(false);
    const double chained = time(true);
    std::cout << kernel << ": apart " << apart << " us, chained " << chained << " us\n";
    return apart / chained;
  };
  EXPECT_NEAR(ratio("clocks", false), 1, 0.02);
  EXPECT_GT(ratio("overlapping_clocks", true), 1.08);  // 1.13 and more on H100s, 1.2 and more on an H200
}

// A copy of 2^27 random floats takes an H200 161 mJ; zeros take less.
TEST_F(CudaDevice, EnergyOfACopy) {
  constexpr std::int64_t n = std::int64_t{1} << 27;
  if (device().facts().memory_bytes < 16 * n) GTEST_SKIP() << "too little memory";
  const DeviceMemory in(device(), 4 * n);
  const DeviceMemory out(device(), 4 * n);
  void* arguments[] = {in.get(), out.get()};
  const std::int64_t blocks = 8 * device().facts().multiprocessors;
  load(device(), {Launch{.kernel = "scatter_bits",
                         .grid = {blocks, 1, 1},
                         .block = {256, 1, 1},
                         .arguments = {ArgumentPointer{0}, n}}})
      ->launch(arguments, nullptr, nullptr);
  device().synchronize();
  const auto copy = load(device(), {Launch{.kernel = "copy",
                                           .grid = {blocks, 1, 1},
                                           .block = {512, 1, 1},
                                           .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, n / 4}}});
  const double us = summarize(device().time_us(*copy, arguments, nullptr, {}).samples_us).median_us;
  std::vector<double> of_windows;
  for (int window = 0; window < 3; ++window) {
    const auto start = Clock::now();
    const auto energy = device().energy_uj(*copy, arguments, nullptr);
    if (!energy) GTEST_SKIP() << "no energy counter";
    of_windows.push_back(*energy);
    std::cout << *energy / 1000 << " mJ, " << *energy / us << " W, in " << milliseconds_since(start)
              << " ms\n";
  }
  const Summary energy = summarize(of_windows);
  EXPECT_LT(energy.spread, 0.03);
  EXPECT_GT(energy.median_us / us, 100);  // watts
  EXPECT_LT(energy.median_us / us, 1000);
  if (device().facts().name == "NVIDIA H200") {
    EXPECT_NEAR(energy.median_us, 161e3, 0.15 * 161e3);
  }
}

}  // namespace
}  // namespace tunesmith

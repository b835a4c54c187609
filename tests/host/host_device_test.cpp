// The tuner's host device: guards, comparison, timing.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "tests/host/loaded.h"
#include "tuner/device_memory.h"

namespace tunesmith {
namespace {

TEST(HostDevice, FindsWritesOutsideAnAllocation) {
  const auto device = make_host_device();
  const DeviceMemory owner(*device, 100);
  auto* const memory = owner.as<unsigned char>();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 256, 0u);
  EXPECT_TRUE(device->guards_intact(memory));
  for (const std::ptrdiff_t offset : {-1, -4096, 100, 4195}) {
    memory[offset] ^= 1;
    EXPECT_FALSE(device->guards_intact(memory)) << offset;
    EXPECT_TRUE(device->guards_intact(memory)) << "the guards are repaired once they have told";
  }
}

TEST(HostDevice, ComparesWithThePermittedErrorAndKeepsNanAndInfinity) {
  const auto device = make_host_device();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  const float got[] = {1.0f, 2.5f, static_cast<float>(nan), static_cast<float>(inf), 0.0f, 7.0f};
  const double expected[] = {1, 2, nan, inf, 0, nan};
  const double permitted[] = {0, 0.4, 0, 0, 0, 1};
  const Comparison result = device->compare(got, DType::f32, expected, permitted, 6);
  EXPECT_EQ(result.wrong, 2);
  EXPECT_EQ(result.first_wrong, 1);
  EXPECT_EQ(result.got, 2.5);
  EXPECT_EQ(result.expected, 2);
  EXPECT_TRUE(std::isinf(result.max_error));
  EXPECT_NEAR(device->compare(got, DType::f32, expected, permitted, 2).max_error, 1.25, 1e-12);
  const float poison_seen[] = {static_cast<float>(nan)};
  const double one[] = {1};
  EXPECT_EQ(device->compare(poison_seen, DType::f32, one, one, 1).wrong, 1)
      << "an unwritten element is wrong";
  const double anything[] = {std::numeric_limits<double>::infinity()};
  EXPECT_EQ(device->compare(poison_seen, DType::f32, one, anything, 1).wrong, 0);
  EXPECT_EQ(device->compare(got, DType::f32, &nan, anything, 1).max_error, 0);
}

TEST(HostDevice, TimesGrowWithTheWork) {
  const auto device = make_host_device();
  Loaded kernel = load(R"(
extern "C" __global__ void ENTRY(kernel)(float* out) {
  float x = *out;
  for (int n = 0; n < 2000; ++n) x = x * 0.5f + 1.0f;
  *out = x;
})",
                       {}, {});
  Loaded longer = load(R"(
extern "C" __global__ void ENTRY(kernel)(float* out) {
  float x = *out;
  for (int n = 0; n < 2000 * 20; ++n) x = x * 0.5f + 1.0f;
  *out = x;
})",
                       {}, {});
  float out = 0;
  void* arguments[] = {&out};
  const Timing timing{.samples = 5, .sample_target_us = 200};
  const auto least = [&](Loaded& tmpl) {
    const std::vector<double> times =
        device->time_us(*tmpl.executable, arguments, nullptr, timing).samples_us;
    EXPECT_EQ(times.size(), 5u);
    return *std::min_element(times.begin(), times.end());
  };
  const double one = least(kernel);
  EXPECT_GT(one, 0.5);
  EXPECT_GT(least(longer), 5 * one);
  EXPECT_EQ(device->time_us(*longer.executable, arguments, nullptr, {.samples = 5, .give_up_above_us = 0.01})
                .samples_us.size(),
            1u);
  EXPECT_FALSE(device->energy_uj(*kernel.executable, arguments, nullptr));
}

}  // namespace
}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
// Tests the tuner's host device: guards, comparison, timing.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "tests/host/loaded.h"
#include "tuner/device/device_memory.h"

namespace tunesmith {
namespace {

TEST(HostDevice, FindsWritesOutsideAnAllocation) {
  const auto device = make_host_device();
  const DeviceMemory owner(*device, 100);
  auto* const memory = owner.as<unsigned char>();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 256, 0u);
  EXPECT_TRUE(device->guards_intact(memory));
  for (const std::ptrdiff_t offset : {-1, -4096, 100, 255}) {
    memory[offset] ^= 1;
    const Outside outside = device->written_outside(memory);
    EXPECT_EQ(outside.before, offset < 0 ? -offset : 0);
    EXPECT_EQ(outside.after, offset < 0 ? 0 : offset - 99);
    EXPECT_TRUE(device->guards_intact(memory)) << "the guards are repaired once they have told";
  }
}

// The kernel reads a value beyond its array and does not use it, in either direction.
TEST(HostDevice, AnAccessBeyondAnArrayEndsItsLaunch) {
  const auto device = make_host_device();
  LoadedBinary kernel = load(R"(
extern "C" __global__ void ENTRY(kernel)(const float* in, long long at) {
  if (threadIdx.x == 3) static_cast<void>(*static_cast<const volatile float*>(in + at));
})",
                             {2, 1, 1}, {32, 1, 1}, 1, 0, {std::int64_t{0}});
  const DeviceMemory array(*device, 40, 4);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array.get()) % 4096, 4096u - 40);
  for (const std::int64_t at : {0, 9, 10, 1033, -2038, -2039}) {
    const Launch launch{
        .kernel = "kernel", .grid = {2}, .block = {32}, .arguments = {ArgumentPointer{0}, at}};
    const auto here = kernel.executable->with(Work{.steps = {launch}});
    void* arguments[] = {array.get()};
    const int code = here->launch(arguments, nullptr, nullptr);
    const bool inside = at >= -2038 && at < 10;  // guard bytes before the array can be read
    EXPECT_EQ(code, inside ? 0 : host_fault) << at;
    if (inside) continue;
    EXPECT_EQ(host_fault_address(), array.as<float>() + at);
    EXPECT_TRUE(device->guards(array.get(), host_fault_address())) << at;
  }
}

TEST(HostDevice, ComparesWithThePermittedErrorAndKeepsNanAndInfinity) {
  const auto device = make_host_device();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  const float got[] = {1.0f, 2.5f, static_cast<float>(nan), static_cast<float>(inf), 0.0f, 7.0f};
  const double expected[] = {1, 2, nan, inf, 0, nan};
  const float permitted[] = {0, 0.4f, 0, 0, 0, 1};
  const Comparison result = device->compare(got, DType::f32, expected, permitted, 6);
  EXPECT_EQ(result.wrong, 2);
  EXPECT_EQ(result.first_wrong, 1);
  EXPECT_EQ(result.got, 2.5);
  EXPECT_EQ(result.expected, 2);
  EXPECT_TRUE(std::isinf(result.max_error));
  EXPECT_NEAR(device->compare(got, DType::f32, expected, permitted, 2).max_error,
              0.5 / static_cast<double>(0.4f), 1e-12);
  const float poison_seen[] = {static_cast<float>(nan)};
  const double one[] = {1};
  const float allowed[] = {1};
  EXPECT_EQ(device->compare(poison_seen, DType::f32, one, allowed, 1).wrong, 1)
      << "an unwritten element is wrong";
  const float anything[] = {std::numeric_limits<float>::infinity()};
  EXPECT_EQ(device->compare(poison_seen, DType::f32, one, anything, 1).wrong, 0);
  EXPECT_EQ(device->compare(got, DType::f32, &nan, anything, 1).max_error, 0);
}

TEST(HostDevice, TimesGrowWithTheWork) {
  const auto device = make_host_device();
  LoadedBinary kernel = load(R"(
extern "C" __global__ void ENTRY(kernel)(float* out) {
  float x = *out;
  for (int n = 0; n < 2000; ++n) x = x * 0.5f + 1.0f;
  *out = x;
})",
                             {}, {});
  LoadedBinary longer = load(R"(
extern "C" __global__ void ENTRY(kernel)(float* out) {
  float x = *out;
  for (int n = 0; n < 2000 * 20; ++n) x = x * 0.5f + 1.0f;
  *out = x;
})",
                             {}, {});
  float out = 0;
  void* arguments[] = {&out};
  const Timing timing{.samples = 5, .sample_target_us = 200};
  const auto least = [&](LoadedBinary& tmpl) {
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

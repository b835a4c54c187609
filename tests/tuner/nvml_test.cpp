// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/nvml.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace tunesmith {
namespace {

template <typename T>
T& fake(const char* name) {
  return *static_cast<T*>(::dlsym(::dlopen(TUNESMITH_FAKE_NVML, RTLD_NOW), name));
}

TEST(Nvml, IsNotNeeded) {
  const Nvml none("00000000:01:00.0", "libthere-is-no-such-library.so.1");
  EXPECT_FALSE(none.state());
  EXPECT_FALSE(none.energy_mj());
  const Nvml other("libraries have more than this", "libc.so.6");  // a library without its functions
  EXPECT_FALSE(other.state());
}

TEST(Nvml, TellsClockReasonsAndEnergy) {
  const Nvml there("00000000:01:00.0", TUNESMITH_FAKE_NVML);
  fake<unsigned>("fake_clock_mhz") = 1425;
  fake<unsigned long long>("fake_reasons") = 4;
  fake<unsigned long long>("fake_energy_mj") = 161'000;
  ASSERT_TRUE(there.state());
  EXPECT_EQ(there.state()->clock_mhz, 1425);
  EXPECT_EQ(there.state()->reasons, 4u);
  EXPECT_EQ(there.energy_mj(), 161'000);
  fake<int>("fake_error") = 3;  // not supported
  EXPECT_FALSE(there.energy_mj());
  EXPECT_TRUE(there.state());
  EXPECT_FALSE(Nvml("FFFF:01:00.0", TUNESMITH_FAKE_NVML).state());  // another device
}

TEST(Nvml, TellsWhoElseUsesTheGpu) {
  const Nvml there("00000000:01:00.0", TUNESMITH_FAKE_NVML);
  EXPECT_TRUE(there.processes().empty());
  fake<unsigned>("fake_processes") = 3;
  EXPECT_EQ(there.processes(), (std::vector<std::int32_t>{4711, 4712, 4713}));
  EXPECT_TRUE(Nvml("FFFF:01:00.0", TUNESMITH_FAKE_NVML).processes().empty());
  EXPECT_TRUE(Nvml("00000000:01:00.0", "libthere-is-no-such-library.so.1").processes().empty());
  fake<unsigned>("fake_processes") = 0;
}

TEST(Disturbance, OfItsOwnPowerIsTheVariants) {
  EXPECT_EQ(disturbance({1980, 0}, 1980).words, "");
  EXPECT_EQ(disturbance({1980, 0x3}, 1980).words, "") << "idle, application clocks";
  const Disturbance capped = disturbance({1425, 0x4}, 1980);
  EXPECT_EQ(capped.words, "power cap");
  EXPECT_FALSE(capped.passes);
}

TEST(Disturbance, OfHeatOrALowClockPasses) {
  const Disturbance hot = disturbance({1700, 0x44}, 1980);
  EXPECT_EQ(hot.words, "power cap, hw thermal");
  EXPECT_TRUE(hot.passes);
  EXPECT_EQ(disturbance({1900, 0}, 1980).words, "");
  const Disturbance low = disturbance({1800, 0}, 1980);
  EXPECT_EQ(low.words, "low clock");
  EXPECT_TRUE(low.passes);
}

}  // namespace
}  // namespace tunesmith

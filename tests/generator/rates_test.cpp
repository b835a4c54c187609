// SPDX-License-Identifier: Apache-2.0
// Tests the files of rates: how they are written and read, and which of them serves a device.
#include "generator/rates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "generator/error.h"

namespace tunesmith {
namespace {

constexpr std::string_view text =
    "device,\"A GPU, large\",sm_90a,132\n"
    "from,\"Times of one day, by hand.\"\n"
    "rate,tensor,words 96x64 12x8 8,1.01,part of the best rate\n"
    "rate,tensor,memory,6,bytes per clock\n";

TEST(Rates, AreWrittenAsTheyAreRead) {
  const Rates rates = read_rates(text, "a.rates.csv");
  EXPECT_EQ(write_rates(rates), text);
  EXPECT_EQ(rates.device.name, "A GPU, large");
  EXPECT_EQ(rates.device.multiprocessors, 132);
  EXPECT_EQ(rates.value("tensor", "memory"), 6);
  EXPECT_TRUE(rates.has("tensor"));
  EXPECT_FALSE(rates.has("scan"));
}

TEST(Rates, AMissingRateOrABrokenLineIsNamed) {
  const Rates rates = read_rates(text, "a.rates.csv");
  EXPECT_THAT([&] { static_cast<void>(rates.value("tensor", "speed")); },
              testing::ThrowsMessage<Error>("The rates of A GPU, large have no rate tensor speed."));
  for (const char* line : {"rate,tensor,memory,0,bytes\n", "rate,tensor,memory,six,bytes\n",
                           "rate,tensor,memory,6\n", "device,A GPU,sm_90a,many\n", "speed,1\n"}) {
    EXPECT_THAT([&] { static_cast<void>(read_rates("from,here\n" + std::string(line), "a.rates.csv")); },
                testing::ThrowsMessage<Error>(
                    "Line 2 of a.rates.csv is none of device,NAME,TARGET,MULTIPROCESSORS; from,SENTENCE; and "
                    "rate,OP,NAME,VALUE,UNIT with a value above 0."))
        << line;
  }
}

TEST(Rates, AnyDeviceIsServedByTheOneMostLikeIt) {
  DeviceFacts device;
  device.kind = DeviceKind::cuda;
  for (const auto& [name, target] :
       {std::pair("NVIDIA H200", "sm_90a"), {"NVIDIA A100-SXM4-40GB", "sm_80"}, {"", ""}}) {
    device.name = name;
    device.target = target;
    device.multiprocessors = *name == '\0' ? 0 : 132;
    const Rates& rates = rates_of("tensor", device);
    EXPECT_EQ(rates.device.name, "NVIDIA H200") << "the only one that has a file";
    EXPECT_FALSE(rates.origins.empty());
  }
  EXPECT_THAT([&] { static_cast<void>(rates_of("no_op", device)); },
              testing::ThrowsMessage<Error>("No file of rates has rates of no_op."));
}

TEST(Rates, EachIsThereOnce) {
  std::set<std::string> names;
  for (const Rate& rate : rates_of("tensor", {}).rates) {
    EXPECT_TRUE(names.insert(rate.op + " " + rate.name).second) << rate.name;
    EXPECT_NE(rate.unit, "") << rate.name;
  }
}

}  // namespace
}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
// Tests the names of devices that people write.
#include "runtime/device_id.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "generator/error.h"
#include "runtime/executable.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;

using Kind = DeviceId::Kind;

const std::vector<DeviceFacts> two = {{.kind = DeviceKind::cuda, .name = "A GPU", .target = "sm_90a"},
                                      {.kind = DeviceKind::cuda, .name = "Another GPU", .target = "sm_75"}};
const std::vector<DeviceFacts> none;
const std::string why_none = "No driver is installed.";

std::string complaint(const DeviceId& id, const std::vector<DeviceFacts>& cuda) {
  try {
    choose_device(id, cuda, why_none);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(DeviceId, ReadsTheWordsOfPeople) {
  EXPECT_EQ(DeviceId::parse("auto"), DeviceId{Kind::automatic});
  EXPECT_EQ(DeviceId::parse("host"), DeviceId{Kind::host});
  EXPECT_EQ(DeviceId::parse("cuda"), (DeviceId{Kind::cuda, 0}));
  EXPECT_EQ(DeviceId::parse("cuda:0"), (DeviceId{Kind::cuda, 0}));
  EXPECT_EQ(DeviceId::parse("cuda:12"), (DeviceId{Kind::cuda, 12}));
  for (const char* words : {"auto", "host", "cuda:0", "cuda:12"})
    EXPECT_EQ(DeviceId::parse(words).text(), words);
}

TEST(DeviceId, OtherWordsAreRefusedNamingWhatIsAllowed) {
  for (const char* words : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "cuda:99999999999", "Host",
                            "cuda0", " host", "NVIDIA H200"}) {
    EXPECT_FALSE(DeviceId::is_one(words)) << words;
    try {
      DeviceId::parse(words);
      ADD_FAILURE() << words;
    } catch (const UsageError& error) {
      const std::string sentence = error.what();
      EXPECT_EQ(sentence.rfind("\"" + std::string(words) + "\" is not a device; allowed are auto", 0), 0U)
          << sentence;
      for (const char* allowed : {"auto", "cuda", "cuda:N", "host"}) {
        EXPECT_THAT(sentence, HasSubstr(allowed));
      }
    }
  }
}

TEST(ChooseDevice, AutoIsTheFirstCudaDeviceElseTheHost) {
  const ChosenDevice gpu = choose_device({Kind::automatic}, two, "");
  EXPECT_EQ(gpu.id.text(), "cuda:0");
  EXPECT_EQ(gpu.ordinal(), 0);
  EXPECT_EQ(gpu.facts.name, "A GPU");
  EXPECT_EQ(gpu.note, "");

  const ChosenDevice host = choose_device({Kind::automatic}, none, why_none);
  EXPECT_EQ(host.id.text(), "host");
  EXPECT_EQ(host.ordinal(), -1);
  EXPECT_EQ(host.facts.name, host_facts().name);
  EXPECT_EQ(host.note, "The device auto is the host on this machine. No driver is installed.");
}

TEST(DeviceIds, AListNamesOneOrMore) {
  EXPECT_EQ(DeviceId::parse_list("host"), std::vector<DeviceId>{{Kind::host}});
  EXPECT_EQ(DeviceId::parse_list("cuda:1,cuda:0"), (std::vector<DeviceId>{{Kind::cuda, 1}, {Kind::cuda, 0}}));
  for (const char* wrong : {"", ",", "cuda:0,", "cuda:0,,cuda:1", "cuda:0,cuda:all", "cuda:0 cuda:1"})
    EXPECT_THROW(static_cast<void>(DeviceId::parse_list(wrong)), UsageError) << wrong;
}

TEST(ChooseDevice, ANamedDeviceIsThatOneWithoutANote) {
  EXPECT_EQ(choose_device(DeviceId::parse("cuda"), two, "").facts.name, "A GPU");
  const ChosenDevice second = choose_device(DeviceId::parse("cuda:1"), two, "");
  EXPECT_EQ(second.ordinal(), 1);
  EXPECT_EQ(second.facts.name, "Another GPU");
  EXPECT_EQ(second.note, "");
  for (const auto& there : {two, none}) {
    const ChosenDevice host = choose_device({Kind::host}, there, why_none);
    EXPECT_EQ(host.ordinal(), -1);
    EXPECT_EQ(host.facts.kind, DeviceKind::host);
    EXPECT_EQ(host.note, "");
  }
}

TEST(ChooseDevice, ADeviceThatIsNotThereIsRefusedNamingThoseThatAre) {
  EXPECT_EQ(complaint({Kind::cuda, 2}, two),
            "There is no device cuda:2; the devices are cuda:0 (A GPU), cuda:1 (Another GPU) and host.");
  EXPECT_EQ(complaint({Kind::cuda, 0}, none),
            "There is no device cuda:0, only the host. No driver is installed.");
  EXPECT_EQ(complaint({Kind::cuda, -1}, two).substr(0, 28), "There is no device cuda:-1; ");
}

TEST(ChooseDevice, OfThisMachineHasTheHost) {
  EXPECT_EQ(choose_device({Kind::host}).facts.target, "host");
  EXPECT_NO_THROW(choose_device({Kind::automatic}));
  EXPECT_THROW(choose_device({Kind::cuda, 9999}), UsageError);
}

}  // namespace
}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
#include "choose/winners_file.h"

#include <gtest/gtest.h>

#include "generator/error.h"

namespace tunesmith {
namespace {

WinnersFileRow row(const std::string& device, const std::string& problem) {
  WinnersFileRow made;
  made.winner.device = {.kind = DeviceKind::cuda,
                        .name = device,
                        .target = "sm_90a",
                        .compute_capability = 90,
                        .multiprocessors = 132,
                        .memory_bytes = 150'000'000'000,
                        .l2_bytes = 60 << 20,
                        .shared_bytes_per_multiprocessor = 228 << 10,
                        .max_threads_per_multiprocessor = 2048,
                        .max_shared_bytes_per_block = 227 << 10};
  made.winner.origin = Candidate::Origin::built_in;
  made.winner.op = "conv2d";
  made.winner.template_name = "base";
  made.winner.problem = Problem::parse(problem);
  made.winner.config = Values::parse("BLOCK_X=32 LAYOUT=padded");
  made.winner.median_us = 12.345;
  made.winner.source_hash = "abc";
  made.alignment_bytes = 16;
  made.winner.conditions.launches = Launches::chained;
  made.winner.conditions.objective = Objective::edp;
  made.winner.low_us = 12.3;
  made.winner.high_us = 12.4;
  made.base_us = 98.7;
  made.toolchain = "NVRTC 13.0";
  made.measured_at = "2026-11-22T00:00:00.000Z";
  return made;
}

std::vector<WinnersFileRow> read(const Texts& texts) {
  return read_winners([&](std::string_view name) {
    const auto found = texts.find(name);
    return found == texts.end() ? std::string() : found->second;
  });
}

TEST(Table, IsReadAsItWasWritten) {
  WinnersFileRow cold = row("A \"big\", red GPU", "height=2");
  cold.winner.conditions.caches = Caches::cold;
  const Texts texts = write_winners({cold, row("A", "height=1")});
  ASSERT_TRUE(texts.contains("a.csv") && texts.contains("a_big_red_gpu.csv") && texts.contains(devices_file));
  const std::vector<WinnersFileRow> rows = read(texts);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].winner.device.name, "A \"big\", red GPU");
  EXPECT_EQ(rows[1].winner.conditions.caches, Caches::cold);
  EXPECT_EQ(rows[0].winner.problem, Problem::parse("height=1"));
  EXPECT_EQ(rows[0].winner.config, Values::parse("BLOCK_X=32 LAYOUT=padded"));
  EXPECT_EQ(rows[0].winner.device.memory_bytes, 150'000'000'000);
  EXPECT_EQ(rows[0].winner.device.l2_bytes, 60 << 20);
  EXPECT_EQ(rows[0].winner.device.shared_bytes_per_multiprocessor, 228 << 10);
  EXPECT_EQ(rows[0].winner.device.max_threads_per_multiprocessor, 2048);
  EXPECT_EQ(rows[0].winner.device.max_shared_bytes_per_block, 227 << 10);
  EXPECT_EQ(rows[0].alignment_bytes, 16);
  EXPECT_EQ(rows[0].winner.median_us, 12.345);
  EXPECT_EQ(rows[0].winner.conditions.caches, Caches::warm);
  EXPECT_EQ(rows[0].winner.conditions.launches, Launches::chained);
  EXPECT_EQ(rows[0].winner.conditions.objective, Objective::edp);
  EXPECT_EQ(rows[0].winner.low_us, 12.3);
  EXPECT_EQ(rows[0].winner.high_us, 12.4);
  EXPECT_EQ(rows[0].base_us, 98.7);
  EXPECT_EQ(rows[0].toolchain, "NVRTC 13.0");
  EXPECT_EQ(rows[0].driver, "");
  EXPECT_EQ(rows[0].measured_at, "2026-11-22T00:00:00.000Z");
  EXPECT_EQ(write_winners(rows), texts);
}

TEST(Table, TheOrderOfTheRowsDoesNotMatter) {
  EXPECT_EQ(write_winners({row("A", "height=1"), row("B", "height=1")}),
            write_winners({row("B", "height=1"), row("A", "height=1")}));
}

TEST(Table, DevicesOfOneNameHaveFilesOfTheirOwn) {
  WinnersFileRow smaller = row("A", "height=1");
  smaller.winner.device.multiprocessors = 114;
  const Texts texts = write_winners({row("A", "height=1"), smaller});
  EXPECT_EQ(texts.size(), 3u);
  EXPECT_EQ(tuned_devices(texts.find(devices_file)->second),
            (std::vector<std::string>{"a_sm_90a_114_150000000000", "a_sm_90a_132_150000000000"}));
  EXPECT_EQ(read(texts).size(), 2u);
}

// Rows of an older file lack some facts of a device.
TEST(Table, ADeviceIsWrittenWithWhatIsKnownOfIt) {
  WinnersFileRow older = row("A", "height=1");
  older.winner.device.l2_bytes = 0;
  for (const auto& rows : {std::vector{older, row("A", "height=2")}, {row("A", "height=2"), older}}) {
    const Texts texts = write_winners(rows);
    EXPECT_EQ(read(texts).front().winner.device.l2_bytes, 60 << 20);
  }
}

TEST(Table, NothingIsAnEmptyTable) {
  EXPECT_TRUE(read({}).empty());
  EXPECT_TRUE(read(write_winners({})).empty());
}

TEST(Table, FaultsNameTheFileAndTheLine) {
  Texts texts = write_winners({row("A", "height=1")});
  const Texts good = texts;
  texts[std::string(devices_file)] = "something else\n";
  EXPECT_THROW(read(texts), Error);
  texts = good;
  texts["a.csv"] += "one,two\n";
  try {
    read(texts);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).substr(0, 16), "Line 3 of a.csv ");
  }
  texts = good;
  texts["a.csv"].replace(texts["a.csv"].find("12.345"), 6, "twelve");
  EXPECT_THROW(read(texts), Error);
}

}  // namespace
}  // namespace tunesmith

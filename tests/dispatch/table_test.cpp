#include "dispatch/table.h"

#include <gtest/gtest.h>

#include "generator/error.h"

namespace tunesmith {
namespace {

TableRow row(const std::string& device, const std::string& problem) {
  TableRow made;
  made.winner.device = {.kind = "cuda",
                        .name = device,
                        .target = "sm_90a",
                        .compute_capability = 90,
                        .multiprocessors = 132,
                        .memory_bytes = 150'000'000'000};
  made.winner.origin = Candidate::Origin::built_in;
  made.winner.op = "conv2d";
  made.winner.template_name = "base";
  made.winner.problem = Problem::parse(problem);
  made.winner.config = Values::parse("BLOCK_X=32 LAYOUT=padded");
  made.winner.median_us = 12.345;
  made.winner.source_hash = "abc";
  made.alignment_bytes = 16;
  made.file = "x.cu";
  return made;
}

TEST(Table, IsReadAsItWasWritten) {
  const std::string text = write_table({row("A \"big\", red GPU", "height=2"), row("A", "height=1")});
  const std::vector<TableRow> rows = read_table(text);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].winner.device.name, "A \"big\", red GPU");
  EXPECT_EQ(rows[0].winner.problem, Problem::parse("height=1"));
  EXPECT_EQ(rows[0].winner.config, Values::parse("BLOCK_X=32 LAYOUT=padded"));
  EXPECT_EQ(rows[0].winner.device.memory_bytes, 150'000'000'000);
  EXPECT_EQ(rows[0].alignment_bytes, 16);
  EXPECT_EQ(rows[0].winner.median_us, 12.345);
  EXPECT_EQ(write_table(rows), text);
}

// A table of warm times alone reads as it did before there were others.
TEST(Table, HasAColumnMoreWhereCachesWereCold) {
  TableRow cold = row("B", "height=1");
  cold.winner.cold_caches = true;
  EXPECT_EQ(write_table({row("A", "height=1")}).find("caches"), std::string::npos);
  const std::string text = write_table({row("A", "height=1"), cold});
  EXPECT_NE(text.find(",file,caches\n"), std::string::npos);
  const std::vector<TableRow> rows = read_table(text);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_FALSE(rows[0].winner.cold_caches);
  EXPECT_TRUE(rows[1].winner.cold_caches);
  EXPECT_EQ(rows[1].file, "x.cu");
  EXPECT_EQ(write_table(rows), text);
  EXPECT_THROW(read_table(text.substr(0, text.find(",warm\n")) + "\n"), Error);
}

TEST(Table, TheOrderOfTheRowsDoesNotMatter) {
  EXPECT_EQ(write_table({row("A", "height=1"), row("B", "height=1")}),
            write_table({row("B", "height=1"), row("A", "height=1")}));
}

TEST(Table, NothingIsAnEmptyTable) { EXPECT_TRUE(read_table("").empty()); }

TEST(Table, FaultsNameTheLine) {
  EXPECT_THROW(read_table("something else\n"), Error);
  std::string text = write_table({row("A", "height=1")});
  try {
    read_table(text + "one,two\n");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).substr(0, 22), "Line 3 of winners.csv ");
  }
  text.replace(text.find("12.345"), 6, "twelve");
  EXPECT_THROW(read_table(text), Error);
}

}  // namespace
}  // namespace tunesmith

// Recorded spaces of other tuners: replayed, imported, exported.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/cli/run.h"

namespace tunesmith {
namespace {

const std::string hub = TUNESMITH_TEST_DATA "/benchmark_hub/";

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string printed(const Scratch& scratch, const std::string& arguments) {
  const Outcome outcome = scratch.tunesmith(arguments);
  EXPECT_EQ(outcome.exit_code, 0) << arguments << '\n' << outcome.err;
  return outcome.out;
}

// Of CSV text without its header: the columns behind the name of the space.
std::string figures(const std::string& csv) {
  std::string text;
  for (std::size_t at = csv.find('\n') + 1; at < csv.size(); at = csv.find('\n', at) + 1)
    text += csv.substr(csv.find(',', at), csv.find('\n', at) + 1 - csv.find(',', at));
  return text;
}

TEST(Exchange, T4AndKernelTunersCacheAreTheSameSpace) {
  const Scratch scratch;
  const std::string t4 = "replay " + hub + "convolution_A6000_T4.json -o csv --prior none --strategy ";
  EXPECT_TRUE(has(printed(scratch, t4 + "auto --repeats 2"), "convolution_A6000_T4,26,auto,none,0,0,26,1,1"));
  const std::string how = "random,genetic,auto --repeats 5 --budget 6";
  const std::string some = printed(scratch, t4 + how);
  EXPECT_EQ(some, printed(scratch, t4 + how)) << "follows its seed";
  EXPECT_NE(some, printed(scratch, t4 + how + " --seed 2"));
  const std::string cache = "replay " + hub + "convolution_A6000_cache.json -o csv --prior none --strategy ";
  EXPECT_EQ(figures(some), figures(printed(scratch, cache + how)));
}

TEST(Exchange, ReplayShowsSecondsWhereTheBudgetIsATime) {
  const Scratch scratch;
  const std::string table =
      printed(scratch, "replay " + hub + "convolution_A6000_T4.json --strategy exhaustive --budget 40s");
  EXPECT_TRUE(has(table, "20 s")) << table;
  EXPECT_TRUE(has(table, "40 s")) << table;
}

TEST(Exchange, ImportExportImportIsStable) {
  const Scratch scratch;
  const std::string input = hub + "convolution_A6000_cache.json";
  EXPECT_TRUE(has(printed(scratch, "db import " + input), "26 of 26 verdicts were new")) << input;
  EXPECT_TRUE(has(printed(scratch, "db import " + input), "0 of 26 verdicts were new")) << "again";
  const std::string first = printed(scratch, "db export convolution_kernel");
  EXPECT_TRUE(has(first, "\"device\": \"NVIDIA RTX A6000\"")) << first;
  EXPECT_TRUE(has(first, "\"invalidity\": \"runtime\"")) << first;
  printed(scratch, "db export convolution_kernel -o first.json");
  printed(scratch, "db import first.json --db other.db");
  EXPECT_EQ(printed(scratch, "db export --db other.db"), first);
  for (const std::string format : {"csv", "json"}) {
    EXPECT_EQ(printed(scratch, "db export --db other.db --format " + format),
              printed(scratch, "db export --format " + format));
  }
  // Replay reads each of them, and finds the same.
  const std::string how = " --strategy genetic --repeats 3 --budget 6 -o csv";
  EXPECT_EQ(figures(printed(scratch, "replay tunesmith.db" + how)),
            figures(printed(scratch, "replay first.json" + how)));
  printed(scratch, "db export --format csv -o first.csv");
  EXPECT_EQ(figures(printed(scratch, "replay first.csv" + how)),
            figures(printed(scratch, "replay first.json" + how)));
}

TEST(Exchange, TimesOfDifferentLaunchesAreDifferentSpaces) {
  const Scratch scratch;
  printed(scratch, "db import " + hub + "convolution_A6000_cache.json");
  printed(scratch, "db export convolution_kernel -o apart.json");
  scratch.shell("sed 's/\"apart\"/\"chained\"/' apart.json > chained.json");
  EXPECT_TRUE(has(printed(scratch, "db import chained.json"), "23 of 26 verdicts were new"))
      << "a failure counts for all";
  const Outcome both = scratch.tunesmith("db export");
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_TRUE(has(both.err, "2 match") && has(both.err, ", chained on")) << both.err;
  for (const std::string launches : {"apart", "chained"}) {
    printed(scratch, "db export --launches " + launches + " -o again.json");
    EXPECT_EQ(scratch.shell("cmp again.json " + launches + ".json").exit_code, 0) << launches;
  }
  const std::string replayed = printed(scratch, "replay tunesmith.db --strategy random --repeats 1 -o csv");
  EXPECT_TRUE(has(replayed, "4096,26,random") && has(replayed, "chained\",26,random")) << replayed;
}

TEST(Exchange, WhatIsImportedIsFoundByQueriesAndNotDispatched) {
  const Scratch scratch;
  printed(scratch, "db import " + hub + "convolution_A6000_T4.json --op conv2d --device Testdevice");
  const std::string query = printed(scratch, "query --all --format csv");
  EXPECT_EQ(std::count(query.begin(), query.end(), '\n'), 27);
  EXPECT_TRUE(has(query, "recorded:")) << query;
  const std::string problem = "height=40 width=36 mask_height=3 mask_width=3";
  EXPECT_TRUE(has(printed(scratch, "explain conv2d --device host --problem '" + problem + "'"), "match: "));
  EXPECT_TRUE(has(printed(scratch, "db status"), "check ok"));
}

TEST(Exchange, AT1FileNamesTheKernel) {
  const Scratch scratch;
  const std::string table = printed(scratch, "replay " + hub + "convolution_T1.json " + hub +
                                                 "convolution_A6000_T4.json --strategy random");
  EXPECT_TRUE(has(table, "convolution_kernel")) << table;
}

TEST(Exchange, WhatCannotBeReadIsNamed) {
  const Scratch scratch;
  scratch.shell("echo '{\"a\": 1}' > other.json; echo 'a,b' > other.csv; echo nothing > other.db");
  for (const auto& [file, part] :
       {std::pair("other.json", "neither"), std::pair("other.csv", "no column template"),
        std::pair("gone.json", "There is no file")}) {
    const Outcome outcome = scratch.tunesmith(std::string("replay ") + file);
    EXPECT_EQ(outcome.exit_code, 2) << file;
    EXPECT_TRUE(has(outcome.err, part)) << outcome.err;
  }
  EXPECT_EQ(scratch.tunesmith("replay " + hub + "convolution_A6000_T4.json --strategy quick").exit_code, 2);
  EXPECT_EQ(scratch.tunesmith("db import " + hub + "convolution_A6000_T4.json").exit_code, 2) << "no device";
  printed(scratch, "db import " + hub + "convolution_A6000_cache.json");
  printed(scratch, "db import " + hub + "convolution_A6000_cache.json --device another");
  const Outcome two = scratch.tunesmith("db export");
  EXPECT_EQ(two.exit_code, 2);
  EXPECT_TRUE(has(two.err, "2 match")) << two.err;
  EXPECT_EQ(scratch.tunesmith("db export --device A6000").exit_code, 0);
}

}  // namespace
}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
// Tests recorded spaces of other tuners: replayed, imported, exported.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

#include "db/store.h"
#include "tests/cli/run.h"
#include "tests/source_folder.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string hub = source_folder + std::string("/tests/data/benchmark_hub/");

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string printed(const Scratch& scratch, const std::string& arguments) {
  const Outcome outcome = scratch.tunesmith(arguments);
  EXPECT_EQ(outcome.exit_code, 0) << arguments << '\n' << outcome.err;
  return outcome.out;
}

// The columns of CSV text without its header, except the first with the name of the space.
std::string figures(const std::string& csv) {
  std::string text;
  for (std::size_t at = csv.find('\n') + 1; at < csv.size(); at = csv.find('\n', at) + 1)
    text += csv.substr(csv.find(',', at), csv.find('\n', at) + 1 - csv.find(',', at));
  return text;
}

TEST(Exchange, T4AndKernelTunersCacheAreTheSameSpace) {
  const Scratch scratch;
  const std::string t4 = "replay " + hub + "convolution_A6000_T4.json -o csv --prior none --strategy ";
  EXPECT_THAT(printed(scratch, t4 + "auto --repeats 2"),
              HasSubstr("convolution_A6000_T4,26,auto,none,0,0,26,1,1"));
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
  EXPECT_THAT(table, HasSubstr("20 s"));
  EXPECT_THAT(table, HasSubstr("40 s"));
}

TEST(Exchange, ImportExportImportIsStable) {
  const Scratch scratch;
  const std::string input = hub + "convolution_A6000_cache.json";
  EXPECT_THAT(printed(scratch, "db import " + input), HasSubstr("26 of 26 verdicts were new")) << input;
  EXPECT_THAT(printed(scratch, "db import " + input), HasSubstr("0 of 26 verdicts were new")) << "again";
  const std::string first = printed(scratch, "db export convolution_kernel");
  EXPECT_THAT(first, HasSubstr("\"device\": \"NVIDIA RTX A6000\""));
  EXPECT_THAT(first, HasSubstr("\"invalidity\": \"runtime\""));
  printed(scratch, "db export convolution_kernel -o first.json");
  printed(scratch, "db import first.json --db other.db");
  EXPECT_EQ(printed(scratch, "db export --db other.db"), first);
  for (const std::string format : {"csv", "json"}) {
    EXPECT_EQ(printed(scratch, "db export --db other.db --format " + format),
              printed(scratch, "db export --format " + format));
  }
  // Replay reads each of the files, and finds the same.
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
  EXPECT_THAT(printed(scratch, "db import chained.json"), HasSubstr("23 of 26 verdicts were new"))
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
  EXPECT_THAT(query, HasSubstr("recorded:"));
  const std::string problem = "height=40 width=36 mask_height=3 mask_width=3";
  EXPECT_THAT(printed(scratch, "explain conv2d --device host --problem '" + problem + "'"),
              HasSubstr("match: "));
  EXPECT_THAT(printed(scratch, "db status"), HasSubstr("check ok"));
}

TEST(Exchange, AT1FileNamesTheKernel) {
  const Scratch scratch;
  const std::string table = printed(scratch, "replay " + hub + "convolution_T1.json " + hub +
                                                 "convolution_A6000_T4.json --strategy random");
  EXPECT_THAT(table, HasSubstr("convolution_kernel"));
}

TEST(Exchange, WhatCannotBeReadIsNamed) {
  const Scratch scratch;
  scratch.shell("echo '{\"a\": 1}' > other.json; echo 'a,b' > other.csv; echo nothing > other.db");
  scratch.shell(
      "printf 'template,config,verdict,median_us,compile_ms,compile_ms\nt,A=1,ok,1.5,3\n' > twice.csv");
  for (const auto& [file, part] :
       {std::pair("other.json", "neither"), std::pair("other.csv", "no column template"),
        std::pair("twice.csv", "has two columns compile_ms"), std::pair("gone.json", "There is no file")}) {
    const Outcome outcome = scratch.tunesmith(std::string("replay ") + file);
    EXPECT_EQ(outcome.exit_code, 2) << file;
    EXPECT_THAT(outcome.err, HasSubstr(part));
  }
  EXPECT_EQ(scratch.tunesmith("replay " + hub + "convolution_A6000_T4.json --strategy quick").exit_code, 2);
  EXPECT_EQ(scratch.tunesmith("db import " + hub + "convolution_A6000_T4.json").exit_code, 2) << "no device";
  printed(scratch, "db import " + hub + "convolution_A6000_cache.json");
  printed(scratch, "db import " + hub + "convolution_A6000_cache.json --device another");
  const Outcome two = scratch.tunesmith("db export");
  EXPECT_EQ(two.exit_code, 2);
  EXPECT_THAT(two.err, HasSubstr("2 match"));
  EXPECT_EQ(scratch.tunesmith("db export --device A6000").exit_code, 0);
}

// A database of the kernel `twice` with BLOCK 64 and 128: measured, edited, measured again. The times of the
// older body are shorter, so that a reader that takes them is noticed.
Store edited_kernel(const Scratch& scratch) {
  Store store = Store::open(scratch.path() / "tunesmith.db", Store::Mode::create);
  const auto device = store.id_of(DeviceRow{.kind = "cuda", .name = "Test GPU", .target = "sm_90a"});
  for (const auto& [body, faster] : {std::pair("old", 10), std::pair("new", 1)}) {
    const auto session = store.begin_session({.device_id = device, .command = "tunesmith tune twice.cu"});
    for (const int block : {64, 128}) {
      const std::string config = "BLOCK=" + std::to_string(block);
      const auto variant =
          store.id_of(VariantRow{.template_id = store.id_of(TemplateRow{"twice", "twice", body}),
                                 .target = "sm_90a",
                                 .source_hash = body + config,
                                 .config = config});
      MeasurementRow row = {.session_id = session,
                            .variant_id = variant,
                            .problem_id = store.id_of(ProblemRow{"twice", "n=1000"}),
                            .device_id = device,
                            .verdict = "ok",
                            .median_us = block / faster,
                            .compile_ms = 3000,
                            .wall_ms = 4000};
      store.record(row);
      row.compile_ms = std::nullopt;  // the binary is in the cache now
      row.wall_ms = 9000;             // a row of finals
      store.set_winner(store.record(row), 4);
    }
    store.end_session(session, Store::End::finished);
  }
  return store;
}

TEST(Exchange, NoReaderTakesWhatAnOlderBodyMeasured) {
  const Scratch scratch;
  edited_kernel(scratch);
  const std::string all = printed(scratch, "query --all --format csv");
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 3) << all;
  EXPECT_THAT(all, Not(HasSubstr("oldBLOCK")));
  const std::string history = printed(scratch, "query --history");
  EXPECT_EQ(std::count(history.begin(), history.end(), '\n'), 9) << history;
  EXPECT_TRUE(has(history, "stale") && has(history, "replaced")) << history;
  const std::string axes = printed(scratch, "query --axes --format csv");
  EXPECT_THAT(axes, HasSubstr("twice,2,BLOCK,2,64,128,2,64,\"64: 1, 128: 1\"\n"));
  const std::string winners = printed(scratch, "query --format csv");
  EXPECT_TRUE(has(winners, "BLOCK=64") && has(winners, "newBLOCK=64")) << winners;
  EXPECT_THAT(printed(scratch, "replay tunesmith.db --strategy exhaustive -o csv"), HasSubstr(",2,1,1,0\n"));
  for (const std::string format : {"csv", "json", "t4"}) {
    const std::string file = "again." + std::string(format == "csv" ? "csv" : "json");
    const std::string text = printed(scratch, "db export --format " + format);
    EXPECT_THAT(text, Not(HasSubstr("6.4")));
    EXPECT_THAT(text, HasSubstr("128"));
  }
}

// A search pays for the compiler and the first measurement of a variant; later verdicts have the binary from
// the cache.
TEST(Exchange, SecondsOfAnOwnDatabaseAreThoseOfTheFirstVerdict) {
  const Scratch scratch;
  Store store = edited_kernel(scratch);
  const std::string t4 = printed(scratch, "db export");
  EXPECT_TRUE(has(t4, "\"compilation_time\": 3000") && has(t4, "\"framework\": 4000")) << t4;
  EXPECT_THAT(t4, Not(HasSubstr("9000")));
  const std::string how = " --strategy exhaustive --repeats 1 --budget 14s -o csv";
  const Outcome own = scratch.tunesmith("replay tunesmith.db" + how);
  EXPECT_TRUE(own.err.empty()) << own.err;
  EXPECT_THAT(own.out, HasSubstr(",14,1,1,\n")) << "two variants of 7 s each: " << own.out;
  EXPECT_THAT(own.out, HasSubstr(",3.5,0,0,\n"));
  scratch.shell("echo 'template,config,verdict,median_us,compile_ms\nt,A=1,ok,1,' > t.csv");
  EXPECT_THAT(scratch.tunesmith("replay t.csv" + how).err, HasSubstr("1 of 1 verdicts have no compile time"));
}

// Samples 1, 2, 3 and 6 us have the mean 3, the variance 14/3, and the quartiles 1.75 and 3.75.
TEST(Exchange, NvbenchsFileHasAStatePerVariantAndProblem) {
  const Scratch scratch;
  Store store = Store::open(scratch.path() / "tunesmith.db", Store::Mode::create);
  const auto device = store.id_of(DeviceRow{.kind = "cuda", .name = "Test GPU", .target = "sm_90a"});
  MeasurementRow row = {.session_id = store.begin_session({.device_id = device}), .device_id = device};
  const auto record = [&](const std::string& config, const std::string& problem) {
    row.variant_id = store.id_of(VariantRow{.template_id = store.id_of(TemplateRow{"twice", "wide", "body"}),
                                            .target = "sm_90a",
                                            .source_hash = config,
                                            .config = config});
    row.problem_id = store.id_of(ProblemRow{"twice", problem});
    store.record(row);
  };
  row.verdict = "ok", row.median_us = 2.5, row.samples_us = {3, 1, 6, 2};
  record("BLOCK=64 LOAD=direct", "n=1000");
  row.launches = "chained", row.median_us = 7, row.samples_us = {};
  record("BLOCK=128 LOAD=shared", "n=5");
  row.verdict = "timeout", row.median_us = {}, row.reason = "It took longer than 20 s.";
  record("BLOCK=256 LOAD=shared", "n=5");
  const std::string all = printed(scratch, "db export --format nvbench");
  for (const char* part :
       {R"("name": "twice wide")", R"("string": "1.0.0")", R"("name": "Test GPU")",
        R"("name": "Device=0 caches=warm launches=apart n=1000 BLOCK=64 LOAD=direct")",
        R"("name": "Device=0 caches=warm launches=chained n=5 BLOCK=128 LOAD=shared")",
        R"("is_skipped": false)", R"("is_skipped": true)", R"("skip_reason": "timeout: It took longer)"})
    EXPECT_THAT(all, HasSubstr(part));
  const auto value_of = [&all](const std::string& tag) {
    const std::size_t at = all.find('"' + tag + '"');
    if (at == std::string::npos) return std::string("no " + tag);
    const std::string before = "\"value\": \"";
    const std::size_t from = all.find(before, at) + before.size();
    return all.substr(from, all.find('"', from) - from);
  };
  const auto number_of = [&](const std::string& tag) { return std::stod(value_of("nv/" + tag)); };
  EXPECT_EQ(value_of("nv/cold/sample_size"), "4");
  EXPECT_DOUBLE_EQ(number_of("cold/time/gpu/mean"), 3e-6);
  EXPECT_DOUBLE_EQ(number_of("cold/time/gpu/stdev/relative"), std::sqrt(14.0 / 3) / 3);
  EXPECT_DOUBLE_EQ(number_of("cold/time/gpu/q1"), 1.75e-6);
  EXPECT_DOUBLE_EQ(number_of("cold/time/gpu/median"), 2.5e-6);
  EXPECT_DOUBLE_EQ(number_of("cold/time/gpu/q3"), 3.75e-6);
  EXPECT_DOUBLE_EQ(number_of("cold/time/gpu/iqr/relative"), 0.8);
  EXPECT_DOUBLE_EQ(number_of("batch/time/gpu/median"), 7e-6);
  EXPECT_EQ(value_of("nv/batch/time/gpu/mean"), "no nv/batch/time/gpu/mean") << "it has no samples";
  EXPECT_THAT(printed(scratch, "db export --format nvbench --problem n=5"), Not(HasSubstr("n=1000")));
  EXPECT_THAT(scratch.tunesmith("db export other --format nvbench").err, HasSubstr("No space matches"));
}

TEST(Exchange, TablesAreReadAsOthersWriteThem) {
  const Scratch scratch;
  Store store = edited_kernel(scratch);
  const auto device = store.devices().front().id;
  MeasurementRow failed = {
      .session_id = store.begin_session({.device_id = device}),
      .variant_id = store.id_of(VariantRow{.template_id = store.id_of(TemplateRow{"twice", "twice", "new"}),
                                           .target = "sm_90a",
                                           .source_hash = "failing",
                                           .config = "BLOCK=7"}),
      .problem_id = store.id_of(ProblemRow{"twice", "n=1000"}),
      .device_id = device,
      .verdict = "compile_error",
      .reason = "It does not compile: \"x\",\nline 2;\r\n\"line 3\""};
  store.record(failed);
  printed(scratch, "db export --format csv -o t.csv");
  const std::string how = "replay t.csv --strategy random --repeats 2 -o csv";
  const std::string as_written = printed(scratch, how);
  EXPECT_THAT(as_written, HasSubstr("t,3,random"));
  printed(scratch, "db import t.csv --op again --device d --problem n=1000");
  EXPECT_EQ(printed(scratch, "db export again --format csv"), read_text(scratch.path() / "t.csv"));
  // Converts the file to the form in which a spreadsheet saves it.
  scratch.shell("cp t.csv plain.csv; { printf '\\357\\273\\277'; sed 's/$/\\r/' plain.csv; } > t.csv");
  EXPECT_EQ(printed(scratch, how), as_written);
  const std::string header = "template,config,verdict,median_us,compile_ms\n";
  for (const std::string row :
       {"t,A=1,ok,nan,1", "t,A=1,ok,-2,1", "t,A=1,ok,,1", "t,A=1,ok,inf,1", "t,A=1,fine,2,1", "t,A=1,OK,2,1",
        "t,A=1,ok,2,soon", "t,A=1,ok,1 us,1", "t,A=1,ok,2", "t,A,ok,2,1", "t,\"A=1,ok,2,1"}) {
    std::ofstream(scratch.path() / "bad.csv") << header << "t,A=0,ok,1,1\n" << row << "\n";
    const Outcome outcome = scratch.tunesmith("replay bad.csv");
    EXPECT_EQ(outcome.exit_code, 2) << row;
    EXPECT_THAT(outcome.err, HasSubstr("Line 3 of bad.csv")) << row << ": " << outcome.err;
  }
}

TEST(Exchange, AConfigThatIsRecordedTwiceIsItsLaterRow) {
  const Scratch scratch;
  scratch.shell(
      "printf 'template,config,verdict,median_us,compile_ms\\nt,A=1,ok,1,1\\nt,A=1,ok,2,1\\nt,A=2,ok,4,1\\n' "
      "> t.csv");
  const std::string replayed = printed(scratch, "replay t.csv --strategy exhaustive -o csv");
  EXPECT_THAT(replayed, HasSubstr("t,2,exhaustive,worth,0,0,2,1,1,0\n"));
}

TEST(Exchange, KernelTunersCachesOfAnyProblemSizeAreRead) {
  const Scratch scratch;
  for (const std::string size :
       {"10000000", "[10000000]", "\"callable\"", "[4096, \"n\", 2]", "null", "1.5"}) {
    std::ofstream(scratch.path() / "k.json")
        << "{\"device_name\":\"D\",\"kernel_name\":\"vector_add\",\"problem_size\":" << size
        << ",\"tune_params_keys\":[\"b\"],\"cache\":{\"64\":{\"b\":64,\"time\":1.0},\"32\":{\"b\":32,"
           "\"time\":2.0}";
    EXPECT_THAT(printed(scratch, "replay k.json --strategy exhaustive -o csv"), HasSubstr("k,2,exhaustive"))
        << size;
    printed(scratch, "db import k.json --op op" + std::to_string(size.size()));
  }
  EXPECT_THAT(printed(scratch, "db export op8 --format csv"), HasSubstr("b=64"));
  EXPECT_THAT(printed(scratch, "query op8 --all"), HasSubstr("x=10000000"));
}

// A file of no known kind is refused with the program's own words, without a crash, and in time.
TEST(Exchange, AFileThatIsNoneOfTheseIsRefusedWithASentence) {
  const Scratch scratch;
  const std::string row = "{\"a\":1,\"time\":1.0}";
  const auto cache = [](const std::string& fields, const std::string& rows) {
    return "{" + fields + "\"cache\":{" + rows + "}}";
  };
  const std::string keys = "\"tune_params_keys\":[\"a\"],";
  const std::string deep(200'000, '['), closing(200'000, ']');
  std::string names;
  for (int i = 0; i < 5000; ++i) names += "\"n" + std::to_string(i) + "\":1,";
  const std::vector<std::string> texts = {
      "[]",
      "1",
      "\"results\"",
      "null",
      "{\"results\":1}",
      "{\"results\":[1]}",
      "{\"results\":[{}]}",
      "{\"results\":[{\"configuration\":1}]}",
      "{\"results\":[{\"configuration\":{\"a\":1}}]}",
      "{\"results\":[{\"configuration\":{\"a\":1},\"invalidity\":\"so\"}]}",
      "{\"results\":[{\"configuration\":{\"a\":1},\"measurements\":[{\"name\":\"time\",\"value\":-1}]}]}",
      "{\"metadata\":null,\"results\":[{\"configuration\":{\"a "
      "b=c\":1},\"measurements\":[{\"name\":\"time\",\"value\":1}]}]}",
      "{\"metadata\":{\"device\":\"\\u001b[31m\"},\"results\":[{\"configuration\":{\"a\":1},\"measurements\":"
      "[{\"name\":"
      "\"time\",\"value\":1}]}]}",
      cache("", "\"1\":" + row),
      cache("\"tune_params_keys\":1,", "\"1\":" + row),
      cache("\"tune_params_keys\":[1],", "\"1\":" + row),
      cache("\"tune_params_keys\":[\"b\"],", "\"1\":" + row),
      cache(keys, "\"1\":{\"a\":1}"),
      cache(keys, "\"1\":{\"a\":1,\"time\":-3}"),
      cache(keys, "\"1\":7"),
      cache(keys, ""),
      cache("\"tune_params_keys\":[\"\"],", "\"1\":{\"\":1,\"time\":1}"),
      cache("\"tune_params_keys\":[\"a\\nb\"],", "\"1\":{\"a\\nb\":1,\"time\":1}"),
      "{\"results\":[{\"configuration\":{\"a\":" + deep + closing + "}}]}",
      cache(keys, "\"1\":{\"a\":" + deep + closing + ",\"time\":1}"),
      "{\"results\":" + deep,
      "{\"results\":[{\"configuration\":{" + names + "\"a\":1}}]}",
      "{",
      "",
      "\xff\xfe"};
  for (const std::string& text : texts) {
    std::ofstream(scratch.path() / "x.json") << text;
    for (const std::string command : {"replay x.json", "db import x.json --op o --device d"}) {
      const Outcome outcome = scratch.tunesmith(command);
      EXPECT_EQ(outcome.exit_code, 2) << command << ": " << text.substr(0, 100) << outcome.err;
      for (const char* word : {"json.", "exception", "type_error", "stod", "bad_"})
        EXPECT_THAT(outcome.err, Not(HasSubstr(word))) << text.substr(0, 100) << ": " << outcome.err;
      EXPECT_EQ(outcome.err.find('\x1b'), std::string::npos);
    }
  }
  EXPECT_FALSE(std::filesystem::exists(scratch.path() / "tunesmith.db"))
      << "what is refused makes no database";
  // Null instead of a name counts as no name.
  std::ofstream(scratch.path() / "x.json")
      << cache("\"kernel_name\":null,\"device_name\":null,\"problem_size\":null," + keys, "\"1\":" + row);
  printed(scratch, "replay x.json --strategy random");
  // The file has few bytes that unpack to gigabytes.
  const auto start = std::chrono::steady_clock::now();
  scratch.shell("head -c 400000000 /dev/zero | tr '\\0' '[' | gzip -1 > bomb.json.gz");
  const Outcome bomb = scratch.tunesmith("replay bomb.json.gz");
  EXPECT_EQ(bomb.exit_code, 2);
  EXPECT_THAT(bomb.err, HasSubstr("more than 256 MiB"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

// Names and reasons in a file that somebody else made must not act as commands to the terminal.
TEST(Exchange, EscapeSequencesAreShownAndNotSent) {
  const Scratch scratch;
  const std::string escape =
      "\x1b]0;title\x07\x1b[31m\xc2\x9b"
      "31m";
  {
    Store store = Store::open(scratch.path() / "tunesmith.db", Store::Mode::create);
    const auto device = store.id_of(DeviceRow{.kind = "cuda", .name = "GPU" + escape, .target = "sm_90a"});
    const auto session =
        store.begin_session({.device_id = device, .command = "tune" + escape, .strategy = escape});
    const std::string op = "op" + escape;
    MeasurementRow row = {
        .session_id = session,
        .variant_id = store.id_of(VariantRow{.template_id = store.id_of(TemplateRow{op, "t" + escape, "b"}),
                                             .target = "sm_90a",
                                             .source_hash = "h",
                                             .config = "A=\"" + escape + "\""}),
        .problem_id = store.id_of(ProblemRow{op, "n=\"" + escape + "\""}),
        .device_id = device,
        .verdict = "ok",
        .median_us = 3};
    store.set_winner(store.record(row), 4);
    row.verdict = "crash";
    row.median_us = std::nullopt;
    row.reason = "It crashed: " + escape;
    store.record(row);
  }
  for (const std::string command :
       {"query", "query --all", "query --history", "query --axes --caches warm", "db status", "db export",
        "table remake", "replay tunesmith.db --strategy random",
        "explain reduce --problem 'length=7' --device GPU", "db export --device no",
        "replay \"$(printf 'x\\033[31m')\"", "\"$(printf '\\033[31m')\""}) {
    const Outcome outcome = scratch.tunesmith(command);
    for (const std::string& text : {outcome.out, outcome.err}) {
      EXPECT_EQ(text.find('\x1b'), std::string::npos) << command;
      EXPECT_EQ(text.find('\x07'), std::string::npos) << command;
      EXPECT_THAT(text, Not(HasSubstr("\xc2\x9b"))) << command;
    }
  }
  EXPECT_THAT(scratch.tunesmith("query --all").out, HasSubstr("\\x1b[31m")) << "they are shown";
  // Output for programs is exact if it goes to a program.
  EXPECT_THAT(scratch.tunesmith("db dump").out, HasSubstr(escape));
  EXPECT_THAT(scratch.tunesmith("query --all --format csv").out, HasSubstr(escape));
}

TEST(Exchange, AMergeOfADamagedFileLeavesTheFirstAlone) {
  const Scratch scratch;
  edited_kernel(scratch);
  scratch.shell("cp tunesmith.db a.db; head -c 5000 /dev/urandom > damaged.db");
  EXPECT_EQ(scratch.tunesmith("db merge out.db a.db damaged.db").exit_code, 1);
  EXPECT_FALSE(std::filesystem::exists(scratch.path() / "out.db"));
  printed(scratch, "db merge out.db a.db");
  printed(scratch, "db dump --db out.db -o before.sql");
  const std::string hub_cache = "db import " + hub + "convolution_A6000_cache.json --db b.db";
  printed(scratch, hub_cache);
  EXPECT_EQ(scratch.tunesmith("db merge out.db b.db damaged.db").exit_code, 1);
  printed(scratch, "db dump --db out.db -o after.sql");
  EXPECT_EQ(scratch.shell("cmp before.sql after.sql").exit_code, 0);
  scratch.shell("head -c 900 before.sql > cut.sql");
  EXPECT_EQ(scratch.tunesmith("db load cut.sql --db new.db").exit_code, 1);
  EXPECT_FALSE(std::filesystem::exists(scratch.path() / "new.db"));
}

TEST(Exchange, StatusTellsDamageFirstAndByItsExitCode) {
  const Scratch scratch;
  {
    Store store = edited_kernel(scratch);
    const WinnerRow winner = store.winners().front();
    store.put_binary(
        {.variant_id = winner.variant_id, .toolchain = "t", .hash = "h", .bytes = {std::byte{1}}});
  }
  const Outcome outcome = scratch.tunesmith("db status");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out.substr(0, outcome.out.find('\n')), HasSubstr("check 1 binary is damaged"))
      << outcome.out;
}

TEST(Exchange, AVerdictThatThereIsNotIsRefused) {
  const Scratch scratch;
  edited_kernel(scratch);
  const Outcome outcome = scratch.tunesmith("query --verdict bogus");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_TRUE(has(outcome.err, "bogus") && has(outcome.err, "wrong_result")) << outcome.err;
  EXPECT_EQ(scratch.tunesmith("query --verdict ok").exit_code, 0);
}

}  // namespace
}  // namespace tunesmith

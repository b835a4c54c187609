// SPDX-License-Identifier: Apache-2.0
// Tests all steps of a user on the host device: tune, query, explain, export, move the database.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "choose/timing_table.h"
#include "db/store.h"
#include "tests/cli/run.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string tune =
    "tune conv2d --device host --budget 4 --problem 'height=40 width=36 mask_height=3 mask_width=3' ";

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

void expect_success(const Outcome& outcome) { EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err; }

TEST(Flow, WhatApplicationsTriedIsShownAndMovesWithTheFile) {
  const Scratch scratch;
  {
    Store store = Store::open(scratch.path() / "tunesmith.db", Store::Mode::create);
    FirstUseRow row{
        .problem_id = store.id_of(ProblemRow{"transpose", "height=90 width=130 dtype=b32"}),
        .device_id = store.id_of(DeviceRow{.kind = "cuda", .name = "Test GPU", .target = "sm_90a"}),
        .driver = "580.1",
        .tunesmith_version = "0.1.0",
        .trials = {{"tiled", "TILE=32", "h1", 4.5, "NVRTC 13.0"}, {"base", "", "h2", {}, "built in"}}};
    store.put_first_use(row);
    row.trials.pop_back();
    row.trials.front().us = 4.25;
    store.put_first_use(row);
  }
  const Outcome table = scratch.tunesmith("query transpose --first-uses --history");
  expect_success(table);
  for (const char* words : {"Test GPU", "height=90", "TILE=32", "4.25", "used",
                            "replaced by a later first use", "could not be launched"})
    EXPECT_THAT(table.out, HasSubstr(words)) << words << " is not in\n" << table.out;
  const Outcome csv = scratch.tunesmith("query --first-uses --format csv");
  EXPECT_EQ(std::count(csv.out.begin(), csv.out.end(), '\n'), 2) << csv.out;
  EXPECT_THAT(csv.out, HasSubstr("NVRTC 13.0,580.1,0.1.0,"));
  EXPECT_THAT(scratch.tunesmith("query conv2d --first-uses").out, HasSubstr("Nothing in"));
  EXPECT_THAT(scratch.tunesmith("db status").out, HasSubstr("trial")) << "a table like any other";
  expect_success(scratch.tunesmith("db dump -o t.sql && " TUNESMITH_PROGRAM " db load t.sql --db copy.db"));
  EXPECT_EQ(scratch.tunesmith("query --first-uses --format csv --db copy.db").out, csv.out);
  EXPECT_EQ(scratch.tunesmith("query --first-uses --all").exit_code, 2);
}

TEST(Flow, TuneQueryExplainExportAndMove) {
  const Scratch scratch;
  const Outcome tuned = scratch.tunesmith(tune);
  expect_success(tuned);
  EXPECT_THAT(tuned.out, HasSubstr("winner"));
  EXPECT_THAT(tuned.out, HasSubstr("over base"));

  const Outcome table = scratch.tunesmith("query conv2d --device host --problem 'height=40'");
  expect_success(table);
  EXPECT_THAT(table.out, HasSubstr("height=40"));
  EXPECT_THAT(table.out, Not(HasSubstr("batch=1"))) << "a default";
  EXPECT_THAT(scratch.tunesmith("query --format csv").out, HasSubstr("batch=1")) << "a program gets all";
  EXPECT_THAT(tuned.err, HasSubstr("variants per problem (--budget 4s is a time)"));
  const Outcome csv = scratch.tunesmith("query --all --format csv");
  EXPECT_GE(std::count(csv.out.begin(), csv.out.end(), '\n'), 5) << "a head and four verdicts";
  EXPECT_EQ(csv.out.rfind("op,device,target,problem,", 0), 0U) << csv.out;
  const Outcome json = scratch.tunesmith("query --format json");
  EXPECT_THAT(json.out, HasSubstr("\"newest_verdict\": \"ok\""));
  EXPECT_THAT(json.out, HasSubstr("\"caches\": \"warm\""));
  EXPECT_EQ(scratch.tunesmith("query --format json --problem 'height=41'").out, "[]\n");
  EXPECT_THAT(scratch.tunesmith("query --problem 'height=41'").out, HasSubstr("Nothing in"));

  const Outcome axes = scratch.tunesmith("query conv2d --axes --device host --problem 'height=40'");
  expect_success(axes);
  for (const char* words : {"the host, whose times are an emulator's", "x best", "BLOCK_X"})
    EXPECT_THAT(axes.out, HasSubstr(words)) << words << " is not in\n" << axes.out;
  EXPECT_THAT(table.out, HasSubstr("emulator"));
  EXPECT_THAT(tuned.out, HasSubstr("emulator"));

  const std::string explain = "explain conv2d --device host --problem ";
  const Outcome exact = scratch.tunesmith(explain + "'height=40 width=36 mask_height=3 mask_width=3'");
  expect_success(exact);
  EXPECT_THAT(exact.out, HasSubstr("match: exact"));
  EXPECT_THAT(scratch.tunesmith(explain + "'height=9 width=9 mask_height=6 mask_width=6' --db ''").out,
              HasSubstr("match: "));

  const Outcome exported = scratch.tunesmith("export --device host --to generated");
  expect_success(exported);
  EXPECT_TRUE(std::filesystem::exists(scratch.path() / "generated/devices.csv"));
  EXPECT_THAT(exported.out, HasSubstr(" exported, "));

  expect_success(scratch.tunesmith("db status"));
  expect_success(scratch.tunesmith("db dump -o known.sql"));
  expect_success(scratch.tunesmith("db load known.sql --db other.db"));
  EXPECT_EQ(scratch.tunesmith("query --db other.db").out, table.out);
  const Outcome merged = scratch.tunesmith("db merge other.db tunesmith.db");
  expect_success(merged);
  EXPECT_THAT(merged.out, HasSubstr("0 sessions and 0 measurements were new"));
  EXPECT_EQ(scratch.tunesmith("db dump").out, scratch.tunesmith("db dump --db other.db").out);
}

TEST(Flow, AnchorsGiveATable) {
  const Scratch scratch;
  const std::string anchors = "table make transpose --device host --searched 2 --budget 2 --seed 3";
  const Outcome tuned = scratch.tunesmith(anchors);
  expect_success(tuned);
  EXPECT_THAT(tuned.out, HasSubstr("on 2 of 2 anchors one has a time"));
  const Outcome more = scratch.tunesmith(anchors + " --measured 3");
  expect_success(more);
  EXPECT_THAT(scratch.tunesmith("db status").out, HasSubstr("problem          5")) << more.out;
  EXPECT_THAT(scratch.tunesmith("db status").out, HasSubstr("anchor_table")) << tuned.out;
  const Outcome made = scratch.tunesmith("table remake transpose");
  expect_success(made);
  EXPECT_EQ(made.out.rfind("transpose on ", 0), 0U) << made.out;
  EXPECT_THAT(scratch.tunesmith("table remake reduce").out, HasSubstr("No problem has enough"));
  const Outcome extended = scratch.tunesmith("table extend transpose --device host --measured 2 --seed 9");
  expect_success(extended);
  EXPECT_THAT(extended.out, HasSubstr("on 7 of 7 anchors one has a time"));

  // Some times are removed from the table, as if their variants had entered it later; then the table is
  // filled.
  const auto whole = [&] { return scratch.tunesmith("table fill transpose --device host --anchors 20"); };
  expect_success(whole());
  std::size_t left_out = 0;
  {
    Store store = Store::open(scratch.path() / "tunesmith.db", Store::Mode::create);
    const auto stored = store.anchor_tables().back();
    TimingTable table = read_timing_table(stored.table.text, "a table");
    for (TimingTable::Anchor& anchor : table.anchors) {
      const auto first = std::find_if(anchor.us.begin(), anchor.us.end(), [](double us) { return us > 0; });
      for (double& us : anchor.us) left_out += &us != &*first && std::exchange(us, 0) > 0 ? 1 : 0;
    }
    AnchorTableRow row = stored.table;
    row.text = write_timing_table(table);
    row.session_id = store.begin_session({.device_id = row.device_id, .command = "left out"});
    store.put_anchor_table(row);
    store.end_session(row.session_id, Store::End::finished);
  }
  ASSERT_GT(left_out, 0U);
  const Outcome filled = whole();
  expect_success(filled);
  EXPECT_THAT(filled.out, HasSubstr("on 7 of 7 anchors one has a time"));
  EXPECT_THAT(whole().out, HasSubstr("No anchor of the table of transpose for "));
  const Outcome list = scratch.tunesmith("table list transpose --device host");
  expect_success(list);
  EXPECT_THAT(list.out, HasSubstr(" (database): "));
  EXPECT_THAT(list.out, HasSubstr("on 7 of 7 anchors one has a time"));
  EXPECT_EQ(scratch.tunesmith("table list reduce --device host").out, "There is no such table.\n");
  EXPECT_EQ(scratch.tunesmith(anchors + " --anchors 2").exit_code, 2);
  EXPECT_EQ(scratch.tunesmith(anchors + " --finals").exit_code, 2);
  EXPECT_EQ(scratch.tunesmith(anchors + " --total 5").exit_code, 2);
  EXPECT_EQ(scratch.tunesmith(anchors + " --caches cold").exit_code, 2);
}

TEST(Flow, AllOpsOncePerDevice) {
  const Scratch scratch;
  const Outcome tuned = scratch.tunesmith("tune --all --ops transpose,histogram --device host --budget 3s");
  expect_success(tuned);
  EXPECT_THAT(tuned.out, HasSubstr("transpose on "));
  EXPECT_THAT(tuned.out, HasSubstr("histogram on "));
  EXPECT_THAT(tuned.out, Not(HasSubstr("reduce on ")));
  for (const char* wrong :
       {"tune", "tune conv2d --all", "tune --all --ops nothing", "tune --all --measured 3",
        "tune --all --budget 500", "tune conv2d --ops conv2d", "tune conv2d --total 5s", "table",
        "table make conv2d --device host", "table extend conv2d --device host --measured 5",
        "table extend --measured 5", "table fill conv2d --device host", "finals", "finals conv2d --budget 5"})
    EXPECT_EQ(scratch.tunesmith(wrong).exit_code, 2) << wrong;
}

TEST(Flow, ProblemsThatAreTunedAreLeftOut) {
  const Scratch scratch;
  const std::string tuned = "echo 'transpose weight=0 height=9 width=7' > app.txt && ";
  const Outcome none = scratch.shell(tuned + TUNESMITH_PROGRAM " tune --problems app.txt --device host");
  expect_success(none);
  EXPECT_EQ(none.out, "1 problem with weight=0 left out: tuned already.\n");
  const Outcome one = scratch.shell(tuned + "echo 'transpose height=5 width=8' >> app.txt && " +
                                    TUNESMITH_PROGRAM " tune --problems app.txt --device host --budget 2");
  expect_success(one);
  EXPECT_THAT(one.out, HasSubstr("height=5 width=8"));
  EXPECT_THAT(one.out, Not(HasSubstr("height=9 width=7")));
}

TEST(Flow, RegretOfProblemsThatNobodyTuned) {
  const Scratch scratch;
  const Outcome regret =
      scratch.tunesmith("regret transpose --device host --problems 2 --budget 2 --csv r.csv");
  expect_success(regret);
  EXPECT_THAT(regret.out, HasSubstr("2 problems. Tuned time / picked time: geometric mean "));
  EXPECT_THAT(regret.out, HasSubstr("With the best of the portfolio it would be "));
  EXPECT_TRUE(std::filesystem::exists(scratch.path() / "r.csv"));
  EXPECT_FALSE(std::filesystem::exists(scratch.path() / "tunesmith.db")) << "nothing is kept";
  expect_success(scratch.tunesmith("regret transpose --device host --problems 1 --budget 2 --keep kept.db"));
  EXPECT_THAT(scratch.tunesmith("db status --db kept.db").out, HasSubstr("problem          1"));
  // The search ends once the base is measured, so the picked variant is measured after it.
  const Outcome late = scratch.tunesmith("regret scan --device host --problems 1 --budget 1");
  expect_success(late);
  EXPECT_THAT(late.out, Not(HasSubstr("what was picked is wrong")));
  EXPECT_EQ(scratch.tunesmith("regret nothing").exit_code, 2);
  expect_success(
      scratch.tunesmith("regret transpose --device host --problems 1 --budget 2 --fail-below 0.01"));
  EXPECT_EQ(scratch.tunesmith("regret transpose --fail-below 2").exit_code, 2);
}

// The host has no cold caches, so the test changes the database as if its times had cold caches.
TEST(Flow, TheWordsSayWhereCachesWereCold) {
  const Scratch scratch;
  expect_success(scratch.tunesmith(tune));
  const std::string explain =
      "explain conv2d --device host --problem 'height=40 width=36 mask_height=3 mask_width=3'";
  for (const char* command : {"query", "query --all", explain.c_str(), "db status"})
    EXPECT_THAT(scratch.tunesmith(command).out, Not(HasSubstr("cold"))) << command;
  expect_success(scratch.tunesmith("db dump --binaries -o warm.sql"));
  expect_success(
      scratch.shell("sed \"/^INSERT INTO measurement/s/,'warm','apart',/,'cold','apart',/; "
                    "s/^INSERT INTO session VALUES(1,'[0-9a-f]*'/INSERT INTO session VALUES(1,'other'/\" "
                    "warm.sql > cold.sql && grep -c \",'cold',\" cold.sql"));
  expect_success(scratch.tunesmith("db load cold.sql --db cold.db --binaries"));
  EXPECT_THAT(scratch.tunesmith("query --db cold.db").out, HasSubstr("cold"));
  EXPECT_THAT(scratch.tunesmith("query --all --db cold.db").out, HasSubstr("cold"));
  EXPECT_THAT(scratch.tunesmith("query --format json --db cold.db").out, HasSubstr("\"caches\": \"cold\""));
  EXPECT_THAT(scratch.tunesmith("query --all --format csv --db cold.db").out, HasSubstr(",cold,"));
  EXPECT_THAT(scratch.tunesmith("db status --db cold.db").out, HasSubstr("ok, cold caches"));
  EXPECT_THAT(scratch.tunesmith(explain + " --db cold.db").out, HasSubstr(" us with cold caches on "));
  expect_success(scratch.tunesmith("export --device host --to generated --db cold.db"));
  bool cold = false;
  for (const auto& entry : std::filesystem::directory_iterator(scratch.path() / "generated"))
    cold = cold || (entry.path().extension() == ".csv" && has(read_text(entry.path()), ",cold,"));
  EXPECT_TRUE(cold);
  const Outcome merged = scratch.tunesmith("db merge tunesmith.db cold.db");
  expect_success(merged);
  EXPECT_THAT(merged.out, HasSubstr("the later choice counts"));
}

TEST(Flow, ProblemsComeFromAFile) {
  const Scratch scratch;
  std::ofstream(scratch.path() / "problems.txt") << "# two\nheight=8 width=8 mask_height=3 mask_width=3\n\n"
                                                    "height=9 width=9 mask_height=3 mask_width=3  # odd\n";
  const Outcome tuned = scratch.tunesmith("tune conv2d --device host --budget 1 --problems problems.txt");
  expect_success(tuned);
  EXPECT_TRUE(has(tuned.out, "height=8") && has(tuned.out, "height=9")) << tuned.out;

  std::ofstream(scratch.path() / "bad.txt") << "height=8 width=8 mask_height=3 mask_width=3\nheight=x\n";
  const Outcome bad = scratch.tunesmith("tune conv2d --device host --problems bad.txt");
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_THAT(bad.err, HasSubstr("bad.txt, line 2: "));
}

TEST(Flow, AnExpressionAndItsProblemsComeFromAFile) {
  const Scratch scratch;
  const std::string expression = "op = \"tensor\"\nexpression = \"out[b,a] = x[a,b]\"\n";
  std::ofstream(scratch.path() / "turn.toml") << expression << "[extents]\na = [5, 6]\nb = 7\n";
  const Outcome tuned = scratch.tunesmith("tune turn.toml --device host --budget 1");
  expect_success(tuned);
  EXPECT_TRUE(has(tuned.out, "extents=7x5") && has(tuned.out, "extents=7x6")) << tuned.out;

  std::ofstream(scratch.path() / "bad.toml") << expression << "a = 5\n";
  const Outcome bad = scratch.tunesmith("tune bad.toml --device host");
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_THAT(bad.err,
              HasSubstr("bad.toml: The expression is \"out[b,a] = x[a,b]\". The index b has no extent"));
}

// The file has the form that Dispatcher::save_problems() writes.
TEST(Flow, AFileOfSeveralOpsIsTunedTheMostValuableFirst) {
  const Scratch scratch;
  std::ofstream(scratch.path() / "app.txt")
      << "transpose weight=1 height=8 width=9  # little\n"
         "conv2d weight=2 height=8 width=8 mask_height=3 mask_width=3\n"
         "conv2d weight=70.5 height=9 width=9 mask_height=3 mask_width=3\n"
         "conv2d weight=70.5 height=8 width=8 mask_width=3 mask_height=3\n";
  const Outcome tuned = scratch.tunesmith("tune --device host --budget 1 --problems app.txt");
  expect_success(tuned);
  const std::size_t first = tuned.out.find("height=8 width=8"), second = tuned.out.find("height=9 width=9"),
                    third = tuned.out.find("height=8 width=9");
  EXPECT_LT(first, second) << tuned.out;
  EXPECT_LT(second, third) << tuned.out;
  EXPECT_NE(third, std::string::npos) << tuned.out;
  // With a total time: it is shared by weight, and problems that get no time are named.
  const Outcome total = scratch.tunesmith("tune --device host --total 2s --problems app.txt --db total.db");
  expect_success(total);
  EXPECT_THAT(total.out, HasSubstr("height=8 width=8"));
  const Outcome one =
      scratch.tunesmith("tune transpose --device host --budget 1 --problems app.txt --db o.db");
  expect_success(one);
  EXPECT_TRUE(has(one.out, "height=8 width=9") && !has(one.out, "mask")) << one.out;
  const Outcome little = scratch.tunesmith("tune --device host --total 1ms --problems app.txt --db l.db");
  EXPECT_TRUE(has(little.err, "3 problems") || has(little.err, "were not tuned")) << little.err;

  std::ofstream(scratch.path() / "bad.txt") << "height=8 width=8\n";
  EXPECT_THAT(scratch.tunesmith("tune --problems bad.txt").err, HasSubstr("bad.txt, line 1: It names no op"));
  std::ofstream(scratch.path() / "bad.txt") << "\nconv9d height=8 width=8\n";
  EXPECT_THAT(scratch.tunesmith("tune --problems bad.txt").err, HasSubstr("bad.txt, line 2: "));
  std::ofstream(scratch.path() / "bad.txt") << "transpose weight=-1 height=8 width=8\n";
  EXPECT_THAT(scratch.tunesmith("tune --problems bad.txt").err,
              HasSubstr("The weight is -1; give 0 for a problem that is tuned already"));
  std::ofstream(scratch.path() / "bad.txt") << "transpose weight=1e308 height=8 width=8\n";
  EXPECT_THAT(scratch.tunesmith("tune --problems bad.txt").err,
              HasSubstr("The weight is too large; give at most"));
  const Outcome none = scratch.tunesmith("tune conv1d --problems app.txt");
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("app.txt has no problem of conv1d"));
}

// The file has a byte order mark, and more problems than there is time for: those take no time.
TEST(Flow, ATotalIsTheTotalOfManyProblems) {
  const Scratch scratch;
  {
    std::ofstream file(scratch.path() / "many.txt");
    file << "\xEF\xBB\xBF";
    for (int n = 0; n < 300; ++n)
      file << "conv2d height=" << 100 + n << " width=300 mask_height=5 mask_width=5\n";
  }
  const auto began = std::chrono::steady_clock::now();
  const Outcome tuned = scratch.tunesmith("tune --device host --budget 1 --total 2s --problems many.txt");
  expect_success(tuned);
  EXPECT_THAT(tuned.err, HasSubstr(" of 300 problems were not tuned"));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  EXPECT_LT(took.count(), 20) << "their 300 spaces take 60 s";
}

// Some containers have a umask of 002.
TEST(Flow, ADatabaseThatApplicationsWillNotUseIsTold) {
  const Scratch scratch;
  const std::string home =
      "unset TUNESMITH_DB XDG_DATA_HOME; export HOME=$PWD/home; umask 022; "
      "mkdir -p home/.local/share; ";
  const std::string words = TUNESMITH_PROGRAM
      " tune transpose --device host --budget 1 --problem 'height=16 width=48' 2>&1 "
      ">/dev/null; " TUNESMITH_PROGRAM " query 2>&1 >/dev/null; " TUNESMITH_PROGRAM
      " db status 2>&1 >/dev/null; " TUNESMITH_PROGRAM
      " explain transpose --device host --problem 'height=16 width=48'";
  const auto told = [](const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++count;
    return count;
  };
  const Outcome safe = scratch.shell(home + words);
  EXPECT_EQ(told(safe.out, "will not use"), 0U) << safe.out;
  const Outcome open = scratch.shell(home + "chmod 2775 home home/.local/share; " + words);
  EXPECT_EQ(told(open.out, "Applications will not use the database"), 3U) << open.out;
  EXPECT_EQ(told(open.out, "chmod go-w"), 4U) << "explain too\n" << open.out;
}

// Some network file systems have no locks.
TEST(Flow, AFileSystemWithoutLocksIsToldAtOnce) {
  const Scratch scratch;
  expect_success(scratch.tunesmith("tune transpose --device host --budget 1 --problem 'height=16 width=48'"));
  const auto began = std::chrono::steady_clock::now();
  const Outcome outcome = scratch.shell("LD_PRELOAD=" TUNESMITH_NO_LOCKS " " TUNESMITH_PROGRAM
                                        " explain transpose --device host --problem 'height=16 width=48'");
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  expect_success(outcome);
  EXPECT_THAT(outcome.out, HasSubstr("its file system has no locks"));
  EXPECT_LT(took.count(), 4) << "a reader has some tenths of a second of patience";
}

// A parent may ignore the ends of its children, and its setting is inherited.
TEST(Flow, IgnoredEndsOfChildrenAreNoMatter) {
  const Scratch scratch;
  expect_success(scratch.shell("trap '' CHLD; " TUNESMITH_PROGRAM
                               " tune transpose --device host --budget 1 --problem 'height=16 width=48'"));
}

TEST(Flow, AnInterruptEndsTheRunWith130AndKeepsWhatIsKnown) {
  const Scratch scratch;
  const Outcome stopped = scratch.shell("timeout --preserve-status -s INT 6 " TUNESMITH_PROGRAM
                                        " tune conv2d --device host --budget 100s --problem "
                                        "'height=40 width=36 mask_height=3 mask_width=3'");
  EXPECT_EQ(stopped.exit_code, 130) << stopped.err;
  EXPECT_THAT(scratch.tunesmith("query --all").out, HasSubstr("height=40"));
}

}  // namespace
}  // namespace tunesmith

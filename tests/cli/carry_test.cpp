// SPDX-License-Identifier: Apache-2.0
// Tests `db carry` from outside: a kernel's text is that of an older checkout or program, and of this
// program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "choose/winners_file.h"
#include "db/device_row.h"
#include "db/store.h"
#include "generator/ops.h"
#include "kernel_file/find_op.h"
#include "runtime/executable.h"
#include "tests/cli/run.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* problem = "height=64 width=48";

// The measurements with an older base of transpose: a checkout of it, a database and a folder of winners.
class Carry : public testing::Test {
 protected:
  Carry() : op_(find_op("transpose")), files_(template_files()), device_(host_facts()) {}

  std::string& body() { return files_.at("transpose/base.cu"); }
  void replace(std::string& text, const std::string& what, const std::string& with) {
    ASSERT_THAT(text, HasSubstr(what)) << what;
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
      text.replace(at, what.size(), with);
  }

  Source measured() const {
    const Problem all = complete_problem(op_, Problem::parse(problem));
    return render(op_, op_.templates.front(), all, base_config(op_, all, device_), "host", files_);
  }

  void write_checkout() const {
    for (const auto& [name, text] : files_) {
      const std::filesystem::path path = scratch_.path() / "old" / "templates" / name;
      std::filesystem::create_directories(path.parent_path());
      std::ofstream(path) << text;
    }
  }

  std::string write_database(const std::string& template_name = "base") const {
    const std::filesystem::path path = scratch_.path() / "tunesmith.db";
    Store store = Store::open(path, Store::Mode::create);
    const Problem all = complete_problem(op_, Problem::parse(problem));
    const Source source = measured();
    const auto device = store.id_of(row_of(device_));
    const auto session = store.begin_session(
        {.device_id = device, .command = "tunesmith tune transpose", .strategy = "random"});
    const auto variant = store.id_of(VariantRow{
        .template_id = store.id_of(TemplateRow{.op = "transpose",
                                               .name = template_name,
                                               .body_hash = body_hash(op_, op_.templates.front(), files_)}),
        .target = "host",
        .source_hash = source.hash,
        .config = base_config(op_, all, device_).text(),
        .compiled_in = "dtype=f32",
        .entry = "transpose_base" + source.suffix});
    const auto measurement =
        store.record({.session_id = session,
                      .variant_id = variant,
                      .problem_id = store.id_of(ProblemRow{.op = "transpose", .text = all.text()}),
                      .device_id = device,
                      .verdict = "ok",
                      .reason = "",
                      .median_us = 10});
    store.set_winner(measurement, 4);
    store.end_session(session, Store::End::finished);
    return path.string();
  }

  void write_folder(const std::string& body) const {
    const Problem all = complete_problem(op_, Problem::parse(problem));
    WinnersFileRow row;
    row.winner.device = device_;
    row.winner.op = "transpose";
    row.winner.template_name = "base";
    row.winner.problem = all;
    row.winner.config = Values::parse(base_config(op_, all, device_).text());
    row.winner.median_us = 10;
    row.winner.source_hash = measured().hash;
    row.measured_at = "2026-01-01T00:00:00.000Z";
    DeviceTable table{device_, {}};
    table.table.op = "transpose";
    table.table.variants = {{"base", row.winner.config, body.substr(0, 12)}};
    table.table.anchors = {
        {.problem = all, .best_us = 10, .best_any_us = 10, .us = {10}, .factor = {}, .launch = {}}};
    for (const auto& [name, text] : write_winners({row}, {table})) {
      std::filesystem::create_directories(scratch_.path() / "shipped");
      std::ofstream(scratch_.path() / "shipped" / name) << text;
    }
  }

  std::string now() const {
    const Problem all = complete_problem(op_, Problem::parse(problem));
    return render(op_, op_.templates.front(), all, base_config(op_, all, device_), "host").hash;
  }
  std::string winner() const {
    const Store store = Store::open(scratch_.path() / "tunesmith.db", Store::Mode::read_only);
    return store.winners().front().variant.source_hash;
  }
  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }

  Scratch scratch_;
  const Op& op_;
  Files files_;
  DeviceFacts device_;
};

TEST_F(Carry, AChangedCommentNeedsNothing) {
  body() += "// A further comment.\n";
  write_checkout();
  write_database();
  const Outcome outcome = scratch_.shell("TUNESMITH_CXX=/nonexistent " TUNESMITH_PROGRAM " db carry old");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("0 verdicts, 0 winners and 0 timing tables carried"));
}

TEST_F(Carry, AChangedNameKeepsTheTimes) {
  replace(body(), "input_pitch", "distance_of_rows");
  write_checkout();
  write_database();
  const Outcome outcome = scratch_.tunesmith("db carry old");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("1 verdict, 1 winner and 0 timing tables carried"));
  EXPECT_EQ(winner(), now());
  EXPECT_THAT(scratch_.shell("sqlite3 tunesmith.db 'SELECT command FROM session'").out,
              HasSubstr("db carry old  # measured by: tunesmith tune transpose"));
  EXPECT_THAT(scratch_.tunesmith("db carry old").out, HasSubstr("0 verdicts"))
      << "it has nothing to do again";
}

// `db carry` asks the program only for texts, so a script that prints a text stands for it.
TEST_F(Carry, AnOlderProgramRendersToo) {
  replace(body(), "input_pitch", "distance_of_rows");
  write_database();
  std::ofstream(scratch_.path() / "old.cpp") << measured().text;
  std::ofstream(scratch_.path() / "tunesmith-old")
      << "#!/bin/sh\n[ \"$1 $2\" = \"render transpose\" ] && cat old.cpp\n";
  std::filesystem::permissions(scratch_.path() / "tunesmith-old", std::filesystem::perms::owner_all);
  EXPECT_EQ(scratch_.tunesmith("db carry tunesmith-old").exit_code, 0);
  EXPECT_EQ(winner(), now());
}

TEST_F(Carry, AnotherKernelIsNotTheOneThatWasMeasured) {
  replace(body(), "input[(b * height + y) * input_pitch + x]", "input[(b * height + y) * input_pitch]");
  write_checkout();
  write_database();
  const std::string before = winner();
  const Outcome outcome = scratch_.tunesmith("db carry old");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("Its machine code has changed: "));
  EXPECT_EQ(winner(), before);
}

TEST_F(Carry, WhatCannotBeComparedIsSaid) {
  replace(body(), "input_pitch", "distance_of_rows");
  write_database("gone");
  write_checkout();
  const Outcome lost = scratch_.tunesmith("db carry old");
  EXPECT_EQ(lost.exit_code, 1);
  EXPECT_THAT(lost.out, HasSubstr("This program has no such kernel: "));

  std::filesystem::remove(scratch_.path() / "tunesmith.db");
  write_database();
  replace(body(), "distance_of_rows", "yet_another_name");
  write_checkout();
  const Outcome other = scratch_.tunesmith("db carry old");
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_THAT(other.out, HasSubstr("Its older text is another one: "));

  const Outcome none = scratch_.tunesmith("db carry nowhere");
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("give an older tunesmith program, or a checkout"));
  EXPECT_EQ(scratch_.tunesmith("db carry .").exit_code, 2);
}

TEST_F(Carry, ADamagedDatabaseIsNotChanged) {
  replace(body(), "input_pitch", "distance_of_rows");
  write_checkout();
  const std::string path = write_database();
  std::filesystem::resize_file(path, 5000);
  const std::string before = read_text(path);
  const Outcome outcome = scratch_.tunesmith("db carry old");
  EXPECT_EQ(outcome.exit_code, 1) << outcome.out;
  EXPECT_NE(outcome.err, "");
  EXPECT_EQ(read_text(path), before);
}

TEST_F(Carry, AFolderOfWinnersAndTablesIsCarried) {
  replace(body(), "input_pitch", "distance_of_rows");
  write_checkout();
  const std::string body = body_hash(op_, op_.templates.front(), files_);
  write_folder(body);
  const Outcome outcome = scratch_.tunesmith("db carry old --folder shipped");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("1 winner carried; 2 files of shipped written"));
  std::string all;
  for (const auto& entry : std::filesystem::directory_iterator(scratch_.path() / "shipped"))
    all += read_text(entry.path());
  EXPECT_THAT(all, HasSubstr(now()));
  EXPECT_THAT(all, Not(HasSubstr(body.substr(0, 12))));
  EXPECT_THAT(scratch_.tunesmith("db carry old --folder shipped").out,
              HasSubstr("0 winners carried; 0 files"));
}

}  // namespace
}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
// Tests `tunesmith export --static` from the tuning to the application: the exported library has neither
// SQLite nor NVRTC, gives right results, and makes the same choices as a dispatcher with the database.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "choose/select.h"
#include "choose/timing_table.h"
#include "db/store.h"
#include "dispatch/packed.h"
#include "dispatch/tuning_data.h"
#include "generator/sample.h"
#include "kernel_file/find_op.h"
#include "tests/cli/run.h"
#include "tests/dispatch/fixture.h"
#include "tunesmith/dispatcher.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;
using testing::Not;

namespace fs = std::filesystem;

constexpr const char* tuned = "height=200 width=200 mask_height=3 mask_width=3 mode=correlation";

void expect_success(const Outcome& outcome) { ASSERT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err; }

std::string text_of(const Template& tmpl, const Config& config) { return tmpl.name + " " + config.text(); }
std::string text_of(const Variant& variant) { return variant.template_name + " " + variant.config; }

// The launch of a plan.
struct Answer {
  std::string match, variant;
  double expected_loss = 0;
  std::string any_pointer;  ///< for pointers of any alignment
};

std::vector<Answer> answers_in(const std::string& text) {
  std::vector<Answer> answers;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    Answer& answer = answers.emplace_back();
    std::string loss;
    std::getline(fields, answer.match, '|');
    std::getline(fields, answer.variant, '|');
    std::getline(fields, loss, '|');
    std::getline(fields, answer.any_pointer, '|');
    answer.expected_loss = std::stod(loss);
  }
  return answers;
}

// The first choice in the ranking whose kernel was exported, else the base.
Answer best_of_exported(const Op& op, const Chooser& chooser, const std::vector<Candidate>& candidates,
                        const Problem& problem, const std::string& kernels) {
  Choices choices(chooser, problem, true);
  for (std::size_t i = 0; const Choice* choice = choices.at(i); ++i) {
    const Template& tmpl = find_template(op, candidates[choice->candidate].template_name);
    if (kernels.find(render(op, tmpl, problem, choice->config, "host").hash) == std::string::npos) continue;
    return {std::string(name(choice->match)), text_of(tmpl, choice->config), choice->expected_loss, ""};
  }
  return {"base", text_of(op.templates.front(), base_config(op, problem, host_facts())), 0, ""};
}

// Times of winners are exported with three decimals.
void expect_same(const Answer& ours, const Answer& theirs, const Problem& problem) {
  EXPECT_EQ(ours.match, theirs.match) << problem.text();
  EXPECT_EQ(ours.variant, theirs.variant) << problem.text();
  EXPECT_NEAR(ours.expected_loss, theirs.expected_loss, 1e-3) << problem.text();
}

class StaticExport : public DispatcherTest {
 protected:
  // Tunes a winner that needs aligned pointers, and a table.
  void tune() const {
    DispatcherTest::tune({.op = "conv2d",
                          .problem = tuned,
                          .template_name = "sliding",
                          .config = "OUT_X=4 OUT_Y=4 VECTOR=4",
                          .median_us = 20,
                          .binary = false});
    expect_success(scratch.tunesmith(
        "table make conv2d --device host --searched 3 --budget 2 --seed 3 --db " + database()));
  }

  Outcome export_to(const std::string& folder, const std::string& more = "") const {
    return scratch.tunesmith("export --static --device host --db " + database() + " --to " + folder + " " +
                             more);
  }

  std::vector<Candidate> known() const {
    return candidates_of(
        read_tuning_data({.database = database(), .device = host_facts(), .host_binaries = true}), "conv2d");
  }

  Scratch scratch;
};

// The export has kernels for the tuned problem and for some random ones; other problems get the best of
// these.
TEST_F(StaticExport, IsBuiltWithoutSqliteAndChoosesAsTheDispatcher) {
  tune();
  const Op& op = find_op("conv2d");
  std::vector<Problem> problems = {complete_problem(op, Problem::parse(tuned))};
  for (const Problem& problem : sample_problems(op, 40, 11, sample_limits(DeviceKind::host)))
    problems.push_back(problem);
  const std::size_t exported = 3;
  std::ofstream list(scratch.path() / "list.txt");
  std::ofstream asked(scratch.path() / "asked.txt");
  for (std::size_t i = 0; i < problems.size(); ++i) {
    if (i < exported) list << "conv2d " << problems[i].text() << '\n';
    asked << problems[i].text() << '\n';
  }
  list.close();
  asked.close();

  const fs::path build = BUILD_FOLDER;  // the same each time, for compiler caches
  fs::remove_all(build);
  fs::create_directories(build);
  const fs::path folder = build / "export";
  expect_success(export_to(folder.string(), "--problems list.txt"));
  const std::string in_source = "grep -rlE 'sqlite3?\\.h|nvrtc\\.h' " + folder.string();
  EXPECT_EQ(scratch.shell(in_source).exit_code, 1) << scratch.shell(in_source).out;

  const std::string built = (build / "build").string();
  const auto make = [&](const std::string& together) {
    return scratch.shell("env -u CXXFLAGS " CONFIGURE " -S " CONSUMER " -B " + built + " -D EXPORT=" +
                         folder.string() + " -D TOGETHER=" + together + " && " CMAKE " --build " + built);
  };
  if (const Outcome fast = make("ON"); fast.exit_code != 0) {
    std::cout << "The folders' sources do not compile together:\n" << fast.out;
    expect_success(make("OFF"));
  }
  for (const char* reads : {"ldd ", "nm -C "}) {
    const Outcome linked = scratch.shell(reads + built + "/consumer | grep -ciE 'sqlite|nvrtc'");
    EXPECT_EQ(linked.out, "0\n") << reads;
  }

  // It offers the dynamic linker only inlined code, whose names are this export's own.
  const Outcome offered = scratch.shell(
      "nm -D --defined-only " + built +
      "/consumer | grep tunesmith | grep -vE '9tunesmith[0-9]+v[0-9]+_[0-9]+_export_[0-9a-f]{12}'");
  EXPECT_EQ(offered.out, "");

  const Outcome consumed = scratch.shell(built + "/consumer < asked.txt");
  expect_success(consumed);
  EXPECT_THAT(consumed.err, HasSubstr("The database given.db is not used"));
  const std::vector<Answer> answers = answers_in(consumed.out);
  ASSERT_EQ(answers.size(), problems.size());
  EXPECT_EQ(answers[0].match, "exact");
  EXPECT_NE(answers[0].variant, answers[0].any_pointer);

  Dispatcher dispatcher(options());
  for (std::size_t i = 0; i < exported; ++i) {
    const Plan plan = dispatcher.plan("conv2d", problems[i]);
    expect_same(answers[i],
                {std::string(name(plan.match())), text_of(plan.variant()), plan.expected_loss(), ""},
                problems[i]);
    EXPECT_EQ(answers[i].any_pointer, text_of(plan.unaligned_variant())) << problems[i].text();
  }
  const std::vector<Candidate> all = known();
  const Chooser chooser(op, host_facts(), all);
  const std::string kernels = read_text(folder / "kernels.csv");
  std::set<std::string> variants;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    expect_same(answers[i], best_of_exported(op, chooser, all, problems[i], kernels), problems[i]);
    variants.insert(answers[i].variant);
  }
  EXPECT_GT(variants.size(), 1u) << "of 41 problems";
}

// Without --problems the export has the winner, and for each anchor the kernels without numbers compiled in.
TEST_F(StaticExport, HasTheWinnersAndThePortfolio) {
  tune();
  expect_success(export_to("all"));
  const Op& op = find_op("conv2d");
  const std::vector<Candidate> all = known();
  const Chooser chooser(op, host_facts(), all);
  const std::string kernels = read_text(scratch.path() / "all/kernels.csv");
  const Problem problem = complete_problem(op, Problem::parse(tuned));
  EXPECT_EQ(best_of_exported(op, chooser, all, problem, kernels).match, "exact");
  const std::vector<DeviceTable> tables = tables_of(database(), {});
  ASSERT_EQ(tables.size(), 1u);
  for (const TimingTable::Anchor& anchor : tables.front().table.anchors) {
    Choices choices(chooser, anchor.problem, true);
    const Choice* choice = choices.at(0);
    ASSERT_NE(choice, nullptr);
    const Template& tmpl = find_template(op, all[choice->candidate].template_name);
    if (compiled_in(op, tmpl, anchor.problem).find("mask_height") != nullptr) continue;
    EXPECT_EQ(best_of_exported(op, chooser, all, anchor.problem, kernels).variant,
              text_of(tmpl, choice->config));
  }
  for (const auto& entry : fs::directory_iterator(scratch.path() / "all/tables/database")) {
    const std::string file = entry.path().filename().string();
    if (file.find(".conv2d.") == std::string::npos) continue;
    const StoredTable stored = stored_table(tables.front().device, tables.front().table);
    EXPECT_EQ(read_text(entry.path()), entry.path().extension() == ".csv" ? stored.text : stored.factors)
        << "with what was solved";
  }
}

TEST_F(StaticExport, ATableOfTheDatabaseReplacesTheShippedOne) {
  const std::vector<DeviceTable> shipped =
      read_timing_tables([](std::string_view name) { return packed(name); }, ops());
  if (shipped.empty()) GTEST_SKIP() << "This build has no tables.";
  const DeviceTable& one = shipped.front();
  Store store = Store::open(database(), Store::Mode::create);
  SessionRow session;
  session.device_id = store.id_of(row_of(one.device));
  store.put_anchor_table({.session_id = store.begin_session(session),
                          .device_id = session.device_id,
                          .op = one.table.op,
                          .text = write_timing_table(one.table)});
  const Outcome outcome = scratch.tunesmith("export --static --device '" + one.device.name + "' --ops " +
                                            one.table.op + " --db " + database() + " --to x");
  expect_success(outcome);
  EXPECT_THAT(outcome.out, HasSubstr(" and 1 table,"));
  const fs::path tables = scratch.path() / "x/tables";
  for (const std::string& device : tuned_devices(read_text(tables / "database/devices.csv"))) {
    EXPECT_TRUE(fs::exists(tables / "database" / timing_table_file(device, one.table.op)));
    EXPECT_FALSE(fs::exists(tables / timing_table_file(device, one.table.op)));
  }
}

TEST_F(StaticExport, HasTheBaseOfAnExpressionInTheFile) {
  tune();
  // The template `loops` generates the kernel of the second line.
  std::ofstream(scratch.path() / "list.txt") << "elementwise function=\"a * b - 3\" shape=100\n"
                                             << "tensor expression=\"y[i] += x[i,k] * x[i,k]\" i=30 k=20\n"
                                             << "conv2d " << tuned << '\n';
  expect_success(export_to("x", "--problems list.txt"));
  const std::string kernels = read_text(scratch.path() / "x/kernels.csv");
  EXPECT_THAT(kernels, HasSubstr("a * b - 3"));
  EXPECT_THAT(kernels, HasSubstr("loops"));
  EXPECT_THAT(kernels, Not(HasSubstr("conv1d")));
}

TEST_F(StaticExport, IsTheSameEachTimeAndReplacesOnlyAnExport) {
  tune();
  expect_success(export_to("first"));
  expect_success(export_to("second"));
  EXPECT_EQ(scratch.shell("diff -r first second").out, "");
  std::ofstream(scratch.path() / "second/kernels/host/old.cpp") << "an older export's";
  expect_success(export_to("second"));
  EXPECT_EQ(scratch.shell("diff -r first second").out, "");
  EXPECT_TRUE(fs::exists(scratch.path() / "first/source/templates/conv2d/op.cpp"));
  EXPECT_FALSE(fs::exists(scratch.path() / "first/source/templates/reduce")) << "nothing is known of it";

  expect_success(export_to("second", "--tvm-ffi"));
  EXPECT_TRUE(fs::exists(scratch.path() / "second/source/tvm_ffi_module.cpp"));
  const Outcome without = scratch.shell(
      "mkdir -p without/tvm_ffi && echo 'raise ImportError' > without/tvm_ffi/__init__.py && "
      "PYTHONPATH=without " CMAKE " -S second -B module");
  EXPECT_NE(without.exit_code, 0);
  EXPECT_THAT(without.err, HasSubstr("package apache-tvm-ffi"));
  expect_success(export_to("second"));
  EXPECT_EQ(scratch.shell("diff -r first second").out, "") << "without the module";

  fs::create_directory(scratch.path() / "mine");
  std::ofstream(scratch.path() / "mine/notes.txt") << "mine";
  const Outcome refused = export_to("mine");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("is not an earlier export"));
  EXPECT_EQ(read_text(scratch.path() / "mine/notes.txt"), "mine");

  const Outcome wrong_target = scratch.shell(CMAKE " -S first -B built -D TUNESMITH_TARGETS=sm_80");
  EXPECT_NE(wrong_target.exit_code, 0);
  EXPECT_THAT(wrong_target.err, HasSubstr("export again with --target sm_80"));
}

TEST_F(StaticExport, WrongRequestsAreSentences) {
  struct Mistake {
    std::string words, sentence;
  };
  std::ofstream(scratch.path() / "list.txt") << tuned << '\n';
  for (const Mistake& mistake :
       {Mistake{"export --to x --target sm_80", "--target goes with --static"},
        Mistake{"export --to x --ops conv2d", "--ops goes with --static"},
        Mistake{"export --to x --problems list.txt", "--problems goes with --static"},
        Mistake{"export --static --to x --ops conv2d --problems list.txt",
                "--ops does not go with --problems"},
        Mistake{"export --static --to x --problems list.txt", "line 1: It names no op"},
        Mistake{"export --static --to x --ops nothing", "There is no op nothing"},
        Mistake{"export --static --to x --device 'No GPU'", "has a winner or a table for the device No GPU"},
        Mistake{"export --static --to x --target compute_75", "a target is host or a GPU's"}}) {
    const Outcome outcome = scratch.tunesmith(mistake.words);
    EXPECT_EQ(outcome.exit_code, 2) << mistake.words;
    EXPECT_THAT(outcome.err, HasSubstr(mistake.sentence));
    EXPECT_FALSE(fs::exists(scratch.path() / "x"));
  }
}

}  // namespace
}  // namespace tunesmith

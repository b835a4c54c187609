// SPDX-License-Identifier: Apache-2.0
// Tests the winners that `tunesmith export` writes, and their use by the library.
#include "cli/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "choose/select.h"
#include "choose/winners_file.h"
#include "fixture.h"
#include "generator/error.h"
#include "kernel_file/find_op.h"
#include "runtime/files.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;

TEST_F(DispatcherTest, ExportIsReadAndCheckedAndRepeats) {
  DeviceFacts gpu = {.kind = DeviceKind::cuda,
                     .name = "A GPU, of sorts",
                     .target = "sm_90a",
                     .compute_capability = 90,
                     .multiprocessors = 132,
                     .memory_bytes = 1};
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=4", .device = gpu});
  tune({.problem = "n=2000 taps=5", .config = "VECTOR=4", .device = gpu});  // the same source
  tune({.problem = "n=1000 taps=3", .config = "VECTOR=1"});
  tune({.problem = "n=3000 taps=3", .config = "VECTOR=1", .hash = std::string(64, 'c')});
  const auto to = folder_ / "generated";
  const ExportReport first = export_winners(database(), "a gpu", to);
  EXPECT_EQ(first.exported, 2);
  EXPECT_EQ(check_exported(to), std::vector<std::string>());

  const ExportReport all = export_winners(database(), "", to);
  EXPECT_EQ(all.exported, 3);
  ASSERT_EQ(all.notes.size(), 1u);
  EXPECT_THAT(all.notes[0], HasSubstr("changed since"));
  const auto texts = [&] {
    Texts found;
    for (const auto& entry : std::filesystem::directory_iterator(to)) {
      if (entry.path().extension() == ".csv") found[entry.path().filename()] = read_file(entry.path());
    }
    return found;
  };
  // Rates stay where they are, as no measurement of this database.
  std::ofstream(to / "a_gpu_of_sorts.rates.csv") << "device,\"A GPU, of sorts\",sm_90a,132\n";
  const Texts before = texts();
  const auto rows = read_winners([&](std::string_view name) { return read_file(to / name); });
  EXPECT_EQ(rows.size(), 3u);

  // The rows of the other device stay.
  const ExportReport again = export_winners(database(), "sm_90a", to);
  EXPECT_EQ(again.exported, 2);
  EXPECT_EQ(again.kept, 1);
  EXPECT_EQ(texts(), before);

  // A winner whose template gives another kernel now is reported, each of the two with one source; so is a
  // file without a device. The kernels' texts that lie there for people are not export's concern.
  ASSERT_EQ(rows[0].winner.source_hash, rows[1].winner.source_hash);
  std::string edited = before.find("a_gpu_of_sorts.csv")->second;
  for (std::size_t at = 0; (at = edited.find(rows[0].winner.source_hash, at)) != std::string::npos; ++at)
    edited.replace(at, 64, std::string(64, 'd'));
  std::ofstream(to / "a_gpu_of_sorts.csv") << edited;
  std::ofstream(to / "orphan.csv") << "\n";
  std::ofstream(to / "smooth.cu") << "\n";
  const std::vector<std::string> wrong = check_exported(to);
  ASSERT_EQ(wrong.size(), 3u);
  for (int k : {0, 1}) EXPECT_THAT(wrong[k], HasSubstr("template has changed"));
  EXPECT_THAT(wrong[2], HasSubstr("orphan.csv"));
  EXPECT_EQ(export_winners(database(), "", to).exported, 3);
  EXPECT_EQ(check_exported(to), std::vector<std::string>());
  EXPECT_EQ(texts(), before);
  EXPECT_TRUE(std::filesystem::exists(to / "smooth.cu"));

  std::ofstream(to / "a_gpu_of_sorts.rates.csv") << "rate,toy,speed\n";
  EXPECT_THAT([&] { check_exported(to); },
              testing::ThrowsMessage<Error>(HasSubstr("Line 1 of a_gpu_of_sorts.rates.csv")));
  std::ofstream(to / "orphan.rates.csv") << "device,Another,sm_90a,132\n";
  export_winners(database(), "", to);
  EXPECT_FALSE(std::filesystem::exists(to / "orphan.rates.csv"));

  EXPECT_THROW(export_winners(database(), "no such device", to), std::runtime_error);
  EXPECT_THROW(export_winners(folder_ / "none.db", "", to), std::runtime_error);
}

// A user's expression is a function like any other: it is tuned, stored, dispatched, exported.
TEST_F(DispatcherTest, AnExpressionIsTunedAndExported) {
  const std::string expression = R"(function="max(a, 0.5) * b, " shape=61x43 b=43)";
  EXPECT_THROW(Dispatcher(options()).plan("elementwise", expression), std::runtime_error);  // its comma
  const std::string tuned = R"(function="a < 0 ? -a : max(a, 0.5) * b" shape=61x43 b=43)";
  const std::string other = R"(function="a < 0 ? -a : max(a, 0.25) * b" shape=61x43 b=43)";
  tune({.op = "elementwise", .problem = tuned, .template_name = "broadcast", .config = "VECTOR=1"});
  {
    DispatcherOptions without_compiler = options();
    without_compiler.compile = Compile::never;
    Dispatcher dispatcher(without_compiler);
    const Plan plan = dispatcher.plan("elementwise", tuned);
    EXPECT_EQ(plan.match(), Match::exact);
    EXPECT_EQ(plan.variant().template_name, "broadcast");
    EXPECT_EQ(plan.variant().tuned_problem, plan.problem());
    check(plan, "elementwise");
    check(plan, "elementwise", 4);
    const Plan nearby =
        dispatcher.plan("elementwise", R"(function="a < 0 ? -a : max(a, 0.5) * b" shape=9x7 b=7)");
    EXPECT_EQ(nearby.match(), Match::predicted);
    check(nearby, "elementwise");
    EXPECT_THROW(dispatcher.plan("elementwise", other), std::runtime_error);
  }
  Dispatcher dispatcher(options());
  const Plan plan = dispatcher.plan("elementwise", other);
  says(plan, "compiled now");
  check(plan, "elementwise");

  const auto to = folder_ / "generated";
  EXPECT_EQ(export_winners(database(), "", to).exported, 1);
  EXPECT_EQ(check_exported(to), std::vector<std::string>());
  std::vector<WinnersFileRow> rows =
      read_winners([&](std::string_view name) { return read_file(to / name); });
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].winner.problem.text(), dispatcher.plan("elementwise", tuned).problem());
  EXPECT_EQ(rows[0].winner.template_name, "broadcast");
  // The choice of the library if this table were built in.
  const Op& op = find_op("elementwise");
  const auto chosen = [&](const std::string& text) {
    return Chooser(op, host_facts(), std::span(&rows[0].winner, 1))
        .select(complete_problem(op, Problem::parse(text)), false)
        .choices;
  };
  rows[0].winner.has_binary = true;
  ASSERT_EQ(chosen(tuned).size(), 1u);
  EXPECT_EQ(chosen(tuned)[0].match, Match::exact);
  EXPECT_TRUE(chosen(other).empty());
}

}  // namespace
}  // namespace tunesmith

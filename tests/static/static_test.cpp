// `tunesmith export --static` from the tuning to the application: the exported library has neither SQLite nor
// NVRTC, gives right results, and chooses what a dispatcher with the database chooses.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "dispatch/known.h"
#include "dispatch/shipped.h"
#include "generator/ops.h"
#include "generator/sample.h"
#include "runtime/executable.h"
#include "tests/cli/run.h"
#include "tunesmith/dispatcher.h"

namespace tunesmith {
namespace {

namespace fs = std::filesystem;

constexpr const char* tuned = "height=40 width=36 mask_height=3 mask_width=3 mode=correlation";

void expect_success(const Outcome& outcome) { ASSERT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err; }

// What a plan launches for aligned pointers and for any.
struct Answer {
  std::string match, variant, any_pointer;
  double expected_loss = 0;
};

std::vector<Answer> answers_in(const std::string& text) {
  std::vector<Answer> answers;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    Answer& answer = answers.emplace_back();
    std::getline(fields, answer.match, '|');
    std::getline(fields, answer.variant, '|');
    std::getline(fields, answer.any_pointer, '|');
    fields >> answer.expected_loss;
  }
  return answers;
}

std::string text_of(const std::vector<Problem>& problems) {
  std::string text;
  for (const Problem& problem : problems) text += problem.text() + "\n";
  return text;
}

// Of all in the order of their rank, the first whose kernel was exported, else the base.
Answer best_of_exported(const Op& op, const Chooser& chooser, const std::vector<Candidate>& candidates,
                        const Problem& problem, const std::string& kernels) {
  const auto answer = [](const Template& tmpl, const Config& config) {
    return Answer{"", tmpl.name + " " + config.text(), "", 0};
  };
  Choices choices(chooser, problem, true);
  for (std::size_t i = 0; const Choice* choice = choices.at(i); ++i) {
    const Template& tmpl = find_template(op, candidates[choice->candidate].template_name);
    if (kernels.find(render(op, tmpl, problem, choice->config, "host").hash) == std::string::npos) continue;
    Answer found = answer(tmpl, choice->config);
    found.match = name(choice->match);
    found.expected_loss = choice->expected_loss;
    return found;
  }
  Answer base = answer(op.templates.front(), base_config(op, problem, host_facts()));
  base.match = "base";
  return base;
}

// Times are exported with three decimals, so what ranks equal may change places.
void expect_same(const Answer& ours, const Answer& theirs, const Problem& problem) {
  EXPECT_EQ(ours.match, theirs.match) << problem.text();
  EXPECT_NEAR(ours.expected_loss, theirs.expected_loss, 1e-3) << problem.text();
  if (ours.expected_loss == theirs.expected_loss) {
    EXPECT_EQ(ours.variant, theirs.variant) << problem.text();
  }
}

class StaticExport : public testing::Test {
 protected:
  Outcome export_to(const std::string& folder, const std::string& more = "") const {
    return scratch.tunesmith("export --static --device host --to " + folder + " " + more);
  }

  Scratch scratch;
};

TEST_F(StaticExport, IsBuiltWithoutSqliteAndChoosesAsTheDispatcher) {
  expect_success(
      scratch.tunesmith(std::string("tune conv2d --device host --budget 5 --problem '") + tuned + "'"));
  expect_success(scratch.tunesmith("tune conv2d --device host --anchors 3 --budget 4 --seed 3"));
  const fs::path build = BUILD_FOLDER;  // the same each time, for compiler caches
  fs::remove_all(build);
  fs::create_directories(build);
  const fs::path folder = build / "export";
  expect_success(export_to(folder.string()));
  const std::string in_source = "grep -rlE 'sqlite3?\\.h|nvrtc\\.h' " + folder.string();
  EXPECT_EQ(scratch.shell(in_source).exit_code, 1) << scratch.shell(in_source).out;

  const fs::path built = build / "build";
  expect_success(scratch.shell("env -u CXXFLAGS " CONFIGURE " -S " CONSUMER " -B " + built.string() +
                               " -D EXPORT=" + folder.string()));
  expect_success(scratch.shell(CMAKE " --build " + built.string()));
  for (const char* reads : {"ldd ", "nm -C "}) {
    const Outcome linked =
        scratch.shell(reads + (built / "consumer").string() + " | grep -ciE 'sqlite|nvrtc'");
    EXPECT_EQ(linked.out, "0\n") << reads;
  }

  const Op& op = find_op("conv2d");
  std::vector<Problem> problems = sample_problems(op, 40, 11, sample_limits("host"));
  const std::size_t random = problems.size();
  problems.push_back(complete_problem(op, Values::parse(tuned)));
  std::ofstream(scratch.path() / "problems.txt") << text_of(problems);
  const Outcome consumed = scratch.shell((built / "consumer").string() + " < problems.txt");
  expect_success(consumed);
  EXPECT_NE(consumed.err.find("The database given.db is not used"), std::string::npos) << consumed.err;
  const std::vector<Answer> answers = answers_in(consumed.out);
  ASSERT_EQ(answers.size(), problems.size());

  const std::string database = (scratch.path() / "tunesmith.db").string();
  const Known known = read_known({.database = database, .device = host_facts(), .host_binaries = true});
  const Chooser chooser(op, host_facts(), known.candidates);
  const std::string kernels = read_text(folder / "kernels.csv");
  std::set<std::string> matches;
  for (std::size_t i = 0; i < random; ++i) {
    expect_same(answers[i], best_of_exported(op, chooser, known.candidates, problems[i], kernels),
                problems[i]);
    matches.insert(answers[i].match);
  }
  EXPECT_TRUE(matches.contains("predicted"));

  Dispatcher dispatcher({.device = "host",
                         .database = database,
                         .host_binaries = true,
                         .compile = Compile::now,
                         .cache_folder = (scratch.path() / "cache").string()});
  for (std::size_t i = random; i < problems.size(); ++i) {
    const Plan plan = dispatcher.plan("conv2d", problems[i]);
    EXPECT_EQ(answers[i].match, name(plan.match())) << problems[i].text();
    EXPECT_EQ(answers[i].variant, plan.variant().template_name + " " + plan.variant().config);
    EXPECT_EQ(answers[i].any_pointer,
              plan.unaligned_variant().template_name + " " + plan.unaligned_variant().config);
  }
}

TEST_F(StaticExport, IsTheSameEachTimeAndReplacesOnlyAnExport) {
  expect_success(
      scratch.tunesmith(std::string("tune conv2d --device host --budget 2 --problem '") + tuned + "'"));
  expect_success(export_to("first"));
  expect_success(export_to("second"));
  EXPECT_EQ(scratch.shell("diff -r first second").out, "");
  std::ofstream(scratch.path() / "second/kernels/host/old.cpp") << "an older export's";
  expect_success(export_to("second"));
  EXPECT_EQ(scratch.shell("diff -r first second").out, "");
  EXPECT_TRUE(fs::exists(scratch.path() / "first/source/templates/conv2d/op.cpp"));
  EXPECT_FALSE(fs::exists(scratch.path() / "first/source/templates/reduce")) << "nothing is known of it";

  fs::create_directory(scratch.path() / "mine");
  std::ofstream(scratch.path() / "mine/notes.txt") << "mine";
  const Outcome refused = export_to("mine");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("is not an earlier export"), std::string::npos) << refused.err;
  EXPECT_EQ(read_text(scratch.path() / "mine/notes.txt"), "mine");

  const Outcome wrong_target = scratch.shell(CMAKE " -S first -B built -D TUNESMITH_TARGETS=sm_80");
  EXPECT_NE(wrong_target.exit_code, 0);
  EXPECT_NE(wrong_target.err.find("export again with --target sm_80"), std::string::npos) << wrong_target.err;
}

TEST_F(StaticExport, WrongRequestsAreSentences) {
  struct Mistake {
    std::string words, sentence;
  };
  for (const Mistake& mistake :
       {Mistake{"export --to x --target sm_80", "--target goes with --static"},
        Mistake{"export --to x --ops conv2d", "--ops goes with --static"},
        Mistake{"export --static --to x --ops nothing", "There is no op nothing"},
        Mistake{"export --static --to x --device 'No GPU'", "has a winner or a table for the device No GPU"},
        Mistake{"export --static --to x --target compute_75", "a target is host or a GPU's"}}) {
    const Outcome outcome = scratch.tunesmith(mistake.words);
    EXPECT_EQ(outcome.exit_code, 2) << mistake.words;
    EXPECT_NE(outcome.err.find(mistake.sentence), std::string::npos) << outcome.err;
    EXPECT_FALSE(fs::exists(scratch.path() / "x"));
  }
}

}  // namespace
}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
// Tests tables of the ops whose problems are of several kinds (Op::kind), with times that are made up: what
// is chosen from them is legal for any drawn problem, and no time of another kind says anything.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "choose/launch_set.h"
#include "choose/nearest.h"
#include "choose/portfolio.h"
#include "choose/select.h"
#include "choose/winners_file.h"
#include "generator/ops.h"
#include "generator/random.h"
#include "generator/render.h"
#include "generator/sample.h"
#include "kernel_file/find_op.h"

namespace tunesmith {
namespace {

DeviceFacts h200() {
  return {.kind = DeviceKind::cuda,
          .name = "NVIDIA H200",
          .target = "sm_90a",
          .compute_capability = 90,
          .multiprocessors = 132,
          .memory_bytes = std::int64_t{140} << 30,
          .shared_bytes_per_multiprocessor = 228 * 1024,
          .max_shared_bytes_per_block = 227 * 1024};
}

std::vector<std::string> ops_with_kinds() {
  std::vector<std::string> names;
  for (const Op& op : ops())
    if (op.kind) names.push_back(op.name);
  return names;
}

// Problems that are drawn quickly: their arrays are never made.
std::vector<Problem> drawn(const Op& op, std::size_t count, std::uint64_t seed) {
  return sample_problems(op, count, seed);
}

// The config of the template without measurements if it has one, and random ones.
std::vector<Config> some_configs(const Template& tmpl, const Problem& problem, const Space& space,
                                 std::uint64_t seed) {
  std::vector<Config> configs = space.sample(2, seed);
  if (tmpl.untuned)
    if (const auto values = tmpl.untuned(problem, h200())) configs.push_back(space.complete(*values));
  std::erase_if(configs, [&](const Config& config) {
    const Work work = tmpl.work(problem, config, h200());
    return !reentrant(work) || exceeds(work, h200());
  });
  return configs;
}

// Times as a run would have stored them: of a few configs on each problem, and of what each other problem's
// configs are adapted to.
std::vector<TimeRow> made_up_times(const Op& op, const std::vector<Problem>& problems) {
  struct Found {
    const Template* tmpl;
    Values config;
  };
  std::vector<Found> all;
  std::uint64_t seed = 1;
  for (const Problem& problem : problems) {
    for (const Template& tmpl : op.templates) {
      if (why_not(tmpl, problem, h200())) continue;
      const Space space = tmpl.space(problem, h200());
      for (const Config& config : some_configs(tmpl, problem, space, seed++))
        all.push_back({&tmpl, config.values()});
    }
  }
  std::vector<TimeRow> times;
  Random random(7);
  for (const Problem& problem : problems) {
    std::map<const Template*, Space> spaces;
    for (const Template& tmpl : op.templates)
      if (!why_not(tmpl, problem, h200())) spaces.emplace(&tmpl, tmpl.space(problem, h200()));
    std::set<std::string> measured;
    for (std::size_t n = 0; n < 40; ++n) {
      const Found& found = draw(random, all);
      const auto space = spaces.find(found.tmpl);
      if (space == spaces.end()) continue;
      const auto config = config_on(op, *found.tmpl, problem, h200(), space->second, found.config);
      if (!config || !measured.insert(found.tmpl->name + config->text()).second) continue;
      times.push_back({.problem = problem.text(),
                       .template_name = found.tmpl->name,
                       .body_hash = "",
                       .config = config->text(),
                       .median_us = 30 + 20 * random.uniform()});
    }
  }
  return times;
}

struct Tables {
  TimingTable table;
  std::vector<Candidate> candidates;
  std::unique_ptr<Chooser> chooser;
};

// One table of each op, made once.
const Tables& tables_of(const Op& op) {
  static std::map<std::string, Tables> all;
  auto its = all.find(op.name);
  if (its != all.end()) return its->second;
  Tables& tables = all[op.name];
  const std::vector<Problem> problems = drawn(op, 24, 3);
  tables.table = portfolio_table(op, h200(), made_up_times(op, problems));
  tables.candidates = candidates_of(DeviceTable{h200(), tables.table});
  tables.chooser = std::make_unique<Chooser>(op, h200(), tables.candidates);
  return tables;
}

class KindTables : public testing::TestWithParam<std::string> {
 protected:
  const Op& op() const { return find_op(GetParam()); }
};

TEST_P(KindTables, ChoicesAreLegalForAnyProblem) {
  const Tables& tables = tables_of(op());
  ASSERT_GE(tables.table.variants.size(), 4U);
  std::size_t adapted_choices = 0, choices = 0;
  for (const Problem& problem : drawn(op(), 40, 11)) {
    for (const Choice& choice : tables.chooser->select(problem, true).choices) {
      const Candidate& candidate = tables.candidates[choice.candidate];
      const Template& tmpl = find_template(op(), candidate.template_name);
      EXPECT_EQ(why_not(tmpl, problem, h200()), std::nullopt);
      const Space space = tmpl.space(problem, h200());
      EXPECT_EQ(space.why_not(choice.config.values()), std::nullopt)
          << problem.text() << ": " << candidate.config.text();
      EXPECT_EQ(exceeds(tmpl.work(problem, choice.config, h200()), h200()), std::nullopt);
      EXPECT_TRUE(choice.is_adapted);
      adapted_choices += choice.changed.empty() ? 0 : 1;
      ++choices;
    }
  }
  EXPECT_GT(choices, 40U);
  EXPECT_GT(adapted_choices, 0U) << "no config was of another problem";
}

TEST_P(KindTables, NoTimeOfAnotherKindIsTaken) {
  const Tables& tables = tables_of(op());
  // All guesses are one variant: of each problem there is one.
  const auto name_of = [&](const std::string& tmpl, const Values& config) {
    return is_guess(op(), tmpl, config) ? "guess" : tmpl + " " + config.text();
  };
  std::map<std::string, std::set<std::string>> known;  // variants by kind
  for (const TimingTable::Anchor& anchor : tables.table.anchors)
    for (std::size_t v = 0; v < anchor.us.size(); ++v)
      if (anchor.us[v] > 0)
        known[op().kind(anchor.problem)].insert(
            name_of(tables.table.variants[v].template_name, tables.table.variants[v].config));
  EXPECT_GT(known.size(), 1U);
  std::size_t unknown = 0;
  for (const Problem& problem : drawn(op(), 60, 12)) {
    const std::set<std::string>& its = known[op().kind(problem)];
    unknown += its.empty() ? 1 : 0;
    for (const Choice& choice : tables.chooser->rank(problem)) {
      const Candidate& candidate = tables.candidates[choice.candidate];
      EXPECT_TRUE(its.contains(name_of(candidate.template_name, candidate.config)))
          << op().kind(problem) << ": " << describe(candidate);
      for (const TimeModel::MeasuredTime& time : tables.chooser->nearest(problem, choice, 1))
        EXPECT_EQ(op().kind(*time.problem), op().kind(problem));
    }
  }
  // A problem of a kind that no table has is left to the first guess.
  const Problem any = drawn(op(), 1, 13).front();
  TimingTable others = tables.table;
  std::erase_if(others.anchors, [&](const TimingTable::Anchor& anchor) {
    return op().kind(anchor.problem) == op().kind(any);
  });
  const std::vector<Candidate> candidates = candidates_of(DeviceTable{h200(), others});
  const Selection selection = Chooser(op(), h200(), candidates).select(any, true);
  EXPECT_TRUE(selection.choices.empty());
  ASSERT_FALSE(selection.refusals.empty());
  EXPECT_THAT(selection.refusals.front().why, testing::HasSubstr(op().kind(any)));
}

TEST_P(KindTables, EveryProblemIsAnsweredByAVariantThatRenders) {
  const Tables& tables = tables_of(op());
  std::size_t by_table = 0, of_known_kinds = 0;
  std::set<std::string> kinds;
  for (const TimingTable::Anchor& anchor : tables.table.anchors) kinds.insert(op().kind(anchor.problem));
  for (const Problem& problem : drawn(op(), 40, 14)) {
    const LaunchSet set = launch_set(op(), *tables.chooser, problem, h200());
    const Source source = render(op(), *set.first.tmpl, problem, set.first.config, h200().target);
    EXPECT_FALSE(source.text.empty());
    of_known_kinds += kinds.contains(op().kind(problem)) ? 1 : 0;
    by_table += set.first.reason == LaunchKernel::Reason::choice ? 1 : 0;
  }
  EXPECT_GT(by_table, 0U);
  EXPECT_LE(by_table, of_known_kinds);
}

// The text of a table gives the same table again, and dispatch has its factors as they were computed.
TEST_P(KindTables, ATableIsTheSameWhenItIsReadAgain) {
  const TimingTable& table = tables_of(op()).table;
  const StoredTable stored = stored_table(h200(), table);
  TimingTable read = read_timing_table(stored.text, "a table");
  read_factors(stored.factors, read);
  EXPECT_EQ(write_timing_table(read), stored.text);
  EXPECT_NE(read.solved_from, 0U);
  EXPECT_EQ(read.solved_from, solution_key(op(), read));
}

// On its own problem a config is adapted to itself; but a form's number has no meaning elsewhere.
TEST_P(KindTables, ALegalConfigIsAdaptedToItself) {
  std::size_t compared = 0;
  std::uint64_t seed = 20;
  for (const Problem& problem : drawn(op(), 12, 15)) {
    for (const Template& tmpl : op().templates) {
      if (why_not(tmpl, problem, h200())) continue;
      const Space space = tmpl.space(problem, h200());
      for (const Config& config : space.sample(4, seed++)) {
        const auto adapted_config = adapted(space, config.values());
        ASSERT_TRUE(adapted_config);
        if (tmpl.name == "loops") continue;
        EXPECT_EQ(adapted_config->text(), config.text()) << tmpl.name << ", " << problem.text();
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 40U);
}

// A way's config is legal, keeps what the way says, and depends on no other template.
TEST_P(KindTables, WaysNameLegalConfigs) {
  std::map<std::string, std::size_t> found;  // by template and way
  std::vector<Problem> problems = sample_problems(op(), 120, 27, sample_limits(DeviceKind::cuda));
  // A lesser accuracy, which few of them accept, has ways of its own.
  for (std::size_t i = 0; i < 120 && problems.front().has("accuracy"); ++i) {
    Problem other = problems[i];
    other.set("accuracy", std::string("tf32"));
    problems.push_back(complete_problem(op(), other));
  }
  for (const Problem& problem : problems) {
    for (const Template& tmpl : op().templates) {
      if (why_not(tmpl, problem, h200())) continue;
      const Space space = tmpl.space(problem, h200());
      for (const Values& way : tmpl.ways) {
        EXPECT_TRUE(is_way(op(), tmpl.name, way));
        const auto config = config_on(op(), tmpl, problem, h200(), space, way);
        if (!config) continue;
        ++found[tmpl.name + " " + way.text()];
        EXPECT_EQ(space.why_not(config->values()), std::nullopt) << problem.text() << ": " << way.text();
        if (way.has("UNIT")) {
          EXPECT_EQ(config->values().string("UNIT"), way.string("UNIT")) << problem.text();
        }
      }
    }
  }
  for (const Template& tmpl : op().templates)
    for (const Values& way : tmpl.ways) EXPECT_GT(found[tmpl.name + " " + way.text()], 0U) << way.text();
  EXPECT_EQ(ways(op(), drawn(op(), 1, 18).front(), h200()).empty(), found.empty());
}

// Times of the guesses alone make anchors: dispatch then chooses between the ways.
TEST_P(KindTables, AnExtensionByGuessesChoosesAWay) {
  const TimingTable& before = tables_of(op()).table;
  const std::vector<NamedVariant> guesses = named_guesses(op());
  ASSERT_FALSE(guesses.empty());
  std::vector<TimeRow> times;
  double us = 40;
  for (const Problem& problem : drawn(op(), 12, 19)) {
    std::set<std::string> measured;
    for (const NamedVariant& guess : guesses) {
      const Template& tmpl = find_template(op(), guess.template_name);
      if (why_not(tmpl, problem, h200())) continue;
      const auto config =
          config_on(op(), tmpl, problem, h200(), tmpl.space(problem, h200()), Values::parse(guess.config));
      if (!config || !measured.insert(tmpl.name + config->text()).second) continue;
      times.push_back({.problem = problem.text(),
                       .template_name = tmpl.name,
                       .body_hash = "",
                       .config = config->text(),
                       .median_us = us += 0.1});
    }
  }
  const TimingTable after = extended(before, op(), h200(), times);
  std::size_t with_times = 0, all_ways = 0;
  for (const NamedVariant& guess : guesses) all_ways += guess.config.empty() ? 0 : 1;
  for (std::size_t v = 0; v < after.variants.size(); ++v) {
    if (!is_way(op(), after.variants[v].template_name, after.variants[v].config)) continue;
    with_times += std::any_of(after.anchors.begin(), after.anchors.end(),
                              [&](const TimingTable::Anchor& anchor) { return anchor.us[v] > 0; })
                      ? 1
                      : 0;
  }
  if (all_ways == 0) {
    EXPECT_EQ(with_times, 0U);
  } else {
    EXPECT_GT(after.anchors.size(), before.anchors.size());
    EXPECT_GE(with_times, all_ways / 2);
  }
}

// Each kind has its own portfolio.
TEST_P(KindTables, ProblemsOfAKindAreMeasuredWithItsVariants) {
  const TimingTable& table = tables_of(op()).table;
  const std::vector<Problem> problems = drawn(op(), 20, 16);
  const VariantLists lists = lists_by_kind(table, op(), h200(), problems);
  for (const Problem& problem : problems) {
    const auto list = lists.find(problem.text());
    ASSERT_NE(list, lists.end());
    EXPECT_FALSE(list->second.empty());
    EXPECT_LE(list->second.size(), most_of_kind + most_at_once / 4 + named_guesses(op()).size());
  }
}

// Where nothing but the base was measured, it is not known whether the base is good: the first guess answers.
TEST_P(KindTables, AKindOfWhichOnlyTheBaseIsKnownIsNoKind) {
  const Problem problem = drawn(op(), 1, 18).front();
  const Template& tmpl = op().templates.front();
  const Space space = tmpl.space(problem, h200());
  std::vector<TimeRow> times;
  for (const Config& config : space.sample(3, 1))
    times.push_back({.problem = problem.text(),
                     .template_name = tmpl.name,
                     .body_hash = "",
                     .config = config.text(),
                     .median_us = 20.0 + static_cast<double>(times.size())});
  EXPECT_TRUE(portfolio_table(op(), h200(), times).anchors.empty());
}

// A table's problems have what users compute with tensor: all layouts and shapes of products, images
// and permutations, each in the types of most users.
TEST(TensorSamples, HaveWhatUsersHave) {
  const Op& op = find_op("tensor");
  std::map<std::string, int> counts;
  for (const Problem& problem : drawn(op, 600, 19)) {
    const Values sizes = op.sizes(problem);
    const auto is = [&](const char* name) { return sizes.integer(name) > 1; };
    const std::int64_t m = sizes.integer("m"), n = sizes.integer("n"), k = sizes.integer("k");
    const bool is_sum = op.kind(problem).ends_with("sum"), has_window = is("window");
    const auto count = [&](const char* what, bool it_is) { counts[what] += it_is ? 1 : 0; };
    const bool is_product = is_sum && !has_window && sizes.integer("accesses") == 2;
    count(is("first_along")    ? is("second_along") ? "both along k" : "first along k"
          : is("second_along") ? "second along k"
                               : "none along k",
          is_product && m > 1 && n > 1);
    count("batch", is_product && is("batch"));
    count("thin", is_product && std::min(m, n) <= 64 && std::max(m, n) > 256);
    count("long k", is_product && k >= 4096 && m <= 256 && n <= 256);
    count("short k", is_product && k <= 64 && m > 256 && n > 256);
    count("convolution", is_sum && has_window && is("m") && is("n") && is("digits_k"));
    count("window", has_window);
    count("permutation", op.kind(problem).ends_with("no reduction"));
    count("maximum", op.kind(problem).ends_with("max"));
    count("unaligned", is_product && !is("out_vector"));
    if (is_product) counts[problem.string("dtype")] += 1;
  }
  for (const char* what : {"both along k", "first along k", "second along k", "none along k", "batch", "thin",
                           "long k", "short k", "convolution", "window", "permutation", "maximum",
                           "unaligned", "f32", "f64", "f16", "bf16", "i32"})
    EXPECT_GE(counts[what], 5) << what;
  EXPECT_GE(counts["f32"], 40);
  EXPECT_GE(counts["f16"], 20);
}

INSTANTIATE_TEST_SUITE_P(Ops, KindTables, testing::ValuesIn(ops_with_kinds()),
                         [](const auto& op) { return op.param; });

}  // namespace
}  // namespace tunesmith

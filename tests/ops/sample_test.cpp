// SPDX-License-Identifier: Apache-2.0
// Tests drawn problems: they are allowed, affordable, the same everywhere, and cover all of an op's range.
#include "generator/sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <set>

#include "generator/device_facts.h"
#include "generator/error.h"
#include "generator/ops.h"
#include "generator/random.h"
#include "tests/rounds.h"
#include "tests/source_folder.h"

namespace tunesmith {
namespace {

class SampleTest : public testing::TestWithParam<const Op*> {};

double bytes_of(const Op& op, const Problem& problem) {
  double bytes = 0;
  for (const Argument& argument : op.arguments) bytes += size_bytes(argument, problem);
  return bytes;
}

TEST_P(SampleTest, ProblemsAreAllowedAffordableAndDistinct) {
  const Op& op = *GetParam();
  std::set<std::string> texts;
  for (const Problem& problem : sample_problems(op, 500, 7)) {
    EXPECT_TRUE(texts.insert(problem.text()).second) << problem.text();
    EXPECT_EQ(complete_problem(op, problem), problem);
    EXPECT_LE(bytes_of(op, problem), SampleLimits{}.bytes) << problem.text();
    EXPECT_LE(op.flops(problem), SampleLimits{}.flops) << problem.text();
    EXPECT_GT(bytes_moved(op, problem), 0) << problem.text();
    if (std::getenv("TUNESMITH_PRINT_SAMPLE") != nullptr) std::cout << problem.text() << '\n';
  }
}

// Each heuristic of a template has a row on the page that says what heuristics are worth.
TEST_P(SampleTest, HeuristicsHaveARow) {
  std::ifstream page(source_folder + std::string("/bench/results/heuristics.md"));
  const std::string rows{std::istreambuf_iterator<char>(page), {}};
  const Op& op = *GetParam();
  const DeviceFacts device = facts_of_capability(90);
  const Problem problem = complete_problem(op, Problem::parse(op.examples.front()));
  for (const Template& tmpl : op.templates) {
    if (why_not(tmpl, problem, device)) continue;
    const Space space = tmpl.space(problem, device);
    for (const Rule& rule : space.worth()) {
      const std::string row = "| " + op.name + "/" + tmpl.name + " | " + rule.why + " |";
      EXPECT_TRUE(rows.find("\n" + row) != std::string::npos)
          << "Measure the heuristic, or add it to \"Not measured\" in bench/results/heuristics.md:\n"
          << row;
    }
  }
}

TEST_P(SampleTest, WithoutDefaultsAProblemIsShorterAndTheSame) {
  const Op& op = *GetParam();
  std::size_t all = 0, kept = 0;
  for (const Problem& problem : sample_problems(op, 200, 7)) {
    const Problem given = without_defaults(op, problem);
    EXPECT_EQ(complete_problem(op, Problem::parse(given.text())), problem) << given.text();
    all += problem.entries().size();
    kept += given.entries().size();
  }
  EXPECT_LT(kept, all);
}

// Processes that share a problem's inputs and references each compute its companions.
TEST_P(SampleTest, AProblemHasTheSameCompanionsEachTime) {
  const Op& op = *GetParam();
  std::vector<std::vector<Problem>> first;
  std::vector<Problem> problems = sample_problems(op, 20, 7);
  for (const std::string& example : op.examples)
    problems.push_back(complete_problem(op, Problem::parse(example)));
  for (const Problem& problem : problems) first.push_back(op.companions(problem));
  for (std::size_t i = problems.size(); i-- > 0;) {
    const Problem again = complete_problem(op, Problem::parse(problems[i].text()));
    EXPECT_EQ(again, problems[i]);
    EXPECT_EQ(op.companions(again), first[i]) << again.text();
    for (const Problem& companion : first[i]) EXPECT_NO_THROW((void)complete_problem(op, companion));
  }
}

// `weight` is a word of files of problems.
TEST_P(SampleTest, NoParameterIsCalledWeight) {
  for (const Parameter& parameter : GetParam()->parameters) EXPECT_NE(parameter.name, "weight");
}

TEST_P(SampleTest, ThereAreProblemsForTheHost) {
  const Op& op = *GetParam();
  const SampleLimits limits = sample_limits(DeviceKind::host);
  for (const Problem& problem : sample_problems(op, 30, 5, limits)) {
    EXPECT_LE(bytes_of(op, problem), limits.bytes) << problem.text();
    EXPECT_LE(op.flops(problem), limits.flops) << problem.text();
  }
}

TEST_P(SampleTest, FirstGuessesAreLegalConfigs) {
  const Op& op = *GetParam();
  DeviceFacts small = facts_of_capability(90);
  small.multiprocessors = 20;
  const auto rounds = static_cast<int>(rounds_of("TUNESMITH_TEST_GUESSES", 150));
  std::vector<Problem> problems = sample_problems(op, rounds, 7);
  const std::vector<Problem> few_elements = sample_problems(op, rounds, 7, sample_limits(DeviceKind::host));
  problems.insert(problems.end(), few_elements.begin(), few_elements.end());
  for (const Problem& problem : problems) {
    SCOPED_TRACE(problem.text());
    for (const DeviceFacts& device : {facts_of_capability(90), small}) {
      for (const Template& tmpl : op.templates) {
        if (!tmpl.untuned || why_not(tmpl, problem, device)) continue;
        if (const auto values = tmpl.untuned(problem, device)) {
          EXPECT_NO_THROW(tmpl.space(problem, device).complete(*values)) << tmpl.name;
        }
      }
    }
  }
}

TEST_P(SampleTest, TheSameSeedGivesTheSameAndALongerListBeginsWithTheShorter) {
  const Op& op = *GetParam();
  const std::vector<Problem> few = sample_problems(op, 20, 3);
  std::vector<Problem> many = sample_problems(op, 60, 3);
  many.resize(few.size());
  EXPECT_EQ(few, many);
  EXPECT_NE(few, sample_problems(op, 20, 4));
}

TEST_P(SampleTest, AProblemTakesTheConstantsOfAnother) {
  const Op& op = *GetParam();
  const std::vector<Problem> problems = sample_problems(op, 100, 17);
  const auto is_left = [&](const Parameter& parameter) {
    return std::none_of(op.templates.begin(), op.templates.end(), [&](const Template& tmpl) {
      return std::find(tmpl.compiled_in.begin(), tmpl.compiled_in.end(), parameter.name) !=
             tmpl.compiled_in.end();
    });
  };
  int taken = 0, different = 0;
  for (std::size_t i = 0; i + 1 < problems.size(); ++i) {
    // A problem with the constants of another would be that one if all else is the same.
    different += std::any_of(op.parameters.begin(), op.parameters.end(), [&](const Parameter& parameter) {
      return is_left(parameter) && *problems[i].find(parameter.name) != *problems[i + 1].find(parameter.name);
    });
    const Problem mixed = with_constants_of(op, problems[i], problems[i + 1]);
    EXPECT_EQ(complete_problem(op, mixed), mixed);
    EXPECT_LE(bytes_of(op, mixed), SampleLimits{}.bytes) << mixed.text();
    bool same = true;
    for (const Template& tmpl : op.templates)
      for (const std::string& name : tmpl.compiled_in)
        same = same && *mixed.find(name) == *problems[i + 1].find(name);
    EXPECT_TRUE(same || mixed == problems[i]) << mixed.text();
    taken += same ? 1 : 0;
  }
  EXPECT_GE(taken, different * 6 / 10);
  EXPECT_LE(taken, different);
}

TEST_P(SampleTest, EveryWordIsDrawnAndTheDefaultsMostOften) {
  const Op& op = *GetParam();
  const std::vector<Problem> problems = sample_problems(op, 500, 11);
  for (const Parameter& parameter : op.parameters) {
    if (parameter.categories.size() < 2) continue;
    for (const std::string& word : parameter.categories) {
      // Some words are another one's name, as bf16 of an accuracy that computes as tf32 does.
      const bool is_kept = std::any_of(problems.begin(), problems.end(), [&](Problem problem) {
        problem.set(parameter.name, word);
        try {
          return complete_problem(op, problem).string(parameter.name) == word;
        } catch (const UsageError&) {
          return false;
        }
      });
      if (!is_kept) continue;
      const auto drawn =
          std::count_if(problems.begin(), problems.end(),
                        [&, &name = parameter.name](auto& p) { return p.string(name) == word; });
      EXPECT_GE(drawn, parameter.initial == Value(word) ? 150 : 5) << parameter.name << "=" << word;
    }
  }
}

// The sizes of the arguments and all results, for inputs that hold the same random numbers.
std::vector<double> computed(const Op& op, const Problem& problem) {
  Random random(1);
  std::vector<double> all;
  std::vector<std::vector<double>> arguments;
  for (const Argument& argument : op.arguments) {
    all.push_back(static_cast<double>(elements(argument, problem)));
    const std::int64_t inputs = argument.role == Role::input ? elements(argument, problem) : 0;
    std::generate_n(std::back_inserter(arguments.emplace_back()), inputs, [&] { return random.uniform(); });
  }
  for (std::size_t a = 0; a < op.arguments.size(); ++a) {
    if (op.arguments[a].role != Role::output || elements(op.arguments[a], problem) == 0) continue;
    std::vector<double> value(static_cast<std::size_t>(elements(op.arguments[a], problem)));
    std::vector<double> error(value.size());
    op.reference(problem, arguments, static_cast<int>(a), 0, std::ssize(value), value, error);
    all.insert(all.end(), value.begin(), value.end());
  }
  return all;
}

// A caller that describes an array by any strides gets the variant that was tuned for the array.
TEST_P(SampleTest, StridesThatSayTheSameAreOneProblem) {
  const Op& op = *GetParam();
  const auto is_stride = [](const Parameter& one) {
    return one.is_integer() && one.name.ends_with("stride");
  };
  if (std::none_of(op.parameters.begin(), op.parameters.end(), is_stride)) return;
  Random random(5);
  int alike = 0;
  for (int shape = 0; shape < 60; ++shape) {
    Problem sizes;
    for (const Parameter& one : op.parameters)
      if (one.is_integer() && !is_stride(one) && (one.usual || !one.initial))
        sizes.set(one.name, static_cast<std::int64_t>(random.below(10) == 0 ? 0 : 1 + random.below(4)));
    std::map<std::vector<double>, Problem> stored;  // by what is computed
    for (int round = 0; round < 40; ++round) {
      Problem given = sizes;
      for (const Parameter& one : op.parameters)
        if (is_stride(one) && random.below(3) > 0)
          given.set(one.name, static_cast<std::int64_t>(random.below(17)));
      try {
        const Problem problem = complete_problem(op, given);
        EXPECT_EQ(complete_problem(op, problem), problem);
        const auto [known, is_new] = stored.emplace(computed(op, problem), problem);
        EXPECT_EQ(known->second, problem) << given.text();
        alike += is_new || known->second.text() == given.text() ? 0 : 1;
      } catch (const UsageError&) {  // not a size or a stride of this op
      }
    }
  }
  EXPECT_GT(alike, 100);
}

// The sizes range from problems that latency bounds to problems that fill a GPU.
TEST_P(SampleTest, SizesReachOverManyOctaves) {
  const Op& op = *GetParam();
  std::set<int> octaves;
  for (const Problem& problem : sample_problems(op, 500, 13))
    octaves.insert(std::ilogb(bytes_of(op, problem)));
  for (int octave = 15; octave < 28; ++octave) EXPECT_TRUE(octaves.contains(octave)) << octave;
  EXPECT_TRUE(octaves.contains(29) || octaves.contains(28));
}

INSTANTIATE_TEST_SUITE_P(Ops, SampleTest, testing::ValuesIn([] {
                           std::vector<const Op*> all;
                           for (const Op& op : ops()) all.push_back(&op);
                           return all;
                         }()),
                         [](const auto& info) { return info.param->name; });

TEST(DrawSize, IsPowersOfTwoRoundFamiliarAndOddNumbers) {
  Random random(1);
  int powers = 0, hundreds = 0, odd = 0;
  std::set<std::int64_t> drawn;
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t size = draw_size(random, 100, 1'000'000);
    ASSERT_GE(size, 100);
    ASSERT_LE(size, 1'000'000);
    drawn.insert(size);
    powers += (size & (size - 1)) == 0 ? 1 : 0;
    hundreds += size % 100 == 0 ? 1 : 0;
    odd += size % 2 == 0 ? 0 : 1;
  }
  EXPECT_GT(powers, 150);
  EXPECT_GT(hundreds, 150);
  EXPECT_GT(odd, 150);
  EXPECT_TRUE(drawn.contains(44100));
}

TEST(Sample, ARangeThatHoldsTooFewIsAnError) {
  Op op;
  op.name = "few";
  op.parameters = {{.name = "n", .what = "elements", .minimum = 1, .maximum = 3}};
  op.flops = [](const Problem&) { return 1e12; };
  EXPECT_THROW(sample_problems(op, 4, 1), Error);
}

}  // namespace
}  // namespace tunesmith

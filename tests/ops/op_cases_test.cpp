// SPDX-License-Identifier: Apache-2.0
// Tests the problems and configs that the op tests choose for an op.
#include "tests/op_cases.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <set>

#include "kernel_file/find_op.h"

namespace tunesmith {
namespace {

TEST(OpCases, SampledShowsEveryWordInFewItems) {
  const std::vector<std::string> items = {"a", "b", "a b", "c", "b c", "a", "a b c", "b"};
  const auto itself = [](const std::string& item) { return item; };
  EXPECT_EQ(sampled(items, 1, itself), std::vector<std::string>{"a b c"});
  const std::vector<std::string> three = sampled(items, 3, itself);
  EXPECT_EQ(three.size(), 3u);
  EXPECT_EQ(three, sampled(items, 3, itself)) << "the same in every run";
  EXPECT_EQ(sampled(items, 99, itself).size(), items.size());
  EXPECT_EQ(sampled(std::vector<std::string>{"a", "b", "c"}, 1, itself).size(), 3u);
  EXPECT_TRUE(sampled(std::vector<std::string>(), 1, itself).empty());
}

TEST(OpCases, TurnsTakeAllTogether) {
  const auto before = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  const std::string turn = before("TUNESMITH_TEST_TURN"), whole = before("TUNESMITH_TEST_WHOLE");
  const Op& op = find_op("tensor");
  const TemplateCase which{&op, &find_template(op, "contract_any")};
  for (const std::size_t count : {0u, 1u, 2u, 7u}) {
    std::vector<int> items(count), taken;
    std::iota(items.begin(), items.end(), 0);
    ::setenv("TUNESMITH_TEST_WHOLE", "", 1);
    for (const char* number : {"11", "12", "13"}) {
      ::setenv("TUNESMITH_TEST_TURN", number, 1);
      const std::vector<int> its = in_turn(items, 3, which);
      EXPECT_EQ(its.empty(), items.empty());
      EXPECT_LE(its.size(), count / 3 + 1);
      taken.insert(taken.end(), its.begin(), its.end());
    }
    EXPECT_EQ(std::set<int>(taken.begin(), taken.end()), std::set<int>(items.begin(), items.end()));
    for (const char* names : {"scan tensor", "tensor/contract scan"}) {
      ::setenv("TUNESMITH_TEST_WHOLE", names, 1);
      EXPECT_EQ(in_turn(items, 3, which), items);
    }
    ::setenv("TUNESMITH_TEST_WHOLE", "tensor", 1);
    EXPECT_LE(in_turn(items, 3, which, 2).size(), 2U);
    EXPECT_EQ(in_turn(items, 3, which, 7), items);
    ::setenv("TUNESMITH_TEST_WHOLE", "tensor/contract", 1);
    EXPECT_LE(in_turn(items, 3, which, 2).size(), 6U);
    EXPECT_EQ(in_turn(items, 3, which, 3), items);
    ::setenv("TUNESMITH_TEST_WHOLE", "tensor/loops rows/contract", 1);
    EXPECT_LE(in_turn(items, 3, which, 1).size(), 1U);
    EXPECT_EQ(in_turn(items, 3, which, 1).empty(), items.empty());
    EXPECT_LE(in_turn(items, 3, which).size(), count / 3 + 1);
  }
  ::setenv("TUNESMITH_TEST_TURN", turn.c_str(), 1);
  ::setenv("TUNESMITH_TEST_WHOLE", whole.c_str(), 1);
}

// Dealing out saves searches, but loses no values.
TEST(OpCases, DealtVariantsShowEveryLegalValue) {
  const auto space = [](const Problem& problem, const DeviceFacts& /*device*/) {
    const bool wide = problem.integer("width") > 1;  // only there VECTOR may be 4
    return Space({{"BLOCK", {32, 64, 128}, ""}, {"VECTOR", {1, 2, 4, 8}, ""}, {"COPIES", {1, 2}, ""}},
                 {{"", [=](const Config& c) { return c[IntegerAxis("VECTOR")] < (wide ? 8 : 2); }}});
  };
  Template tmpl;
  tmpl.space = space;
  const std::vector<Problem> problems = {Problem::parse("width=1"), Problem::parse("width=2")};
  std::set<std::string> shown;
  const std::vector<VariantCase> variants = dealt_variants(tmpl, problems, 0, 1);
  for (const VariantCase& variant : variants) {
    EXPECT_TRUE(tmpl.space(variant.problem).is_legal(variant.config));
    const Values values = variant.config.values();
    for (const auto& [axis, value] : values.entries()) shown.insert(Values{{axis, value}}.text());
  }
  EXPECT_EQ(shown, (std::set<std::string>{"BLOCK=32", "BLOCK=64", "BLOCK=128", "VECTOR=1", "VECTOR=2",
                                          "VECTOR=4", "COPIES=1", "COPIES=2"}));
  EXPECT_LE(variants.size(), 2u + 3u) << "a config shows as many values as it can";
  EXPECT_EQ(dealt_variants(tmpl, problems, 3, 1).size(), variants.size() + 3);
}

class Counting : public Toolchain {
 public:
  std::string identity() const override { return "counting"; }
  Compilation compile(const Source& source, const Patience& /*patience*/) const override {
    ++calls;
    Compilation compiled;
    compiled.ok = true;
    compiled.bytes = source.target + source.text;
    return compiled;
  }
  mutable std::atomic<int> calls = 0;
};

TEST(OpCases, TheSameSourceIsCompiledOnce) {
  std::vector<Source> sources(5);
  for (std::size_t s = 0; s < sources.size(); ++s) {
    sources[s].text = s % 2 == 0 ? "even" : "odd";
    sources[s].target = s == 4 ? "sm_90a" : "host";
  }
  const Counting toolchain;
  const std::vector<Compilation> compiled = compile_all(toolchain, sources);
  EXPECT_EQ(toolchain.calls, 3);
  for (std::size_t s = 0; s < sources.size(); ++s)
    EXPECT_EQ(compiled[s].bytes, sources[s].target + sources[s].text);
}

// The results of the contract's functions for a problem.
std::string said_of(const Op& op, const Problem& problem) {
  std::string said = problem.text() + "\n" + std::to_string(op.flops(problem)) + " " +
                     std::to_string(bytes_moved(op, problem));
  if (op.sizes) said += "\n" + op.sizes(problem).text();
  for (const Argument& argument : op.arguments) said += " " + std::to_string(elements(argument, problem));
  for (const Template& tmpl : op.templates) {
    const std::optional<std::string> why = why_not(tmpl, problem, {});
    said += "\n" + tmpl.name + " " + why.value_or("");
    if (why) continue;
    said += compiled_in(op, tmpl, problem).text();
    if (tmpl.untuned) said += " untuned " + tmpl.untuned(problem, {}).value_or(Values()).text();
    const Config config = tmpl.space(problem).complete({});
    for (const Step& step : tmpl.work(problem, config).steps)
      if (const auto* launch = std::get_if<Launch>(&step))
        said += " " + launch->kernel + " " + std::to_string(launch->grid.x) + " " +
                std::to_string(parameter_bytes(*launch));
  }
  return said;
}

// Asked about many problems in turns, about copies whose values are then set, and by several threads, an op
// gives the same results as for a problem that was never asked about before.
TEST(Ops, WhatIsDerivedFromAProblemIsOfThatProblem) {
  for (const Op& op : ops()) {
    std::vector<Problem> problems;
    std::vector<std::string> expected;
    for (const std::string& example : op.examples) {
      const Problem problem = complete_problem(op, Problem::parse(example));
      problems.push_back(problem);
      Problem fresh;
      for (const auto& [name, value] : problem.entries()) fresh.set(name, value);
      expected.push_back(said_of(op, fresh));
    }
    Problem one = problems.back();
    for (std::size_t p = 0; p < problems.size(); ++p) {
      EXPECT_EQ(said_of(op, problems[p]), expected[p]);
      for (const auto& [name, value] : problems[p].entries()) one.set(name, value);
      EXPECT_EQ(said_of(op, one), expected[p]);
    }
    std::atomic<std::size_t> wrong = 0;
    std::vector<std::jthread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&] {
        for (std::size_t p = 0; p < problems.size(); ++p)
          if (said_of(op, problems[p]) != expected[p]) ++wrong;
      });
    }
    threads.clear();
    EXPECT_EQ(wrong, 0U) << op.name;
  }
}

}  // namespace
}  // namespace tunesmith

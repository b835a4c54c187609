// SPDX-License-Identifier: Apache-2.0
// What the op tests take of an op's problems and configs.
#include "tests/op_cases.h"

#include <gtest/gtest.h>

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

// What the contract's functions say of a problem.
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

// Asked of many problems in turns, of copies whose values are then set, and by several threads, an op says
// what it says of a problem that nobody has asked about before.
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

// SPDX-License-Identifier: Apache-2.0
// Runs every template's default config, and its best variant for each problem of a tuning database of this
// GPU, on small problems: compute-sanitizer runs this program (its tools slow a kernel down a hundredfold).
// Skipped without TUNESMITH_WINNERS_DB.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <set>

#include "db/store.h"
#include "runtime/toolchain.h"
#include "tests/cuda/gpu.h"
#include "tests/op_checker.h"

namespace tunesmith {
namespace {

class WinnersOnGpu : public GpuTest, public testing::WithParamInterface<TemplateCase> {};

// The problem, with every integer that the template does not compile in reduced to a few tiles; multiples of
// 4 stay multiples of 4.
Problem cut(const Values& constants, const Op& op, Problem problem) {
  for (const Parameter& parameter : op.parameters) {
    if (!parameter.is_integer() || constants.has(parameter.name)) continue;
    const std::int64_t size = problem.integer(parameter.name);
    if (size > 300) problem.set(parameter.name, 296 + size % 4);
    if (parameter.name == "batch") problem.set("batch", std::min<std::int64_t>(size, 2));
  }
  return problem;
}

// The largest problem below a megabyte that the variant serves, because a sanitizer is slow; else the
// smallest.
Problem small(const TemplateCase& which, const VariantCase& variant, const DeviceFacts& device) {
  const auto& [op, tmpl] = which;
  std::vector<Problem> served = served_problems(which, variant, device);
  const Values constants = compiled_in(*op, *tmpl, variant.problem);
  try {
    const Problem problem = complete_problem(*op, cut(constants, *op, variant.problem));
    if (compiled_in(*op, *tmpl, problem) == constants &&
        !tmpl->space(problem, device).why_not(variant.config.values())) {
      served.push_back(problem);
    }
  } catch (const UsageError&) {
    // The reduced sizes do not go together.
  }
  const auto rank = [&op = op](const Problem& problem) {
    const double moved = bytes_moved(*op, problem);
    return moved < 1e6 ? 1e6 - moved : moved;  // smaller is better
  };
  return *std::min_element(served.begin(), served.end(),
                           [&](const Problem& a, const Problem& b) { return rank(a) < rank(b); });
}

TEST_P(WinnersOnGpu, AreRightOnSmallProblems) {
  const char* path = std::getenv("TUNESMITH_WINNERS_DB");
  if (path == nullptr) GTEST_SKIP() << "TUNESMITH_WINNERS_DB names no database";
  const auto& [op, tmpl] = GetParam();
  const Store store = Store::open(path, Store::Mode::read_only);
  std::set<std::string> seen;  // problems, then variants
  std::vector<VariantCase> variants;
  std::vector<Source> sources;
  const auto add = [&](const Problem& problem, const Config& config) {
    Source source = render(*op, *tmpl, problem, config, device().facts().target);
    if (!seen.insert(source.text).second) return;
    variants.push_back({problem, config});
    sources.push_back(std::move(source));
  };
  for (const ResultRow& row :
       store.results({.op = op->name, .device = device().facts().name, .verdict = "ok"})) {
    // Results are ordered from the fastest on within a problem, so the first of a template is its best.
    if (row.template_name != tmpl->name || !seen.insert(row.problem).second) continue;
    const Problem problem = complete_problem(*op, Problem::parse(row.problem));
    const Space space = tmpl->space(problem, device().facts());
    add(problem, space.complete({}));
    if (const auto config = space.find(Values::parse(row.config)))
      add(problem, *config);  // its axes may have changed since then
  }
  for (const std::string& example : op->examples) {
    const Problem problem = complete_problem(*op, Problem::parse(example));
    if (!why_not(*tmpl, problem, device().facts())) add(problem, tmpl->space(problem).complete({}));
  }
  if (variants.empty()) GTEST_SKIP() << "the template serves no example on this GPU";

  const std::unique_ptr<Toolchain> toolchain = make_nvrtc_toolchain();
  const std::vector<Compilation> compiled = compile_all(*toolchain, sources);
  OpChecker checker(device());
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const auto& [problem, config] = variants[i];
    ASSERT_TRUE(compiled[i].ok) << compiled[i].log;
    EXPECT_TRUE(checker.check(GetParam(), compiled[i].bytes, sources[i].suffix,
                              small(GetParam(), variants[i], device().facts()), config, false))
        << config.text() << " did not run";
  }
  std::cout << op->name << "/" << tmpl->name << ": " << variants.size() << " variants, " << checker.runs()
            << " runs; the largest error is " << checker.worst() << " of what is permitted\n";
}

INSTANTIATE_TEST_SUITE_P(Ops, WinnersOnGpu, testing::ValuesIn(template_cases()),
                         [](const auto& info) { return info.param.op->name + "_" + info.param.tmpl->name; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(WinnersOnGpu);

}  // namespace
}  // namespace tunesmith

// The default config and the best variant of every template that a tuning database holds for this GPU, each
// run on small problems: what compute-sanitizer is given (its tools slow a kernel down a hundredfold).
// Skipped without TUNESMITH_WINNERS_DB.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <set>

#include "db/store.h"
#include "dispatch/toolchain.h"
#include "tests/cuda/gpu.h"
#include "tests/op_checker.h"

namespace tunesmith {
namespace {

class WinnersOnGpu : public GpuTest {};

// The problem with every integer that the template does not compile in cut to a few tiles; multiples of 4
// stay so.
Problem cut(const Op& op, const Template& of, Problem problem) {
  const Values constants = compiled_in(op, of, problem);
  for (const Parameter& parameter : op.parameters) {
    if (!parameter.is_integer() || constants.has(parameter.name)) continue;
    const std::int64_t size = problem.integer(parameter.name);
    if (size > 300) problem.set(parameter.name, 296 + size % 4);
    if (parameter.name == "batch") problem.set("batch", std::min<std::int64_t>(size, 2));
  }
  return problem;
}

TEST_F(WinnersOnGpu, AreRightOnSmallProblems) {
  const char* path = std::getenv("TUNESMITH_WINNERS_DB");
  if (path == nullptr) GTEST_SKIP() << "TUNESMITH_WINNERS_DB names no database";
  const Store store = Store::open(path, Store::Mode::read_only);
  const std::unique_ptr<Toolchain> toolchain = make_nvrtc_toolchain();
  OpChecker checker(device());
  std::set<std::string> templates_seen;
  int variants = 0;
  const auto run = [&](const Op& op, const Template& of, const Problem& problem, const Config& config) {
    const Source source = render(op, of, problem, config, device().facts().target);
    const Compiled compiled = toolchain->compile(source);
    ASSERT_TRUE(compiled.ok) << compiled.log;
    EXPECT_TRUE(checker.check({&op, &of}, compiled.bytes, source.suffix, cut(op, of, problem), config, false))
        << op.name << "/" << of.name << " " << config.text() << " did not run";
    ++variants;
  };
  for (const ResultRow& row : store.results({.device = device().facts().name, .verdict = "ok"})) {
    const Op& op = find_op(row.op);
    const Template& of = find_template(op, row.template_name);
    const Problem problem = complete_problem(op, Values::parse(row.problem));
    // Results come fastest first within a problem: the first of a template is its best.
    if (!templates_seen.insert(row.problem + "/" + of.name).second) continue;
    run(op, of, problem, of.space(problem).complete({}));
    run(op, of, problem, Values::parse(row.config));
  }
  std::cout << variants << " variants, " << checker.runs() << " runs; the largest error is "
            << checker.worst() << " of what is permitted\n";
  EXPECT_GT(variants, 0);
}

}  // namespace
}  // namespace tunesmith

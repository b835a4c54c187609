// Kernels that the template `loops` writes for expressions that nobody thought of, on the host: in each form,
// in configs drawn from the whole space, against the loops in double.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "kernel_file/find_op.h"
#include "runtime/toolchain.h"
#include "templates/tensor/op.h"
#include "templates/tensor/test_expressions.h"
#include "tests/op_checker.h"

namespace tunesmith::tensor_op {
namespace {

constexpr double most_terms = 1e5;

Problem drawn_problem(const Op& op, std::uint64_t seed) {
  for (std::uint64_t most_extent = 17;; most_extent = most_extent * 2 / 3) {
    Drawer drawer(seed, most_extent);
    const std::string words = drawer.expression();
    const Expression e = parse(words).expression;
    const std::vector<std::int64_t> extents = drawer.extents(e);
    Problem problem = {{"expression", words}};
    for (std::size_t i = 0; i < extents.size(); ++i) problem.set(e.indices[i].name, extents[i]);
    problem.set("dtype", std::string(seed % 3 == 0 ? "f32" : seed % 3 == 1 ? "i64" : "f16"));
    problem.set("may", std::string(seed % 4 == 0 ? "reorder" : "distribute"));
    problem = complete_problem(op, problem);
    const Nest& nest = nest_of(problem);
    if (static_cast<double>(nest.outputs()) * static_cast<double>(nest.terms()) <= most_terms) return problem;
  }
}

// Each problem in each of its forms: in the first config that a sample of the space has of it. Answers how
// many have more than one.
std::size_t check_all(const std::vector<Problem>& problems) {
  const Op& op = find_op("tensor");
  const Template& tmpl = find_template(op, "loops");
  const std::unique_ptr<Device> device = make_host_device();
  const std::unique_ptr<Toolchain> toolchain = make_host_toolchain();
  std::size_t rewritten = 0;
  std::vector<VariantCase> variants;
  std::vector<Source> sources;
  for (std::size_t n = 0; n < problems.size(); ++n) {
    const Space space = tmpl.space(problems[n]);
    const std::vector<Value>& forms = space.axes().front().values;
    rewritten += forms.size() > 1;
    const std::vector<Config> configs = space.sample(24, n);
    for (const Value& form : forms) {
      const auto is_its = [&](const Config& each) { return *each.values().find("FORM") == form; };
      const auto found = std::find_if(configs.begin(), configs.end(), is_its);
      variants.push_back({problems[n], found != configs.end() ? *found : space.complete({{"FORM", form}})});
      sources.push_back(render(op, tmpl, problems[n], variants.back().config, "host"));
    }
  }
  const std::vector<Compilation> compiled = compile_all(*toolchain, sources);
  OpChecker checker(*device);
  for (std::size_t i = 0; i < variants.size(); ++i) {
    EXPECT_TRUE(compiled[i].ok) << variants[i].problem.text() << "\n" << compiled[i].log;
    checker.check({&op, &tmpl}, compiled[i].bytes, sources[i].suffix, variants[i].problem, variants[i].config,
                  i % 3 == 0, i % 2 == 0);
  }
  EXPECT_EQ(checker.failed(), 0) << "of " << checker.runs();
  EXPECT_EQ(checker.runs(), std::ssize(variants));
  return rewritten;
}

TEST(TensorLoops, OfKnownExpressionsAreRightInEachForm) {
  std::vector<Problem> problems;
  for (const KnownExpression& each : known_expressions()) {
    Problem problem = Problem::parse(each.small);
    problem.set("expression", std::string(each.expression));
    problem.set("may", std::string("distribute"));
    problems.push_back(complete_problem(find_op("tensor"), problem));
  }
  EXPECT_GE(check_all(problems), 10U);
}

// TUNESMITH_TEST_LOOPS: how many expressions; 2,000 take twenty minutes of a processor.
TEST(TensorLoops, OfDrawnExpressionsAreRight) {
  const char* const count = std::getenv("TUNESMITH_TEST_LOOPS");
#ifdef __SANITIZE_ADDRESS__
  constexpr std::uint64_t usual = 4;
#else
  constexpr std::uint64_t usual = 20;
#endif
  const std::uint64_t drawn = count != nullptr ? std::stoull(count) : usual;
  std::size_t rewritten = 0;
  constexpr std::uint64_t batch = 20;  // whose data are kept at once
  for (std::uint64_t first = 1; first <= drawn; first += batch) {
    std::vector<Problem> problems;
    for (std::uint64_t seed = first; seed < std::min(first + batch, drawn + 1); ++seed)
      problems.push_back(drawn_problem(find_op("tensor"), seed));
    rewritten += check_all(problems);
  }
  EXPECT_GT(rewritten, drawn / 4) << "The drawn expressions have hardly any forms.";
}

}  // namespace
}  // namespace tunesmith::tensor_op

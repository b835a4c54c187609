// Kernels that the template `loops` writes for expressions that nobody thought of, on the host: in each form,
// in configs drawn from the whole space, against the loops in double.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "kernel_file/find_op.h"
#include "runtime/toolchain.h"
#include "templates/tensor/op.h"
#include "templates/tensor/test_drawer.h"
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

// TUNESMITH_TEST_LOOPS: how many expressions; 2,000 take a quarter of an hour.
TEST(TensorLoops, OfDrawnExpressionsAreRight) {
  const char* const count = std::getenv("TUNESMITH_TEST_LOOPS");
#ifdef __SANITIZE_ADDRESS__
  constexpr std::uint64_t usual = 4;
#else
  constexpr std::uint64_t usual = 12;
#endif
  const std::uint64_t drawn = count != nullptr ? std::stoull(count) : usual;
  const Op& op = find_op("tensor");
  const Template& tmpl = find_template(op, "loops");
  const std::unique_ptr<Device> device = make_host_device();
  const std::unique_ptr<Toolchain> toolchain = make_host_toolchain();
  std::size_t rewritten = 0;
  constexpr std::uint64_t batch = 20;  // whose problems' data are kept
  for (std::uint64_t first = 1; first <= drawn; first += batch) {
    std::vector<VariantCase> variants;
    std::vector<Source> sources;
    for (std::uint64_t seed = first; seed < std::min(first + batch, drawn + 1); ++seed) {
      const Problem problem = drawn_problem(op, seed);
      const Space space = tmpl.space(problem);
      const std::vector<Value>& forms = space.axes().front().values;
      rewritten += forms.size() > 1;
      const std::vector<Config> configs = space.sample(24, seed);
      for (const Value& form : forms) {
        const auto is_its = [&](const Config& each) { return *each.values().find("FORM") == form; };
        const auto found = std::find_if(configs.begin(), configs.end(), is_its);
        const Config config = found != configs.end() ? *found : space.complete({{"FORM", form}});
        sources.push_back(render(op, tmpl, problem, config, "host"));
        variants.push_back({problem, config});
      }
    }
    const std::vector<Compilation> compiled = compile_all(*toolchain, sources);
    OpChecker checker(*device);
    for (std::size_t i = 0; i < variants.size(); ++i) {
      ASSERT_TRUE(compiled[i].ok) << variants[i].problem.text() << "\n" << compiled[i].log;
      checker.check({&op, &tmpl}, compiled[i].bytes, sources[i].suffix, variants[i].problem,
                    variants[i].config, i % 3 == 0, i % 2 == 0);
    }
    EXPECT_EQ(checker.failed(), 0) << "of " << checker.runs();
  }
  EXPECT_GT(rewritten, drawn / 4) << "The drawn expressions have hardly any forms.";
}

}  // namespace
}  // namespace tunesmith::tensor_op

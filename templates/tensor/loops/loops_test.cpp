// SPDX-License-Identifier: Apache-2.0
// Tests the kernels that the template `loops` writes for random expressions, on the host: in each form, in
// configs drawn from the whole space, against the loops in double.
#include <gtest/gtest.h>

#include <iostream>
#include <regex>
#include <string>
#include <vector>

#include "kernel_file/find_op.h"
#include "runtime/toolchain.h"
#include "templates/tensor/drawer.h"
#include "templates/tensor/op.h"
#include "templates/tensor/test_expressions.h"
#include "tests/op_cases.h"
#include "tests/op_checker.h"
#include "tests/rounds.h"

namespace tunesmith::tensor_op::loops_test {
namespace {

constexpr double most_terms = 1e5;

// The expression with all accesses of the array moved by `by` towards its beginning.
std::string shifted(std::string words, const std::string& array, std::uint64_t by) {
  for (std::size_t at = 0; (at = words.find(array + "[", at)) != std::string::npos;) {
    at = words.find_first_of(",]", at);
    words.insert(at, "-" + std::to_string(by));
  }
  return words;
}

Problem drawn_problem(const Op& op, std::uint64_t seed) {
  for (std::uint64_t most_extent = 17;; most_extent = most_extent * 2 / 3) {
    Drawer drawer(seed, most_extent);
    const std::string words = drawer.expression();
    const Expression e = parse(words).expression;
    const std::vector<std::int64_t> extents = drawer.extents(e);
    Problem problem = {{"expression", words}};
    if (seed % 2 == 0) problem.set("finish", drawer.finish());
    for (std::size_t i = 0; i < extents.size(); ++i) problem.set(e.indices[i].name, extents[i]);
    problem.set("dtype", std::string(seed % 3 == 0 ? "f32" : seed % 3 == 1 ? "i64" : "f16"));
    if (seed % 5 == 0) problem.set("out_dtype", std::string(seed % 2 == 0 ? "f64" : "f32"));
    if (seed % 7 == 0) problem.set("dtype", std::string(seed % 3 == 0 ? "i8" : "u8"));
    problem.set("may", std::string(seed % 4 == 0 ? "reorder" : "distribute"));
    if (seed % 3 == 0 && e.ranks[0] < 3) {  // the first array is too small, and begins late
      const std::string& array = e.arrays.front();
      const std::string moved = shifted(words, array, seed % 4);
      std::vector<std::int64_t> shape = least_extents(parse(moved).expression, 0, extents);
      for (std::int64_t& extent : shape) extent = std::max<std::int64_t>(0, extent - 2);
      problem.set("expression", moved);
      problem.set(array, joined(shape) + ":" + joined(dense_strides(shape)));
      problem.set("zero_outside", array);
    }
    problem = complete_problem(op, problem);
    const Nest& nest = nest_of(problem);
    if (static_cast<double>(nest.outputs()) * static_cast<double>(nest.terms()) <= most_terms) return problem;
  }
}

void check_all(const std::vector<VariantCase>& variants) {
  const Op& op = find_op("tensor");
  check_on_host({&op, &find_template(op, "loops")}, variants);
}

// Checks each problem in each of its forms, in the first config that a sample of the space has of the form.
// Returns the number of problems with more than one form.
std::size_t check_forms(const std::vector<Problem>& problems) {
  const Template& tmpl = find_template(find_op("tensor"), "loops");
  std::size_t rewritten = 0;
  std::vector<VariantCase> variants;
  for (std::size_t n = 0; n < problems.size(); ++n) {
    const Space space = tmpl.space(problems[n]);
    const std::vector<Value>& forms = space.axes().front().values;
    rewritten += forms.size() > 1;
    const std::vector<Config> configs = space.sample(24, n);
    for (const Value& form : forms) {
      const auto is_its = [&](const Config& each) { return *each.values().find("FORM") == form; };
      const auto found = std::find_if(configs.begin(), configs.end(), is_its);
      variants.push_back({problems[n], found != configs.end() ? *found : space.complete({{"FORM", form}})});
    }
  }
  check_all(variants);
  return rewritten;
}

// Long sums are shared by some threads of a warp, by a warp, by several warps, and in parts; long windows are
// in chunks, of a thread's neighbours and of its rows.
TEST(TensorLoops, ShareSplitAndChunkLongSums) {
  std::vector<VariantCase> variants;
  const auto add = [&](const std::string& problem, const std::vector<std::string>& configs) {
    for (const std::string& config : configs) {
      const Op& op = find_op("tensor");
      const Problem complete = complete_problem(op, Problem::parse(problem));
      variants.push_back(
          {complete, find_template(op, "loops").space(complete).complete(Values::parse(config))});
    }
  };
  add("expression=\"y[i] += a[i,k] * x[k]\" i=13 k=701",
      {"REDUCE=8 SPLIT=4", "REDUCE=32 BLOCK_X=64", "REDUCE=256 BLOCK_X=256",
       "REDUCE=256 BLOCK_X=256 SPLIT=4"});
  add("expression=\"y[j,i] max= a[j,i,k] - b[i,k]\" i=5 j=19 k=260 dtype=i64",
      {"REDUCE=256 BLOCK_X=256 BLOCK_Y=2 THREAD_Y=4", "REDUCE=32 SPLIT=16 THREAD_Y=4"});
  add("expression=\"y min= a[i,k]\" i=40 k=300", {"REDUCE=256 BLOCK_X=256 SPLIT=4", "SPLIT=64"});
  add("expression=\"y[i] += x[i+j] * w[j]\" i=203 j=90",
      {"THREAD_Y=8", "THREAD_Y=4 UNROLL=64", "THREAD_Y=16"});
  add("expression=\"y[i] += x[2*i+j] * w[j]\" i=200 j=37 dtype=f16", {"THREAD_Y=8", "THREAD_Y=4"});
  add("expression=\"y[c,u,v] += x[c,u+i,v+j] * w[c,i,j]\" c=2 u=50 v=40 i=31 j=3 dtype=f16",
      {"THREAD_Y=16", "THREAD_Y=8 UNROLL=64 BLOCK_Y=2"});
  // Sums without terms.
  add("expression=\"y[u,v] += x[u+i,v+j] * w[i,j]\" u=6 v=7 i=0 j=3", {"", "UNROLL=64 THREAD_Y=2"});
  add("expression=\"y[v] += x[v+j] * w[j]\" v=7 j=0", {"THREAD_Y=4", "THREAD_Y=1"});
  check_all(variants);
}

// 48 parts of 57 million outputs: a counter times a part's size must not be 32 bits wide.
TEST(TensorLoops, CountWideWhereAnArrayIsBeyond31Bits) {
  const Op& op = find_op("tensor");
  const Template& tmpl = find_template(op, "loops");
  const auto narrow_counters = [&](const std::string& extents) {
    const Problem problem = complete_problem(
        op, Problem::parse("expression=\"out[a,b,c,d] += v[e,b] * w[a,e,c,d]\" extents=" + extents));
    const Config config = tmpl.space(problem).complete(
        Values::parse("BLOCK_X=32 BLOCK_Y=4 THREAD_Y=8 THREAD_Z=2 REDUCE=1 SPLIT=64 UNROLL=64"));
    std::string text = render(op, tmpl, problem, config, "sm_90a").text;
    text.erase(0, text.find("ENTRY(tensor_loops_0)"));
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find("for (int ", at)) != std::string::npos; ++at)
      count += text.compare(at, 14, "for (int n = 0") == 0 ? 0 : 1;
    return count;
  };
  EXPECT_EQ(narrow_counters("96x84x84x84x96"), 0U);
  EXPECT_GT(narrow_counters("6x84x84x84x96"), 4U);
}

// A loop whose end is a minimum is copied an even number of times (loops_text.cpp says why).
TEST(TensorLoops, HaveNoOddCopiesOfLoopsThatEndAtAMinimum) {
  const Op& op = find_op("tensor");
  const Template& tmpl = find_template(op, "loops");
  static const std::regex loop(R"(#pragma unroll (\d+)\n *for \(Place \w+ = [^;]*; \w+ < ([^;]*);)");
  int minima = 0, copied = 0;
  for (const char* const line : {"expression=\"o[n,b,c,d] += x[n,e,c+f-1,d+g-1] * w[b,e,f,g]\" "
                                 "extents=1x40x12x32x37x3x3 zero_outside=x",
                                 "expression=\"y[i] += a[i,k] * x[k]\" i=13 k=70001",
                                 "expression=\"y[i] max= a[i,k,l]\" i=99 k=77 l=5"}) {
    const Problem problem = complete_problem(op, Problem::parse(line));
    std::vector<Config> configs = tmpl.space(problem).sample(60, 3);
    for (const char* const unroll : {"48", "64", "96", "160", "1024"})
      for (const char* const rest :
           {" SPLIT=4 THREAD_Y=8 THREAD_Z=4 REDUCE=1", " SPLIT=4 REDUCE=1", " SPLIT=8"})
        if (auto config = tmpl.space(problem).first(Values::parse("UNROLL=" + std::string(unroll) + rest)))
          configs.push_back(*config);
    for (const Config& config : configs) {
      const std::string text = render(op, tmpl, problem, config, "sm_90a").text;
      for (std::sregex_iterator its(text.begin(), text.end(), loop), none; its != none; ++its) {
        const int copies = std::stoi((*its)[1].str());
        if ((*its)[2].str().find_first_not_of("0123456789") == std::string::npos) continue;
        ++minima;
        copied += copies > 1;
        EXPECT_TRUE(copies == 1 || copies % 2 == 0) << config.values().text() << ": " << its->str();
      }
    }
  }
  EXPECT_GT(minima, 50);
  EXPECT_GT(copied, 5);
}

TEST(TensorLoops, OfKnownExpressionsAreRightInEachForm) {
  std::vector<Problem> problems;
  for (const KnownExpression& each : known_expressions()) {
    Problem problem = Problem::parse(each.small);
    problem.set("expression", std::string(each.expression));
    problem.set("may", std::string("distribute"));
    problems.push_back(complete_problem(find_op("tensor"), problem));
  }
  const Op& op = find_op("tensor");
  EXPECT_GE(check_forms(in_turn(problems, 3, {&op, &find_template(op, "loops")})), 2U);
}

// TUNESMITH_TEST_LOOPS is the number of expressions; 2,000 take twenty minutes of a processor.
TEST(TensorLoops, OfDrawnExpressionsAreRight) {
#ifdef __SANITIZE_ADDRESS__
  constexpr std::uint64_t usual = 4;
#else
  constexpr std::uint64_t usual = 6;
#endif
  const std::uint64_t drawn = rounds_of("TUNESMITH_TEST_LOOPS", usual);
  std::size_t rewritten = 0;
  constexpr std::uint64_t batch = 20;  // expressions whose data are kept at once
  for (std::uint64_t first = 1; first <= drawn; first += batch) {
    std::vector<Problem> problems;
    for (std::uint64_t seed = first; seed < std::min(first + batch, drawn + 1); ++seed)
      problems.push_back(drawn_problem(find_op("tensor"), seed));
    rewritten += check_forms(problems);
    if (drawn > usual) std::cout << first + problems.size() - 1 << " expressions" << std::endl;
  }
  EXPECT_GT(rewritten, drawn / 4) << "The drawn expressions have hardly any forms.";
}

}  // namespace
}  // namespace tunesmith::tensor_op::loops_test

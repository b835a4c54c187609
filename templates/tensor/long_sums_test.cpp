// SPDX-License-Identifier: Apache-2.0
// Tests that no template adds long sums of f32 one term after the other, by the errors of their sums.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "generator/random.h"
#include "kernel_file/find_op.h"
#include "templates/tensor/op.h"
#include "tests/op_checker.h"
#include "tunesmith/tensor.h"

namespace tunesmith::tensor_long_sums_test {
namespace {

constexpr double most_error = 1e-6;  // of a sum of positive terms

Dispatcher with_packed_kernels() {
  return Dispatcher({.device = "host", .database = "", .compile = Compile::never, .cache_folder = ""});
}

TEST(TensorLongSums, CountMoreOnesThanFloatCounts) {
  Dispatcher dispatcher = with_packed_kernels();
  constexpr std::int64_t count = (1 << 24) + 1000;
  const std::vector<float> ones(count, 1.0F);
  float sum = 0;
  ASSERT_TRUE(tensor(dispatcher, "y += x[i]", ElementType::f32, {{ones.data(), {{count}}}}, &sum, {}));
  EXPECT_EQ(sum, static_cast<float>(count));
}

TEST(TensorLongSums, OfTheBaseAreClose) {
  Dispatcher dispatcher = with_packed_kernels();
  Random random(1);
  for (const std::int64_t count : {255, 256, 257, 65535, 65536, 65537, 66000, 1000000}) {
    std::vector<float> x(static_cast<std::size_t>(count)), y(x.size());
    double right = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<float>(random.uniform() + 1);
      y[i] = static_cast<float>(random.uniform() + 1);
      right += static_cast<double>(x[i]) * static_cast<double>(y[i]);
    }
    // The second expression runs as a program, which the kernel interprets.
    for (const char* const expression : {"s += x[i] * y[i]", "s += x[i] * y[i] * 2"}) {
      float sum = 0;
      ASSERT_TRUE(tensor(dispatcher, expression, ElementType::f32,
                         {{x.data(), {{count}}}, {y.data(), {{count}}}}, &sum, {}));
      const double wanted = std::string_view(expression).ends_with("2") ? 2 * right : right;
      EXPECT_LT(std::abs(sum - wanted) / wanted, most_error) << count << " " << expression;
    }
  }
}

// The kernels are compiled for the problems, in configs in which a thread adds as many terms as it may.
TEST(TensorLongSums, OfEveryOtherTemplateAreClose) {
  Op op = find_op("tensor");
  op.reference = [reference = op.reference](const Problem& problem, auto arguments, int output,
                                            std::int64_t begin, std::int64_t end, std::span<double> value,
                                            std::span<double> permitted_error) {
    reference(problem, arguments, output, begin, end, value, permitted_error);
    for (std::size_t i = 0; i < value.size(); ++i) permitted_error[i] = most_error * std::abs(value[i]);
  };
  const std::vector<std::pair<std::string, std::string>> variants = {
      {"expression=\"y += a[k] * b[k]\" k=300007", "REDUCE=1 SPLIT=1"},
      {"expression=\"y[i] += a[i,j,k] * b[k,j]\" i=3 j=701 k=503", "REDUCE=1 SPLIT=1"},
      {"expression=\"y[i] += a[i,k]\" i=3 k=2000003", "REDUCE=32 SPLIT=1 BLOCK_X=64"},
      {"expression=\"y[i] += x[i+j] * w[j]\" i=20 j=70001", "REDUCE=1 SPLIT=1 THREAD_Y=4 UNROLL=64"},
      {"expression=\"y[u,v] += x[u+i,v+1,k] * w[i,k]\" u=6 v=8 i=70 k=1001",
       "REDUCE=1 SPLIT=1 BLOCK_Y=8 THREAD_Y=2 UNROLL=64"},
      {"expression=\"y += a[k] * b[k]\" k=300007", "TILE_M=16 TILE_N=32 THREAD_M=4 THREAD_N=4 WARP_N=8"},
      {"expression=\"y[i,j] += abs(a[i,k] - b[k,j])\" i=5 j=7 k=200003",
       "TILE_M=16 TILE_N=32 THREAD_M=4 THREAD_N=4 WARP_N=8"},
  };
  const std::unique_ptr<Device> device = make_host_device();
  std::vector<TemplateCase> cases;
  std::vector<VariantCase> complete;
  std::vector<Source> sources;
  for (const auto& [text, config] : variants) {
    const Problem problem = complete_problem(op, Problem::parse(text));
    const bool by_loops = config.starts_with("REDUCE");
    const bool multiplies = text.find(" * ") != std::string::npos;
    const Template& tmpl = find_template(op, by_loops ? "loops" : multiplies ? "contract" : "contract_any");
    complete.push_back({problem, tmpl.space(problem, device->facts()).complete(Values::parse(config))});
    cases.push_back({&op, &tmpl});
    sources.push_back(render(op, tmpl, problem, complete.back().config, "host"));
  }
  OpChecker checker(*device, [](std::vector<std::vector<double>>& inputs) {
    for (std::vector<double>& input : inputs)
      for (double& element : input) element = std::abs(element);
  });
  const std::vector<Compilation> compiled = compile_all(*make_host_toolchain(), sources);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    ASSERT_TRUE(compiled[i].ok) << compiled[i].log;
    checker.check(cases[i], compiled[i].bytes, sources[i].suffix, complete[i].problem, complete[i].config,
                  false);
  }
  EXPECT_EQ(checker.failed(), 0) << "of " << checker.runs();
  EXPECT_EQ(checker.runs(), std::ssize(cases));
}

}  // namespace
}  // namespace tunesmith::tensor_long_sums_test

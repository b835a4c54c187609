// SPDX-License-Identifier: Apache-2.0
// Tests products of f32 by halves in tensor cores (UNIT=halves) on the host, which emulates them: every order
// of the operands' neighbours, and numbers that are hard to split. The op's bound is that of a plain sum of
// n terms, n u sum |term|, for all numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "generator/error.h"
#include "generator/random.h"
#include "kernel_file/find_op.h"
#include "tests/op_cases.h"
#include "tests/op_checker.h"

namespace tunesmith {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr const char* one_warp = "TILE_M=32 TILE_N=32 THREAD_M=4 THREAD_N=8 TILE_K=";

Config config_of(const Template& tmpl, const Problem& problem, const Device& device,
                 const std::string& text) {
  return tmpl.space(problem, device.facts())
      .complete(Values::parse(std::string(text.find("STAGES") == std::string::npos ? "UNIT=halves STAGES=1 "
                                                                                   : "UNIT=packed_halves ") +
                              "WARP_N=4 RESIDENT_WARPS=8 " + text));
}

TEST(Halves, AreRightForEveryNest) {
  const Op& op = find_op("tensor");
  const Template& tmpl = find_template(op, "contract");
  const std::vector<std::string> lines = {
      "expression=\"c[i,j] += a[i,k] * b[k,j]\" i=64 j=48 k=96",
      "expression=\"c[i,j] += a[i,k] * b[j,k]\" i=64 j=48 k=96",
      "expression=\"c[i,j] += a[k,i] * b[k,j]\" i=64 j=48 k=96",
      "expression=\"c[i,j] += a[k,i] * b[j,k]\" i=64 j=48 k=96",
      "expression=\"c[i,j] += a[i,k] * b[k,j]\" i=37 j=41 k=77",
      "expression=\"c[i,j] += a[k,i] * b[j,k]\" i=70 j=3 k=131",
      "expression=\"c[i,j] += a[i,k] * b[k,j]\" i=34 j=38 k=94",
      "expression=\"c[i] += a[i,k] * b[k]\" i=50 k=90",
      "expression=\"out[b,i,k] += x[b,i,j] * y[b,j,k]\" b=3 i=34 j=68 k=18 out_dtype=f16",
      "expression=\"out[n,o,y,x] += image[n,c,y+i,x+j] * w[o,c,i,j]\" n=2 o=8 y=6 x=8 c=8 i=3 j=3",
      "expression=\"out[n,y,x,o] += image[n,2*y+i,2*x+j,c] * w[i,j,c,o]\" n=2 o=16 y=5 x=4 c=8 i=3 j=3",
      "expression=\"c[i,j] += a[i,k] * b[k,j]\" i=40 j=24 k=63 finish=\"max(out + bias[j], 0)\"",
      "expression=\"out[a,b,j,c] += x[c,b,k,a] * y[k,j]\" a=20 b=3 c=24 j=12 k=68",
      "expression=\"out[a,b] += x[a,k,l] * y[l,k,b]\" a=40 b=36 k=8 l=9",
  };
  const std::vector<std::string> configs = {
      "TILE_M=64 TILE_N=64 THREAD_M=4 THREAD_N=8 TILE_K=32",
      "TILE_M=64 TILE_N=64 THREAD_M=4 THREAD_N=8 TILE_K=16 PACK=both",
      "TILE_M=128 TILE_N=96 THREAD_M=8 THREAD_N=8 TILE_K=16 PACK=first OUT_BY=rows",
      "TILE_M=32 TILE_N=32 THREAD_M=4 THREAD_N=8 TILE_K=16 OUT_BY=shared",
      "TILE_M=96 TILE_N=128 THREAD_M=12 THREAD_N=8 TILE_K=32 SPLIT=2",
      "TILE_M=128 TILE_N=64 THREAD_M=8 THREAD_N=16 TILE_K=16 ORDER_K=second",
      "TILE_M=64 TILE_N=64 THREAD_M=4 THREAD_N=8 TILE_K=32 STAGES=3",
      "TILE_M=128 TILE_N=64 THREAD_M=8 THREAD_N=16 TILE_K=32 STAGES=2",
      "TILE_M=96 TILE_N=32 THREAD_M=12 THREAD_N=8 TILE_K=16 STAGES=4 SPLIT=2",
      "TILE_M=32 TILE_N=32 THREAD_M=4 THREAD_N=8 TILE_K=16 STAGES=2 ORDER_K=second OUT_BY=shared",
  };
  const std::unique_ptr<Device> device = make_host_device();
  std::vector<VariantCase> variants;
  std::vector<int> taken(configs.size());
  for (std::size_t line = 0; line < lines.size(); ++line) {
    const Problem problem = complete_problem(op, Problem::parse(lines[line]));
    for (std::size_t n = line % 2; n < configs.size(); n += 2) {
      try {
        variants.push_back({problem, config_of(tmpl, problem, *device, configs[n])});
        ++taken[n];
      } catch (const Error&) {  // Two parts need enough terms, and most sums have one order of terms.
      }
    }
  }
  for (std::size_t n = 0; n < configs.size(); ++n) EXPECT_GE(taken[n], 1) << configs[n];
  check_on_host({&op, &tmpl}, variants);
}

TEST(Halves, AreForSumsOfEnoughTermsOfFloats) {
  const Op& op = find_op("tensor");
  const Template& tmpl = find_template(op, "contract");
  const std::unique_ptr<Device> device = make_host_device();
  const auto is_legal = [&](const std::string& rest, int terms, const std::string& tile_k) {
    const Problem problem = complete_problem(
        op, Problem::parse("expression=\"c[i,j] += a[i,k] * b[k,j]\" i=64 j=48 k=" + std::to_string(terms) +
                           rest));
    try {
      config_of(tmpl, problem, *device, one_warp + tile_k);
    } catch (const Error&) {
      return false;
    }
    return true;
  };
  EXPECT_FALSE(is_legal("", 39, "16"));
  EXPECT_TRUE(is_legal("", 40, "16"));
  EXPECT_FALSE(is_legal("", 57, "32"));
  EXPECT_TRUE(is_legal("", 58, "32"));
  EXPECT_FALSE(is_legal(" dtype=f64", 100, "16"));
  EXPECT_FALSE(is_legal(" dtype=f16", 100, "16"));
}

// The numbers of an operand: sizes below a power of two, over some binades, some of them 0 or special.
struct Kind {
  double most, binades, zeros, specials;
  bool positive, cancels;
  double special;
};

Kind kind_of(Random& random, double most) {
  const auto one_of = [&](std::initializer_list<double> values) {
    return values.begin()[random.below(values.size())];
  };
  Kind kind = {};
  kind.most = most;
  kind.binades = one_of({1, 2, 13, 26, 27, 28, 29, 40, 80, 250});
  kind.zeros = one_of({0, 0, 0.5, 0.97});
  kind.positive = random.below(3) == 0;
  kind.cancels = random.below(3) == 0;
  kind.specials = one_of({0, 0, 0, 0.0005, 0.01, 0.3});
  kind.special = one_of({infinity, -infinity, std::numeric_limits<double>::quiet_NaN(), 0x1p-149, -0x1p-130,
                         0x1.fffffep-127, 0x1p40, -0x1.fffffep39, 0x1p-40, 0x1.fffffep-41, -0.0});
  if (std::isfinite(kind.special) && std::abs(kind.special) > std::exp2(most)) kind.special = 0x1p-149;
  return kind;
}

double number_of(const Kind& kind, Random& random) {
  const auto part = [&] { return (random.uniform() + 1) / 2; };
  if (part() < kind.specials) return kind.special;
  if (part() < kind.zeros) return 0;
  const double size = std::exp2(kind.most - part() * kind.binades) * (1 - part() / 2);
  const bool is_negative = !kind.positive && random.below(2) == 0;
  return static_cast<double>(static_cast<float>(is_negative ? -size : size));
}

// Fills c[i,j] += a[i,k] * b[k,j]: where an operand cancels, each other term of `a` is the one before with
// the other sign, and of `b` nearly the one before.
Alteration alteration(std::uint64_t seed, std::size_t terms, std::size_t columns) {
  return [=](std::vector<std::vector<double>>& inputs) {
    Random random(seed);
    // No sum of products overflows: what an infinity adds is known then.
    const double middle = random.uniform() * 126, most_sum = -110 + (random.uniform() + 1) / 2 * 228;
    const Kind a = kind_of(random, middle), b = kind_of(random, std::clamp(most_sum - middle, -140.0, 126.0));
    for (double& x : inputs[0]) x = number_of(a, random);
    for (double& x : inputs[1]) x = number_of(b, random);
    if (!a.cancels) return;
    for (std::size_t n = 1; n < inputs[0].size(); ++n)
      if (n % terms % 2 == 1) inputs[0][n] = -inputs[0][n - 1];
    for (std::size_t k = 1; k < terms; k += 2) {
      for (std::size_t j = 0; j < columns; ++j) {
        const double near = inputs[1][(k - 1) * columns + j] * (1 + 0x1p-23 * static_cast<double>(j % 3));
        inputs[1][k * columns + j] = static_cast<double>(static_cast<float>(near));
      }
    }
  };
}

TEST(Halves, KeepTheBoundForAllNumbers) {
  constexpr int rows = 33, columns = 20, cases = 640;
  const Op& op = find_op("tensor");
  const Template& tmpl = find_template(op, "contract");
  const std::unique_ptr<Device> device = make_host_device();
  std::vector<VariantCase> variants;
  std::vector<Source> sources;
  std::vector<std::size_t> all_terms;
  for (const auto& [terms, tile_k] : std::vector<std::pair<std::size_t, std::string>>{{40, "16"},
                                                                                      {58, "32"},
                                                                                      {64, "16"},
                                                                                      {65, "32"},
                                                                                      {131, "16"},
                                                                                      {200, "32"},
                                                                                      {40, "16 STAGES=2"},
                                                                                      {67, "32 STAGES=3"},
                                                                                      {129, "16 STAGES=4"}}) {
    const Problem problem = complete_problem(
        op, Problem::parse("expression=\"c[i,j] += a[i,k] * b[k,j]\" i=" + std::to_string(rows) +
                           " j=" + std::to_string(columns) + " k=" + std::to_string(terms)));
    variants.push_back({problem, config_of(tmpl, problem, *device, one_warp + tile_k)});
    sources.push_back(render(op, tmpl, problem, variants.back().config, "host"));
    all_terms.push_back(terms);
  }
  const std::vector<Compilation> compiled = compile_all(*make_host_toolchain(), sources);
  double worst = 0;
  for (int n = 0; n < cases; ++n) {
    SCOPED_TRACE("case " + std::to_string(n));
    const std::size_t v = static_cast<std::size_t>(n) % variants.size();
    ASSERT_TRUE(compiled[v].ok) << compiled[v].log;
    OpChecker checker(*device, alteration(static_cast<std::uint64_t>(n), all_terms[v], columns));
    checker.check({&op, &tmpl}, compiled[v].bytes, sources[v].suffix, variants[v].problem, variants[v].config,
                  false, n % 2 == 1);
    EXPECT_EQ(checker.runs(), 1);
    worst = std::max(worst, checker.worst());
    if (checker.failed() > 0) break;
  }
  RecordProperty("worst", std::to_string(worst));
  std::cout << "The largest error is " << worst << " of what is permitted.\n";
}

// Long sums are made in parts, and the sums of tensor cores are moved to registers every few terms: of terms
// that are all positive the error stays far below the bound.
TEST(Halves, KeepLongSumsClose) {
  Op op = find_op("tensor");
  op.reference = [reference = op.reference](const Problem& problem, auto arguments, int output,
                                            std::int64_t begin, std::int64_t end, std::span<double> value,
                                            std::span<double> permitted_error) {
    reference(problem, arguments, output, begin, end, value, permitted_error);
    for (std::size_t i = 0; i < value.size(); ++i) permitted_error[i] = 2e-6 * std::abs(value[i]);
  };
  const Template& tmpl = find_template(op, "contract");
  const std::unique_ptr<Device> device = make_host_device();
  const Problem problem =
      complete_problem(op, Problem::parse("expression=\"c[i,j] += a[i,k] * b[k,j]\" i=2 j=2 k=250007"));
  const VariantCase variant = {problem, config_of(tmpl, problem, *device, std::string(one_warp) + "32")};
  const Source source = render(op, tmpl, problem, variant.config, "host");
  const Compilation compiled = compile_all(*make_host_toolchain(), {source}).front();
  ASSERT_TRUE(compiled.ok) << compiled.log;
  OpChecker checker(*device, [](std::vector<std::vector<double>>& inputs) {
    for (std::vector<double>& input : inputs)
      for (double& element : input) element = std::abs(element);
  });
  checker.check({&op, &tmpl}, compiled.bytes, source.suffix, problem, variant.config, false);
  EXPECT_EQ(checker.runs(), 1);
}

}  // namespace
}  // namespace tunesmith

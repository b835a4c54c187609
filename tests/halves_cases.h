// SPDX-License-Identifier: Apache-2.0
// Numbers that are hard to split into halves, and the checks of UNIT=halves with them, on the host and on a
// GPU. The op's bound is that of a plain sum of n terms, n u sum |term|, for all numbers; with accuracy=tf32,
// for which UNIT=half is, that of factors of 11 bits.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "generator/random.h"
#include "kernel_file/find_op.h"
#include "tests/op_cases.h"
#include "tests/op_checker.h"

namespace tunesmith::halves_test {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// The config of UNIT=halves; of packed_halves if it has STAGES, of wgmma_halves if a tile has 64 terms. For
/// a problem of less accuracy that of half, packed_half or wgmma_half.
inline Config config_of(const Problem& problem, const Device& device, const std::string& text) {
  const bool packs = text.find("STAGES") != std::string::npos;
  const std::string halves = problem.string("accuracy") == "full" ? "halves " : "half ";
  const std::string unit = text.find("TILE_K=64") != std::string::npos ? "UNIT=wgmma_" + halves
                           : packs                                     ? "UNIT=packed_" + halves
                                                                       : "UNIT=" + halves + "STAGES=1 ";
  return find_template(find_op("tensor"), "contract")
      .space(problem, device.facts())
      .complete(Values::parse(unit + "WARP_N=4 RESIDENT_WARPS=8 " + text));
}

inline Problem product_of(std::size_t rows, std::size_t columns, std::size_t terms,
                          const std::string& rest = "") {
  return complete_problem(
      find_op("tensor"),
      Problem::parse("expression=\"c[i,j] += a[i,k] * b[k,j]\" i=" + std::to_string(rows) +
                     " j=" + std::to_string(columns) + " k=" + std::to_string(terms) + " " + rest));
}

/// The numbers of an operand: sizes below a power of two, over some binades, some of them 0 or special.
struct Kind {
  double most, binades, zeros, specials;
  bool positive, cancels;
  double special;
};

inline Kind kind_of(Random& random, double most) {
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

inline double number_of(const Kind& kind, Random& random) {
  const auto part = [&] { return (random.uniform() + 1) / 2; };
  if (part() < kind.specials) return kind.special;
  if (part() < kind.zeros) return 0;
  const double size = std::exp2(kind.most - part() * kind.binades) * (1 - part() / 2);
  const bool is_negative = !kind.positive && random.below(2) == 0;
  return static_cast<double>(static_cast<float>(is_negative ? -size : size));
}

/// Fills c[i,j] += a[i,k] * b[k,j]: where an operand cancels, each other term of `a` is the one before with
/// the other sign, and of `b` nearly the one before.
inline Alteration alteration(std::uint64_t seed, std::size_t terms, std::size_t columns) {
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

/// The same with sizes that differ from tile to tile of 64 terms, so that their scales do.
inline Alteration alteration_by_tiles(std::uint64_t seed, std::size_t terms, std::size_t columns) {
  return [=, numbers = alteration(seed, terms, columns)](std::vector<std::vector<double>>& inputs) {
    numbers(inputs);
    Random random(seed + 1000000);
    constexpr int smaller_by[] = {0, 0, 0, 1, 2, 9, 15, 16, 17, 33, 70};
    std::vector<int> binades(terms / 64 + 1);
    for (int& each : binades) each = smaller_by[random.below(std::size(smaller_by))];
    for (std::size_t n = 0; n < inputs[0].size(); ++n)
      inputs[0][n] =
          static_cast<double>(static_cast<float>(std::ldexp(inputs[0][n], -binades[n % terms / 64])));
  };
}

/// Products of rows x columns elements with hard numbers, by each of the variants (terms, config) in turn.
/// Returns the largest error as a part of the permitted one. `accuracy`: the problem's.
inline double keep_the_bound(Device& device, const Toolchain& toolchain, const std::string& target, int cases,
                             std::size_t rows, std::size_t columns,
                             const std::vector<std::pair<std::size_t, std::string>>& variants,
                             const std::string& accuracy = "full") {
  const Op& op = find_op("tensor");
  const Template& tmpl = find_template(op, "contract");
  std::vector<VariantCase> complete;
  std::vector<Source> sources;
  for (const auto& [terms, config] : variants) {
    const Problem problem = product_of(rows, columns, terms, "accuracy=" + accuracy);
    complete.push_back({problem, config_of(problem, device, config)});
    sources.push_back(render(op, tmpl, problem, complete.back().config, target));
  }
  const std::vector<Compilation> compiled = compile_all(toolchain, sources);
  std::vector<int> numbers(static_cast<std::size_t>(cases));
  std::iota(numbers.begin(), numbers.end(), 0);
  double worst = 0;
  for (const int n : in_turn(std::move(numbers), 12, {&op, &tmpl}, 60)) {
    SCOPED_TRACE("case " + std::to_string(n));
    const std::size_t v = static_cast<std::size_t>(n) % complete.size();
    EXPECT_TRUE(compiled[v].ok) << compiled[v].log;
    const auto seed = static_cast<std::uint64_t>(n);
    OpChecker checker(device, accuracy != "full" && n % 4 != 0
                                  ? alteration_by_tiles(seed, variants[v].first, columns)
                                  : alteration(seed, variants[v].first, columns));
    checker.check({&op, &tmpl}, compiled[v].bytes, sources[v].suffix, complete[v].problem, complete[v].config,
                  false, n % 2 == 1);
    EXPECT_EQ(checker.runs(), 1);
    worst = std::max(worst, checker.worst());
    if (checker.failed() > 0) break;
  }
  return worst;
}

/// Long sums are made in parts, and the sums of tensor cores are moved to registers every few terms: of terms
/// that are all positive the error stays far below the bound.
inline void keep_long_sums_close(Device& device, const Toolchain& toolchain, const std::string& target,
                                 const Problem& problem, const std::string& config) {
  Op op = find_op("tensor");
  op.reference = [reference = op.reference](const Problem& its, auto arguments, int output,
                                            std::int64_t begin, std::int64_t end, std::span<double> value,
                                            std::span<double> permitted_error) {
    reference(its, arguments, output, begin, end, value, permitted_error);
    for (std::size_t i = 0; i < value.size(); ++i) permitted_error[i] = 2e-6 * std::abs(value[i]);
  };
  const Template& tmpl = find_template(op, "contract");
  const Config complete = config_of(problem, device, config);
  const Source source = render(op, tmpl, problem, complete, target);
  const Compilation compiled = toolchain.compile(source);
  ASSERT_TRUE(compiled.ok) << compiled.log;
  OpChecker checker(device, [](std::vector<std::vector<double>>& inputs) {
    for (std::vector<double>& input : inputs)
      for (double& element : input) element = std::abs(element);
  });
  checker.check({&op, &tmpl}, compiled.bytes, source.suffix, problem, complete, false);
  EXPECT_EQ(checker.runs(), 1);
}

}  // namespace tunesmith::halves_test

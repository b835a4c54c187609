// SPDX-License-Identifier: Apache-2.0
// Tests what the first guess of `contract` chooses for GPUs, which no GPU is needed for.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "generator/device_facts.h"
#include "generator/random.h"
#include "kernel_file/find_op.h"
#include "templates/tensor/contract/contract_config.h"
#include "tests/op_cases.h"

namespace tunesmith::contract_first_guess_test {
namespace {

using namespace tensor_op::contraction;

Config guess(const std::string& text, int compute_capability) {
  const Op& op = find_op("tensor");
  const Template& tmpl = find_template(op, "contract");
  const DeviceFacts device = facts_of_capability(compute_capability);
  const Problem problem = complete_problem(op, Problem::parse(text));
  return tmpl.space(problem, device).complete(tmpl.untuned(problem, device).value());
}

std::string product(int m, int n, int k, const std::string& dtype, bool first_turned = false,
                    bool second_turned = false) {
  return std::string("expression=\"c[i,j] += ") + (first_turned ? "a[k,i]" : "a[i,k]") + " * " +
         (second_turned ? "b[j,k]" : "b[k,j]") + "\" i=" + std::to_string(m) + " j=" + std::to_string(n) +
         " k=" + std::to_string(k) + " dtype=" + dtype;
}

std::string unit_of(const std::string& text, int compute_capability) {
  return guess(text, compute_capability)[UNIT];
}

TEST(FirstGuess, TakesHalvesForLargeProductsOfFloats) {
  EXPECT_EQ(unit_of(product(2048, 2048, 2048, "f32"), 90), "wgmma_halves");
  EXPECT_EQ(unit_of(product(1000, 1500, 777, "f32"), 90), "wgmma_halves");
  EXPECT_EQ(unit_of(product(2048, 2048, 2048, "f32"), 80), "fma") << "warpgroups are of 9.0 alone";
  EXPECT_EQ(unit_of(product(2048, 2048, 2048, "f32"), 100), "fma");
  EXPECT_EQ(unit_of(product(128, 128, 128, "f32"), 90), "fma") << "splitting takes longer than multiplying";
  EXPECT_EQ(unit_of(product(4096, 4096, 97, "f32"), 90), "fma") << "the sums are too short for the bound";
  EXPECT_EQ(unit_of(product(2048, 2048, 2048, "f64"), 90), "tensor_core");
}

TEST(FirstGuess, SplitsLongSumsOfFewTiles) {
  const Config thin = guess(product(79, 165, 683, "bf16"), 90);
  EXPECT_GE(thin[SPLIT], 4);
  EXPECT_EQ(thin[ADD_BY], "last") << "few parts need no launch";
  EXPECT_EQ(thin[LOAD_BY], "pieces") << "rows of odd length";
  const Config longest = guess(product(64, 64, 100000, "bf16"), 90);
  EXPECT_GE(longest[SPLIT], 64);
  EXPECT_EQ(longest[ADD_BY], "launch");
  EXPECT_EQ(guess(product(4096, 4096, 4096, "bf16"), 90)[SPLIT], 1);
}

TEST(FirstGuess, IsLegal) {
  Random random(45);
  const auto side = [&] { return 1 + static_cast<int>(random.below(random.below(2) == 0 ? 40 : 3000)); };
  const std::array dtypes = {"f16", "bf16", "f32", "i8", "f64"};
  for (int round = 0; round < 400; ++round) {
    const std::string dtype = dtypes.at(random.below(dtypes.size()));
    const std::string text = product(side(), side(), side() * (round % 7 == 0 ? 37 : 1), dtype,
                                     random.below(2) == 0, random.below(2) == 0);
    for (const int capability : {80, 90, 120}) {
      SCOPED_TRACE(text + " on " + std::to_string(capability));
      EXPECT_NO_THROW(guess(text, capability));
    }
  }
}

}  // namespace
}  // namespace tunesmith::contract_first_guess_test

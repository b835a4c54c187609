// SPDX-License-Identifier: Apache-2.0
// Tests what the first guess of `contract` chooses for GPUs, which no GPU is needed for.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "choose/nearest.h"
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
  const Config narrower = guess(product(2048, 2048, 2048, "f32 out_dtype=f16"), 90);
  EXPECT_EQ(narrower[UNIT], "wgmma_halves");
  EXPECT_EQ(narrower[VECTOR_A], 4);
  EXPECT_EQ(narrower[VECTOR_OUT], 4);
}

TEST(FirstGuess, TakesOneHalfWhereAProblemAcceptsIt) {
  for (const char* const accuracy : {"f32 accuracy=tf32", "f32 accuracy=bf16"}) {
    EXPECT_EQ(unit_of(product(2048, 2048, 2048, accuracy), 90), "wgmma_half");
    EXPECT_EQ(unit_of(product(1000, 1500, 777, accuracy), 90), "wgmma_half");
    EXPECT_EQ(unit_of(product(4096, 4096, 97, accuracy), 90), "wgmma_half") << "of sums of any length";
    EXPECT_EQ(unit_of(product(2048, 2048, 2048, accuracy), 80), "fma") << "warpgroups are of 9.0 alone";
    EXPECT_EQ(unit_of(product(64, 64, 64, accuracy), 90), "fma") << "rounding takes longer than multiplying";
  }
  EXPECT_EQ(unit_of(product(2048, 2048, 2048, "f64 accuracy=tf32"), 90), "tensor_core");
}

TEST(FirstGuess, TakesBoxesForLargeProducts) {
  const auto loads = [](const std::string& text, int compute_capability) {
    return guess(text, compute_capability)[LOAD_BY];
  };
  for (const std::string dtype : {"f16", "bf16"})
    for (const bool turned : {false, true}) {
      EXPECT_EQ(loads(product(4096, 4096, 4096, dtype, turned, !turned), 90), "boxes");
      EXPECT_EQ(loads(product(1000, 1500, 777, dtype, turned), 90), "boxes") << "packed";
    }
  EXPECT_EQ(loads(product(4096, 4096, 4096, "bf16"), 80), "vectors") << "tensor maps are of 9.0";
  const Config large = guess(product(8192, 8192, 8192, "bf16"), 90);
  EXPECT_EQ(large[OUT_BY], "boxes");
  EXPECT_EQ(guess(product(8192, 8191, 8192, "bf16"), 90)[OUT_BY], "rows") << "rows that begin anywhere";
}

std::string layer(int images, int channels, int side, int outputs, int window, const std::string& dtype) {
  const auto shift = [&](const std::string& index) { return index + "-" + std::to_string(window / 2); };
  return "expression=\"o[n,f,y,x] += m[n,c,y+" + shift("i") + ",x+" + shift("j") +
         "] * w[f,c,i,j]\" zero_outside=m n=" + std::to_string(images) + " c=" + std::to_string(channels) +
         " y=" + std::to_string(side) + " x=" + std::to_string(side) + " f=" + std::to_string(outputs) +
         " i=" + std::to_string(window) + " j=" + std::to_string(window) + " dtype=" + dtype;
}

// The template of an op's first guess, and of contract also the unit.
std::string first_of(const std::string& text, const DeviceFacts& device) {
  const Op& op = find_op("tensor");
  const UntunedVariant first = untuned(op, complete_problem(op, Problem::parse(text)), device).at(0);
  return first.tmpl->name + (first.tmpl->name == "contract" ? " " + first.config[UNIT] : std::string());
}

// docs/tensor.md has the classes.
TEST(FirstGuess, IsOfATemplateForEachClassOfProducts) {
  struct {
    std::string what;
    std::string text;                  // but for the dtype
    std::array<std::string, 5> on_90;  // of f16, f32, f64, i8, i32
    std::string f16_on_80;
  } const classes[] = {
      {"large",
       product(2048, 2048, 2048, ""),
       {"contract wgmma", "contract wgmma_halves", "contract tensor_core", "contract wgmma", "contract fma"},
       "contract mma"},
      {"thin",
       product(16, 4096, 4096, ""),
       {"contract mma", "contract fma", "contract tensor_core", "contract mma", "contract fma"},
       "contract mma"},
      {"of sums too short for halves",
       product(4096, 4096, 64, ""),
       {"contract wgmma", "contract fma", "contract tensor_core", "contract wgmma", "contract fma"},
       "contract mma"},
      {"small", product(128, 128, 128, ""), {"loops", "loops", "loops", "loops", "loops"}, "loops"},
      {"of few rows", product(4, 4096, 4096, ""), {"loops", "loops", "loops", "loops", "loops"}, "loops"},
      {"a matrix and a vector",
       product(1, 4096, 4096, ""),
       {"loops", "loops", "loops", "loops", "loops"},
       "loops"},
      {"a layer with borders",
       layer(32, 64, 56, 64, 3, ""),
       {"contract wgmma", "contract fma", "loops", "contract wgmma", "loops"},
       "contract mma"},
      {"a layer of many channels with borders",
       layer(32, 256, 14, 256, 3, ""),
       {"contract wgmma", "contract wgmma_halves", "loops", "contract wgmma", "loops"},
       "contract mma"},
      {"a layer of few channels with borders",
       layer(32, 3, 224, 64, 7, ""),
       {"loops", "loops", "loops", "loops", "loops"},
       "loops"}};
  constexpr std::array dtypes = {"f16", "f32", "f64", "i8", "i32"};
  for (const auto& one : classes) {
    SCOPED_TRACE(one.what);
    for (std::size_t d = 0; d < dtypes.size(); ++d) {
      EXPECT_EQ(first_of(one.text + dtypes.at(d), facts_of_capability(90)), one.on_90.at(d)) << dtypes.at(d);
    }
    EXPECT_EQ(first_of(one.text + "f16", facts_of_capability(80)), one.f16_on_80);
  }
  DeviceFacts host;
  host.kind = DeviceKind::host;
  EXPECT_EQ(first_of(layer(32, 64, 56, 64, 3, "f16"), host), "loops") << "it only emulates tensor cores";
}

TEST(FirstGuess, OfLayersWithBordersIsLegalAndOfTensorCores) {
  Random random(46);
  const auto number = [&](int most) {
    return 1 + static_cast<int>(random.below(static_cast<std::uint64_t>(most)));
  };
  const std::array dtypes = {"f16", "bf16", "i8", "u8"};
  int in_tensor_cores = 0;
  for (int round = 0; round < 200; ++round) {
    const std::string text = layer(number(20), number(120), 2 + number(60), number(120), 1 + 2 * number(3),
                                   dtypes.at(random.below(dtypes.size())));
    for (const int capability : {80, 90, 120}) {
      SCOPED_TRACE(text + " on " + std::to_string(capability));
      const std::string first = first_of(text, facts_of_capability(capability));
      EXPECT_NE(first, "contract fma");
      in_tensor_cores += first == "loops" ? 0 : 1;
    }
  }
  EXPECT_GT(in_tensor_cores, 200);
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

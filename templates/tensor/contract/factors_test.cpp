// SPDX-License-Identifier: Apache-2.0
// Tests which terms are products of factors, in which type they are multiplied, how they are copied, and
// their products by each unit on the host, which emulates tensor cores.
#include "templates/tensor/contract/factors.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "choose/nearest.h"
#include "generator/device_facts.h"
#include "tests/matrix_cases.h"

namespace tunesmith::contract_factors_test {
namespace {

using namespace tensor_op;

Problem problem_of(const std::string& line, const std::string& words) {
  return complete_problem(find_op("tensor"), Problem::parse("expression=\"" + line + "\" " + words));
}

std::string refusal(const Problem& problem) {
  return find_template(find_op("tensor"), "contract_factors").refuses(problem);
}

// The dtype and the accesses of both factors, as in "f16 0 | 1 2"; "" without factors.
std::string factors_in(const std::string& line, const std::string& dtype) {
  const Problem problem = problem_of(line, "i=8 j=8 k=8 dtype=" + dtype);
  const auto& factors = factors_of(problem);
  if (!factors) return "";
  std::string text(name(factors->dtype));
  for (const Body& body : factors->bodies) {
    for (const Access& access : body.accesses) text += " " + std::to_string(access.array);
    text += &body == factors->bodies.data() ? " |" : "";
  }
  return text;
}

TEST(Factors, AreTakenAsWritten) {
  const std::string activated = "c[i,j] += max(a[i,k], 0) * b[k,j]";
  for (const char* const dtype : {"f32", "f64", "f16", "bf16", "i8", "u8", "i32", "i64"})
    EXPECT_EQ(factors_in(activated, dtype), std::string(dtype) + " 0 | 1");
  EXPECT_EQ(factors_in("c[i,j] += (x[i,k] - 8) * s[k] * w[k,j]", "f32"), "f32 0 1 | 2");
  EXPECT_EQ(factors_in("c[i,j] += (x[i,k] + t[k]) * (w[k,j] * t[k])", "f64"), "f64 0 1 | 2 1");
  EXPECT_EQ(factors_in("c[i,j] += a[i,k] * b[k,j]", "f32"), "") << "a product of two accesses is contract's";
  EXPECT_EQ(factors_in("c[i,j] += a[i,k] * b[k,j] + s[k]", "f32"), "");
  EXPECT_EQ(factors_in("c[i,j] += exp(a[i,k] * b[k,j]) * s[k]", "f32"), "") << "one factor has both indices";
  EXPECT_EQ(factors_in("c[i,j] max= max(a[i,k], 0) * b[k,j]", "f32"), "");
  EXPECT_EQ(factors_in("c[i,j,k] = max(a[i,k], 0) * b[k,j]", "f32"), "");
  EXPECT_EQ(factors_in("c[i] += max(a[i,k], 0) * b[k,j]", "f32"), "")
      << "only one has an index of the output";
}

// Products of real numbers may leave the range of f32 in another order, but not those of a few numbers of
// f16.
TEST(Factors, AreInAnotherOrderWhereThatIsTheSame) {
  const std::string behind = "c[i,j] += a[i,k] * b[k,j] * s[k]";
  for (const char* const dtype : {"f32", "f64", "bf16"}) EXPECT_EQ(factors_in(behind, dtype), "");
  EXPECT_EQ(factors_in(behind, "f16"), "f32 0 | 1 2");
  EXPECT_EQ(factors_in(behind, "i32"), "i32 0 | 1 2");
  EXPECT_EQ(factors_in("c[i,j] += a[i,k] * b[k,j] * exp(s[k])", "f16"), "");
  EXPECT_EQ(factors_in("c[i,j] += max(a[i,k], 0) * b[k,j] * s[k]", "f16"), "f32 0 | 1 2");
}

TEST(Factors, AreOfATypeThatHoldsThem) {
  const auto in = [](const std::string& factor, const std::string& dtype,
                     const std::string& other = "b[k,j]") {
    const std::string found = factors_in("c[i,j] += (" + factor + ") * " + other, dtype);
    return found.substr(0, found.find(' '));
  };
  for (const std::string dtype : {"f16", "bf16"}) {
    for (const char* const kept :
         {"abs(a[i,k])", "-a[i,k]", "min(a[i,k], s[k])", "a[i,k] > s[k] + 0.1 ? a[i,k] : -0.5",
          "a[i,k] < 0.1", "(a[i,k] > 0) * a[i,k]", "floor(a[i,k])", "rint(-a[i,k])", "max(a[i,k], 1.5)",
          "max(a[i,k], 0)"})
      EXPECT_EQ(in(kept, dtype), dtype) << kept;
    for (const char* const rounded :
         {"a[i,k] + s[k]", "2 * a[i,k]", "a[i,k] * s[k]", "max(a[i,k], 0.1)", "exp(a[i,k])",
          "a[i,k] > 0 ? a[i,k] : 0.1", "a[i,k] / 2", "(a[i,k] > 0) + a[i,k]"})
      EXPECT_EQ(in(rounded, dtype), "f32") << rounded;
    EXPECT_EQ(in("max(a[i,k], 0)", dtype, "(b[k,j] - 1)"), "f32") << "both have one type";
  }
  EXPECT_EQ(in("max(a[i,k], 65504)", "f16"), "f16");
  EXPECT_EQ(in("max(a[i,k], 65505)", "f16"), "f32");
  EXPECT_EQ(in("max(a[i,k], 65536)", "f16"), "f32");
  EXPECT_EQ(in("max(a[i,k], 257)", "f16"), "f16");
  EXPECT_EQ(in("max(a[i,k], 257)", "bf16"), "f32");
  EXPECT_EQ(in("max(a[i,k], 1e30)", "bf16"), "f32");
  EXPECT_EQ(in("max(a[i,k], 5.9604644775390625e-08)", "f16"), "f16") << "the least number";
  EXPECT_EQ(in("max(a[i,k], 2.98023223876953125e-08)", "f16"), "f32");

  EXPECT_EQ(in("a[i,k] - 128", "u8", "(b[k,j] - 128)"), "i8");
  EXPECT_EQ(in("a[i,k] - 128", "u8"), "i32") << "the other one needs 255";
  EXPECT_EQ(in("a[i,k] - 129", "u8", "(b[k,j] - 128)"), "i32");
  EXPECT_EQ(in("a[i,k] + 128", "i8", "(b[k,j] + 128)"), "u8");
  EXPECT_EQ(in("max(a[i,k], 0)", "i8"), "i8");
  EXPECT_EQ(in("-a[i,k]", "i8"), "i32") << "of -128 it is 128";
  EXPECT_EQ(in("abs(a[i,k])", "i8"), "i32");
  EXPECT_EQ(in("min(abs(a[i,k]), 127)", "i8"), "i8");
  EXPECT_EQ(in("a[i,k] > 3", "u8"), "u8");
  EXPECT_EQ(in("(a[i,k] > 3) - (a[i,k] < 2)", "i8"), "i8");
  EXPECT_EQ(in("min(a[i,k] * a[i,k], 100)", "i8"), "i32") << "below is no end";
  EXPECT_EQ(in("max(min(a[i,k] * 1000000 * a[i,k], 100), 0)", "u8"), "u8") << "it wraps, but stays within";
}

// A factor is copied only where it is no access of the right type and alignment.
TEST(Factors, AreCopiedAsUnitsReadThem) {
  const auto copied = [](const std::string& line, const std::string& words) {
    const Problem problem = problem_of(line, words);
    const FactorProduct& product = product_of_factors(problem);
    return product.problem.string("expression") + " " + product.problem.string("extents") + " " +
           product.problem.string("x0") + " " + product.problem.string("x1") + " " +
           product.problem.string("dtype");
  };
  const std::string activated = "c[i,j] += max(a[i,k], 0) * b[k,j]",
                    turned = "c[i,j] += max(a[k,i], 0) * b[j,k]";
  EXPECT_EQ(copied(activated, "i=6 j=5 k=3"), "out[a,b] += x0[c,a] * x1[c,b] 6x5x3 3x6:8x1 3x5:5x1 f32")
      << "rows are neighbours";
  EXPECT_EQ(copied(activated, "i=16 j=5 k=24 dtype=f16"),
            "out[a,b] += x0[a,c] * x1[c,b] 16x5x24 16x24:24x1 24x5:5x1 f16")
      << "terms are";
  EXPECT_EQ(copied(activated, "i=16 j=5 k=23 dtype=f16"),
            "out[a,b] += x0[c,a] * x1[c,b] 16x5x23 23x16:16x1 23x5:5x1 f16")
      << "rows are, of odd terms";
  EXPECT_EQ(copied(turned, "i=15 j=5 k=23 dtype=f16"),
            "out[a,b] += x0[a,c] * x1[b,c] 15x5x24 15x24:24x1 5x24:24x1 f16")
      << "both with zeros at the end";
  EXPECT_EQ(copied(turned, "i=15 j=5 k=32 dtype=i8"),
            "out[a,b] += x0[a,c] * x1[b,c] 15x5x32 15x32:32x1 5x32:32x1 i8")
      << "b stays where it is";
  EXPECT_EQ(copied(activated, "i=15 j=5 k=32 dtype=i8"),
            "out[a,b] += x0[a,c] * x1[b,c] 15x5x32 15x32:32x1 5x32:32x1 i8")
      << "b is turned";
  EXPECT_EQ(copied("c[n,i,j] += x[n,i,k] * exp(y[n,k,j])", "n=2 i=5 j=6 k=7 dtype=bf16"),
            "out[a,b,c] += x0[a,b,d] * x1[a,c,d] 2x5x6x8 2x5x8:40x8x1 2x6x8:48x8x1 f32")
      << "both are floats";
}

TEST(Factors, AreRefusedWithASentence) {
  const std::string window = "out[o,x] += max(v[c,x+j-1], 1) * w[o,c,j]";
  EXPECT_EQ(
      refusal(problem_of(window, "o=8 c=4 j=3 x=9 v=4x9 zero_outside=v")),
      "This template writes factors of elements within the bounds of their arrays, and x0[c,b+d-1] is read "
      "beyond them; take another template.");
  EXPECT_EQ(refusal(problem_of("out[o,x] += max(v[c,x+j], 1) * w[o,c,j]", "o=8 c=4 j=3 x=9")), "");
  EXPECT_NE(refusal(problem_of("c[i,j] += max(a[i,k], 0) * b[k,j]", "i=65536 j=64 k=32768"))
                .find("less than 2^31 into the workspace"),
            std::string::npos);
  EXPECT_NE(refusal(problem_of("c[i,j] += a[i,k] * b[k,j]", "i=8 j=8 k=8")).find("take another template"),
            std::string::npos);
}

// Where each value is multiplied often the first guess is the template's, in tensor cores if its type has
// them.
TEST(Factors, AreGuessedWhereTheyAreUsedOften) {
  const Op& op = find_op("tensor");
  const DeviceFacts device = facts_of_capability(90);
  const auto guess = [&](const std::string& line, const std::string& words) {
    const std::vector<UntunedVariant> all = untuned(op, problem_of(line, words), device);
    if (all.empty()) return std::string();
    const Values values = all.front().config.values();
    const Value* const unit = values.find("UNIT");
    return all.front().tmpl->name + (unit == nullptr ? "" : " " + to_text(*unit));
  };
  const std::string activated = "c[i,j] += max(a[i,k], 0) * b[k,j]",
                    levels = "c[i,j] += (x[i,k] - 128) * s[k] * w[k,j]";
  EXPECT_EQ(guess(activated, "i=1024 j=1024 k=1024 dtype=f16"), "contract_factors wgmma");
  EXPECT_EQ(guess(levels, "i=2048 j=2048 k=2048 dtype=f16"), "contract_factors wgmma_halves");
  EXPECT_EQ(guess(levels, "i=2048 j=64 k=2048 dtype=f16"), "loops");
  EXPECT_EQ(guess(activated, "i=2048 j=64 k=2048 dtype=f16"), "contract_any fma");
  EXPECT_EQ(guess(activated, "i=128 j=128 k=128 dtype=f16"), "loops");
}

TEST(Factors, AreMultipliedRight) { check_factors(*make_host_device(), *make_host_toolchain()); }

}  // namespace
}  // namespace tunesmith::contract_factors_test

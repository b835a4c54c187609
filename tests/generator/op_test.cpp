// SPDX-License-Identifier: Apache-2.0
#include "generator/op.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generator/error.h"
#include "tests/generator/test_op.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;

std::string complaint(std::string_view problem) {
  try {
    complete_problem(scale_op(), Problem::parse(problem));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

DeviceFacts device() {
  return {.kind = DeviceKind::cuda, .name = "A test GPU", .target = "sm_75", .compute_capability = 75};
}

Work launching(Launch launch) { return Work{.steps = {std::move(launch)}}; }

TEST(Op, CompletesAProblemInItsOwnOrder) {
  EXPECT_EQ(complete_problem(scale_op(), Problem::parse("factor=3 n=10")).text(),
            "n=10 factor=3 rounding=nearest dtype=f32");
}

TEST(Op, NamesWhatIsWrongWithAProblem) {
  EXPECT_THAT(complaint("factor=3"), HasSubstr("has no n (elements)"));
  EXPECT_THAT(complaint("n=0"), HasSubstr("whole numbers from 1 to 1048576"));
  EXPECT_THAT(complaint("n=1048577"), HasSubstr("n is 1048577"));
  EXPECT_THAT(complaint("n=many"), HasSubstr("n is many"));
  EXPECT_THAT(complaint("n=1 dtype=f16"), HasSubstr("allowed are f32, f64"));
  EXPECT_THAT(complaint("n=1 dtype=32"), HasSubstr("dtype is 32"));
  EXPECT_THAT(complaint("n=1 hight=3"), HasSubstr("hight=3 is not a parameter of scale"));
}

// The op with a formula, which is a text over the letters x and +, or the known formula "twice".
Op formula_op() {
  Op op = scale_op();
  Parameter formula{
      .name = "formula", .what = "what is computed", .categories = {"twice"}, .initial = "twice"};
  formula.refuses_text = [](const std::string& text) {
    return text.find_first_not_of("x+1 \n\\") == std::string::npos
               ? std::string()
               : "Allowed are twice, and texts of x, + and 1.";
  };
  op.parameters.push_back(formula);
  op.check = [](const Problem& problem) {
    return problem.integer("n") < problem.integer("factor") ? std::string("There are fewer than factor.")
                                                            : "";
  };
  return op;
}

std::string formula_complaint(const Problem& problem) {
  try {
    complete_problem(formula_op(), problem);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Op, AParameterMayTakeTextsBesideItsWords) {
  const auto formula = [](std::string_view problem) {
    return complete_problem(formula_op(), Problem::parse(problem)).string("formula");
  };
  EXPECT_EQ(formula("n=8"), "twice");
  EXPECT_EQ(formula("n=8 formula=\"x + x\""), "x + x");
  EXPECT_EQ(formula("n=8 formula=11"), "11") << "a number is a text here";
  const std::string shortened = formula_complaint({{"n", 8}, {"formula", std::string(5000, 'y')}});
  EXPECT_THAT(shortened, HasSubstr("yyy …. Allowed are"));
  EXPECT_EQ(formula_complaint(Problem::parse("n=8 formula=y")),
            "The scale problem's formula is y. Allowed are twice, and texts of x, + and 1.");
  // The formula is part of a comment in the rendered text, which it must not leave.
  for (const char* text : {"x\nx", "x\\"}) {
    EXPECT_THAT(formula_complaint({{"n", 8}, {"formula", text}}),
                HasSubstr("control characters and backslashes"));
  }
}

TEST(Op, ChecksValuesTogether) {
  EXPECT_EQ(formula_complaint(Problem::parse("n=3 factor=3")), "");
  EXPECT_EQ(formula_complaint(Problem::parse("n=2 factor=3")), "There are fewer than factor.");
}

TEST(Op, ATemplatesConstantsAreCompiledIn) {
  Op op = scale_op();
  op.templates[1].constants = [](const Problem& problem) {
    return Values{{"QUARTERS", problem.integer("n") / 4}};
  };
  EXPECT_EQ(compiled_in(op, op.templates[1], complete_problem(op, Problem::parse("n=8 factor=3"))).text(),
            "factor=3 rounding=nearest dtype=f32 QUARTERS=2");
}

TEST(Op, WorkIsHeldAgainstTheDevicesLimits) {
  EXPECT_FALSE(exceeds(launching({.kernel = "k", .grid = {8, 8}, .block = {32, 32}}), device()));
  EXPECT_EQ(exceeds(launching({.kernel = "k", .block = {32, 33}}), device()),
            "The number of threads per block is 1056, but A test GPU allows 1024.");
  EXPECT_TRUE(exceeds(launching({.kernel = "k", .block = {1, 1, 65}}), device()));
  EXPECT_TRUE(exceeds(launching({.kernel = "k", .grid = {1, 65536}}), device()));
  const Work shared = launching({.kernel = "k", .dynamic_shared_bytes = 48 * 1024});
  EXPECT_FALSE(exceeds(shared, device()));
  EXPECT_EQ(exceeds(shared, device(), 16),
            "The shared memory per block, in bytes, is 49168, but A test GPU allows 49152.");
  EXPECT_FALSE(exceeds(Work{.steps = {ConstantCopy{}, Zero{ArgumentPointer{0}, 4}}}, device()));
}

TEST(Op, TheParametersOfAKernelAreCountedWithWhatAlignsThem) {
  using Wide = std::vector<std::int64_t>;
  using Narrow = std::vector<std::int32_t>;
  const auto bytes = [](std::vector<KernelArgument> arguments) {
    return parameter_bytes({.kernel = "k", .arguments = std::move(arguments)});
  };
  EXPECT_EQ(bytes({}), 0);
  EXPECT_EQ(bytes({std::int32_t{1}, Narrow(3), 1.0f}), 20);
  EXPECT_EQ(bytes({std::int32_t{1}, Wide(3)}), 32);
  EXPECT_EQ(bytes({Narrow(3), ArgumentPointer{0}, Narrow(1), Wide(1), std::int32_t{1}, 1.0}), 56);
  EXPECT_EQ(argument_bytes(Narrow()), 0);
}

TEST(Op, ArraysThatAreTooLongForAKernelsParametersAreRefused) {
  const auto why = [](std::vector<KernelArgument> arguments) {
    return exceeds(launching({.kernel = "k", .arguments = std::move(arguments)}), device());
  };
  EXPECT_EQ(why({std::vector<std::int64_t>(511), ArgumentPointer{0}}), std::nullopt);
  EXPECT_EQ(why({std::vector<std::int32_t>(1023), std::int32_t{1}}), std::nullopt);
  EXPECT_EQ(
      why({std::int32_t{1}, std::vector<std::int64_t>(512)}),
      "The parameters of the kernel k are 4104 bytes, but CUDA grants every kernel 4096; give what is more "
      "in an array in memory.");
}

TEST(Op, WorkThatCopiesIntoItsModuleIsNotReentrant) {
  EXPECT_TRUE(reentrant(launching({})));
  EXPECT_TRUE(reentrant(Work{.steps = {Zero{ArgumentPointer{0}, 4}, Launch{}}}));
  EXPECT_FALSE(reentrant(Work{.steps = {ConstantCopy{}, Launch{}}}));
}

TEST(Op, ATemplateSaysWhyItDoesNotServe) {
  const Op op = scale_op();
  const Template& fixed = find_template(op, "fixed");
  const Problem problem = complete_problem(op, Problem::parse("n=8"));
  EXPECT_THAT(why_not(fixed, problem, device()).value_or(""), HasSubstr("8.0 or higher; A test GPU has 7.5"));
  DeviceFacts newer = device();
  newer.compute_capability = 90;
  EXPECT_FALSE(why_not(fixed, problem, newer));
  Template only = fixed;
  only.later_too = false;
  EXPECT_THAT(why_not(only, problem, newer).value_or(""), HasSubstr("8.0 and no other; A test GPU has 9.0"));
  newer.compute_capability = 80;
  EXPECT_FALSE(why_not(only, problem, newer));
  const Problem zero = complete_problem(op, Problem::parse("n=8 factor=0"));
  EXPECT_EQ(why_not(fixed, zero, newer).value_or(""), "A factor of 0 is not worth a kernel.");
  EXPECT_THROW((void)find_template(op, "tiled"), UsageError);
}

TEST(Op, WhatIsCompiledInFollowsTheOpsOrder) {
  const Op op = scale_op();
  const Problem problem = complete_problem(op, Problem::parse("n=8 factor=3"));
  EXPECT_EQ(compiled_in(op, op.templates[1], problem).text(), "factor=3 rounding=nearest dtype=f32");
  EXPECT_EQ(compiled_in(op, op.templates[0], problem).text(), "dtype=f32");
  EXPECT_EQ(base_config(op, problem).text(), "BLOCK=32 VECTOR=1 STORE_MODE=plain");
  EXPECT_EQ(alignment_bytes(op.templates[0], problem, {}), 4);
  EXPECT_EQ(elements(op.arguments[0], problem), 8);
}

TEST(Op, DTypesKnowTheirNamesAndSizes) {
  EXPECT_EQ(name(DType::bf16), "bf16");
  EXPECT_EQ(cuda_type(DType::f64), "double");
  EXPECT_EQ(bytes(DType::i64), 8);
  EXPECT_EQ(bytes(DType::b128), 16);
  EXPECT_EQ(dtype_of(Problem::parse("dtype=u8")), DType::u8);
  EXPECT_EQ(dtype_of(Problem::parse("dtype=b16")), DType::b16);
  EXPECT_THROW((void)dtype_of(Problem::parse("dtype=f8")), Error);
}

}  // namespace
}  // namespace tunesmith

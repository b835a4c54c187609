// SPDX-License-Identifier: Apache-2.0
// Tests templates on tensor cores with numbers that are hard to split into halves: sizes over many powers of
// two, single large and tiny numbers, long tails, sums that only grow. The op's bound is that of a plain sum,
// so the loss of a part is visible if the sum has no other terms. Tests variances of numbers far from 0,
// where a product that the compiler fuses with what follows is another number than the rounded one.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <numbers>

#include "generator/random.h"
#include "kernel_file/find_op.h"
#include "runtime/toolchain.h"
#include "tests/cuda/gpu.h"
#include "tests/op_checker.h"

namespace tunesmith {
namespace {

// The position of a number: the i-th of n.
struct Place {
  double i, n;
  double part() const { return i / n; }
};

// Changes a number between -1 and 1 into the kind that the name says.
using Number = double (*)(double x, Place at, Random& random);
struct Pattern {
  const char* name;
  Number sample;  ///< of the image or signal
  Number weight;  ///< of the mask or kernel
};

double same(double x, Place /*at*/, Random& /*random*/) { return x; }
double zero(double /*x*/, Place /*at*/, Random& /*random*/) { return 0; }
double positive(double x, Place /*at*/, Random& /*random*/) { return 1.5 + x / 2; }
bool once_in(std::uint64_t n, Random& random) { return random.below(n) == 0; }
double power(double lowest, double range, Random& random) {
  return std::exp2(lowest + range * (random.uniform() / 2 + 0.5));
}
double gaussian(Place at, double binades) {  // values get smaller by this many binades towards the ends
  const double from_centre = 2 * at.part() - 1;
  return std::exp2(-binades * from_centre * from_centre);
}
// Every other weight is 0 except for the rounding of a sine.
double half_band(double /*x*/, Place at, Random& /*random*/) {
  const double angle = std::numbers::pi / 2 * (at.i - std::floor(at.n / 2));
  return angle == 0 ? 1 : std::sin(angle) / angle;
}

constexpr Pattern patterns[] = {
    {"sizes over 27 binades", [](double x, Place, Random& r) { return std::copysign(power(-27, 27, r), x); },
     same},
    {"sizes over 27 binades, few of them, beside one",
     [](double x, Place at, Random& r) {
       if (at.i == 0) return 1.99;
       return once_in(150, r) ? std::copysign(power(-27, 20, r), x) : 0;
     },
     [](double x, Place, Random& r) { return std::copysign(power(-27, 27, r), x); }},
    {"sizes over 80 binades, few of them",
     [](double x, Place, Random& r) { return once_in(100, r) ? std::copysign(power(-40, 80, r), x) : 0; },
     same},
    {"sizes over 53 binades on both sides",
     [](double x, Place, Random& r) { return std::copysign(power(-53, 53, r), x); },
     [](double x, Place, Random& r) { return std::copysign(power(-53, 53, r), x); }},
    {"loud, then silent", [](double x, Place at, Random&) { return at.part() < 0.5 ? x : 1e-12 * x; }, same},
    {"every other tiny", [](double x, Place at, Random&) { return std::fmod(at.i, 2) == 0 ? x : 1e-11 * x; },
     positive},
    {"one number", [](double x, Place at, Random&) { return std::abs(at.part() - 0.4) < 1e-3 ? x : 0; },
     same},
    {"one number and a Gaussian mask",
     [](double, Place at, Random&) { return at.i == std::floor(at.n / 2) ? 1.0 : 0.0; },
     [](double, Place at, Random&) { return gaussian(at, 90); }},
    {"no number but 0", zero, same},
    {"a mask of zeros", same, zero},
    {"a mask of one number", same, [](double x, Place at, Random&) { return at.i == 1 ? x : 0; }},
    {"a sine and a half-band mask",
     [](double, Place at, Random&) { return std::sin(2 * std::numbers::pi * at.i / 48); }, half_band},
    {"positive numbers", positive, positive},
    {"numbers far from 0", [](double x, Place, Random&) { return 1000 + x; }, positive},
    {"positive numbers and a Gaussian mask", positive,
     [](double, Place at, Random&) { return gaussian(at, 26); }},
    {"a Gaussian mask with long tails", same, [](double, Place at, Random&) { return gaussian(at, 90); }},
    {"denormals among ordinary numbers",
     [](double x, Place, Random& r) { return once_in(3, r) ? x * 1e-39 : x; }, same},
    {"denormals", [](double x, Place, Random&) { return x * 0x1p-128; },
     [](double x, Place, Random&) { return x * 0x1p60; }},
    {"numbers below 2^40", [](double x, Place, Random&) { return x * 0x1p40; },
     [](double x, Place, Random&) { return x * 0x1p40; }},
    {"numbers around 2^40", [](double x, Place, Random&) { return x * 0x1.8p40; }, same},
    {"numbers around 2^-40", [](double x, Place, Random&) { return x * 0x1.8p-40; }, same},
    {"numbers around 2^60", same, [](double x, Place, Random&) { return x * 0x1p60; }},
    {"the largest floats", [](double x, Place, Random& r) { return once_in(50, r) ? x * 3e38 : x; },
     [](double x, Place at, Random&) { return x / (4 * at.n); }},
};

Alteration alteration(const Pattern& pattern) {
  return [&pattern](std::vector<std::vector<double>>& inputs) {
    Random random(7);
    for (std::size_t a = 0; a < 2; ++a) {
      const auto& number = a == 0 ? pattern.sample : pattern.weight;
      Place at = {0, static_cast<double>(inputs[a].size())};
      for (double& x : inputs[a]) {
        // Rounded as for the device, so that the reference has the same values.
        x = static_cast<double>(static_cast<float>(number(x, at, random)));
        ++at.i;
      }
    }
  };
}

class HardNumbersOnGpu : public GpuTest, public testing::WithParamInterface<TemplateCase> {};

TEST_P(HardNumbersOnGpu, AreNoLessAccurate) {
  const auto& [op, tmpl] = GetParam();
  std::vector<VariantCase> variants = test_variants(*op, *tmpl, 0, 1e8);
  std::set<std::string> seen;
  std::erase_if(variants, [&](const VariantCase& variant) {
    return why_not(*tmpl, variant.problem, device().facts()) ||
           exceeds(tmpl->work(variant.problem, variant.config), device().facts()) ||
           !seen.insert(variant.problem.text()).second;  // one config per problem
  });
  if (variants.empty()) GTEST_SKIP() << "no problem of the test suits the template on this GPU";
  std::vector<Source> sources;
  for (const VariantCase& variant : variants)
    sources.push_back(render(*op, *tmpl, variant.problem, variant.config, device().facts().target));
  const std::vector<Compilation> compiled = compile_all(*make_nvrtc_toolchain(), sources);
  for (const Pattern& pattern : patterns) {
    SCOPED_TRACE(pattern.name);
    OpChecker checker(device(), alteration(pattern));
    for (std::size_t i = 0; i < variants.size(); ++i) {
      ASSERT_TRUE(compiled[i].ok) << compiled[i].log;
      checker.check(GetParam(), compiled[i].bytes, sources[i].suffix, variants[i].problem, variants[i].config,
                    false);
    }
    std::cout << op->name << "/" << tmpl->name << ", " << pattern.name << ": " << checker.runs()
              << " runs; the largest error is " << checker.worst() << " of what is permitted\n";
    EXPECT_GT(checker.runs(), 0);
  }
}

// The templates that need a compute capability, in ops that take weights with a signal or an image.
std::vector<TemplateCase> on_tensor_cores() {
  std::vector<TemplateCase> cases = template_cases();
  std::erase_if(cases, [](const TemplateCase& which) {
    return which.tmpl->minimum_compute_capability < 80 || which.op->arguments.size() != 3 ||
           which.op->arguments[1].role != Role::input;
  });
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Ops, HardNumbersOnGpu, testing::ValuesIn(on_tensor_cores()),
                         [](const auto& info) { return info.param.op->name + "_" + info.param.tmpl->name; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(HardNumbersOnGpu);

class MomentsOnGpu : public GpuTest {};

// A thread's part of these lines is no power of two, so that its mean is rounded.
TEST_F(MomentsOnGpu, FarFromZeroKeepTheirDigits) {
  const Op& op = find_op("reduce");
  std::vector<TemplateCase> cases;
  std::vector<VariantCase> variants;
  std::vector<Source> sources;
  for (const char* function : {"var", "std", "mean_var"}) {
    for (const char* types : {"dtype=f64", "dtype=f32", "dtype=f32 sum_dtype=f64"}) {
      for (const char* sizes : {"outer=3 length=5000", "outer=40 length=61", "length=70003",
                                "length=5000 inner=3", "length=777 inner=300"}) {
        const Problem problem =
            complete_problem(op, Problem::parse(std::string(sizes) + " function=" + function + " " + types));
        for (const Template& tmpl : op.templates) {
          if (why_not(tmpl, problem, device().facts())) continue;
          const Config config = tmpl.space(problem, device().facts()).complete({});
          cases.push_back({&op, &tmpl});
          variants.push_back({problem, config});
          sources.push_back(render(op, tmpl, problem, config, device().facts().target));
        }
      }
    }
  }
  const std::vector<Compilation> compiled = compile_all(*make_nvrtc_toolchain(), sources);
  OpChecker checker(device(), [](std::vector<std::vector<double>>& inputs) {
    for (double& x : inputs[0]) x = static_cast<double>(static_cast<float>(1e4 + x));
  });
  for (std::size_t i = 0; i < variants.size(); ++i) {
    ASSERT_TRUE(compiled[i].ok) << compiled[i].log;
    checker.check(cases[i], compiled[i].bytes, sources[i].suffix, variants[i].problem, variants[i].config,
                  false);
  }
  std::cout << checker.runs() << " runs; the largest error is " << checker.worst()
            << " of what is permitted\n";
  EXPECT_EQ(checker.failed(), 0) << "of " << checker.runs();
  EXPECT_GT(checker.runs(), 90);
}

}  // namespace
}  // namespace tunesmith

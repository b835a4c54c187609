// Templates on tensor cores with numbers that are hard to split into halves: sizes over many powers of two,
// lone and tiny numbers, long tails, sums that only grow. The op's bound is that of a plain sum, so a part
// that is lost shows where nothing else is in the sum.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "dispatch/toolchain.h"
#include "generator/random.h"
#include "tests/cuda/gpu.h"
#include "tests/op_checker.h"

namespace tunesmith {
namespace {

// Numbers between -1 and 1 become what the name says; `n` of `count` and a random number help.
struct Pattern {
  const char* name;
  double (*sample)(double x, double position, Random& random);  ///< for the image or signal
  double (*weight)(double x, double position, Random& random);  ///< for the mask
};

double same(double x, double /*position*/, Random& /*random*/) { return x; }
double zero(double /*x*/, double /*position*/, Random& /*random*/) { return 0; }
double positive(double x, double /*position*/, Random& /*random*/) { return 1.5 + x / 2; }
bool once_in(std::uint64_t n, Random& random) { return random.below(n) == 0; }
double power(double lowest, double range, Random& random) {
  return std::exp2(lowest + range * (random.uniform() / 2 + 0.5));
}
double gaussian(double position, double binades) {  // that many binades smaller at the ends
  const double from_centre = 2 * position - 1;
  return std::exp2(-binades * from_centre * from_centre);
}

constexpr Pattern patterns[] = {
    {"sizes over 27 binades", [](double x, double, Random& r) { return std::copysign(power(-27, 27, r), x); },
     same},
    {"sizes over 27 binades, few of them, beside one",
     [](double x, double position, Random& r) {
       if (position == 0) return 1.99;
       return once_in(150, r) ? std::copysign(power(-27, 20, r), x) : 0;
     },
     [](double x, double, Random& r) { return std::copysign(power(-27, 27, r), x); }},
    {"sizes over 80 binades, few of them",
     [](double x, double, Random& r) { return once_in(100, r) ? std::copysign(power(-40, 80, r), x) : 0; },
     same},
    {"one number", [](double x, double position, Random&) { return std::abs(position - 0.4) < 1e-3 ? x : 0; },
     same},
    {"no number but 0", zero, same},
    {"a mask of zeros", same, zero},
    {"a mask of one number", same,
     [](double x, double position, Random&) { return position < 0.5    ? 0
                                                     : position < 0.52 ? x
                                                                       : 0; }},
    {"positive numbers", positive, positive},
    {"numbers far from 0", [](double x, double, Random&) { return 1000 + x; }, positive},
    {"positive numbers and a Gaussian mask", positive,
     [](double, double position, Random&) { return gaussian(position, 26); }},
    {"a Gaussian mask with long tails", same,
     [](double, double position, Random&) { return gaussian(position, 90); }},
    {"denormals among ordinary numbers",
     [](double x, double, Random& r) { return once_in(3, r) ? x * 1e-39 : x; }, same},
    {"numbers below 2^40", [](double x, double, Random&) { return x * 0x1p40; },
     [](double x, double, Random&) { return x * 0x1p40; }},
    {"numbers around 2^40", [](double x, double, Random&) { return x * 0x1.8p40; }, same},
    {"numbers around 2^-40", [](double x, double, Random&) { return x * 0x1.8p-40; }, same},
    {"the largest floats", [](double x, double, Random& r) { return once_in(50, r) ? x * 3e38 : x; },
     [](double x, double, Random&) { return x / 1024; }},
};

Alteration alteration(const Pattern& pattern) {
  return [&pattern](std::vector<std::vector<double>>& inputs) {
    Random random(7);
    for (std::size_t a = 0; a < 2; ++a) {
      const auto& number = a == 0 ? pattern.sample : pattern.weight;
      const auto size = static_cast<double>(inputs[a].size());
      double at = 0;
      for (double& x : inputs[a]) {
        // As the device sees it, for the reference too.
        x = static_cast<double>(static_cast<float>(number(x, at++ / size, random)));
      }
    }
  };
}

class HardNumbersOnGpu : public GpuTest, public testing::WithParamInterface<TemplateCase> {};

TEST_P(HardNumbersOnGpu, AreNoLessAccurate) {
  const auto& [op, of] = GetParam();
  std::vector<VariantCase> variants = test_variants(*op, *of, 0, 1e8);
  std::set<std::string> seen;
  std::erase_if(variants, [&](const VariantCase& variant) {
    return why_not(*of, variant.problem, device().facts()) ||
           exceeds(of->work(variant.problem, variant.config), device().facts()) ||
           !seen.insert(variant.problem.text()).second;  // one config a problem
  });
  if (variants.empty()) GTEST_SKIP() << "no problem of the test suits the template on this GPU";
  std::vector<Source> sources;
  for (const VariantCase& variant : variants)
    sources.push_back(render(*op, *of, variant.problem, variant.config, device().facts().target));
  const std::vector<Compiled> compiled = compile_all(*make_nvrtc_toolchain(), sources);
  for (const Pattern& pattern : patterns) {
    SCOPED_TRACE(pattern.name);
    OpChecker checker(device(), alteration(pattern));
    for (std::size_t i = 0; i < variants.size(); ++i) {
      ASSERT_TRUE(compiled[i].ok) << compiled[i].log;
      checker.check(GetParam(), compiled[i].bytes, sources[i].suffix, variants[i].problem, variants[i].config,
                    false);
    }
    std::cout << op->name << "/" << of->name << ", " << pattern.name << ": " << checker.runs()
              << " runs; the largest error is " << checker.worst() << " of what is permitted\n";
    EXPECT_GT(checker.runs(), 0);
  }
}

// Templates that need a compute capability and take a signal and a mask.
std::vector<TemplateCase> on_tensor_cores() {
  std::vector<TemplateCase> cases = template_cases();
  std::erase_if(cases, [](const TemplateCase& which) {
    return which.of->minimum_compute_capability < 80 || which.op->arguments.size() != 3 ||
           which.op->arguments[1].name != "mask";
  });
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Ops, HardNumbersOnGpu, testing::ValuesIn(on_tensor_cores()),
                         [](const auto& info) { return info.param.op->name + "_" + info.param.of->name; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(HardNumbersOnGpu);

}  // namespace
}  // namespace tunesmith

// Templates that split floats for matrix products, and their peers, on numbers that a split finds hard: sizes
// far apart within a window, sums of one sign, zeros, numbers near the ends of what is scaled, and beyond.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <iostream>
#include <numbers>

#include "dispatch/toolchain.h"
#include "tests/cuda/gpu.h"
#include "tests/op_checker.h"

namespace tunesmith {
namespace {

struct Numbers {
  const char* name;
  // Of the i-th of n, from a random number in [-1, 1).
  std::function<double(double i, double n, double random)> at;
};

double decades(double random, double most) {
  return std::copysign(std::pow(10, -most * random * random), random);
}

const std::vector<Numbers> samples = {
    {"random", [](double, double, double r) { return r; }},
    {"of one sign", [](double, double, double r) { return 3 + r; }},
    {"16 decades", [](double, double, double r) { return decades(r, 16); }},
    {"loud, then silent", [](double i, double n, double r) { return i < n / 2 ? r : 1e-12 * r; }},
    {"every other tiny", [](double i, double, double r) { return std::fmod(i, 2) == 0 ? r : 1e-11 * r; }},
    {"impulse", [](double i, double n, double) { return i == std::floor(n / 2) ? 1.0 : 0.0; }},
    {"zero", [](double, double, double) { return 0.0; }},
    {"sine", [](double i, double, double) { return std::sin(2 * std::numbers::pi * i / 48); }},
    {"near 2^40", [](double, double, double r) { return std::ldexp(r, 40); }},
    {"near 2^-40", [](double, double, double r) { return std::ldexp(r, -40); }},
    {"near 2^60", [](double, double, double r) { return std::ldexp(r, 60); }},
    {"denormal", [](double, double, double r) { return std::ldexp(r, -128); }},
};

const std::vector<Numbers> taps = {
    {"random", [](double, double, double r) { return r; }},
    {"of one sign", [](double, double, double r) { return 3 + r; }},
    {"16 decades", [](double, double, double r) { return decades(r, 16); }},
    {"Gaussian with tails",
     [](double i, double n, double) { return std::exp(-0.5 * std::pow((i - (n - 1) / 2) / (n / 16), 2)); }},
    {"half-band",
     [](double i, double n, double) {
       const double x = std::numbers::pi / 2 * (i - (n - 1) / 2);
       return x == 0 ? 1 : std::sin(x) / x;
     }},
    {"every other zero", [](double i, double, double r) { return std::fmod(i, 2) == 0 ? r : 0.0; }},
    {"delay", [](double i, double, double) { return i == 1 ? 1.0 : 0.0; }},
    {"zero", [](double, double, double) { return 0.0; }},
    {"near 2^-39", [](double, double, double r) { return std::ldexp(r, -39); }},
    {"near 2^60", [](double, double, double r) { return std::ldexp(r, 60); }},
};

std::vector<double> filled(const Numbers& numbers, std::int64_t size, double scale, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> values(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double number = numbers.at(static_cast<double>(i), static_cast<double>(size), random.uniform());
    values[i] = round_to(DType::f32, scale * number);
  }
  return values;
}

class HardNumbersOnGpu : public GpuTest, public testing::WithParamInterface<TemplateCase> {};

TEST_P(HardNumbersOnGpu, AreWithinTheContract) {
  const auto& [op, of] = GetParam();
  for (const char* text : {"length=40001 taps=255 mode=same", "length=5000 taps=32 function=correlate",
                           "length=3000 taps=1023 mode=valid batch=2"}) {
    const Problem problem = complete_problem(*op, Values::parse(text));
    if (why_not(*of, problem, device().facts())) continue;
    const Space space = of->space(problem);
    std::vector<Config> configs = {space.complete({})};
    for (const Config& config : space.sample(5, 7)) configs.push_back(config);
    std::vector<Source> sources;
    for (const Config& config : configs)
      sources.push_back(render(*op, *of, problem, config, device().facts().target));
    const std::vector<Compiled> compiled = compile_all(*make_nvrtc_toolchain(), sources);
    std::vector<std::unique_ptr<Executable>> executables;
    for (std::size_t c = 0; c < configs.size(); ++c) {
      ASSERT_TRUE(compiled[c].ok) << compiled[c].log;
      const Work work = of->work(problem, configs[c]);
      executables.push_back(exceeds(work, device().facts())
                                ? nullptr
                                : device().load(compiled[c].bytes, sources[c].suffix, work));
    }
    std::vector<std::unique_ptr<Array>> arrays;
    std::vector<void*> pointers;
    for (const Argument& argument : op->arguments) {
      arrays.push_back(std::make_unique<Array>(device(), 4 * elements(argument, problem)));
      pointers.push_back(arrays.back()->get());
    }
    double worst = 0;
    std::string worst_case;
    for (const Numbers& sample : samples) {
      for (const Numbers& tap : taps) {
        // Sums that a float cannot hold in full are outside the contract.
        if (std::string_view(tap.name) == "near 2^60" && std::string_view(sample.name) == "near 2^60")
          continue;
        const double scale = std::string_view(sample.name) == "denormal" ? 0x1p60 : 1;
        std::vector<std::vector<double>> inputs = {filled(sample, elements(op->arguments[0], problem), 1, 1),
                                                   filled(tap, elements(op->arguments[1], problem), scale, 2),
                                                   {}};
        for (std::size_t a = 0; a < 2; ++a) {
          const std::string bytes = pack(DType::f32, inputs[a]);
          device().upload(pointers[a], bytes.data(), static_cast<std::int64_t>(bytes.size()));
        }
        const std::int64_t count = elements(op->arguments[2], problem);
        const Expected expected = reference_of(*op, problem, inputs, 2);
        for (std::size_t c = 0; c < executables.size(); ++c) {
          if (!executables[c]) continue;
          device().fill(pointers[2], 0xff, 4 * count);
          ASSERT_EQ(executables[c]->launch(pointers.data(), nullptr, nullptr), 0);
          device().synchronize();
          std::string bytes(static_cast<std::size_t>(4 * count), '\0');
          device().download(bytes.data(), pointers[2], 4 * count);
          const std::vector<double> found = unpack(DType::f32, bytes);
          for (std::size_t i = 0; i < found.size(); ++i) {
            const double error = std::abs(found[i] - expected.value[i]);
            ASSERT_LE(error, expected.permitted_error[i])
                << "output " << i << " of " << text << ", samples " << sample.name << ", taps " << tap.name
                << " is " << found[i] << " instead of " << expected.value[i] << "; " << configs[c].text();
            if (error > worst * expected.permitted_error[i]) {
              worst = error / expected.permitted_error[i];
              worst_case = std::string("samples ") + sample.name + ", taps " + tap.name;
            }
          }
        }
      }
    }
    std::cout << op->name << "/" << of->name << " " << text << ": the largest error is " << worst
              << " of what is permitted, for " << worst_case << "\n";
  }
}

std::vector<TemplateCase> conv1d_templates() {
  std::vector<TemplateCase> cases = template_cases();
  std::erase_if(cases, [](const TemplateCase& which) { return which.op->name != "conv1d"; });
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Conv1d, HardNumbersOnGpu, testing::ValuesIn(conv1d_templates()),
                         [](const auto& info) { return info.param.of->name; });

}  // namespace
}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
#include "generator/sample.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "generator/error.h"

namespace tunesmith {
namespace {

// The number of draws for one problem; all of them fail only if the range is nearly exhausted.
constexpr int most_attempts = 2000;

// Sizes of images, layers, signals, vocabularies and tables.
constexpr std::array<std::int64_t, 36> familiar = {3,    7,    9,    13,   28,   33,    49,    50,    63,
                                                   77,   96,   100,  120,  127,  197,   224,   240,   299,
                                                   384,  480,  640,  720,  768,  1080,  1280,  1440,  1920,
                                                   2160, 3840, 4320, 7680, 8000, 16000, 44100, 48000, 50257};

std::int64_t power_of_two(double size) { return std::int64_t{1} << std::lround(std::log2(size)); }

// Rounds to a number with one or two digits that are not 0.
std::int64_t round_decimal(double size, bool two_digits) {
  const double unit = std::pow(10, std::max(0.0, std::floor(std::log10(size)) - (two_digits ? 1 : 0)));
  return static_cast<std::int64_t>(unit) * std::lround(size / unit);
}

std::int64_t nearest_familiar(double size) {
  const auto octaves = [&](std::int64_t other) {
    return std::abs(std::log2(static_cast<double>(other) / size));
  };
  return *std::min_element(familiar.begin(), familiar.end(),
                           [&](std::int64_t a, std::int64_t b) { return octaves(a) < octaves(b); });
}

Problem draw_problem(const Op& op, Random& random) {
  Problem problem;
  for (const Parameter& parameter : op.parameters) {
    const bool varies =
        parameter.is_integer() ? parameter.usual.has_value() : parameter.categories.size() > 1;
    if (parameter.initial && (!varies || draw_chance(random, 50))) {
      problem.set(parameter.name, *parameter.initial);
    } else if (parameter.is_integer()) {
      const UsualSizes all = {std::max<std::int64_t>(parameter.minimum, 1), parameter.maximum};
      const UsualSizes usual = parameter.usual.value_or(all);
      problem.set(parameter.name, draw_size(random, usual.least, usual.most));
    } else if (!parameter.categories.empty()) {
      problem.set(parameter.name, draw(random, parameter.categories));
    }
  }
  if (op.sample) op.sample(random, problem);
  return problem;
}

}  // namespace

bool affordable(const Op& op, const Problem& problem, const SampleLimits& limits) {
  double bytes = 0;
  for (const Argument& argument : op.arguments) bytes += size_bytes(argument, problem);
  return bytes <= limits.bytes && op.flops(problem) <= limits.flops &&
         !op.templates.front().work(problem, base_config(op, problem)).steps.empty();
}

bool draw_chance(Random& random, int percent) {
  return random.below(100) < static_cast<std::uint64_t>(percent);
}

std::int64_t draw_size(Random& random, std::int64_t least, std::int64_t most) {
  const double share = (random.uniform() + 1) / 2;
  const double low = std::log2(static_cast<double>(least));
  const double size = std::exp2(low + share * (std::log2(static_cast<double>(most)) - low));
  const std::int64_t any = std::llround(size);
  const auto rounded = [&]() -> std::int64_t {
    switch (random.below(8)) {
      case 0:
      case 1:
        return power_of_two(size);
      case 2:
        return round_decimal(size, false);
      case 3:
        return round_decimal(size, true);
      case 4: {
        const std::int64_t nearest = nearest_familiar(size);
        return nearest < 2 * any && any < 2 * nearest ? nearest : any;
      }
      case 5: {
        const std::int64_t multiple = std::int64_t{2} << random.below(6);  // 2 to 64
        return (any + multiple - 1) / multiple * multiple;
      }
      case 6:
        return any | 1;
      default:
        return any;
    }
  };
  return std::clamp(rounded(), least, most);
}

SampleLimits sample_limits(DeviceKind device_kind) {
  return device_kind == DeviceKind::host ? SampleLimits{.bytes = 0x1p18, .flops = 1e6} : SampleLimits{};
}

Problem with_constants_of(const Op& op, const Problem& problem, const Problem& other,
                          const SampleLimits& limits) {
  Problem mixed = problem;
  for (const Template& tmpl : op.templates)
    for (const std::string& name : tmpl.compiled_in) mixed.set(name, *other.find(name));
  if (mixed == other) return problem;  // all is compiled in, so that nothing could be shared
  try {
    Problem complete = complete_problem(op, mixed);
    if (affordable(op, complete, limits)) return complete;
  } catch (const UsageError&) {
    // The sizes and the constants do not go together.
  }
  return problem;
}

std::vector<Problem> sample_problems(const Op& op, std::size_t count, std::uint64_t seed,
                                     const SampleLimits& limits) {
  std::vector<Problem> problems;
  Random random(seed);
  for (int attempts = 0; problems.size() < count; ++attempts) {
    if (attempts == most_attempts) {
      throw Error("The usual range of " + op.name + " holds hardly more than " +
                  std::to_string(problems.size()) + " problems; ask for fewer than " + std::to_string(count) +
                  ".");
    }
    try {
      Problem problem = complete_problem(op, draw_problem(op, random));
      if (!affordable(op, problem, limits) ||
          std::find(problems.begin(), problems.end(), problem) != problems.end())
        continue;
      problems.push_back(std::move(problem));
      attempts = 0;
    } catch (const UsageError&) {
      // These values do not go together.
    }
  }
  return problems;
}

}  // namespace tunesmith

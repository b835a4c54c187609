// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/policy.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "generator/error.h"
#include "generator/listed.h"
#include "generator/number_text.h"

namespace tunesmith {

MeasureLimits limits_for(DeviceKind device_kind) {
  MeasureLimits limits;
  if (device_kind == DeviceKind::host) {  // a kernel is emulated thread by thread
    limits.least_s = 20;
    limits.rate = 1e6;
  }
  return limits;
}

double measure_limit_s(const MeasureLimits& limits, double base_s, double amount) {
  if (base_s > 0) return std::max(limits.least_s, limits.base_times * base_s);
  constexpr double most_launches = 50;  // in a check and a timing whose launches are long
  constexpr double least_s = 60;
  constexpr double most_s = 86400;
  return std::min(least_s + most_launches * amount / limits.rate, most_s);
}

Policy policy_for(DeviceKind device_kind) {
  Policy policy;
  if (device_kind == DeviceKind::host) {
    policy.samples = 3;
    policy.final_rounds = 6;
    policy.final_samples = 1;
    policy.sure = 0.95;
    policy.finalists = 4;
    policy.list_loads = 1;  // loads are alike
  }
  return policy;
}

std::vector<std::size_t> choose_finalists(const std::vector<Contender>& contenders,
                                          std::int64_t element_bytes, const Policy& policy) {
  std::vector<const Contender*> sorted;
  for (const Contender& contender : contenders) {
    if (contender.may_win) sorted.push_back(&contender);
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Contender* a, const Contender* b) { return a->median_us < b->median_us; });
  std::vector<std::size_t> chosen;
  const auto take = [&](bool plain) {
    std::size_t taken = 0;
    double best = 0;
    for (const Contender* contender : sorted) {
      if (plain && contender->alignment_bytes > element_bytes) continue;
      if (best == 0) best = contender->median_us;
      if (taken == policy.finalists || contender->median_us > best * (1 + policy.final_within)) break;
      ++taken;
      if (std::find(chosen.begin(), chosen.end(), contender->index) == chosen.end()) {
        chosen.push_back(contender->index);
      }
    }
  };
  take(false);
  take(true);
  return chosen;
}

namespace {

// Adds one of a budget's words; false if it is no such word.
bool add_to(Budget& budget, std::string_view word) {
  struct Unit {
    std::string_view name;
    double seconds;
  };
  static constexpr std::array<Unit, 6> units = {
      {{"s", 1}, {"sec", 1}, {"m", 60}, {"min", 60}, {"h", 3600}, {"ms", 1e-3}}};
  std::string_view unit = word;
  const double value = take_number<double>(unit).value_or(0);
  if (value <= 0 || !std::isfinite(value)) return false;
  if (unit.empty()) {
    if (budget.count || value != std::floor(value) || value >= 1e15) return false;
    budget.count = static_cast<std::int64_t>(value);
    return true;
  }
  for (const Unit& known : units) {
    if (known.name != unit || budget.seconds) continue;
    budget.seconds = value * known.seconds;
    return true;
  }
  return false;
}

}  // namespace

Budget Budget::parse(std::string_view text) {
  Budget budget;
  if (text == "all") return budget;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    if (!add_to(budget, rest.substr(0, comma))) break;
    if (comma == std::string_view::npos) return budget;
    rest.remove_prefix(comma + 1);
  }
  throw UsageError("The budget " + std::string(text) +
                   " is not understood; give a time per problem (60s, 5min, 1h), a number of variants (500), "
                   "both with a comma between them (60s,500), or all.");
}

std::string budget_text(const std::string& budget) {
  const Budget parsed = Budget::parse(budget);
  if (!parsed.count) return parsed.seconds ? budget : "all variants";
  std::string count = counted(static_cast<std::size_t>(*parsed.count), "variant");
  if (!parsed.seconds) return count;
  const std::size_t comma = budget.find(',');
  const std::string first = budget.substr(0, comma);
  return (Budget::parse(first).seconds ? first : budget.substr(comma + 1)) + " or " + count;
}

double least_gain_of(std::string_view text) {
  std::string_view unit = text;
  const double value = take_number<double>(unit).value_or(0);
  if (unit != "%" || !(value > 0) || value > 100)
    throw UsageError("--until is " + std::string(text) +
                     ", but it is a part of the best time in percent, above 0 and at most 100; give one such "
                     "as 0.5%.");
  return value / 100;
}

double search_share_s(double left_s, double weight, double weight_left) {
  constexpr double search = 0.6, least_s = 0.5;
  return std::max(least_s, search * left_s * weight / weight_left);
}

}  // namespace tunesmith

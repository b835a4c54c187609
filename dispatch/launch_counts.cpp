// SPDX-License-Identifier: Apache-2.0
#include "dispatch/launch_counts.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "dispatch/plan_state.h"
#include "generator/number_text.h"
#include "generator/problem_list.h"
#include "generator/rates.h"

namespace tunesmith {
namespace {

// Bounds of a problem's time from below if no time of it is known. They are guesses, which only order
// problems.
struct Bounds {
  double launch_us, bytes_per_us, flops_per_us;
};
Bounds bounds_of(const DeviceFacts& device) {
  if (device.kind == DeviceKind::host) return {.launch_us = 1, .bytes_per_us = 1e3, .flops_per_us = 1e3};
  const double multiprocessors = multiprocessors_to_fill(device);
  return {.launch_us = 2, .bytes_per_us = 2e4 * multiprocessors, .flops_per_us = 1e5 * multiprocessors};
}

// The gain of tuning as a part of the least time, for what another device's winner loses: a guess. A rate
// says what the base loses.
constexpr double lost_by_another = 0.5;

// The loss of one launch.
double lost_us(const ProblemLaunches& use, const Problem& problem, const DeviceFacts& device) {
  if (use.match == Match::exact) return 0;
  if (use.expected_us > 0) return use.expected_us * use.expected_loss / (1 + use.expected_loss);
  if (use.op->templates.front().work(problem, base_config(*use.op, problem)).steps.empty()) return 0;
  const Bounds bounds = bounds_of(device);
  const double least_us = bounds.launch_us + std::max(bytes_moved(*use.op, problem) / bounds.bytes_per_us,
                                                      use.op->flops(problem) / bounds.flops_per_us);
  if (use.match != Match::base) return least_us * lost_by_another;
  return least_us * (rates_of("any", device).value("any", "base_over_winner") - 1);
}

std::string about(double value) { return printed(value < 10 ? "%.2f" : "%.0f", value); }

}  // namespace

std::uint64_t Count::sum() const noexcept {
  std::uint64_t sum = 0;
  for (const CacheLine& line : lines_) sum += line.value.load(std::memory_order_relaxed);
  return sum;
}

void LaunchCounts::begin(PlanState& plan) {
  constexpr std::size_t about = sizeof(ProblemLaunches) + 256;
  const std::scoped_lock lock(mutex_);
  const std::pair<std::string_view, std::string> key(plan.op->name, plan.problem_text);
  auto found = uses_.find(key);
  if (found == uses_.end()) {
    if ((uses_.size() + 1) * about > most_bytes_) forget_half();
    found = uses_.emplace(key, std::make_shared<ProblemLaunches>()).first;
  }
  ProblemLaunches& use = *found->second;
  use.op = plan.op;
  use.match = plan.match;
  use.expected_us = plan.expected_us;
  use.expected_loss = plan.expected_loss;
  plan.use = found->second;
}

// Forgets the half with the fewest launches. If a plan of a forgotten problem is still launched, its later
// launches are counted, but no list shows them.
void LaunchCounts::forget_half() {
  if (uses_.empty()) return;
  std::vector<std::uint64_t> launches;
  launches.reserve(uses_.size());
  for (const auto& [key, use] : uses_) launches.push_back(use->launches.sum());
  const auto middle = launches.begin() + static_cast<std::ptrdiff_t>(launches.size() / 2);
  std::nth_element(launches.begin(), middle, launches.end());
  std::size_t left = launches.size() - launches.size() / 2;
  std::erase_if(uses_, [&](const auto& one) {
    if (left == 0 || one.second->launches.sum() > *middle) return false;
    --left;
    return true;
  });
}

std::vector<Usage> LaunchCounts::all() const {
  std::vector<Usage> all;
  const std::scoped_lock lock(mutex_);
  for (const auto& [key, use] : uses_) {
    const std::uint64_t launches = use->launches.sum();
    if (launches == 0) continue;
    all.push_back(
        {.op = std::string(key.first),
         .problem = key.second,
         .match = use->match,
         .launches = launches,
         .expected_us = use->expected_us,
         .expected_loss = use->expected_loss,
         .lost_us = static_cast<double>(launches) * lost_us(*use, Problem::parse(key.second), device_)});
  }
  std::sort(all.begin(), all.end(), [](const Usage& a, const Usage& b) {
    return std::tuple(-a.lost_us, b.launches, std::string_view(a.op), std::string_view(a.problem)) <
           std::tuple(-b.lost_us, a.launches, std::string_view(b.op), std::string_view(b.problem));
  });
  return all;
}

std::string problems_text(const std::vector<Usage>& uses, const DeviceFacts& device) {
  std::string text =
      "# For \"tunesmith tune --problems FILE\", the most valuable first. A weight is the time in "
      "microseconds\n"
      "# that tuning is expected to save in all launches of a run like the one that wrote this, on\n# " +
      device.name + "; 0: it is tuned.\n";
  for (const Usage& use : uses) {
    text +=
        problem_line(
            {.op = use.op, .weight = std::max(0.0, use.lost_us), .problem = Problem::parse(use.problem)}) +
        "  # " + std::to_string(use.launches) + (use.launches == 1 ? " launch, " : " launches, ") +
        std::string(name(use.match)) +
        (use.expected_us > 0
             ? ", " + about(use.expected_us) + " us each, " +
                   std::to_string(std::lround(100 * use.expected_loss)) + " % behind the best expected"
             : std::string(", a guess")) +
        "\n";
  }
  return text;
}

}  // namespace tunesmith

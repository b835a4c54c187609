// SPDX-License-Identifier: Apache-2.0
#include "choose/nearest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

namespace tunesmith {
namespace {

double apart(const Value& a, const Value& b, const Nearness& nearness) {
  if (a == b) return 0;
  if (a.index() != b.index() || std::holds_alternative<std::string>(a)) return nearness.other_word;
  return nearness.unequal + std::abs(log2_of(a) - log2_of(b));
}

// Moves each value to the nearest value of its axis in the space.
Values on_axes(const Space& space, const Values& values, const Nearness& nearness) {
  Values kept;
  for (const Axis& axis : space.axes()) {
    const Value* const wanted = values.find(axis.name);
    if (wanted == nullptr || wanted->index() != axis.values.front().index()) continue;
    const auto nearest =
        std::min_element(axis.values.begin(), axis.values.end(), [&](const Value& a, const Value& b) {
          return apart(a, *wanted, nearness) < apart(b, *wanted, nearness);
        });
    if (!std::holds_alternative<std::string>(*wanted) || *nearest == *wanted) kept.set(axis.name, *nearest);
  }
  return kept;
}

Values without(const Values& values, std::string_view a, std::string_view b) {
  Values rest;
  for (const auto& [name, value] : values.entries()) {
    if (name != a && name != b) rest.set(name, value);
  }
  return rest;
}

// Keeps the config nearest to the wanted values among those that it is shown; the first of several as near.
class NearestConfig {
 public:
  NearestConfig(const Values& wanted, const Nearness& nearness) : wanted_(wanted), nearness_(nearness) {}
  void consider(std::optional<Config> config) {
    if (!config) return;
    double distance = 0;
    for (std::size_t axis = 0; axis < config->axes().size(); ++axis)
      if (const Value* const wanted = wanted_.find(config->axes()[axis].name))
        distance += apart(config->value(axis), *wanted, nearness_);
    if (distance >= least_) return;
    least_ = distance;
    nearest_ = std::move(config);
  }
  const std::optional<Config>& nearest() const { return nearest_; }

 private:
  const Values& wanted_;
  const Nearness& nearness_;
  std::optional<Config> nearest_;
  double least_ = std::numeric_limits<double>::infinity();
};

std::optional<Config> usable(const Template& tmpl, const Problem& problem, const DeviceFacts& device,
                             const Space& space, const Values& values) {
  Config config = space.complete(values);
  const Work work = tmpl.work(problem, config, device);
  if (!reentrant(work) || exceeds(work, device)) return std::nullopt;
  return config;
}

std::optional<Config> guess_of(const Template& tmpl, const Problem& problem, const DeviceFacts& device) {
  if (!tmpl.untuned || why_not(tmpl, problem, device)) return std::nullopt;
  const auto values = tmpl.untuned(problem, device);
  if (!values) return std::nullopt;
  return usable(tmpl, problem, device, tmpl.space(problem, device), *values);
}

std::optional<Config> config_of_way(const Template& tmpl, const Problem& problem, const DeviceFacts& device,
                                    const Space& space, const Values& way) {
  if (why_not(tmpl, problem, device)) return std::nullopt;
  const auto values = tmpl.untuned_way(problem, device, way);
  if (!values) return std::nullopt;
  return usable(tmpl, problem, device, space, *values);
}

bool has_way(const Template& tmpl, const Values& values) {
  return std::find(tmpl.ways.begin(), tmpl.ways.end(), values) != tmpl.ways.end();
}

}  // namespace

std::optional<Config> adapted(const Space& space, const Values& values) {
  const std::optional<Config> moved = space.on_axes(on_axes(space, values, one_number));
  if (!moved) return std::nullopt;
  Config config = space.named(*moved);
  constexpr int most_rounds = 4;  // a changed value may change what the next one means
  for (int round = 0; round < most_rounds && space.translation(); ++round) {
    Values its = config.values();
    const Values before = its, changed = space.translation()(config);
    for (const auto& [name, value] : changed.entries()) its.set(name, value);
    if (its == before) break;
    const std::optional<Config> translated = space.on_axes(its);
    if (!translated) return std::nullopt;
    config = space.named(*translated);
  }
  if (space.is_legal(config)) return config;
  const Values its = config.values();
  NearestConfig nearest(its, one_number);
  for (Config& neighbour : space.neighbours(its)) nearest.consider(std::move(neighbour));
  return nearest.nearest();
}

std::optional<Config> config_on(const Op& op, const Template& tmpl, const Problem& problem,
                                const DeviceFacts& device, const Space& space, const Values& values) {
  if (!op.kind) return space.find(values);
  if (has_way(tmpl, values)) return config_of_way(tmpl, problem, device, space, values);
  if (!is_guess(op, tmpl.name, values)) return adapted(space, values);
  auto guess = first_guess(op, problem, device);
  return guess && guess->tmpl == &tmpl ? std::optional(std::move(guess->config)) : std::nullopt;
}

std::optional<UntunedVariant> first_guess(const Op& op, const Problem& problem, const DeviceFacts& device) {
  for (const Template& tmpl : op.templates)
    if (auto config = guess_of(tmpl, problem, device)) return UntunedVariant{&tmpl, std::move(*config)};
  return std::nullopt;
}

std::vector<UntunedVariant> untuned(const Op& op, const Problem& problem, const DeviceFacts& device) {
  std::vector<UntunedVariant> found;
  for (const Template& tmpl : op.templates)
    if (auto config = guess_of(tmpl, problem, device)) found.push_back({&tmpl, std::move(*config)});
  return found;
}

std::vector<UntunedVariant> ways(const Op& op, const Problem& problem, const DeviceFacts& device) {
  std::vector<UntunedVariant> found;
  for (const Template& tmpl : op.templates) {
    if (tmpl.ways.empty() || why_not(tmpl, problem, device)) continue;
    const Space space = tmpl.space(problem, device);
    for (const Values& way : tmpl.ways)
      if (auto config = config_of_way(tmpl, problem, device, space, way))
        found.push_back({&tmpl, std::move(*config)});
  }
  return found;
}

bool is_guess(const Op& op, std::string_view template_name, const Values& values) {
  return op.kind != nullptr && values.empty() &&
         std::any_of(op.templates.begin(), op.templates.end(), [&](const Template& tmpl) {
           return tmpl.name == template_name && tmpl.untuned != nullptr;
         });
}

bool is_way(const Op& op, std::string_view template_name, const Values& values) {
  return op.kind != nullptr &&
         std::any_of(op.templates.begin(), op.templates.end(), [&](const Template& tmpl) {
           return tmpl.name == template_name && has_way(tmpl, values);
         });
}

bool is_guess_or_way(const Op& op, std::string_view template_name, const Values& values) {
  return is_guess(op, template_name, values) || is_way(op, template_name, values);
}

std::optional<Config> nearest_legal(const Space& space, const Values& values, const Nearness& nearness) {
  NearestConfig nearest(values, nearness);
  if (nearness.most_axes < 2) {
    if (auto config = space.find(values)) return config;
    for (Config& neighbour : space.neighbours(values)) nearest.consider(std::move(neighbour));
    return nearest.nearest();
  }
  const Values kept = on_axes(space, values, nearness);
  if (auto config = space.first(kept)) return config;
  for (const Axis& axis : space.axes()) {
    Values changed = kept;
    for (const Value& value : axis.values) {
      changed.set(axis.name, value);
      nearest.consider(space.first(changed));
    }
  }
  if (nearest.nearest()) return nearest.nearest();
  for (const Axis& a : space.axes()) {
    for (const Axis& b : space.axes()) {
      if (a.name < b.name) nearest.consider(space.first(without(kept, a.name, b.name)));
    }
  }
  return nearest.nearest();
}

}  // namespace tunesmith

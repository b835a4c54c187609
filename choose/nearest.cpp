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

}  // namespace

std::optional<Config> nearest_legal(const Space& space, const Values& values, const Nearness& nearness) {
  std::optional<Config> nearest;
  double least = std::numeric_limits<double>::infinity();
  const auto consider = [&](std::optional<Config> config) {
    if (!config) return;
    double distance = 0;
    for (std::size_t axis = 0; axis < space.axes().size(); ++axis)
      if (const Value* const wanted = values.find(space.axes()[axis].name))
        distance += apart(config->value(axis), *wanted, nearness);
    if (distance >= least) return;
    least = distance;
    nearest = std::move(config);
  };
  if (nearness.most_axes < 2) {
    if (auto config = space.find(values)) return config;
    for (Config& neighbour : space.neighbours(values)) consider(std::move(neighbour));
    return nearest;
  }
  const Values kept = on_axes(space, values, nearness);
  if (auto config = space.first(kept)) return config;
  for (const Axis& axis : space.axes()) {
    Values changed = kept;
    for (const Value& value : axis.values) {
      changed.set(axis.name, value);
      consider(space.first(changed));
    }
  }
  if (nearest) return nearest;
  for (const Axis& a : space.axes()) {
    for (const Axis& b : space.axes()) {
      if (a.name < b.name) consider(space.first(without(kept, a.name, b.name)));
    }
  }
  return nearest;
}

}  // namespace tunesmith

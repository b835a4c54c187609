#include "tuner/promising.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <variant>

#include "generator/error.h"

namespace tunesmith {
namespace {

// How far two values of an axis are from each other: in octaves, or 1 for words that differ.
double apart(const Value& a, const Value& b) {
  if (a == b) return 0;
  if (a.index() != b.index() || a.index() == 1) return 1;
  return std::abs(log2_of(a) - log2_of(b)) + 0.1;  // 0 and 1 differ too
}

double apart(const Config& config, const Values& values) {
  double sum = 0;
  for (std::size_t axis = 0; axis < config.axes().size(); ++axis) {
    const Value* const wanted = values.find(config.axes()[axis].name);
    if (wanted != nullptr) sum += apart(config.value(axis), *wanted);
  }
  return sum;
}

// The values on the axes of the space, each the nearest that the axis has.
Values on_axes(const Space& space, const Values& values) {
  Values kept;
  for (const Axis& axis : space.axes()) {
    const Value* const wanted = values.find(axis.name);
    if (wanted == nullptr || wanted->index() != axis.values.front().index()) continue;
    const auto nearest = std::min_element(
        axis.values.begin(), axis.values.end(),
        [&](const Value& a, const Value& b) { return apart(a, *wanted) < apart(b, *wanted); });
    if (wanted->index() == 0 || *nearest == *wanted) kept.set(axis.name, *nearest);
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

std::optional<Config> nearest_legal(const Space& space, const Values& values) {
  const Values kept = on_axes(space, values);
  if (auto config = space.first(kept)) return config;
  std::optional<Config> nearest;
  double least = std::numeric_limits<double>::infinity();
  const auto consider = [&](std::optional<Config> config) {
    if (!config) return;
    const double distance = apart(*config, values);
    if (distance >= least) return;
    least = distance;
    nearest = std::move(config);
  };
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

std::vector<Point> promising(
    const SearchSpace& space, std::vector<Guess> guesses,
    const std::function<std::optional<std::size_t>(std::string_view)>& template_index) {
  const auto order = [](const Guess& guess) {  // all of the problem itself come first
    return guess.distance == 0 ? std::pair(std::size_t{0}, 0.0) : std::pair(guess.place + 1, guess.distance);
  };
  std::stable_sort(guesses.begin(), guesses.end(),
                   [&](const Guess& a, const Guess& b) { return order(a) < order(b); });
  std::vector<Point> points;
  for (const Guess& guess : guesses) {
    if (points.size() == most_promising) break;
    const auto index = template_index(guess.template_name);
    const auto part =
        std::find_if(space.parts.begin(), space.parts.end(),
                     [&](const SearchSpace::Part& each) { return index && each.template_index == *index; });
    if (part == space.parts.end()) continue;
    auto config = nearest_legal(part->space, Values::parse(guess.config));
    if (!config) continue;
    Point point{*index, std::move(*config)};
    if (std::find(points.begin(), points.end(), point) == points.end()) points.push_back(std::move(point));
  }
  return points;
}

}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/promising.h"

#include <algorithm>
#include <utility>

#include "choose/nearest.h"

namespace tunesmith {

std::vector<Point> promising(
    const SearchSpace& space, std::vector<Guess> guesses,
    const std::function<std::optional<std::size_t>(std::string_view)>& template_index) {
  const auto order = [](const Guess& guess) {  // all guesses of the problem itself come first
    return guess.distance == 0 ? std::pair(std::size_t{0}, 0.0) : std::pair(guess.place + 1, guess.distance);
  };
  std::stable_sort(guesses.begin(), guesses.end(),
                   [&](const Guess& a, const Guess& b) { return order(a) < order(b); });
  std::vector<Point> points;
  for (const Guess& guess : guesses) {
    if (points.size() == most_promising) break;
    const auto index = template_index(guess.template_name);
    const auto part = std::find_if(
        space.parts.begin(), space.parts.end(),
        [&](const SearchSpace::TemplateSpace& each) { return index && each.template_index == *index; });
    if (part == space.parts.end()) continue;
    const Values values = Values::parse(guess.config);
    auto config = part->space.find(values);
    if (!config && part->space.translation()) config = adapted(part->space, values);
    if (!config) config = nearest_legal(part->space, values, a_guess);
    if (!config) continue;
    Point point{*index, std::move(*config)};
    if (std::find(points.begin(), points.end(), point) == points.end()) points.push_back(std::move(point));
  }
  return points;
}

}  // namespace tunesmith

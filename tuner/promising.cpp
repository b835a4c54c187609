#include "tuner/promising.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "generator/error.h"

namespace tunesmith {

std::vector<Point> promising(const Op& op, const Problem& problem, const DeviceFacts& device,
                             const SearchSpace& space, const std::vector<Store::Tried>& fastest,
                             const std::vector<WinnerRow>& winners) {
  struct Candidate {
    double distance;
    std::string_view template_name, config;
  };
  std::vector<Candidate> candidates;
  for (const WinnerRow& row : winners) {
    try {
      const Problem other = complete_problem(op, Values::parse(row.problem.text));
      candidates.push_back({distance(op, problem, other), row.template_.name, row.variant.config});
    } catch (const UsageError&) {
      // The op has changed since.
    }
  }
  for (const Store::Tried& tried : fastest) candidates.push_back({0, tried.template_name, tried.config});
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.distance < b.distance; });
  std::vector<Point> points;
  for (const Candidate& candidate : candidates) {
    auto point = legal_point(op, problem, device, candidate.template_name, candidate.config);
    if (!point) continue;
    const bool searched = std::any_of(
        space.parts.begin(), space.parts.end(),
        [&](const SearchSpace::Part& part) { return part.template_index == point->template_index; });
    if (searched && std::find(points.begin(), points.end(), *point) == points.end())
      points.push_back(std::move(*point));
  }
  return points;
}

}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/problem_points.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "choose/select.h"
#include "generator/error.h"
#include "tuner/check/rendered_variant.h"

namespace tunesmith {
namespace {

// The added distance of a measurement on another device, which says less, as another problem's does.
constexpr double other_device = 1;
constexpr double other_kind = 4;  // as one that is four octaves away

class ListSearch : public Search {
 public:
  explicit ListSearch(std::vector<Point> points) : points_(std::move(points)) {}
  std::optional<Point> next() override {
    return next_ < points_.size() ? std::optional(points_[next_++]) : std::nullopt;
  }
  void report(const Point&, Verdict, double) override {}

 private:
  std::vector<Point> points_;
  std::size_t next_ = 0;
};

void add(std::vector<Point>& points, std::optional<Point> point) {
  if (point && std::find(points.begin(), points.end(), *point) == points.end())
    points.push_back(std::move(*point));
}

}  // namespace

// Built-in winners come first, so that no run ends with a slower kernel than before.
std::vector<Guess> guesses(const Place& place, std::span<const BuiltIn> built_in,
                           std::span<const WinnerRow> winners, std::span<const Store::Fast> fastest,
                           std::int64_t device_id) {
  std::vector<Guess> guesses;
  const auto add = [&](const std::string& problem, double further, std::size_t rank,
                       const std::string& template_name, const std::string& config) {
    try {
      const Problem other = complete_problem(place.op, Problem::parse(problem));
      // A config of an op with kinds has a meaning for all its computations.
      if (!place.op.kind && !same_computation(place.op, place.problem, other)) return;
      const bool is_alike = !place.op.kind || place.op.kind(place.problem) == place.op.kind(other);
      guesses.push_back({distance(place.op, place.problem, other) + further + (is_alike ? 0 : other_kind),
                         rank, template_name, config});
    } catch (const UsageError&) {
      // The op has changed since then.
    }
  };
  for (const BuiltIn& winner : built_in) {
    if (winner.op == place.op.name) add(winner.problem, 0, 0, winner.template_name, winner.config);
  }
  for (const WinnerRow& row : winners) add(row.problem.text, 0, 0, row.template_.name, row.variant.config);
  std::size_t rank = 0;
  const Store::Fast* before = nullptr;
  for (const Store::Fast& fast : fastest) {
    const bool same =
        before != nullptr && before->problem == fast.problem && before->device_id == fast.device_id;
    rank = same ? rank + 1 : 0;
    before = &fast;
    const bool here = fast.device_id == device_id;
    add(fast.problem, here ? 0 : other_device, rank, fast.template_name, fast.config);
  }
  // Last comes the variant that dispatch takes if nothing is known. Where a table knows its times on other
  // problems, it comes among the first, so that they can be compared with it.
  const std::size_t guess_rank = place.op.kind ? 0 : most_remembered;
  for (const UntunedVariant& guess : untuned(place.op, place.problem, place.device))
    guesses.push_back({other_device, guess_rank, guess.tmpl->name, guess.config.text()});
  for (const UntunedVariant& way : ways(place.op, place.problem, place.device))
    guesses.push_back({other_device, guess_rank, way.tmpl->name, way.config.text()});
  return guesses;
}

std::vector<std::string> built_in_hashes(const Place& place, std::span<const BuiltIn> built_in) {
  std::vector<std::string> hashes;
  for (const BuiltIn& winner : built_in) {
    if (winner.op != place.op.name || winner.problem != place.problem.text()) continue;
    if (const auto variant =
            render_legal(place.op, place.problem, winner.template_name, winner.config, place.device))
      hashes.push_back(variant->source.hash);
  }
  return hashes;
}

std::vector<Point> stored_points(const Place& place, const Point& base, std::span<const Store::Fast> fastest,
                                 std::int64_t device_id) {
  std::vector<Point> points = {base};
  for (const Store::Fast& fast : fastest) {
    if (fast.device_id == device_id && fast.problem == place.problem.text())
      add(points, legal_point(place.op, place.problem, place.device, fast.template_name, fast.config));
  }
  return points;
}

std::vector<Point> listed_points(const Place& place, const Point& base,
                                 std::span<const NamedVariant> listed) {
  std::vector<Point> points = {base};
  for (const NamedVariant& variant : listed)
    add(points, table_point(place.op, place.problem, place.device, variant.template_name, variant.config));
  return points;
}

// The first config of each template is in every problem's list.
std::vector<Point> covering_points(const SearchSpace& space, std::size_t random, std::uint64_t seed,
                                   std::size_t problem, std::size_t problems) {
  std::vector<Point> points = {*space.base};
  for (const SearchSpace::TemplateSpace& part : space.parts) {
    const std::vector<Config> configs = covering_configs(part.space, random, seed);
    for (std::size_t c = 0; c < configs.size(); ++c) {
      Point point{part.template_index, configs[c]};
      if ((c == 0 || c % problems == problem) && point != points.front()) points.push_back(std::move(point));
    }
  }
  return points;
}

std::unique_ptr<Search> search_of(std::vector<Point> points) {
  return std::make_unique<ListSearch>(std::move(points));
}

}  // namespace tunesmith

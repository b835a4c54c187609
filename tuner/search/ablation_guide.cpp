// SPDX-License-Identifier: Apache-2.0
// The strategy that records the data for ablation.h: for every template in turn it proposes configs that keep
// all heuristics, and configs that break only one, each heuristic in turn; all at random.
#include <utility>

#include "tuner/search/guide.h"

namespace tunesmith {
namespace {

constexpr std::size_t most_of_a_kind = 2000;  // configs
constexpr std::uint64_t most_seen = 1'000'000;
constexpr std::size_t keepers_each = 3;  // configs that keep all, for each round of the others

class AblationGuide : public Guide {
 public:
  AblationGuide(const Points& points, std::uint64_t seed) : points_(points), random_(seed) {
    std::vector<std::vector<PointId>> kinds;
    const auto& parts = points.space().parts;
    for (std::size_t part = 0; part < parts.size(); ++part) {
      const Space& space = parts[part].space;
      const std::vector<PointId> keepers = drawn(part, space);
      kinds.resize(kinds.size() + keepers_each);
      for (std::size_t n = 0; n < keepers.size(); ++n)
        kinds[kinds.size() - 1 - n % keepers_each].push_back(keepers[n]);
      for (std::size_t rule = 0; rule < space.worth().size(); ++rule)
        kinds.push_back(drawn(part, breaking(space, rule)));
    }
    for (std::size_t n = 0; n < most_of_a_kind; ++n)
      for (const std::vector<PointId>& kind : kinds)
        if (n < kind.size()) order_.push_back(kind[n]);
  }

  std::optional<PointId> choose(const History& history) override {
    while (next_ < order_.size())
      if (const PointId id = order_[next_++]; !history.has(id) && points_.mine(id)) return id;
    return std::nullopt;
  }
  bool learns() const override { return false; }

 private:
  // The space whose promising configs break only this heuristic.
  static Space breaking(const Space& space, std::size_t rule) {
    std::vector<Rule> worth = space.worth();
    worth[rule].holds = [holds = space.worth()[rule].holds](const Config& config) { return !holds(config); };
    return Space(space.axes(), space.must(), std::move(worth));
  }

  // A random sample of its promising configs, all equally likely.
  std::vector<PointId> drawn(std::size_t part, const Space& from) {
    std::vector<PointId> reservoir;
    if (!points_.space().parts[part].count.is_at_most(most_enumerated)) {
      for (const Config& config : from.sample(most_of_a_kind, random_.next(), Space::Subset::promising))
        reservoir.push_back(points_.id(part, config));
      return reservoir;
    }
    std::uint64_t seen = 0;
    from.each(
        [&](const Config& config) {
          const std::uint64_t at = seen < most_of_a_kind ? seen : random_.below(seen + 1);
          ++seen;
          const PointId id = points_.id(part, config);
          if (at == reservoir.size()) {
            reservoir.push_back(id);
          } else if (at < reservoir.size()) {
            reservoir[at] = id;
          }
          return seen < most_seen;
        },
        Space::Subset::promising);
    for (std::size_t i = 0; i < reservoir.size(); ++i)
      std::swap(reservoir[i], reservoir[i + random_.below(reservoir.size() - i)]);
    return reservoir;
  }

  const Points& points_;
  Random random_;
  std::vector<PointId> order_;
  std::size_t next_ = 0;
};

}  // namespace

std::unique_ptr<Guide> make_ablation(const Points& points, std::uint64_t seed) {
  return std::make_unique<AblationGuide>(points, seed);
}

}  // namespace tunesmith

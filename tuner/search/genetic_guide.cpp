// SPDX-License-Identifier: Apache-2.0
// Crosses two of the fastest points and changes an axis now and then. It does not know the meaning of an
// axis.
#include <algorithm>

#include "tuner/search/guide.h"

namespace tunesmith {
namespace {

constexpr std::size_t first_points = 20;
constexpr std::size_t population = 20;  // the fastest so far
constexpr int most_tries = 50;          // for a legal child that is new

class GeneticGuide : public Guide {
 public:
  GeneticGuide(const Points& points, std::uint64_t seed) : points_(points), random_(seed) {}

  std::optional<PointId> choose(const History& history) override {
    if (history.reported < first_points) return std::nullopt;
    const std::size_t parents = std::min(population, history.fastest.size());
    for (int n = 0; n < most_tries && parents > 0; ++n) {
      const PointId a = history.trials[history.fastest[tournament(parents)]].id;
      const PointId b = history.trials[history.fastest[tournament(parents)]].id;
      const PointId child = cross(a, a.part == b.part ? b : a);
      const Space& space = points_.space().parts[child.part].space;
      if (!history.has(child) && points_.mine(child) && space.is_legal(points_.config(child))) return child;
    }
    return std::nullopt;
  }

 private:
  // The better of two random positions.
  std::size_t tournament(std::size_t size) { return std::min(random_.below(size), random_.below(size)); }

  // Takes each axis from one of the parents, and one in ten at random.
  PointId cross(PointId a, PointId b) {
    const Space& space = points_.space().parts[a.part].space;
    const Config mother = points_.config(a);
    const Config father = points_.config(b);
    std::vector<std::size_t> indices;
    for (std::size_t axis = 0; axis < space.axes().size(); ++axis) {
      const std::size_t size = space.axes()[axis].values.size();
      std::size_t value = random_.below(2) == 0 ? mother.index(axis) : father.index(axis);
      if (random_.below(10) == 0) value = random_.below(size);
      indices.push_back(value);
    }
    return points_.id(a.part, space.named(space.config(indices)));
  }

  const Points& points_;
  Random random_;
};

}  // namespace

std::unique_ptr<Guide> make_genetic(const Points& points, std::uint64_t seed) {
  return std::make_unique<GeneticGuide>(points, seed);
}

}  // namespace tunesmith

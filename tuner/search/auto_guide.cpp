// SPDX-License-Identifier: Apache-2.0
// The default strategy: at first a model, whose proposals are the best as long as it learns; later also the
// descent, which omits no neighbour of the fastest and is cheap, and crossings, which leave a local optimum.
#include "tuner/search/guide.h"

namespace tunesmith {
namespace {

// The model observes no more than some 300 points; when there are many more, the descent tries the rest.
constexpr std::size_t most_for_model = 800;

// After this many verdicts every fourth proposal is the descent's, and every fourth a crossing.
constexpr std::size_t model_alone = 160;

class AutoGuide : public Guide {
 public:
  AutoGuide(const Points& points, std::uint64_t seed, Prior prior)
      : model_(make_model(points, seed, prior)),
        neighbours_(make_neighbours(points, seed + 1)),
        genetic_(make_genetic(points, seed + 2)) {}

  std::optional<PointId> choose(const History& history) override {
    const std::size_t seen = history.reported;
    if (seen >= model_alone && seen % 4 == 2) return genetic_->choose(history);
    const bool descend = seen >= most_for_model || (seen >= model_alone && seen % 4 == 0);
    return descend ? neighbours_->choose(history) : model_->choose(history);
  }
  std::optional<double> expected_gain() const override { return model_->expected_gain(); }
  std::optional<double> predicted(const History& history, PointId id) const override {
    return model_->predicted(history, id);
  }

 private:
  std::unique_ptr<Guide> model_, neighbours_, genetic_;
};

}  // namespace

std::unique_ptr<Guide> make_auto(const Points& points, std::uint64_t seed, Prior prior) {
  return std::make_unique<AutoGuide>(points, seed, prior);
}

}  // namespace tunesmith

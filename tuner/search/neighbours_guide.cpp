// SPDX-License-Identifier: Apache-2.0
// A descent: proposes, of the untried neighbours of the fastest points, the one that the nearest tried points
// promise most for. Cheap with any number of verdicts.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tuner/search/guide.h"

namespace tunesmith {
namespace {

constexpr std::size_t first_points = 12;
constexpr std::size_t nearest = 5;  // points that vote
constexpr std::size_t most_voters = 256;
constexpr std::size_t most_centres = 32;  // beyond them the descent ends

class NeighboursGuide : public Guide {
 public:
  NeighboursGuide(const Points& points, std::uint64_t seed)
      : points_(points), random_(seed), embedding_(points) {}

  std::optional<PointId> choose(const History& history) override {
    if (history.reported < first_points) return std::nullopt;
    // Now and then it tries another part of the space.
    if (random_.below(10) == 0) return std::nullopt;
    learn(history);
    for (std::size_t rank = 0; rank < std::min(most_centres, history.fastest.size()); ++rank) {
      const std::size_t trial = history.fastest[rank];
      std::optional<PointId> best;
      double least = std::numeric_limits<double>::infinity();
      points_.each_neighbour(history.trials[trial].id, [&](PointId id) {
        if (history.has(id) || !points_.mine(id)) return;
        const double expected = vote(history, embedding_(id));
        if (expected >= least) return;
        least = expected;
        best = id;
      });
      if (best) return best;
    }
    return std::nullopt;
  }

  std::optional<double> predicted(const History& history, PointId id) const override {
    if (voters_.empty()) return std::nullopt;
    return vote(history, embedding_(id));
  }

 private:
  struct Voter {
    std::size_t trial;
    Coordinates at;
  };

  // Learns from the newest on: a descent measures around the fastest.
  void learn(const History& history) {
    voters_.clear();
    for (std::size_t at = history.trials.size(); at-- > 0 && voters_.size() < most_voters;) {
      if (history.trials[at].state != History::State::in_flight)
        voters_.push_back({at, embedding_(history.trials[at].id)});
    }
    if (!history.fastest.empty()) slowest_ = history.trials[history.fastest.back()].log_us;
  }

  double vote(const History& history, const Coordinates& at) const {
    std::vector<std::pair<double, double>> by_distance;
    for (const Voter& voter : voters_) {
      double distance = 1e-3;
      for (std::size_t c = 0; c < at.size(); ++c) distance += (at[c] - voter.at[c]) * (at[c] - voter.at[c]);
      const History::Trial& trial = history.trials[voter.trial];
      by_distance.emplace_back(distance, trial.state == History::State::ok ? trial.log_us : slowest_);
    }
    const std::size_t count = std::min(nearest, by_distance.size());
    std::partial_sort(by_distance.begin(), by_distance.begin() + static_cast<std::ptrdiff_t>(count),
                      by_distance.end());
    double sum = 0;
    double weights = 0;
    for (std::size_t i = 0; i < count; ++i) {
      sum += by_distance[i].second / by_distance[i].first;
      weights += 1 / by_distance[i].first;
    }
    return sum / weights;
  }

  const Points& points_;
  Random random_;
  Embedding embedding_;
  std::vector<Voter> voters_;
  double slowest_ = 0;
};

}  // namespace

std::unique_ptr<Guide> make_neighbours(const Points& points, std::uint64_t seed) {
  return std::make_unique<NeighboursGuide>(points, seed);
}

}  // namespace tunesmith

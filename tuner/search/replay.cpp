// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/replay.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <utility>

#include "tuner/search/shard.h"

namespace tunesmith {

namespace {

struct Rank {
  std::unique_ptr<Search> search;
  std::deque<Point> in_flight = {};
  double seconds = 0;
};

}  // namespace

std::vector<ReplayStep> replay(const RecordedSpace& recorded, const Replay& how) {
  std::vector<Rank> ranks;
  for (std::size_t part = 0; part < how.ranks; ++part) {
    const Task task{0, part, how.ranks};
    SearchSpace space = recorded.space();
    space.promising = how.promising;
    space.share = part;
    space.shares = how.ranks;
    ranks.push_back({make_search(how.strategy, space, seed_of(how.seed, task), how.prior)});
  }
  std::vector<ReplayStep> steps;
  EndOfSearch end{how.until_gain};
  double best_us = 0;
  double seconds = 0;
  while (!how.budget.count || static_cast<std::int64_t>(steps.size()) < *how.budget.count) {
    if (how.budget.seconds && seconds >= *how.budget.seconds) break;
    bool any = false;
    for (Rank& rank : ranks) {
      while (rank.in_flight.size() <= how.lag) {
        auto point = rank.search->next();
        if (!point) break;
        rank.in_flight.push_back(std::move(*point));
      }
      any = any || !rank.in_flight.empty();
    }
    if (!any || end.reached(ranks.front().search->expected_gain())) break;
    for (Rank& rank : ranks) {
      if (rank.in_flight.empty()) continue;
      const Point point = std::move(rank.in_flight.front());
      rank.in_flight.pop_front();
      const RecordedRow& row = recorded.row(point);
      if (row.verdict == Verdict::ok && (best_us == 0 || row.median_us < best_us)) best_us = row.median_us;
      rank.seconds += (row.compile_ms + row.run_ms) / 1000;
      seconds = std::max(seconds, rank.seconds);
      if (how.budget.seconds) rank.search->compiled(point, row.compile_ms);
      rank.search->report(point, row.verdict, row.median_us);
      for (Rank& other : ranks)
        if (&other != &rank) other.search->learn(point, row.verdict, row.median_us);
    }
    steps.push_back({seconds, best_us > 0 ? recorded.best_us() / best_us : 0});
  }
  return steps;
}

Quality quality_of(std::vector<double> qualities) {
  if (qualities.empty()) return {};
  std::sort(qualities.begin(), qualities.end());
  return {mean_of(qualities),
          qualities[static_cast<std::size_t>(0.05 * static_cast<double>(qualities.size()))]};
}

}  // namespace tunesmith

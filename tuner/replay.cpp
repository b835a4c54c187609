#include "tuner/replay.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>

namespace tunesmith {

std::vector<ReplayStep> replay(const RecordedSpace& recorded, const Replay& how) {
  SearchSpace space = recorded.space();
  space.promising = how.promising;
  const auto search = make_search(how.strategy, space, how.seed, how.prior);
  std::vector<ReplayStep> steps;
  std::deque<Point> in_flight;
  double best_us = 0;
  double seconds = 0;
  while (!how.budget.count || static_cast<std::int64_t>(steps.size()) < *how.budget.count) {
    if (how.budget.seconds && seconds >= *how.budget.seconds) break;
    while (in_flight.size() <= how.lag) {
      auto point = search->next();
      if (!point) break;
      in_flight.push_back(std::move(*point));
    }
    if (in_flight.empty()) break;
    const Point point = std::move(in_flight.front());
    in_flight.pop_front();
    const RecordedRow& row = recorded.row(point);
    if (row.verdict == Verdict::ok && (best_us == 0 || row.median_us < best_us)) best_us = row.median_us;
    seconds += (row.compile_ms + row.run_ms) / 1000;
    if (how.budget.seconds) search->compiled(point, row.compile_ms);
    search->report(point, row.verdict, row.median_us);
    steps.push_back({seconds, best_us > 0 ? recorded.best_us() / best_us : 0});
  }
  return steps;
}

Quality quality_of(std::vector<double> qualities) {
  if (qualities.empty()) return {};
  std::sort(qualities.begin(), qualities.end());
  const auto size = static_cast<double>(qualities.size());
  return {std::accumulate(qualities.begin(), qualities.end(), 0.0) / size,
          qualities[static_cast<std::size_t>(0.05 * size)]};
}

}  // namespace tunesmith

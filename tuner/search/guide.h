// SPDX-License-Identifier: Apache-2.0
// A guide chooses the next point from the history, the verdicts so far. The search around it (search.cpp)
// proposes the base and the promising points first, and never a point twice.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tuner/search/additive_model.h"
#include "tuner/search/points.h"

namespace tunesmith {

struct History {
  enum class State { in_flight, ok, failed };
  struct Trial {
    PointId id;
    State state = State::in_flight;
    double log_us = 0;  ///< of the median, if ok
  };
  std::vector<Trial> trials;  ///< in the order in which they were proposed
  std::map<PointId, std::size_t> where;
  std::size_t reported = 0;
  std::map<std::size_t, AdditiveModel> compile_ms;  ///< by part; the logarithm

  std::vector<std::size_t> fastest;  ///< positions of the trials that are ok, the fastest first

  bool has(PointId id) const { return where.contains(id); }
};

class Guide {
 public:
  virtual ~Guide() = default;
  /// A point that the history does not have; nothing if the next point of the list will do.
  virtual std::optional<PointId> choose(const History& history) = 0;
  /// True if its choices depend on verdicts.
  virtual bool learns() const { return true; }
  /// The same as Search::expected_gain().
  virtual std::optional<double> expected_gain() const { return std::nullopt; }
  /// The expected logarithm of a point's median in us.
  virtual std::optional<double> predicted(const History&, PointId) const { return std::nullopt; }
};

std::unique_ptr<Guide> make_model(const Points& points, std::uint64_t seed, Prior prior);
std::unique_ptr<Guide> make_neighbours(const Points& points, std::uint64_t seed);
std::unique_ptr<Guide> make_genetic(const Points& points, std::uint64_t seed);
std::unique_ptr<Guide> make_ablation(const Points& points, std::uint64_t seed);
/// Asks a program of the caller: `words` as of AskedProgram (docs/searching.md).
std::unique_ptr<Guide> make_asking(const Points& points, std::uint64_t seed, const std::string& words);
std::unique_ptr<Guide> make_auto(const Points& points, std::uint64_t seed, Prior prior);

}  // namespace tunesmith

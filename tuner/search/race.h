// SPDX-License-Identifier: Apache-2.0
// Chooses the finalists to measure in the next round, until it is known which ones are as fast as the best:
// takes the times of loads by round, and gives standings. It knows no device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tuner/search/policy.h"
#include "tuner/search/statistics.h"

namespace tunesmith {

struct Standing {
  enum class State {
    open,    ///< rounds so far cannot tell whether it is slower by more than the resolution
    tied,    ///< it is not slower by more than that
    slower,  ///< it is slower by more than that
  };
  std::size_t who = 0;  ///< position among the contenders
  /// The ratio of its time to the best's, over the rounds that had both; high is infinite if they are too
  /// few.
  Interval ratio;
  State state = State::open;
};

/// Standings by values that were measured once each, such as energies; a value of 0 was not measured, and has
/// no standing. Values within `within` of the least are tied.
std::vector<Standing> standings_of(const std::vector<double>& values,
                                   const std::vector<Contender>& contenders,
                                   std::int64_t most_alignment_bytes, double within);

/// Chooses among those that are as fast as the best: a stored winner stays, else the one wins that needs
/// least alignment, then registers, then shared memory; then the earlier one. A stored winner goes only when
/// it is slower; a new one must be tied, and by the estimate within half of the resolution. Returns the
/// position among the contenders.
std::optional<std::size_t> choose_winner(const std::vector<Standing>& standings,
                                         const std::vector<Contender>& contenders, double resolution);

class Race {
 public:
  /// There is one race for each of `alignments`: among the contenders that need no more than that; 0: among
  /// all.
  Race(std::vector<Contender> contenders, std::vector<std::int64_t> alignments, const Policy& policy);

  /// The contenders to load and measure next; none when all is decided or the limit of rounds is reached. The
  /// first rounds have all contenders; then those that are decided rest, except the best and the winner,
  /// until the winner's time is known to the resolution.
  std::vector<std::size_t> next_round() const;
  /// Adds the time of a load in the round that next_round() announced.
  void add(std::size_t who, double us);
  void drop(std::size_t who) { out_[who] = true; }
  void end_round() { ++rounds_; }

  int rounds() const { return rounds_; }
  /// The standings of all that are in this race, the best first (with the ratio 1), then by ratio; empty if
  /// none is left.
  std::vector<Standing> standings(std::int64_t most_alignment_bytes) const;
  /// The ratio of the first's time to the second's, over the rounds that had both.
  Interval ratio(std::size_t who, std::size_t to) const {
    return paired_ratio(us_[who], us_[to], policy_.sure);
  }
  /// The times by load, without the rounds in which it rested.
  std::vector<double> loads_us(std::size_t who) const;

 private:
  bool well_known(std::size_t who) const;

  std::vector<Contender> contenders_;
  std::vector<std::vector<double>> us_;  // by contender and round; 0: it rested
  std::vector<bool> out_;
  std::vector<std::int64_t> alignments_;
  const Policy& policy_;
  int rounds_ = 0;
};

}  // namespace tunesmith

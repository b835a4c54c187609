// SPDX-License-Identifier: Apache-2.0
// Which finalists are measured in the next round, until it is known which ones are as fast as the best:
// rounds of loads in, standings out. It knows no device.
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
    tied,    ///< it is not
    slower,  ///< it is
  };
  std::size_t who = 0;  ///< position among the contenders
  Interval ratio;       ///< of its time to the best's, over the rounds that had both; high is infinite where
                        ///< they are too few
  State state = State::open;
};

/// The same by values that were measured once each, such as energies; 0: not measured, so not in it. Those
/// within this part of the least are tied.
std::vector<Standing> standings_of(const std::vector<double>& values,
                                   const std::vector<Contender>& contenders,
                                   std::int64_t most_alignment_bytes, double within);

/// Of those that are as fast as the best: a stored winner stays, else the one wins that asks for least:
/// alignment, then registers, then shared memory, then the earlier one. A stored winner goes only when it is
/// slower; a new one must be tied, and by the estimate within half of the resolution. Position among the
/// contenders.
std::optional<std::size_t> choose_winner(const std::vector<Standing>& standings,
                                         const std::vector<Contender>& contenders, double resolution);

class Race {
 public:
  /// One race for each of `alignments`: among the contenders that need no more than that; 0: among all.
  Race(std::vector<Contender> contenders, std::vector<std::int64_t> alignments, const Policy& policy);

  /// Those to be loaded and measured next; nobody when all is decided or the cap of rounds is reached. The
  /// first rounds have all; then those that are decided rest, but for the best and the winner, until the
  /// winner's time is known to the resolution.
  std::vector<std::size_t> next_round() const;
  /// The time of a load, in the round that next_round() announced.
  void add(std::size_t who, double us);
  void drop(std::size_t who) { out_[who] = true; }
  void end_round() { ++rounds_; }

  int rounds() const { return rounds_; }
  /// Of all that are in this race, the best first (with the ratio 1), then by ratio; empty if nobody is left.
  std::vector<Standing> standings(std::int64_t most_alignment_bytes) const;
  /// Of the first's time to the second's, over the rounds that had both.
  Interval ratio(std::size_t who, std::size_t to) const {
    return paired_ratio(us_[who], us_[to], policy_.sure);
  }
  /// By load; those of rounds that it rested are left out.
  std::vector<double> loads_us(std::size_t who) const;

 private:
  bool well_known(std::size_t who) const;

  std::vector<Contender> contenders_;
  std::vector<std::vector<double>> us_;  // of each, by round; 0: it rested
  std::vector<bool> out_;
  std::vector<std::int64_t> alignments_;
  const Policy& policy_;
  int rounds_ = 0;
};

}  // namespace tunesmith

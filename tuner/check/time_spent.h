// SPDX-License-Identifier: Apache-2.0
// The time of a run by what the workers did, for the summary of a run.
#pragma once

#include <algorithm>

namespace tunesmith {

/// Seconds of the workers that own the devices. Each moment of a worker's life counts in one member, so that
/// with one device they add up to the run.
struct TimeSpent {
  double prepare_s = 0;  ///< the worker starts, or takes over a problem's inputs and references
  double load_s = 0;
  double check_s = 0;
  double time_s = 0;
  double store_s = 0;  ///< it has nothing to do while the tuner writes to the database
  double idle_s = 0;   ///< nothing is compiled
  double other_s = 0;  ///< messages, and the work of a worker that died

  double sum_s() const { return prepare_s + load_s + check_s + time_s + store_s + idle_s + other_s; }

  void add(const TimeSpent& other, double share) {
    prepare_s += other.prepare_s * share;
    load_s += other.load_s * share;
    check_s += other.check_s * share;
    time_s += other.time_s * share;
    store_s += other.store_s * share;
    idle_s += other.idle_s * share;
    other_s += other.other_s * share;
  }

  /// Moves up to `seconds` from idle to store: the tuner wrote while the worker had nothing to do.
  void stored(double seconds) {
    const double waited = std::min(seconds, idle_s);
    idle_s -= waited;
    store_s += waited;
  }
};

}  // namespace tunesmith

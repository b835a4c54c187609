// SPDX-License-Identifier: Apache-2.0
// The rules that choose a winner, as pure functions of measurements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "generator/conditions.h"
#include "generator/device_facts.h"
#include "runtime/time_sample.h"

namespace tunesmith {

/// A kernel of 1 us may take 20 % more after one load of its binary than after the next, one of 10 us 2 %
/// (H200).
inline constexpr double short_launch_us = 6;

struct Policy {
  int samples = 5;                ///< of a variant in the search, unless timing gives it up
  double sample_target_us = 300;  ///< as in Timing
  double give_up_factor = 1.5;    ///< a variant that is this much slower than the best so far gets one sample
  int list_loads = 3;             ///< of a variant that is measured for a table, if a launch is short
  double final_within = 0.10;     ///< finalists are at most this much slower than the best …
  std::size_t finalists = 16;     ///< … and at most this many, for each of the two alignments
  int final_samples = 3;          ///< per load: samples of a load agree, loads do not
  int final_rounds = 60;          ///< at most; in each round the undecided finalists are loaded anew
  double final_seconds = 10;      ///< at most, except for the first three rounds
  double resolution = 0.005;      ///< a smaller difference does not matter; the winner's time is known to it
  double sure =
      0.99;  ///< of an interval that decides: it is looked at after each round, which costs confidence
  double energy_within = 0.01;  ///< finalists whose energy differs by less are tied: it is measured once
};

/// The limits of a worker's time to load, check and time a variant.
struct MeasureLimits {
  /// A GPU that hangs is noticed after this; other variants have no reason to take so long.
  double least_s = 2;
  double base_times = 10;  ///< … nor this many times as long as the base took in all
  double rate = 1e9;       ///< the base handles at least this many bytes and operations per second
};
MeasureLimits limits_for(DeviceKind device_kind);

/// `base_s`: the time of the base; 0: not known, and it has `amount` bytes and operations per launch.
double measure_limit_s(const MeasureLimits& limits, double base_s, double amount);

/// On the host a launch takes milliseconds and the clock is fine enough, so fewer samples are enough.
Policy policy_for(DeviceKind device_kind);

/// A variant that was measured ok.
struct Contender {
  std::size_t index = 0;  ///< the caller's number for it; smaller is earlier in the search
  double median_us = 0;
  std::int64_t alignment_bytes = 0;
  std::int64_t registers = 0;
  std::int64_t shared_bytes = 0;  ///< static + dynamic
  bool may_win = true;            ///< two streams may run it at once
  bool stored = false;            ///< it is a winner of an earlier run
};

/// Indices of the variants to measure again: the fastest overall, and the fastest of those that need no more
/// alignment than `element_bytes`. Fastest first, without repetitions.
std::vector<std::size_t> choose_finalists(const std::vector<Contender>& contenders,
                                          std::int64_t element_bytes, const Policy& policy);

/// A limit of time or of verdicts per problem, or both: the first that is reached ends the search; both
/// empty: the whole space.
struct Budget {
  std::optional<double> seconds;
  std::optional<std::int64_t> count;
  double least_gain = 0;  ///< as in EndOfSearch: a search that expects less ends; 0: never

  /// "60s", "5m", "5min", "1h", "500", "60s,500", "all". Throws UsageError.
  static Budget parse(std::string_view text);
};

/// The budget that parse() reads, as text for people: "60s", "6 variants", "60s or 6 variants", "all
/// variants".
std::string budget_text(const std::string& budget);

/// "0.5%" as 0.005. Throws UsageError.
double least_gain_of(std::string_view text);

/// The time for the search of a problem, if `left_s` is left for it and those after it, divided by their
/// weights: three fifths of its share, because inputs, checks and finals take the rest.
double search_share_s(double left_s, double weight, double weight_left);

}  // namespace tunesmith

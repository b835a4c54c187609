// How a variant is timed: what the tuner asks, and a device is told.
#pragma once

namespace tunesmith {

struct Timing {
  int samples = 5;
  double sample_target_us = 300;  ///< launches are repeated inside one sample until it lasts about this long
  int repeats = 0;                ///< so often; 0: repeats_for() the first launch
  /// Above 0: stop after the first sample if one launch takes longer (it cannot win).
  double give_up_above_us = 0;
  bool chained = false;      ///< each launch behind another of the same variant, not between ordinary kernels
  bool cold_caches = false;  ///< nothing that a launch reads is in the second-level cache; never chained
};

}  // namespace tunesmith

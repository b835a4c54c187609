// SPDX-License-Identifier: Apache-2.0
// The parameters of timing a variant, which the tuner passes to a device.
#pragma once

#include "generator/conditions.h"

namespace tunesmith {

struct Timing {
  int samples = 5;
  double sample_target_us = 300;  ///< launches are repeated inside one sample until it lasts about this long
  int repeats = 0;                ///< launches in a sample; 0: repeats_for() the first launch
  /// Above 0: stop after the first sample if one launch takes longer (it cannot win).
  double give_up_above_us = 0;
  Conditions conditions = {};  ///< conditions of the time; cold caches are never chained
};

}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/mode.h"

namespace tunesmith {
namespace {

// A single launch below this has noise as large as its time.
constexpr double few_launches_us = 30;

}  // namespace

Policy Mode::adjusted(Policy policy) const {
  if (give_up_factor) policy.give_up_factor = *give_up_factor;
  if (!repeats_loads) policy.list_loads = 1;
  if (!seeks_times) {
    policy.samples = 1;
    policy.sample_target_us = few_launches_us;
  }
  return policy;
}

}  // namespace tunesmith

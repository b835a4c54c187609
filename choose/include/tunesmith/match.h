// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tunesmith {

/// The quality of a look-up's answer, from best to worst; applications read it from a plan.
enum class Match {
  exact,         ///< tuned for this problem on this model of device
  predicted,     ///< measured on this model of device on other problems; expected to be the fastest here
  other_device,  ///< tuned on another model of device
  base,          ///< nothing is known: a template that is sensible without times, else the op's base
};

}  // namespace tunesmith

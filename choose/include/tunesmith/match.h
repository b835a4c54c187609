// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tunesmith {

/// How a look-up answered, from best to worst.
enum class Match {
  exact,         ///< tuned for this problem on this model of device
  predicted,     ///< measured on this model of device on other problems; by them the fastest here
  other_device,  ///< tuned on another model of device
  base,          ///< nothing known: a template that is sensible without times, else the op's plain kernel
};

}  // namespace tunesmith

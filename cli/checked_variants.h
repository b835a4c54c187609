// SPDX-License-Identifier: Apache-2.0
// The sentences of `tunesmith check` on its variants.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tuner/run/tune.h"

namespace tunesmith {

struct CheckedVariants {
  explicit CheckedVariants(const std::vector<TunedProblem>& tuned);

  std::size_t problems = 0, right = 0, wrong = 0;
  std::size_t undecided = 0;  ///< a limit of time ended them

  bool all_are_right() const { return right > 0 && wrong == 0 && undecided == 0; }
  /// "8 variants are right on 1 problem and their companions, 0 are wrong."
  std::string text() const;
};

}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
#include "generator/work.h"

#include <algorithm>

namespace tunesmith {

bool reentrant(const Work& work) {
  return std::none_of(work.steps.begin(), work.steps.end(),
                      [](const Step& step) { return std::holds_alternative<ConstantCopy>(step); });
}

}  // namespace tunesmith

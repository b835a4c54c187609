// SPDX-License-Identifier: Apache-2.0
// A fit of one number among several: it is multiplied as long as that lessens a loss.
#pragma once

namespace tunesmith {

/// Multiplies `value` by `step`, and divides it, at most four times each, as long as `loss()` becomes less
/// than `least`, which it updates; the value stays within the limits.
template <typename Number, typename Loss>
void descend(Number& value, double step, double low, double high, double& least, const Loss& loss) {
  for (const double factor : {step, 1 / step}) {
    for (int i = 0; i < 4; ++i) {
      const Number before = value;
      const double next = static_cast<double>(before) * factor;
      if (next < low || next > high) break;
      value = static_cast<Number>(next);
      const double now = loss();
      if (!(now < least)) {  // not a number is no improvement
        value = before;
        break;
      }
      least = now;
    }
  }
}

}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
// Stages a block's samples in rounds: moves `to` and `from` to the thread's first sample, `own`, and defines
// stage(round). Needs T, VECTOR, INSIDE, `stride`, `begin`, `end`, conv1d/padding.inl and conv1d/staging.inl.

to += place_of(own);
from += own;
const auto stage = [&](int round) {
  const int c = own + round * stride;
  if (INSIDE || (c >= begin && c + VECTOR <= end)) {
    stage_vector(to + place_of(round * stride), from + round * stride);
  } else {
#pragma unroll
    for (int e = 0; e < VECTOR; ++e) {
      to[place_of(round * stride) + e] = c + e >= begin && c + e < end ? from[round * stride + e] : T(0);
    }
  }
};

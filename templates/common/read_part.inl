// SPDX-License-Identifier: Apache-2.0
// Reads the samples [from, to) of the `step` samples at `source`, which is aligned to a vector of `step`.
// Needs T, `step` (a constant of the body, or with `template <int step>` in the line before the include) and
// common/vector.cuh.
__device__ __forceinline__ void read_part(T* samples, const T* source, int from, int to) {
  if (to - from == 1) {
    samples[from] = source[from];
  } else if (to - from == 2 && from % 2 == 0 && step == 4) {
    const Vector<T, 2> vector = load_vector<2>(source + from);
    samples[from] = vector.element[0];
    samples[from + 1] = vector.element[1];
  } else {
    const Vector<T, step> vector = load_vector<step>(source);
#pragma unroll
    for (int e = 0; e < step; ++e) samples[e] = vector.element[e];
  }
}

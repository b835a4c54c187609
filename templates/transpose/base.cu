// SPDX-License-Identifier: Apache-2.0
// The plain kernel of transpose: one thread per element, directly from array to array. It depends only on the
// element's size, so it serves every problem.

// Elements of sixteen bytes are two halves here, so that an alignment of 8, which a pair of doubles has, is
// enough.
template <int BYTES>
struct Element {
  T value;
};
template <>
struct Element<16> {
  unsigned long long low, high;
};

// Launched with blocks over the input's columns and rows. A grid's y and z are at most 65535; larger sizes
// are walked in strides.
extern "C" __global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    ENTRY(transpose_base)(const Element<sizeof(T)>* __restrict__ input,
                          Element<sizeof(T)>* __restrict__ output, long long batch, long long height,
                          long long width, long long input_pitch, long long output_pitch) {
  const long long x = static_cast<long long>(blockIdx.x) * BLOCK_X + threadIdx.x;
  if (x >= width) return;
  for (long long b = blockIdx.z; b < batch; b += gridDim.z) {
    for (long long y = static_cast<long long>(blockIdx.y) * BLOCK_Y + threadIdx.y; y < height;
         y += static_cast<long long>(gridDim.y) * BLOCK_Y) {
      output[(b * width + x) * output_pitch + y] = input[(b * height + y) * input_pitch + x];
    }
  }
}

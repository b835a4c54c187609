// SPDX-License-Identifier: Apache-2.0
// The image as factored.cu and factored_any.cu see it. Needs T, Real, Index and mu_staged.

// Pointers point to the beginning of a row, so that offsets known at compile time are part of the load
// instruction.
template <bool STAGED>
struct MeanOf {
  using type = T;
  __device__ static const T* either(const T* global, const Real*) { return global; }
};
template <>
struct MeanOf<true> {
  using type = Real;
  __device__ static const Real* either(const T*, const Real* shared) { return shared; }
};
using Mean = MeanOf<mu_staged>::type;

struct Image {
  T* input;
  const T* gamma;
  const Mean* mu;
  const T* c;
  int channels_out, height, width, rows, columns;
  int plane;                      // pixels of an input channel
  Index gamma_pitch;              // between covariances with neighbouring first pixels
  Index gamma_step;               // both pixels in the next input channel
  Index input_pitch, input_step;  // the same for the output
};

// The means and the covariances, both of the first input channel.
__device__ __forceinline__ const Mean* means(const Image& image, int y, int x) {
  return image.mu + (y * image.width + x);
}
__device__ __forceinline__ const T* covariances(const Image& image, int y, int x, int other_y, int other_x) {
  return image.gamma + static_cast<Index>(y * image.width + x) * image.gamma_pitch +
         (other_y * image.width + other_x);
}

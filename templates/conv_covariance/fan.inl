// SPDX-License-Identifier: Apache-2.0
// Adds to the outputs of factored.cu and factored_any.cu. Needs VECTOR, OUT_J, FAN, STORE, Place,
// common/overlap.inl, common/vector.cuh and conv_covariance/image.inl.

// A thread's outputs of one row in FAN output channels. All are loaded before the first is stored.
struct Fan {
  Vector<T, VECTOR> value[FAN][OUT_J];
};

template <bool INSIDE>
__device__ __forceinline__ bool wanted(const Image& image, const Place& place, int a) {
  // The number of columns is a multiple of VECTOR.
  return INSIDE || (place.j + a < image.columns && place.other_j < image.columns);
}

// The address of the thread's first output in the first channel.
__device__ __forceinline__ T* outputs(const Image& image, const Place& place, int i, int other_i) {
  return image.input + static_cast<Index>(i * image.columns + place.j) * image.input_pitch +
         (other_i * image.columns + place.other_j);
}

template <bool INSIDE>
__device__ __forceinline__ void load_fan(Fan& fan, const Image& image, const Place& place, int c0,
                                         const T* first) {
#pragma unroll
  for (int f = 0; f < FAN; ++f) {
#pragma unroll
    for (int a = 0; a < OUT_J; ++a) {
      if (c0 + f < image.channels_out && wanted<INSIDE>(image, place, a))
        fan.value[f][a] = load_vector<VECTOR>(first + (c0 + f) * image.input_step + a * image.input_pitch);
    }
  }
}

template <bool INSIDE>
__device__ __forceinline__ void store_fan(const Fan& fan, const Image& image, const Place& place, int c0,
                                          T* first, const Real (&sum)[OUT_J][VECTOR]) {
  // Loads that do not use the read-only path cannot move before earlier stores, so all weights are loaded
  // first.
  Real weights[FAN];
#pragma unroll
  for (int f = 0; f < FAN; ++f) {
    if (overlapped && c0 + f < image.channels_out) weights[f] = to_float(image.c[c0 + f]);
  }
#pragma unroll
  for (int f = 0; f < FAN; ++f) {
    if (c0 + f >= image.channels_out) continue;
    const Real weight = overlapped ? weights[f] : to_float(image.c[c0 + f]);
#pragma unroll
    for (int a = 0; a < OUT_J; ++a) {
      if (!wanted<INSIDE>(image, place, a)) continue;
      Vector<T, VECTOR> vector;
#pragma unroll
      for (int v = 0; v < VECTOR; ++v)
        vector.element[v] = from_float<T>(to_float(fan.value[f][a].element[v]) + weight * sum[a][v]);
      T* to = first + (c0 + f) * image.input_step + a * image.input_pitch;
      if constexpr (STORE == Store::streaming) {
        store_vector_streaming<VECTOR>(to, vector);
      } else {
        store_vector<VECTOR>(to, vector);
      }
    }
  }
}

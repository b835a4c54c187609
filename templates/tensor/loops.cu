// tensor, as loops that are written out for one problem: render puts the kernels, tensor_loops_0 and those
// behind it, where "generated" is included (loops_text.cpp). Here is what they have in common.

#include "common/overlap.inl"
#include "common/vector.cuh"
#include "elementwise/functions.cuh"

using Compute = compute_type<T>;

template <typename Element>
__device__ __forceinline__ Compute load(const Element& element) {
  return to_float(element);
}

template <typename Number>
__device__ __forceinline__ Number at_most(Number a, Number b) {
  return a <= b ? a : b;
}

template <typename Number>
__device__ __forceinline__ Number least() {
  if constexpr (elementwise::is_real<Number>) {
    return static_cast<Number>(-__int_as_float(0x7f800000));
  } else {
    return static_cast<Number>(1ull << (8 * sizeof(Number) - 1));
  }
}

// How terms are reduced, and what nothing of them is. NaN is larger and smaller than all.
struct Sum {
  static __device__ __forceinline__ Compute none() { return 0; }
  static __device__ __forceinline__ Compute of(Compute a, Compute b) { return elementwise::add(a, b); }
};
struct Max {
  static __device__ __forceinline__ Compute none() { return least<Compute>(); }
  static __device__ __forceinline__ Compute of(Compute a, Compute b) { return elementwise::max(a, b); }
};
struct Min {
  static __device__ __forceinline__ Compute none() {
    return elementwise::subtract(Compute(elementwise::is_real<Compute> ? 0 : -1), least<Compute>());
  }
  static __device__ __forceinline__ Compute of(Compute a, Compute b) { return elementwise::min(a, b); }
};

// All of `lanes` neighbouring threads get what they have together, in an order that depends on nothing else.
template <typename How, int lanes, int count>
__device__ __forceinline__ void combine(Compute (&sum)[count]) {
#pragma unroll
  for (int n = 0; n < count; ++n) {
#pragma unroll
    for (int far = lanes / 2; far > 0; far /= 2)
      sum[n] = How::of(sum[n], __shfl_xor_sync(0xffffffffu, sum[n], far));
  }
}

// Likewise of several warps, by way of shared memory.
template <typename How, int lanes, int count>
__device__ __forceinline__ void combine(Compute (&sum)[count], Compute* parts) {
  combine<How, 32>(sum);
  const int warp = threadIdx.x / 32, first = threadIdx.x / lanes * (lanes / 32);
  if (threadIdx.x % 32 == 0) {
    for (int n = 0; n < count; ++n) parts[warp * count + n] = sum[n];
  }
  __syncthreads();
#pragma unroll
  for (int n = 0; n < count; ++n) {
    sum[n] = parts[first * count + n];
    for (int w = 1; w < lanes / 32; ++w) sum[n] = How::of(sum[n], parts[(first + w) * count + n]);
  }
}

// Neighbours in memory, by accesses as wide as the address allows.
template <int bytes>
__device__ __forceinline__ bool is_aligned(const void* address) {
  return reinterpret_cast<unsigned long long>(address) % bytes == 0;
}

template <int wide, int count, typename Element>
__device__ __forceinline__ void load_by(Compute (&values)[count], const Element* from) {
#pragma unroll
  for (int n = 0; n < count / wide; ++n) {
    const Vector<Element, wide> vector = load_vector<wide>(from + n * wide);
#pragma unroll
    for (int k = 0; k < wide; ++k) values[n * wide + k] = load(vector.element[k]);
  }
#pragma unroll
  for (int n = count / wide * wide; n < count; ++n) values[n] = load(from[n]);
}

template <int count, typename Element>
__device__ __forceinline__ void load_run(Compute (&values)[count], const Element* from) {
  if (is_aligned<16>(from)) {
    load_by<16 / sizeof(Element)>(values, from);
  } else if (is_aligned<8>(from)) {
    load_by<8 / sizeof(Element)>(values, from);
  } else {
    load_by<1>(values, from);
  }
}

template <int wide, int count, typename Element>
__device__ __forceinline__ bool store_by(Element* to, const Compute (&values)[count]) {
  if constexpr (wide <= 1 || count % wide != 0) {
    return false;
  } else {
    if (!is_aligned<wide * sizeof(Element)>(to)) return false;
#pragma unroll
    for (int n = 0; n < count / wide; ++n) {
      Vector<Element, wide> vector;
#pragma unroll
      for (int k = 0; k < wide; ++k) vector.element[k] = from_float<Element>(values[n * wide + k]);
      store_vector(to + n * wide, vector);
    }
    return true;
  }
}

// Whether they are stored.
template <int count, typename Element>
__device__ __forceinline__ bool store_run(Element* to, const Compute (&values)[count]) {
  return store_by<16 / sizeof(Element)>(to, values) || store_by<8 / sizeof(Element)>(to, values) ||
         store_by<4 / sizeof(Element)>(to, values);
}

using Place = int;  // of an element

#include "generated"

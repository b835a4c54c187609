// SPDX-License-Identifier: Apache-2.0
// How generated kernels reduce terms and store neighbours. Needs Compute and
// common/{functions,ordered,vector}.cuh.

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

// The reductions of terms, each with its value for no terms. NaN is larger and smaller than all.
struct Sum {
  static __device__ __forceinline__ Compute none() { return 0; }
  static __device__ __forceinline__ Compute of(Compute a, Compute b) { return elementwise::add(a, b); }
};
struct Max {
  static __device__ __forceinline__ Compute none() { return least<Compute>(); }
  static __device__ __forceinline__ Compute of(Compute a, Compute b) { return maximum(a, b); }
};
struct Min {
  static __device__ __forceinline__ Compute none() {
    return elementwise::subtract(Compute(elementwise::is_real<Compute> ? 0 : -1), least<Compute>());
  }
  static __device__ __forceinline__ Compute of(Compute a, Compute b) { return minimum(a, b); }
};

// Loads and stores of neighbours in memory, as wide as the address allows.
template <int bytes>
__device__ __forceinline__ bool is_aligned(const void* address) {
  return reinterpret_cast<unsigned long long>(address) % bytes == 0;
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
      for (int k = 0; k < wide; ++k) {
        const auto value = static_cast<compute_type<Element>>(values[n * wide + k]);
        vector.element[k] = from_float<Element>(value);
      }
      store_vector(to + n * wide, vector);
    }
    return true;
  }
}

// Stores the values if the address is aligned for one of these widths; returns whether it did.
template <int count, typename Element>
__device__ __forceinline__ bool store_run(Element* to, const Compute (&values)[count]) {
  return store_by<16 / sizeof(Element)>(to, values) || store_by<8 / sizeof(Element)>(to, values) ||
         store_by<4 / sizeof(Element)>(to, values);
}

// SPDX-License-Identifier: Apache-2.0
// The template `base`: tensor's loops as they are written. A thread computes elements of the output that are
// a grid's size apart. Extents, strides and the function are runtime values, so the kernels serve every
// problem of their dtype. Dimension 0 is the innermost: the reduced ones come first, then the free ones.

#include "common/functions.cuh"

constexpr int most_dimensions = 12;
constexpr int most_accesses = 6;
enum class Reduction { sum, max, min };

// The nest of loops as a launch passes it.
struct Nest {
  long long elements, terms;
  long long extents[most_dimensions];
  long long output_start, output[most_dimensions];
  long long starts[most_accesses], inputs[most_accesses][most_dimensions];
};

// The distances of the accesses from their arrays' first elements, and the places along the dimensions.
struct Place {
  long long offsets[most_accesses];
  long long at[most_dimensions];
};

__device__ __forceinline__ long long place_of(long long element, const Nest& nest, int reduced_rank, int rank,
                                              Place& place) {
  long long to = 0;
#pragma unroll
  for (int k = 0; k < most_accesses; ++k) place.offsets[k] = nest.starts[k];
#pragma unroll
  for (int d = 0; d < most_dimensions; ++d) {
    place.at[d] = 0;
    if (d < reduced_rank || d >= rank) continue;
    const long long outer = element / nest.extents[d];
    const long long at = element - outer * nest.extents[d];
    place.at[d] = at;
    element = outer;
    to += at * nest.output[d];
#pragma unroll
    for (int k = 0; k < most_accesses; ++k) place.offsets[k] += at * nest.inputs[k][d];
  }
  return to;
}

__device__ __forceinline__ void step(const Nest& nest, int reduced_rank, Place& place) {
#pragma unroll
  for (int d = 0; d < most_dimensions; ++d) {
    if (d >= reduced_rank) break;
#pragma unroll
    for (int k = 0; k < most_accesses; ++k) place.offsets[k] += nest.inputs[k][d];
    if (++place.at[d] < nest.extents[d]) break;
#pragma unroll
    for (int k = 0; k < most_accesses; ++k) place.offsets[k] -= nest.inputs[k][d] * nest.extents[d];
    place.at[d] = 0;
  }
}

// NaN is larger and smaller than all.
__device__ __forceinline__ Compute reduced(Compute so_far, Compute term, Reduction reduction) {
  if (reduction == Reduction::sum) return elementwise::add(so_far, term);
  return reduction == Reduction::max ? elementwise::max(so_far, term) : elementwise::min(so_far, term);
}

// Terms are reduced in runs of 256, and these in runs again: a term of a sum is rounded at most 512 + terms /
// 65536 times. If terms were added one after the other, a term would be rounded once for each term behind it.
struct Runs {
  Compute of_terms = 0, of_runs = 0, all = 0;

  // Adds the n-th term, counted from 0.
  __device__ __forceinline__ void add(Compute term, long long n, Reduction how) {
    of_terms = n % 256 == 0 ? term : reduced(of_terms, term, how);
    if (n % 256 < 255) return;
    of_runs = n / 256 % 256 == 0 ? of_terms : reduced(of_runs, of_terms, how);
    if (n / 256 % 256 < 255) return;
    all = n / 65536 == 0 ? of_runs : reduced(all, of_runs, how);
  }
  __device__ __forceinline__ Compute of(long long terms, Reduction how) const {
    Compute result = all;
    if (terms / 256 % 256 > 0) result = terms / 65536 == 0 ? of_runs : reduced(result, of_runs, how);
    if (terms % 256 > 0) result = terms / 256 == 0 ? of_terms : reduced(result, of_terms, how);
    return result;
  }
};

__device__ __forceinline__ long long first_element() {
  return static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x;
}
__device__ __forceinline__ long long elements_at_once() { return static_cast<long long>(gridDim.x) * BLOCK; }

template <typename Out>
__device__ __forceinline__ void store_as(void* out, long long at, Compute value) {
  static_cast<Out*>(out)[at] = from_float<Out>(static_cast<compute_type<Out>>(value));
}
// out_type: 0 is the inputs' type, the others are numbered as out_dtypes in op.h.
__device__ __forceinline__ void store(T* out, long long at, Compute value, int out_type) {
  switch (out_type) {
    case 1:
      return store_as<float>(out, at, value);
    case 2:
      return store_as<double>(out, at, value);
    case 3:
      return store_as<int>(out, at, value);
    case 4:
      return store_as<long long>(out, at, value);
    case 5:
      return store_as<Float16>(out, at, value);
    case 6:
      return store_as<BFloat16>(out, at, value);
    default:
      return store_as<T>(out, at, value);
  }
}

// Computes the product of the first `factors` accesses, each taken once.
extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(tensor_base_product)(const T* x0, const T* x1, const T* x2, const T* x3, const T* x4, const T* x5,
                               T* out, const __grid_constant__ Nest nest, int reduced_rank, int rank,
                               int reduction, int out_type, int factors) {
  const T* const inputs[most_accesses] = {x0, x1, x2, x3, x4, x5};
  const Reduction how = static_cast<Reduction>(reduction);
  for (long long element = first_element(); element < nest.elements; element += elements_at_once()) {
    Place place;
    const long long to = nest.output_start + place_of(element, nest, reduced_rank, rank, place);
    if (factors == 1 && reduced_rank == 0 && out_type == 0) {  // moved, whatever its bits mean
      out[to] = inputs[0][place.offsets[0]];
      continue;
    }
    Runs runs;
    for (long long term = 0; term < nest.terms; ++term) {
      Compute product = to_float(inputs[0][place.offsets[0]]);
#pragma unroll
      for (int k = 1; k < most_accesses; ++k) {
        if (k >= factors) break;
        product = elementwise::multiply(product, static_cast<Compute>(to_float(inputs[k][place.offsets[k]])));
      }
      runs.add(product, term, how);
      step(nest, reduced_rank, place);
    }
    store(out, to, runs.of(nest.terms, how), out_type);
  }
}

// The function as a program, followed by its finish. Each word is an operation. Its lowest byte is the
// operation's code (the preamble's apply() has them; 0 is an access, 1 a number), the next three bytes are
// the places of its operands among the words' results. For an access they are its number, most_accesses for
// the reduced value. A number's bits are the word behind it.
constexpr int most_words = 40;
struct Program {
  long long words[most_words];
};

// A dimension of an access that is out of bounds where its place is not from 0 to extent - 1. The access is
// in the extent's upper 16 bits; a word has two strides.
struct Bound {
  long long start, access_extent;
  long long strides[most_dimensions / 2];
};
constexpr int most_bounds = 4;
struct Bounds {
  Bound all[most_bounds];
};

__device__ __forceinline__ bool is_inside(int access, const Place& place, const Bounds& bounds, int count) {
  for (int n = 0; n < count; ++n) {
    const Bound& bound = bounds.all[n];
    if (bound.access_extent >> 48 != access) continue;
    long long at = bound.start;
#pragma unroll
    for (int d = 0; d < most_dimensions; d += 2) {
      at += place.at[d] * static_cast<int>(bound.strides[d / 2]);
      at += place.at[d + 1] * static_cast<int>(bound.strides[d / 2] >> 32);
    }
    if (at < 0 || at >= (bound.access_extent & ((1ll << 48) - 1))) return false;
  }
  return true;
}

// Reads the elements of the accesses whose bit is set.
__device__ __forceinline__ void read_some(Compute (&read)[most_accesses + 1], int accesses,
                                          const T* const (&inputs)[most_accesses], const Place& place,
                                          const Bounds& bounds, int count) {
#pragma unroll
  for (int k = 0; k < most_accesses; ++k) {
    if ((accesses >> k & 1) == 0) continue;
    read[k] = 0;
    if (is_inside(k, place, bounds, count)) read[k] = to_float(inputs[k][place.offsets[k]]);
  }
}

__device__ __forceinline__ Compute number_of(long long bits) {
  if constexpr (elementwise::is_real<Compute>) {
    return static_cast<Compute>(__longlong_as_double(bits));
  } else {
    return static_cast<Compute>(bits);
  }
}

// The value of the words from `from` to `to`.
__device__ __forceinline__ Compute value_of(const Program& program, int from, int to,
                                            const Compute (&read)[most_accesses + 1]) {
  Compute values[most_words];
  Compute value = 0;
  for (int w = from; w < to; ++w) {
    const long long word = program.words[w];
    const int operation = static_cast<int>(word & 255);
    const int i = static_cast<int>(word >> 8 & 255), j = static_cast<int>(word >> 16 & 255),
              l = static_cast<int>(word >> 24 & 255);
    if (operation == 0) {
      value = read[i];
    } else if (operation == 1) {
      value = number_of(program.words[++w]);
    } else {
      value = apply(operation, values[i], values[j], values[l]);
    }
    values[w] = value;
  }
  return value;
}

// reads: a bit for each access of the terms, and eight bits higher for each access of the finish.
extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(tensor_base)(const T* x0, const T* x1, const T* x2, const T* x3, const T* x4, const T* x5, T* out,
                       const __grid_constant__ Nest nest, int reduced_rank, int rank, int reduction,
                       int out_type, int reads, int term_words, int words, int bound_count,
                       const __grid_constant__ Program program, const __grid_constant__ Bounds bounds) {
  const T* const inputs[most_accesses] = {x0, x1, x2, x3, x4, x5};
  const Reduction how = static_cast<Reduction>(reduction);
  for (long long element = first_element(); element < nest.elements; element += elements_at_once()) {
    Place place;
    const long long to = nest.output_start + place_of(element, nest, reduced_rank, rank, place);
    Compute read[most_accesses + 1];
    Runs runs;
    for (long long term = 0; term < nest.terms; ++term) {
      read_some(read, reads, inputs, place, bounds, bound_count);
      runs.add(value_of(program, 0, term_words, read), term, how);
      step(nest, reduced_rank, place);
    }
    Compute result = runs.of(nest.terms, how);
    if (words > term_words) {  // at the first term's place, which reduced dimensions do not move
      read_some(read, reads >> 8, inputs, place, bounds, bound_count);
      read[most_accesses] = result;
      result = value_of(program, term_words, words, read);
    }
    store(out, to, result, out_type);
  }
}

// tensor, the plain kernels: the loops as they are written, a thread for each element of the output, which
// walk it in strides of the grid. Extents, strides and the function are runtime values, so they serve every
// problem of their dtype. Dimension 0 is the innermost: the reduced ones come first, then the free ones.

#include "elementwise/functions.cuh"

#define TWELVE(name)                                                                                 \
  long long name##0, long long name##1, long long name##2, long long name##3, long long name##4,     \
      long long name##5, long long name##6, long long name##7, long long name##8, long long name##9, \
      long long name##10, long long name##11
#define TWELVE_VALUES(name)                                                                             \
  {                                                                                                     \
    name##0, name##1, name##2, name##3, name##4, name##5, name##6, name##7, name##8, name##9, name##10, \
        name##11                                                                                        \
  }

constexpr int most_dimensions = 12;
constexpr int most_accesses = 6;
enum class Reduction { sum, max, min };

struct Nest {
  long long extents[most_dimensions];
  long long output[most_dimensions];
  long long inputs[most_accesses][most_dimensions];
  long long starts[most_accesses];
  int reduced, rank;
};

// How far the accesses are from their arrays' first elements, and where the reduced dimensions stand.
struct Place {
  long long offsets[most_accesses];
  long long at[most_dimensions];
};

__device__ __forceinline__ long long place_of(long long element, const Nest& nest, Place& place) {
  long long to = 0;
#pragma unroll
  for (int k = 0; k < most_accesses; ++k) place.offsets[k] = nest.starts[k];
#pragma unroll
  for (int d = 0; d < most_dimensions; ++d) {
    place.at[d] = 0;
    if (d < nest.reduced || d >= nest.rank) continue;
    const long long outer = element / nest.extents[d];
    const long long at = element - outer * nest.extents[d];
    element = outer;
    to += at * nest.output[d];
#pragma unroll
    for (int k = 0; k < most_accesses; ++k) place.offsets[k] += at * nest.inputs[k][d];
  }
  return to;
}

__device__ __forceinline__ void step(const Nest& nest, Place& place) {
#pragma unroll
  for (int d = 0; d < most_dimensions; ++d) {
    if (d >= nest.reduced) break;
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

#define PARAMETERS                                                                                          \
  const T *x0, const T *x1, const T *x2, const T *x3, const T *x4, const T *x5, T *out, long long elements, \
      long long terms, int reduced_rank, int rank, int reduction, long long out_start, long long start0,    \
      long long start1, long long start2, long long start3, long long start4, long long start5,             \
      TWELVE(extent), TWELVE(o), TWELVE(a), TWELVE(b), TWELVE(c), TWELVE(d), TWELVE(e), TWELVE(f)
#define LOCALS                                                                                \
  const T* const inputs[most_accesses] = {x0, x1, x2, x3, x4, x5};                            \
  const Nest nest = {TWELVE_VALUES(extent),                                                   \
                     TWELVE_VALUES(o),                                                        \
                     {TWELVE_VALUES(a), TWELVE_VALUES(b), TWELVE_VALUES(c), TWELVE_VALUES(d), \
                      TWELVE_VALUES(e), TWELVE_VALUES(f)},                                    \
                     {start0, start1, start2, start3, start4, start5},                        \
                     reduced_rank,                                                            \
                     rank};                                                                   \
  const Reduction how = static_cast<Reduction>(reduction);                                    \
  const long long stride = static_cast<long long>(gridDim.x) * BLOCK;                         \
  const long long first = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x

// A product of the first `factors` accesses, each once.
extern "C" __global__ void __launch_bounds__(BLOCK) ENTRY(tensor_base_product)(PARAMETERS, int factors) {
  LOCALS;
  for (long long element = first; element < elements; element += stride) {
    Place place;
    const long long to = place_of(element, nest, place);
    if (factors == 1 && reduced_rank == 0) {  // moved as it is, whatever its bits mean
      out[out_start + to] = inputs[0][place.offsets[0]];
      continue;
    }
    Compute result = 0;
    for (long long term = 0; term < terms; ++term) {
      Compute product = to_float(inputs[0][place.offsets[0]]);
#pragma unroll
      for (int k = 1; k < most_accesses; ++k) {
        if (k >= factors) break;
        product = elementwise::multiply(product, static_cast<Compute>(to_float(inputs[k][place.offsets[k]])));
      }
      result = term == 0 ? product : reduced(result, product, how);
      step(nest, place);
    }
    out[out_start + to] = from_float<T>(result);
  }
}

// The function as a program: each word an operation, in its lowest byte (the preamble's apply() has them; 0
// is an access, 1 a number), and in the next three bytes the places of its operands among the words' results;
// of an access its number. A number's bits are the word behind it.
#define PROGRAM(name)                                                                            \
  long long name##0, long long name##1, long long name##2, long long name##3, long long name##4, \
      long long name##5, long long name##6, long long name##7, long long name##8, long long name##9
#define PROGRAM_VALUES(name) \
  name##0, name##1, name##2, name##3, name##4, name##5, name##6, name##7, name##8, name##9
constexpr int most_words = 40;

__device__ __forceinline__ Compute number_of(long long bits) {
  if constexpr (elementwise::is_real<Compute>) {
    return static_cast<Compute>(__longlong_as_double(bits));
  } else {
    return static_cast<Compute>(bits);
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(tensor_base)(PARAMETERS, int words, PROGRAM(p), PROGRAM(q), PROGRAM(r), PROGRAM(s)) {
  LOCALS;
  const long long program[most_words] = {PROGRAM_VALUES(p), PROGRAM_VALUES(q), PROGRAM_VALUES(r),
                                         PROGRAM_VALUES(s)};
  for (long long element = first; element < elements; element += stride) {
    Place place;
    const long long to = place_of(element, nest, place);
    Compute result = 0;
    for (long long term = 0; term < terms; ++term) {
      Compute read[most_accesses];
#pragma unroll
      for (int k = 0; k < most_accesses; ++k) read[k] = to_float(inputs[k][place.offsets[k]]);
      Compute values[most_words];
      Compute value = 0;
      for (int w = 0; w < words; ++w) {
        const long long word = program[w];
        const int operation = static_cast<int>(word & 255);
        const int i = static_cast<int>(word >> 8 & 255), j = static_cast<int>(word >> 16 & 255),
                  l = static_cast<int>(word >> 24 & 255);
        if (operation == 0) {
          value = read[i];
        } else if (operation == 1) {
          value = number_of(program[++w]);
        } else {
          value = apply(operation, values[i], values[j], values[l]);
        }
        values[w] = value;
      }
      result = term == 0 ? value : reduced(result, value, how);
      step(nest, place);
    }
    out[out_start + to] = from_float<T>(result);
  }
}

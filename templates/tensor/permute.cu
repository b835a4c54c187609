// tensor without sums, of one array: a block takes a box, reads it in the order in which the input lies in
// memory, turns it in shared memory, and writes it in the output's order. Extents and strides are constants:
// the preamble has them, with the problem's index names.

#include "common/hinted_access.cuh"
#include "common/overlap.inl"
#include "common/vector.cuh"
#include "elementwise/functions.cuh"

#define BOX_FUNCTION __host__ __device__ constexpr
#include "tensor/box.inl"

constexpr Hint load_hint = LOAD == Load::no_allocate ? Hint::no_allocate : Hint::none;
constexpr Hint store_hint = static_cast<Hint>(STORE);

BOX_FUNCTION Box make_box() {
  long long extents[RANK] = {};
  int input_order[RANK] = {}, output_order[RANK] = {};
  for (int n = 0; n < RANK; ++n) {
    extents[n] = extent_of(n);
    input_order[n] = input_order_of(n);
    output_order[n] = output_order_of(n);
  }
  return box_of(RANK, extents, input_order, output_order, TILE_IN, TILE_OUT, LEAST, VECTOR_IN, VECTOR_OUT);
}
BOX_FUNCTION int tile_of(int dimension) {
  constexpr Box box = make_box();
  return static_cast<int>(box.tiles[dimension]);
}
BOX_FUNCTION int elements_of_box() {
  int all = 1;
  for (int d = 0; d < RANK; ++d) all *= tile_of(d);
  return all;
}
constexpr int elements = elements_of_box();
constexpr bool staged = STAGING == Staging::shared;

// In shared memory the box lies as it is read; PAD elements more where the output's neighbours begin anew.
struct Places {
  int strides[RANK];
  int all;
};
BOX_FUNCTION Places make_places() {
  Places places = {};
  int stride = 1;
  for (int n = 0; n < RANK; ++n) {
    const int d = input_order_of(n);
    if (n > 0 && d == output_order_of(0)) stride += PAD;
    places.strides[d] = stride;
    stride *= tile_of(d);
  }
  places.all = stride;
  return places;
}
BOX_FUNCTION int place_stride_of(int dimension) {
  constexpr Places places = make_places();
  return places.strides[dimension];
}
constexpr int places = make_places().all;
BOX_FUNCTION bool vectors_in_shared() {
  for (int n = 1; n < RANK; ++n)
    if (tile_of(input_order_of(n)) > 1 && place_stride_of(input_order_of(n)) % VECTOR_IN != 0) return false;
  return true;
}

// Within a box 32 bits reach every element, unless strides are huge.
BOX_FUNCTION bool is_near() {
  long long from = 0, to = 0;
  for (int d = 0; d < RANK; ++d) {
    from += (tile_of(d) - 1) * (input_stride_of(d) < 0 ? -input_stride_of(d) : input_stride_of(d));
    to += (tile_of(d) - 1) * output_stride_of(d);
  }
  return from < (1ll << 31) && to < (1ll << 31);
}
template <bool NEAR>
struct OffsetOf {
  using Type = long long;
};
template <>
struct OffsetOf<true> {
  using Type = int;
};
using Offset = typename OffsetOf<is_near()>::Type;

struct Corner {
  int room[RANK];      // places of the box that lie in the arrays
  long long from, to;  // in the arrays
};
__device__ __forceinline__ Corner corner_of(long long block) {
  Corner corner = {{}, input_start, output_start};
#pragma unroll
  for (int n = 0; n < RANK; ++n) {
    const int d = BLOCK_ORDER == BlockOrder::output ? output_order_of(n) : input_order_of(n);
    const long long pieces = (extent_of(d) + tile_of(d) - 1) / tile_of(d);
    const long long at = block % pieces * tile_of(d);
    corner.room[d] = extent_of(d) - at < tile_of(d) ? static_cast<int>(extent_of(d) - at) : tile_of(d);
    corner.from += at * input_stride_of(d);
    corner.to += at * output_stride_of(d);
    block /= pieces;
  }
  return corner;
}

// The n-th vector of the box, in the order of the input or of the output.
struct Spot {
  Offset from, to;  // from the corner
  int place;        // in shared memory
  bool inside;
};
template <bool READS, int WIDTH>
__device__ __forceinline__ Spot spot_of(int n, const Corner& corner) {
  Spot spot = {0, 0, 0, n < elements / WIDTH};
#pragma unroll
  for (int k = 0; k < RANK; ++k) {
    const int d = READS ? input_order_of(k) : output_order_of(k);
    if (tile_of(d) == 1) continue;
    const int width = k == 0 ? WIDTH : 1;
    const int size = tile_of(d) / width;
    const int digit = static_cast<int>(static_cast<unsigned>(n) % size) * width;
    n = static_cast<int>(static_cast<unsigned>(n) / size);
    if (extent_of(d) % tile_of(d) != 0 && digit >= corner.room[d]) spot.inside = false;
    spot.from += digit * static_cast<Offset>(input_stride_of(d));
    spot.to += digit * static_cast<Offset>(output_stride_of(d));
    spot.place += digit * place_stride_of(d);
  }
  return spot;
}

template <int N>
__device__ __forceinline__ Vector<T, N> finished(Vector<T, N> vector) {
  if constexpr (!IDENTITY) {
#pragma unroll
    for (int i = 0; i < N; ++i) {
      const Compute input[1] = {static_cast<Compute>(to_float(vector.element[i]))};
      vector.element[i] = from_float<T>(apply(input));
    }
  }
  return vector;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(tensor_permute)(InputPointer<T> input, InOutPointer<T> output) {
  using In = Vector<T, VECTOR_IN>;
  using Out = Vector<T, VECTOR_OUT>;
  const Corner corner = corner_of(blockIdx.x);
  const T* const from = input + corner.from;
  T* const to = output + corner.to;
  start();
  if constexpr (staged) {
    __shared__ __align__(16) T box[places];
    constexpr int loads = (elements / VECTOR_IN + BLOCK - 1) / BLOCK;
    In loaded[loads];
#pragma unroll
    for (int n = 0; n < loads; ++n) {
      const Spot spot = spot_of<true, VECTOR_IN>(threadIdx.x + n * BLOCK, corner);
      if (spot.inside) loaded[n] = load_hinted<load_hint>(reinterpret_cast<const In*>(from + spot.from));
    }
#pragma unroll
    for (int n = 0; n < loads; ++n) {
      const Spot spot = spot_of<true, VECTOR_IN>(threadIdx.x + n * BLOCK, corner);
      if (!spot.inside) continue;
      if constexpr (vectors_in_shared()) {
        store_vector(box + spot.place, loaded[n]);
      } else {
#pragma unroll
        for (int i = 0; i < VECTOR_IN; ++i) box[spot.place + i] = loaded[n].element[i];
      }
    }
    __syncthreads();
    constexpr int stores = (elements / VECTOR_OUT + BLOCK - 1) / BLOCK;
#pragma unroll
    for (int n = 0; n < stores; ++n) {
      const Spot spot = spot_of<false, VECTOR_OUT>(threadIdx.x + n * BLOCK, corner);
      if (!spot.inside) continue;
      Out vector;
#pragma unroll
      for (int i = 0; i < VECTOR_OUT; ++i)
        vector.element[i] = box[spot.place + i * place_stride_of(output_order_of(0))];
      store_hinted<store_hint>(reinterpret_cast<Out*>(to + spot.to), finished(vector));
    }
  } else {
    constexpr int moves = (elements / VECTOR_OUT + BLOCK - 1) / BLOCK;
    Out loaded[moves];
#pragma unroll
    for (int n = 0; n < moves; ++n) {
      const Spot spot = spot_of<false, VECTOR_OUT>(threadIdx.x + n * BLOCK, corner);
      if (spot.inside) loaded[n] = load_hinted<load_hint>(reinterpret_cast<const Out*>(from + spot.from));
    }
#pragma unroll
    for (int n = 0; n < moves; ++n) {
      const Spot spot = spot_of<false, VECTOR_OUT>(threadIdx.x + n * BLOCK, corner);
      if (spot.inside) store_hinted<store_hint>(reinterpret_cast<Out*>(to + spot.to), finished(loaded[n]));
    }
  }
}

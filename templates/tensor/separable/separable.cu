// SPDX-License-Identifier: Apache-2.0
// The template `separable`: windows along one to three dimensions that are reduced one after the other, in
// one launch. A block has a tile of the output, across x (and y), and marches along the third dimension. A
// slab of the inputs at a time, with the windows' overhang, arrives in shared memory some steps before it is
// needed, is reduced along x and y, and is added to each of the sums that it is a part of; these are in
// registers. With a mask, whose weights are not products of one weight per dimension, a slab is a row of each
// of some planes, and each of the sums adds the row with another row of the mask.

#include "common/async_copy.cuh"
#include "common/copy_groups.cuh"
#include "common/functions.cuh"
#include "common/ordered.cuh"
#include "common/overlap.inl"
#include "common/resident_blocks.cuh"
#include "common/shared.cuh"
#include "common/shared_layout.cuh"
#include "common/vector.cuh"
using Compute = compute_type<T>;
#include "tensor/reduction.inl"

using Place = long long;  // of an element
struct Sources {
  const T *x0, *x1, *x2, *x3, *x4, *x5;
};
template <typename... View>
struct List {
  static constexpr int size = sizeof...(View);
};
struct NoWeight {
  static constexpr bool is_one = true;
  static __device__ __forceinline__ Compute at(const Sources&, int) { return 1; }
};

struct NoMask {};

// The generated code has the numbers of the problem, the types of what is read in windows (Inputs) and
// written (Output), and the functions.
#include "generated"

constexpr bool has_y = taps_y > 1, has_mask = masks > 0;
constexpr int neighbours = has_y ? 4 : OUTPUTS;  // results along x that a thread computes at a time
#include "tensor/separable/separable_layout.inl"
constexpr SeparableLayout layout =
    separable_layout({tile_x, tile_y, taps_x, taps_y, taps_march, Inputs::size, STAGES,
                      static_cast<int>(sizeof(T)), static_cast<int>(sizeof(Compute)), masks* mask_elements});
constexpr int slab_y = layout.slab_y, pitch = layout.pitch;
constexpr int per_16_bytes = 16 / sizeof(T);
constexpr int slab_elements = layout.slab;  // of one input
constexpr int all_slabs = layout.slabs, between_elements = layout.between;
// Directions with the same weights have one place for them.
template <typename A, typename B>
constexpr bool is_same = false;
template <typename A>
constexpr bool is_same<A, A> = true;
constexpr int weights_y = is_same<WeightY, WeightX> ? 0 : taps_x;
constexpr int weights_march = is_same<WeightMarch, WeightX>   ? 0
                              : is_same<WeightMarch, WeightY> ? weights_y
                                                              : taps_x + taps_y;
constexpr bool weights_kept = taps_x + taps_y + taps_march <= 72;  // in registers, else in shared memory
constexpr unsigned tiles_x = static_cast<unsigned>((extent_x + tile_x - 1) / tile_x),
                   tiles_y = static_cast<unsigned>((extent_y + tile_y - 1) / tile_y),
                   runs = static_cast<unsigned>((extent_march + run - 1) / run);

__device__ __forceinline__ int at_most(Place a, int b) { return a < b ? static_cast<int>(a) : b; }

// A block's part of the output, from its first element on.
struct Tile {
  unsigned batch;
  Place x, y, march;
  int extent_x, extent_y, extent_march;  // that there are
};

__device__ __forceinline__ Tile tile_of(unsigned block) {
  Tile tile;
  tile.x = Place(block % tiles_x) * tile_x;
  block /= tiles_x;
  tile.y = Place(block % tiles_y) * tile_y;
  block /= tiles_y;
  tile.march = Place(block % runs) * run;
  tile.batch = block / runs;
  tile.extent_x = at_most(extent_x - tile.x, tile_x);
  tile.extent_y = at_most(extent_y - tile.y, tile_y);
  tile.extent_march = at_most(extent_march - tile.march, run);
  return tile;
}

// A thread's share of the copies of one input's slabs, one slab after the other.
template <typename View>
struct Copier {
  static constexpr int wide = View::vector, across = (tile_x + taps_x - 1 + wide - 1) / wide,
                       count = (across * slab_y + threads - 1) / threads;
  const T* source[count];
  int left[count];  // elements from there on that there are

  static __device__ __forceinline__ int row(int place) { return slab_y > 1 ? place / across : 0; }
  static __device__ __forceinline__ int column(int place) { return (place - row(place) * across) * wide; }

  __device__ __forceinline__ void begin(const Sources& from, const Tile& tile) {
    const T* const first =
        View::begin(from, tile.batch) + tile.x * View::x + tile.y * View::y + tile.march * View::march;
    // In a whole tile, vectors may reach beyond the overhang, but not beyond the array's elements.
    const int columns = at_most(extent_x + (taps_x - 1) - tile.x, pitch), rows = tile.extent_y + taps_y - 1;
#pragma unroll
    for (int n = 0; n < count; ++n) {
      const int place = n * threads + static_cast<int>(threadIdx.x);
      source[n] = first + row(place) * View::y + column(place) * View::x;
      left[n] = row(place) < rows ? columns - column(place) : 0;
    }
  }

  __device__ __forceinline__ void copy(T* to) {
#pragma unroll
    for (int n = 0; n < count; ++n) {
      const int place = n * threads + static_cast<int>(threadIdx.x);
      T* const there = to + (pitch == across * wide ? place * wide : row(place) * pitch + column(place));
      if (left[n] >= wide) {
        if constexpr (wide * sizeof(T) >= 4) {
          copy_async<wide>(there, source[n], true);
        } else {
          *there = *source[n];
        }
      } else {
#pragma unroll 1
        for (int k = 0; k < left[n]; ++k) there[k] = source[n][k * View::x];
      }
      source[n] += View::march;
    }
  }
};

template <typename Inputs>
struct Copiers;
template <typename... View>
struct Copiers<List<View...>> : Copier<View>... {
  __device__ __forceinline__ void begin(const Sources& from, const Tile& tile) {
    (Copier<View>::begin(from, tile), ...);
  }
  __device__ __forceinline__ void copy(T* slab) {
    int n = 0;
    (Copier<View>::copy(slab + slab_elements * n++), ...);
  }
};

// One direction's weights: `taps` of them, which begin at `all` in shared memory.
template <typename Weight, int taps>
struct Weights {
  static constexpr bool is_kept = weights_kept && !Weight::is_one;
  Compute kept[is_kept ? taps : 1];
  const Compute* all;

  __device__ __forceinline__ void begin(const Compute* shared) {
    all = shared;
    if constexpr (is_kept) {
#pragma unroll
      for (int n = 0; n < taps; ++n) kept[n] = all[n];
    }
  }
  __device__ __forceinline__ Compute times(int n, Compute value) const {
    if constexpr (Weight::is_one) return value;
    return elementwise::multiply(is_kept ? kept[n] : all[n], value);
  }
  /// The sum with the n-th term added; for the first term, the term alone.
  __device__ __forceinline__ Compute add(Compute sum, int n, Compute value) const {
    return n == 0 ? times(0, value) : How::of(sum, times(n, value));
  }
};

template <typename Weight, int taps>
__device__ __forceinline__ void share_weights(Compute* to, const Sources& from) {
  if constexpr (Weight::is_one) return;
  for (int n = static_cast<int>(threadIdx.x); n < taps; n += threads) to[n] = Weight::at(from, n);
}

// Calls use(n, the element of the n-th neighbour from `from` on) for at least the first `count` neighbours.
template <int count, int wide, typename Use>
__device__ __forceinline__ void for_neighbours(const T* from, const Use& use) {
#pragma unroll
  for (int n = 0; n < (count + wide - 1) / wide; ++n) {
    Vector<T, wide> read[Inputs::size];
#pragma unroll
    for (int k = 0; k < Inputs::size; ++k) read[k] = load_vector<wide>(from + k * slab_elements + n * wide);
#pragma unroll
    for (int i = 0; i < wide; ++i) {
      Compute values[Inputs::size];
#pragma unroll
      for (int k = 0; k < Inputs::size; ++k) values[k] = load(read[k].element[i]);
      use(n * wide + i, element::apply(values));
    }
  }
}

// Reduces windows along x for `count` neighbours from `from` on: `taps` taps from the tap `begin` on. If
// `first`, the first of these begins the sum.
template <int count, int taps, bool first, typename Weights>
__device__ __forceinline__ void reduce_taps(Compute (&sum)[count], const T* from, const Weights& weights,
                                            int begin) {
  constexpr int wide = count < per_16_bytes ? count : per_16_bytes;
  for_neighbours<count + taps - 1, wide>(from + begin, [&](int n, Compute value) {
#pragma unroll
    for (int r = 0; r < count; ++r) {
      const int tap = n - r;
      if (tap < 0 || tap >= taps) continue;
      if constexpr (first) {
        sum[r] = weights.add(sum[r], tap, value);
      } else {
        sum[r] = How::of(sum[r], weights.times(begin + tap, value));
      }
    }
  });
}
// Long windows are not written out as a whole but in pieces.
template <int count, typename Weights>
__device__ __forceinline__ void reduce_x(Compute (&sum)[count], const T* from, const Weights& weights) {
  constexpr int piece = 32;
  if constexpr (taps_x <= 72) {
    reduce_taps<count, taps_x, true>(sum, from, weights, 0);
  } else {
#pragma unroll
    for (int r = 0; r < count; ++r) sum[r] = How::none();
#pragma unroll 1
    for (int begin = 0; begin <= taps_x - piece; begin += piece)
      reduce_taps<count, piece, false>(sum, from, weights, begin);
    if constexpr (taps_x % piece != 0)
      reduce_taps<count, taps_x % piece, false>(sum, from, weights, taps_x / piece * piece);
  }
}

// The mask of a thread's plane: in registers where it is small, else row by row from shared memory.
struct MaskRows {
  static constexpr int wide = 16 / sizeof(Compute);
  static constexpr bool is_kept = has_mask && taps_march * taps_x * sizeof(Compute) <= 100;
  Compute kept[is_kept ? taps_march : 1][taps_x + wide];
  const Compute* all;

  __device__ __forceinline__ void read(Compute (&row)[taps_x + wide], int tap) const {
#pragma unroll
    for (int n = 0; n < mask_pitch / wide; ++n) {
      const Vector<Compute, wide> vector = load_vector<wide>(all + tap * mask_pitch + n * wide);
#pragma unroll
      for (int i = 0; i < wide; ++i) row[n * wide + i] = vector.element[i];
    }
  }
  __device__ __forceinline__ void begin(const Compute* shared) {
    all = shared;
    if constexpr (is_kept) {
#pragma unroll
      for (int tap = 0; tap < taps_march; ++tap) read(kept[tap], tap);
    }
  }
};

template <typename Mask>
__device__ __forceinline__ void share_mask(Compute* to, const Sources& from, const Tile& tile) {
  constexpr int size = taps_march * taps_x;
  for (int n = static_cast<int>(threadIdx.x); n < masks * size; n += threads) {
    const int plane = n / size, i = n % size / taps_x, j = n % taps_x;
    if (plane < tile.extent_y) {
      to[plane * mask_elements + i * mask_pitch + j] = Mask::at(from, tile.batch, tile.y + plane, i, j);
    }
  }
}

// Adds the row at `from`, with each row of the mask, to the sum that it is that part of. Sums that no output
// of the run needs are left out where a row takes much computing.
template <typename Mask>
__device__ __forceinline__ void reduce_mask(Compute (&partial)[taps_march][OUTPUTS], const T* from,
                                            const MaskRows& mask, int step, int extent) {
  constexpr bool skips = taps_x * OUTPUTS >= 48;
  constexpr int wide = OUTPUTS < per_16_bytes ? OUTPUTS : per_16_bytes, count = OUTPUTS + taps_x - 1;
  Compute values[(count + wide - 1) / wide * wide];
  for_neighbours<count, wide>(from, [&](int n, Compute value) { values[n] = value; });
#pragma unroll
  for (int tap = taps_march - 1; tap >= 0; --tap) {
    if (skips && static_cast<unsigned>(step - tap) >= static_cast<unsigned>(extent)) continue;
    Compute row[taps_x + MaskRows::wide];
    if constexpr (!MaskRows::is_kept) mask.read(row, tap);
    const int k = taps_march - 1 - tap;
#pragma unroll
    for (int j = 0; j < taps_x; ++j) {
      const Compute weight = MaskRows::is_kept ? mask.kept[tap][j] : row[j];
#pragma unroll
      for (int r = 0; r < OUTPUTS; ++r) {
        const Compute term = Mask::term(values[r + j], weight);
        if (j > 0) {
          partial[k][r] = How::of(partial[k][r], term);
        } else {
          partial[k][r] = tap == 0 ? term : How::of(partial[tap == 0 ? k : k + 1][r], term);
        }
      }
    }
  }
}

template <int wide, Place apart>
__device__ __forceinline__ void store(T* to, const Compute (&values)[OUTPUTS]) {
#pragma unroll
  for (int n = 0; n < OUTPUTS / wide; ++n) {
    Vector<T, wide> vector;
#pragma unroll
    for (int k = 0; k < wide; ++k) vector.element[k] = from_float<T>(values[n * wide + k]);
    if constexpr (sizeof(vector) >= 4) {
      store_vector_streaming(to + n * wide * apart, vector);  // the compiler splits a plain one
    } else {
      store_vector(to + n * wide * apart, vector);
    }
  }
}

extern "C" __global__ void __launch_bounds__(threads, resident_blocks(RESIDENT_WARPS, threads))
    ENTRY(tensor_separable)(InputPointer<T> x0, InputPointer<T> x1, InputPointer<T> x2, InputPointer<T> x3,
                            InputPointer<T> x4, InputPointer<T> x5, InOutPointer<T> out) {
  DYNAMIC_SHARED(T, slabs);
  constexpr int all_inputs = slab_elements * Inputs::size;
  Compute* const between = reinterpret_cast<Compute*>(slabs + all_slabs);  // reduced along x
  Compute* const shared_weights = between + between_elements;
  start();
  const Sources from = {x0, x1, x2, x3, x4, x5};
  const Tile tile = tile_of(blockIdx.x);
  const int thread = static_cast<int>(threadIdx.x), thread_x = thread % lanes, thread_y = thread / lanes;
  const int steps = tile.extent_march + taps_march - 1;
  Copiers<Inputs> copiers;
  copiers.begin(from, tile);
#pragma unroll 1
  for (int step = 0; step < STAGES - 1; ++step) {
    if (step < steps) copiers.copy(slabs + step * all_inputs);
    end_copy_group();
  }
  if constexpr (has_mask) {
    share_mask<Mask>(shared_weights, from, tile);
  } else {
    share_weights<WeightX, taps_x>(shared_weights, from);
    share_weights<WeightY, taps_y>(shared_weights + weights_y, from);
    share_weights<WeightMarch, taps_march>(shared_weights + weights_march, from);
  }
  __syncthreads();
  Weights<WeightX, taps_x> along_x;
  Weights<WeightY, taps_y> along_y;
  Weights<WeightMarch, taps_march> along_march;
  along_x.begin(shared_weights);
  along_y.begin(shared_weights + weights_y);
  along_march.begin(shared_weights + weights_march);
  const int plane = has_y || thread_y < tile_y ? thread_y : 0;  // the last threads may have none
  MaskRows mask;
  if constexpr (has_mask) mask.begin(shared_weights + (masks > 1 ? plane * mask_elements : 0));

  // The sums of the outputs that the last steps began: the first is complete, the second lacks one step.
  Compute partial[taps_march][OUTPUTS];
#pragma unroll
  for (int k = 0; k < taps_march; ++k) {
#pragma unroll
    for (int r = 0; r < OUTPUTS; ++r) partial[k][r] = How::none();
  }
  const Place x = tile.x + thread_x * (has_y ? 1 : OUTPUTS), y = tile.y + plane * (has_y ? OUTPUTS : 1);
  T* const to = out + Output::batch(tile.batch) + x * Output::x + y * Output::y + tile.march * Output::march;

  // The number of the thread's outputs that exist.
  const int room = !has_y ? (thread_y < tile.extent_y ? tile.extent_x - thread_x * OUTPUTS : 0)
                   : thread_x < tile.extent_x ? tile.extent_y - thread_y * OUTPUTS
                                              : 0;

  int stage = 0;
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    wait_for_copy_groups<STAGES - 2>();
    __syncthreads();  // all have read the slab before, whose place the next one takes
    if (step + STAGES - 1 < steps) copiers.copy(slabs + (stage == 0 ? STAGES - 1 : stage - 1) * all_inputs);
    end_copy_group();
    const T* const slab = slabs + stage * all_inputs;
    stage = stage == STAGES - 1 ? 0 : stage + 1;
    Compute sum[OUTPUTS] = {};
    if constexpr (has_mask) {
      reduce_mask<Mask>(partial, slab + plane * pitch + thread_x * OUTPUTS, mask, step, tile.extent_march);
    } else if constexpr (!has_y) {
      reduce_x(sum, slab + thread_x * OUTPUTS, along_x);
    } else {
      constexpr int across = tile_x / neighbours;
#pragma unroll
      for (int n = 0; n < (slab_y * across + threads - 1) / threads; ++n) {
        const int place = n * threads + thread;
        if (place >= slab_y * across) break;
        const int row = place / across, column = place % across * neighbours;
        Compute reduced[neighbours] = {};
        reduce_x(reduced, slab + row * pitch + column, along_x);
        Vector<Compute, neighbours> vector;
#pragma unroll
        for (int r = 0; r < neighbours; ++r) vector.element[r] = reduced[r];
        store_vector(between + row * tile_x + column, vector);
      }
      __syncthreads();
      const Compute* const column = between + thread_y * OUTPUTS * tile_x + thread_x;
#pragma unroll
      for (int n = 0; n < OUTPUTS + taps_y - 1; ++n) {
        const Compute value = column[n * tile_x];
#pragma unroll
        for (int r = 0; r < OUTPUTS; ++r)
          if (n - r >= 0 && n - r < taps_y) sum[r] = along_y.add(sum[r], n - r, value);
      }
    }
    if constexpr (!has_mask) {
#pragma unroll
      for (int r = 0; r < OUTPUTS; ++r) {
#pragma unroll
        for (int k = 0; k < taps_march - 1; ++k)
          partial[k][r] = along_march.add(partial[k + 1][r], taps_march - 1 - k, sum[r]);
        partial[taps_march - 1][r] = along_march.add(0, 0, sum[r]);
      }
    }
    Compute(&result)[OUTPUTS] = partial[0];
    const int done = step - (taps_march - 1);
    if (done < 0 || room <= 0) continue;
    T* const row = to + done * Output::march;
    const Place march = tile.march + done;
#pragma unroll
    for (int r = 0; r < OUTPUTS; ++r) {
      if (r < room)
        result[r] = finished(result[r], from, tile.batch, x + (has_y ? 0 : r), y + (has_y ? r : 0), march);
    }
    constexpr int wide = has_y ? 1 : Output::vector < OUTPUTS ? Output::vector : OUTPUTS;
    constexpr Place apart = has_y ? Output::y : Output::x;
    if (room >= OUTPUTS) {
      store<wide, apart>(row, result);
    } else {
#pragma unroll
      for (int r = 0; r < OUTPUTS; ++r)
        if (r < room) row[r * apart] = from_float<T>(result[r]);
    }
  }
}

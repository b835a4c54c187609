// To be read: nothing is built from this text. It is the winner on NVIDIA H200 for
// batch=1 height=200 width=200 mask_height=13 mask_width=13 mode=convolution boundary=zero dtype=f32 size=same origin_y=0 origin_x=0 value="0",
// written by golden_tests with TUNESMITH_UPDATE_GOLDEN=1. "tunesmith render" writes any other.
// conv2d/tiled for sm_90a, rendered by Tunesmith from templates/conv2d/tiled.cu: change that and render again.
// compiled in: mask_height=13 mask_width=13 mode=convolution dtype=f32
// config: SMEM_LAYOUT=flat MASK_IN=shared COPY=async SMEM_ALLOC=dynamic LOOP_ORDER=image UNROLL=0 VECTOR=2 OUT_X=2 OUT_Y=2 BLOCK_X=16 BLOCK_Y=8 AHEAD=0 STORE=plain START=plain TRIGGER=none RESIDENT_WARPS=16

// ---- templates/common/async_copy.cuh
// SPDX-License-Identifier: Apache-2.0
// Copies from global to shared memory that use no registers and are waited for as one group. Before compute
// capability 8.0 they are ordinary copies, and the wait does nothing. On the host they arrive at the wait,
// and common/host/async_copy.h replaces this file.

// Copies N elements (4, 8 or 16 bytes in all, with both addresses aligned to this size), or writes zeros if
// not `inside`. In the latter case `from` is not read but still has to be a pointer into the array.
template <int N, typename T>
__device__ __forceinline__ void copy_async(T* to, const T* from, bool inside) {
  constexpr int bytes = sizeof(T) * N;
  static_assert(bytes == 4 || bytes == 8 || bytes == 16, "an asynchronous copy moves 4, 8 or 16 bytes");
#if __CUDA_ARCH__ >= 800
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  const int read = inside ? bytes : 0;
  if constexpr (bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(read));
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(address), "l"(from), "n"(bytes),
                 "r"(read));
  }
#else
  for (int i = 0; i < N; ++i) to[i] = inside ? from[i] : T(0);
#endif
}

// Waits for this thread's copies; a barrier must follow before other threads read them.
__device__ __forceinline__ void wait_for_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;" ::: "memory");
#endif
}

// ---- templates/common/integer.cuh
// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic on compile-time sizes.

__host__ __device__ constexpr int ceil_divide(int value, int divisor) {
  return (value + divisor - 1) / divisor;
}
__host__ __device__ constexpr int round_up(int value, int multiple) {
  return ceil_divide(value, multiple) * multiple;
}
__host__ __device__ constexpr int smaller(int a, int b) { return a < b ? a : b; }
__host__ __device__ constexpr int larger(int a, int b) { return a > b ? a : b; }

// The largest power of two that divides `value` and is at most `limit`, which is a power of two itself.
__host__ __device__ constexpr int alignment_of(int value, int limit) {
  int alignment = 1;
  while (alignment < limit && value % (2 * alignment) == 0) alignment *= 2;
  return alignment;
}

// ---- templates/common/resident_blocks.cuh
// SPDX-License-Identifier: Apache-2.0
// The number of blocks for which a multiprocessor has room.

// The number of blocks of `threads` threads in a multiprocessor with room for `warps` warps; at least one. In
// __launch_bounds__ it bounds the registers of a thread.
__host__ __device__ constexpr int resident_blocks(int warps, int threads) {
  return warps * 32 > threads ? warps * 32 / threads : 1;
}

// ---- templates/common/shared.cuh
// SPDX-License-Identifier: Apache-2.0
// Dynamic shared memory as an array of any type, aligned to 16 bytes. On the host, the shim defines
// DYNAMIC_SHARED.

#ifndef DYNAMIC_SHARED
#define DYNAMIC_SHARED(type, name)                               \
  extern __shared__ __align__(16) unsigned char name##_bytes_[]; \
  type* name = reinterpret_cast<type*>(name##_bytes_)
#endif

// ---- templates/common/shared_layout.cuh
// SPDX-License-Identifier: Apache-2.0
// The definitions that fragments NAME_layout.inl need in kernels: numbers, functions of them, ceil_divide(),
// round_up(), smaller() and larger(). templates/shared_layout.h has them for C++.


#define LAYOUT_FUNCTION __host__ __device__ constexpr

using LayoutSize = int;

// ---- templates/common/vector.cuh
// SPDX-License-Identifier: Apache-2.0
// Moves several neighbouring elements by memory accesses of at most 16 bytes each. On the host,
// common/host/vector.h replaces this file.

template <typename T, int N>
struct alignas(sizeof(T) * N > 16 ? 16 : sizeof(T) * N) Vector {
  T element[N];
};

// `from` is aligned to the vector, or to 16 bytes if the vector is longer.
template <int N, typename T>
__device__ __forceinline__ Vector<T, N> load_vector(const T* from) {
  return *reinterpret_cast<const Vector<T, N>*>(from);
}

template <int N, typename T>
__device__ __forceinline__ void store_vector(T* to, const Vector<T, N>& vector) {
  *reinterpret_cast<Vector<T, N>*>(to) = vector;
}

// Stores data that this kernel does not read again: it may leave the caches first.
template <int N, typename T>
__device__ __forceinline__ void store_vector_streaming(T* to, const Vector<T, N>& vector) {
  constexpr int bytes = sizeof(T) * N;
  if constexpr (bytes >= 16) {
#pragma unroll
    for (int i = 0; i < bytes / 16; ++i)
      __stcs(reinterpret_cast<float4*>(to) + i, reinterpret_cast<const float4*>(&vector)[i]);
  } else if constexpr (bytes == 8) {
    __stcs(reinterpret_cast<float2*>(to), reinterpret_cast<const float2&>(vector));
  } else {
    __stcs(reinterpret_cast<float*>(to), reinterpret_cast<const float&>(vector));
  }
}

// ---- what this variant is
constexpr int mask_height = 13;
constexpr int mask_width = 13;
enum class Mode { correlation, convolution };
constexpr Mode mode = Mode::convolution;
using T = float;  // dtype=f32
enum class SmemLayout { none, flat, padded };
constexpr SmemLayout SMEM_LAYOUT = SmemLayout::flat;
enum class MaskIn { global, shared, constant };
constexpr MaskIn MASK_IN = MaskIn::shared;
enum class Copy { sync, async };
constexpr Copy COPY = Copy::async;
enum class SmemAlloc { dynamic, static_ };
constexpr SmemAlloc SMEM_ALLOC = SmemAlloc::dynamic;
enum class LoopOrder { image, mask };
constexpr LoopOrder LOOP_ORDER = LoopOrder::image;
constexpr int UNROLL = 0;
constexpr int VECTOR = 2;
constexpr int OUT_X = 2;
constexpr int OUT_Y = 2;
constexpr int BLOCK_X = 16;
constexpr int BLOCK_Y = 8;
constexpr int AHEAD = 0;
enum class Store { plain, streaming };
constexpr Store STORE = Store::plain;
enum class Start { plain, overlapped };
constexpr Start START = Start::plain;
enum class Trigger { none, early };
constexpr Trigger TRIGGER = Trigger::none;
constexpr int RESIDENT_WARPS = 16;
#define ENTRY(name) name##_1c1cc71b

// ---- templates/conv2d/tiled.cu
// SPDX-License-Identifier: Apache-2.0
// conv2d with a tile of OUT_X x OUT_Y outputs per thread, held in registers while a window of the image
// slides over them. The element type, the mode and the mask's size are compiled in; the image's size is not.

// SPDX-License-Identifier: Apache-2.0
// Programmatic dependent launch, by which a kernel overlaps with its neighbours in a stream. Needs START and
// TRIGGER. These have no effect before compute capability 9.0 and on the host, which have no such launch.

// With START=overlapped, the kernel may start while its predecessor still runs, and waits for it.
constexpr bool overlapped = START == Start::overlapped;

// Returns when all work before this kernel has ended and is visible.
__device__ __forceinline__ void wait_for_previous() {
#if !defined(TUNESMITH_HOST) && __CUDA_ARCH__ >= 900
  if constexpr (overlapped) asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Lets the next kernel's blocks start as soon as there is room for them; they wait before they touch memory.
__device__ __forceinline__ void let_next_start() {
#if !defined(TUNESMITH_HOST) && __CUDA_ARCH__ >= 900
  if constexpr (TRIGGER == Trigger::early) asm volatile("griddepcontrol.launch_dependents;");
#endif
}

// A kernel calls this before its first access to global memory.
__device__ __forceinline__ void start() {
  let_next_start();
  wait_for_previous();
}

// The types of a kernel's pointers to arrays that it reads, and to arrays that it reads and writes.
// __restrict__ promises that no other code writes to the array while the kernel runs, so that loads may take
// the read-only path and move across the wait. An overlapped kernel cannot promise this, because its
// predecessor may still write before the wait.
template <typename Element, bool PROMISED>
struct PointerTo {
  using Type = Element* __restrict__;
};
template <typename Element>
struct PointerTo<Element, false> {
  using Type = Element*;
};
template <typename Element>
using InputPointer = typename PointerTo<const Element, !overlapped>::Type;
template <typename Element>
using InOutPointer = typename PointerTo<Element, !overlapped>::Type;

// Everything below is a correlation. A convolution is a correlation with the mask rotated by 180 degrees; the
// centre of the mask lies one further on if a side is even.
constexpr bool turned = mode == Mode::convolution;
constexpr int left = turned ? mask_width - 1 - mask_width / 2 : mask_width / 2;
constexpr int top = turned ? mask_height - 1 - mask_height / 2 : mask_height / 2;

constexpr bool staged = SMEM_LAYOUT != SmemLayout::none;  // the image passes through shared memory
constexpr bool mask_staged = MASK_IN == MaskIn::shared;
constexpr int threads = BLOCK_X * BLOCK_Y;
constexpr int tile_width = BLOCK_X * OUT_X;  // outputs of a block
constexpr int tile_height = BLOCK_Y * OUT_Y;
constexpr int thread_rows = OUT_Y + mask_height - 1;     // image rows that a thread's outputs need
constexpr int lanes = 16 / static_cast<int>(sizeof(T));  // elements of a 16-byte access

// A mask row wider than this is processed in segments, so that the window fits in registers.
constexpr int widest_segment = sizeof(T) == 8 ? 16 : 32;
constexpr int segment = mask_width <= widest_segment ? mask_width : 16;
constexpr bool one_segment = segment == mask_width;

static_assert(OUT_X % VECTOR == 0, "a row of outputs is stored in whole vectors");

// ---- the image in shared memory

// SPDX-License-Identifier: Apache-2.0
// The shared memory of conv2d/tiled, in elements: the mask, then the image's tile.

struct TiledShape {
  LayoutSize tile_width, tile_height, out_x;  // outputs of a block, and of a thread along a row
  LayoutSize mask_height, mask_width, left;   // `left` columns before an output's own
  LayoutSize vector, lanes;                   // elements of a load and of an access to shared memory
  bool mask_staged, staged, padded;           // what passes through shared memory, and whether it is padded
};
struct TiledLayout {
  LayoutSize before;         // columns before the tile's; keeps vectors aligned in both memories
  LayoutSize rows, vectors;  // of the tile, and of a row
  bool skewed;               // 16 bytes are left out after each 128
  LayoutSize pitch;          // elements of a row
  LayoutSize mask_pitch;     // elements of a row of the mask
  LayoutSize mask_elements;  // of the mask
  LayoutSize elements;       // of all
};

// VECTOR=4 makes few copies; the largest VECTOR that divides `left` reads no unneeded sample from shared
// memory. Threads whose rows of outputs are longer than 16 bytes would conflict in the same banks, so padded
// rows are skewed then. Shorter rows conflict only across the block's rows; for these, padding widens the
// pitch.
LAYOUT_FUNCTION TiledLayout tiled_layout(const TiledShape& s) {
  TiledLayout at = {};
  at.before = round_up(s.left, s.vector);
  at.rows = s.tile_height + s.mask_height - 1;
  const LayoutSize columns = at.before - s.left + s.tile_width + s.mask_width - 1;
  at.vectors = ceil_divide(columns, s.vector);
  const LayoutSize used = round_up(at.vectors * s.vector, s.lanes);
  at.skewed = s.padded && s.out_x > s.lanes;
  const LayoutSize pads = at.skewed ? ceil_divide(used, 8 * s.lanes) : s.padded ? 1 : 0;
  at.pitch = used + pads * s.lanes;
  at.mask_pitch = round_up(s.mask_width, s.lanes);
  at.mask_elements = s.mask_staged ? s.mask_height * at.mask_pitch : 0;
  at.elements = at.mask_elements + (s.staged ? at.rows * at.pitch : 0);
  return at;
}
constexpr TiledLayout layout =
    tiled_layout({tile_width, tile_height, OUT_X, mask_height, mask_width, left, VECTOR, lanes, mask_staged,
                  staged, SMEM_LAYOUT == SmemLayout::padded});
constexpr int before = layout.before, staged_rows = layout.rows, staged_vectors = layout.vectors,
              pitch = layout.pitch, mask_pitch = layout.mask_pitch, mask_elements = layout.mask_elements,
              shared_elements = layout.elements;
constexpr int part = smaller(VECTOR, lanes);  // elements that one store can take
constexpr bool skewed = layout.skewed;
__device__ __forceinline__ constexpr int place_of(int position) {
  return skewed ? position + position / (8 * lanes) * lanes : position;
}
constexpr bool in_static = SMEM_ALLOC == SmemAlloc::static_;

// ---- the mask

// A separate step fills this before the kernel runs. It has one element if it is not used.
__constant__ T ENTRY(mask_copy)[MASK_IN == MaskIn::constant ? mask_height * mask_width : 1];

// A small mask is read once into registers, where every index is known at compile time.
constexpr bool held = MASK_IN == MaskIn::global && UNROLL == 0 && LOOP_ORDER == LoopOrder::image &&
                      one_segment && mask_height * mask_width * static_cast<int>(sizeof(T)) <= 256;

__device__ __forceinline__ constexpr int mask_index(int i, int j) {
  return turned ? (mask_height - 1 - i) * mask_width + mask_width - 1 - j : i * mask_width + j;
}

struct Weights {
  const T* source;
  T all[held ? mask_height * mask_width : 1];
};

template <int TAPS>
__device__ __forceinline__ void read_weights(T (&row)[round_up(TAPS, lanes)], const Weights& weights, int i,
                                             int j) {
  if constexpr (mask_staged) {
    const T* from = weights.source + i * mask_pitch + j;
#pragma unroll
    for (int k = 0; k < TAPS; k += lanes) {
      const Vector<T, lanes> vector = load_vector<lanes>(from + k);
#pragma unroll
      for (int e = 0; e < lanes; ++e) row[k + e] = vector.element[e];
    }
  } else {
#pragma unroll
    for (int k = 0; k < TAPS; ++k) {
      if constexpr (held) {
        row[k] = weights.all[mask_index(i, k)];
      } else if constexpr (MASK_IN == MaskIn::constant) {
        row[k] = ENTRY(mask_copy)[mask_index(i, j + k)];
      } else {
        row[k] = weights.source[mask_index(i, j + k)];
      }
    }
  }
}

// ---- a thread's window

struct Place {
  const T* samples;  // the first sample that the thread needs, in global or shared memory
  T* outputs;
  int column, row;  // of that first sample
  int x, y;         // of the thread's first output
  int height, width;
  int position;  // of the first sample in its shared row
};

// The samples in [first, last) of one image row, which lie under OUT_X outputs and TAPS columns of the mask.
template <int TAPS>
struct Window {
  static constexpr int step = staged ? alignment_of(OUT_X, lanes) : VECTOR;
  static constexpr int first = before - left;
  static constexpr int last = first + OUT_X + TAPS - 1;
  T sample[round_up(last, step)];
};

// Defines read_part<step>(...). The step is that of a Window.
template <int step>
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

template <int TAPS, bool INSIDE>
__device__ __forceinline__ void read_window(Window<TAPS>& window, const Place& place, int r, int j) {
  constexpr int step = Window<TAPS>::step;
  const T* row = place.samples + (staged ? r * pitch : static_cast<long long>(r) * place.width + j);
  const bool row_inside =
      INSIDE || static_cast<unsigned>(place.row + r) < static_cast<unsigned>(place.height);
#pragma unroll
  for (int c = Window<TAPS>::first / step * step; c < Window<TAPS>::last; c += step) {
    const int from = larger(Window<TAPS>::first - c, 0);
    const int to = smaller(Window<TAPS>::last - c, step);
    if constexpr (staged) {
      read_part<step>(window.sample + c, row + place_of(place.position + j + c), from, to);
    } else if (INSIDE || (row_inside &&
                          static_cast<unsigned>(place.column + j + c) < static_cast<unsigned>(place.width))) {
      // The width is a multiple of VECTOR, so a vector is wholly inside or wholly outside.
      read_part<step>(window.sample + c, row + c, from, to);
    } else {
#pragma unroll
      for (int e = 0; e < step; ++e) window.sample[c + e] = 0;
    }
  }
}

template <int TAPS>
__device__ __forceinline__ void multiply_add(T (&sum)[OUT_X], const T (&weights)[round_up(TAPS, lanes)],
                                             const Window<TAPS>& window) {
#pragma unroll
  for (int k = 0; k < TAPS; ++k) {
#pragma unroll
    for (int i = 0; i < OUT_X; ++i) sum[i] += weights[k] * window.sample[Window<TAPS>::first + i + k];
  }
}

template <bool INSIDE>
__device__ __forceinline__ void store_row(const T (&sum)[OUT_X], const Place& place, int o) {
  if (!INSIDE && place.y + o >= place.height) return;
  T* row = place.outputs + static_cast<long long>(o) * place.width;
#pragma unroll
  for (int c = 0; c < OUT_X; c += VECTOR) {
    if (INSIDE || place.x + c < place.width) {
      Vector<T, VECTOR> vector;
#pragma unroll
      for (int e = 0; e < VECTOR; ++e) vector.element[e] = sum[c + e];
      if constexpr (STORE == Store::streaming) {
        store_vector_streaming<VECTOR>(row + c, vector);
      } else {
        store_vector<VECTOR>(row + c, vector);
      }
    }
  }
}

// Adds image row r to every output row that it touches.
template <int TAPS>
__device__ __forceinline__ void add_row(T (&sum)[OUT_Y][OUT_X], const Window<TAPS>& window,
                                        const Weights& weights, int r, int j) {
#pragma unroll
  for (int o = 0; o < OUT_Y; ++o) {
    if (r - o < 0 || r - o >= mask_height) continue;
    T row[round_up(TAPS, lanes)];
    read_weights<TAPS>(row, weights, r - o, j);
    multiply_add<TAPS>(sum[o], row, window);
  }
}

// Adds the part of the mask that lies in the columns [j, j + TAPS).
template <int TAPS, bool INSIDE>
__device__ __forceinline__ void accumulate(T (&sum)[OUT_Y][OUT_X], const Place& place, const Weights& weights,
                                           int j) {
  if constexpr (LOOP_ORDER == LoopOrder::mask) {
    // The outer loop runs over mask rows: a row of weights is read once, and image rows are read again for
    // each mask row.
#pragma unroll(UNROLL == 0 ? mask_height : UNROLL)
    for (int i = 0; i < mask_height; ++i) {
      T row[round_up(TAPS, lanes)];
      read_weights<TAPS>(row, weights, i, j);
#pragma unroll
      for (int o = 0; o < OUT_Y; ++o) {
        Window<TAPS> window;
        read_window<TAPS, INSIDE>(window, place, o + i, j);
        multiply_add<TAPS>(sum[o], row, window);
      }
    }
  } else if constexpr (UNROLL == 0) {
    // The outer loop runs over image rows and is unrolled: each is read once, AHEAD rows before it is used,
    // and an output row is stored as soon as it is complete. Loads that do not use the read-only path cannot
    // move before earlier stores; for these kernels, an output row is stored one image row later.
    constexpr int later = overlapped ? 1 : 0;
    Window<TAPS> windows[AHEAD + 1];
#pragma unroll
    for (int r = 0; r < smaller(AHEAD, thread_rows); ++r) read_window<TAPS, INSIDE>(windows[r], place, r, j);
#pragma unroll
    for (int r = 0; r < thread_rows; ++r) {
      if (r + AHEAD < thread_rows) {
        read_window<TAPS, INSIDE>(windows[(r + AHEAD) % (AHEAD + 1)], place, r + AHEAD, j);
      }
      add_row<TAPS>(sum, windows[r % (AHEAD + 1)], weights, r, j);
      const int complete = r - later - mask_height + 1;
      if (one_segment && complete >= 0) store_row<INSIDE>(sum[complete], place, complete);
    }
    if constexpr (one_segment && later > 0) store_row<INSIDE>(sum[OUT_Y - 1], place, OUT_Y - 1);
  } else {
    // The outer loop runs over image rows and is not unrolled: rows that touch all OUT_Y output rows need no
    // test. The few rows before and after them are unrolled if this makes little code (in multiply-adds);
    // otherwise each is tested.
    constexpr bool short_ends = OUT_Y * (OUT_Y - 1) * TAPS * OUT_X <= 3072;
    constexpr int full_begin = mask_height >= OUT_Y ? OUT_Y - 1 : thread_rows;
    constexpr int full_end = mask_height >= OUT_Y ? mask_height : thread_rows;
#pragma unroll(short_ends ? full_begin : 1)
    for (int r = 0; r < full_begin; ++r) {
      Window<TAPS> window;
      read_window<TAPS, INSIDE>(window, place, r, j);
      add_row<TAPS>(sum, window, weights, r, j);
    }
#pragma unroll(UNROLL)
    for (int r = full_begin; r < full_end; ++r) {
      Window<TAPS> window;
      read_window<TAPS, INSIDE>(window, place, r, j);
#pragma unroll
      for (int o = 0; o < OUT_Y; ++o) {
        T row[round_up(TAPS, lanes)];
        read_weights<TAPS>(row, weights, r - o, j);
        multiply_add<TAPS>(sum[o], row, window);
      }
    }
#pragma unroll(short_ends ? larger(thread_rows - full_end, 1) : 1)
    for (int r = full_end; r < thread_rows; ++r) {
      Window<TAPS> window;
      read_window<TAPS, INSIDE>(window, place, r, j);
      add_row<TAPS>(sum, window, weights, r, j);
    }
  }
}

// Computes all outputs of a thread.
template <bool INSIDE>
__device__ __forceinline__ void compute(const Place& place, const Weights& weights) {
  T sum[OUT_Y][OUT_X];
#pragma unroll
  for (int o = 0; o < OUT_Y; ++o) {
#pragma unroll
    for (int i = 0; i < OUT_X; ++i) sum[o][i] = 0;
  }
  if constexpr (one_segment) {
    accumulate<mask_width, INSIDE>(sum, place, weights, 0);
  } else {
#pragma unroll 1
    for (int j = 0; j + segment <= mask_width; j += segment)
      accumulate<segment, INSIDE>(sum, place, weights, j);
    if constexpr (mask_width % segment != 0) {
      accumulate<mask_width % segment, INSIDE>(sum, place, weights, mask_width - mask_width % segment);
    }
  }
  if constexpr (!(one_segment && UNROLL == 0 && LOOP_ORDER == LoopOrder::image)) {
#pragma unroll
    for (int o = 0; o < OUT_Y; ++o) store_row<INSIDE>(sum[o], place, o);
  }
}

// ---- filling shared memory

__device__ __forceinline__ void stage_mask(T* to, const T* mask) {
  const int thread = threadIdx.y * BLOCK_X + threadIdx.x;
#pragma unroll(smaller(ceil_divide(mask_height* mask_width, threads), 8))
  for (int n = thread; n < mask_height * mask_width; n += threads) {
    const int i = n / mask_width, j = n % mask_width;
    if constexpr (COPY == Copy::async) {
      copy_async<1>(to + i * mask_pitch + j, mask + mask_index(i, j), true);
    } else {
      to[i * mask_pitch + j] = mask[mask_index(i, j)];
    }
  }
}

// `image` is the first sample of the batch's image; the tile's first output is at (x, y). INSIDE tells that
// all samples of the tile are inside the image. A thread steps through the tile's vectors without a division;
// the bytes of a row fit in 32 bits.
template <bool INSIDE>
__device__ __forceinline__ void stage_image(T* to, const T* image, int x, int y, int height, int width) {
  constexpr int vectors = staged_rows * staged_vectors;
  const int thread = threadIdx.y * BLOCK_X + threadIdx.x;
  const T* corner = image + static_cast<long long>(y - top) * width + (x - before);
  const unsigned row_bytes = width * static_cast<unsigned>(sizeof(T));
  int r = thread / staged_vectors, c = thread % staged_vectors;
#pragma unroll(smaller(ceil_divide(vectors, threads), 8))
  for (int n = thread; n < vectors; n += threads) {
    const T* from =
        reinterpret_cast<const T*>(reinterpret_cast<const char*>(corner) +
                                   static_cast<unsigned long long>(static_cast<unsigned>(r)) * row_bytes) +
        c * VECTOR;
    const bool inside =
        INSIDE || (static_cast<unsigned>(y - top + r) < static_cast<unsigned>(height) &&
                   static_cast<unsigned>(x - before + c * VECTOR) < static_cast<unsigned>(width));
    T* row = to + r * pitch;
    if constexpr (COPY == Copy::async) {
#pragma unroll
      for (int p = 0; p < VECTOR; p += part) {
        copy_async<part>(row + place_of(c * VECTOR + p), inside ? from + p : image, inside);
      }
    } else {
      Vector<T, VECTOR> vector;
#pragma unroll
      for (int e = 0; e < VECTOR; ++e) vector.element[e] = 0;
      if (inside) vector = load_vector<VECTOR>(from);
#pragma unroll
      for (int p = 0; p < VECTOR; p += part) {
        Vector<T, part> piece;
#pragma unroll
        for (int e = 0; e < part; ++e) piece.element[e] = vector.element[p + e];
        store_vector<part>(row + place_of(c * VECTOR + p), piece);
      }
    }
    r += threads / staged_vectors;
    c += threads % staged_vectors;
    if (c >= staged_vectors) {
      c -= staged_vectors;
      ++r;
    }
  }
}

// Launched with blocks of BLOCK_X x BLOCK_Y over tiles of columns and rows; a grid whose y or z would
// exceed 65535, the limit, is walked in strides.
extern "C" __global__ void __launch_bounds__(threads, resident_blocks(RESIDENT_WARPS, threads))
    ENTRY(conv2d_tiled)(InputPointer<T> image, InputPointer<T> mask, T* __restrict__ output, int batch,
                        int height, int width) {
  __shared__ Vector<T, lanes> fixed_memory[in_static && shared_elements > 0 ? shared_elements / lanes : 1];
  DYNAMIC_SHARED(T, dynamic_memory);
  T* memory = in_static ? &fixed_memory[0].element[0] : dynamic_memory;
  T* tile = memory + mask_elements;

  start();
  Weights weights;
  weights.source = mask_staged ? memory : mask;
  if constexpr (mask_staged) stage_mask(memory, mask);
  if constexpr (held) {
#pragma unroll
    for (int i = 0; i < mask_height * mask_width; ++i) weights.all[i] = mask[i];
  }

  Place place;
  place.height = height;
  place.width = width;
  place.position = threadIdx.x * OUT_X;
  const int tile_x = blockIdx.x * tile_width;
  place.x = tile_x + threadIdx.x * OUT_X;
  const int tiles_y = (height + tile_height - 1) / tile_height;
  bool first = true;
  for (int b = blockIdx.z; b < batch; b += gridDim.z) {
    for (int t = blockIdx.y; t < tiles_y; t += gridDim.y) {
      const int tile_y = t * tile_height;
      const bool inside = tile_x >= before && tile_y >= top &&
                          tile_x - before + staged_vectors * VECTOR <= width &&
                          tile_y - top + staged_rows <= height;
      const long long batch_base = static_cast<long long>(b) * height * width;
      place.y = tile_y + threadIdx.y * OUT_Y;
      place.column = place.x - before;
      place.row = place.y - top;
      place.outputs = output + batch_base + static_cast<long long>(place.y) * width + place.x;
      if constexpr (staged) {
        if (!first) __syncthreads();  // the tile before is still being read
        if (inside) {
          stage_image<true>(tile, image + batch_base, tile_x, tile_y, height, width);
        } else {
          stage_image<false>(tile, image + batch_base, tile_x, tile_y, height, width);
        }
        place.samples = tile + threadIdx.y * OUT_Y * pitch;
      } else {
        place.samples = image + batch_base + static_cast<long long>(place.row) * width + place.column;
      }
      if constexpr (staged || mask_staged) {
        if (staged || first) {
          if constexpr (COPY == Copy::async) wait_for_copies();
          __syncthreads();
        }
      }
      first = false;
      if constexpr (staged) {
        compute<false>(place, weights);
      } else if (inside) {
        compute<true>(place, weights);
      } else {
        compute<false>(place, weights);
      }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Large windows, for rank_filter. A block sorts all elements of its tile, so that each has a unique place
// among them. A window is a set of places, stored as bits in shared memory. A warp slides a window down a
// column of outputs. In each step, it flips the bits of the row that leaves and of the row that enters, and
// finds the bit with `rank` others before it, searching from the last one found. Its time depends little on
// the window. For a footprint that is not a box, the upper ends of its columns leave and the lower ends
// enter.

#include "common/boundary.cuh"
#include "common/float16.cuh"
#include "common/shared.cuh"
#include "common/shared_layout.cuh"
#include "rank_filter/rank_filter.cuh"

constexpr int per_thread = 8, threads = SORTED / per_thread, warps = threads / 32;
#include "rank_filter/ranks_layout.inl"
constexpr int key_bytes = sizeof(T) == 1 ? 2 : static_cast<int>(sizeof(T));
constexpr RanksLayout layout =
    ranks_layout({SORTED, TILE_X, GROUP, key_bytes, window_depth, window_height, window_width});
constexpr int groups = layout.groups;  // of lanes, each with windows of its own
constexpr int columns = layout.columns, rows = layout.rows, tile_y = layout.tile_y;
constexpr int plane_elements = columns * rows, elements = plane_elements * window_depth;
constexpr int words = layout.words;  // of a window's set
constexpr int sets_at = layout.sets_at, places_at = layout.places_at, results_at = layout.results_at;
constexpr int part = GROUP * 32;  // places that a warp looks at together, a word for each lane
constexpr int place_bits = 13;    // of an element in the tile
static_assert(SORTED <= 1 << place_bits && SORTED >= part && tile_y > 0, "a tile that can be sorted");

// For a window that begins at element 0: the places of a footprint that count, and the ends of its columns.
#include "generated"

// An element to sort: its key and its place in the tile, in one number if one is long enough.
template <int bytes>
struct ItemOf {
  using Type = unsigned long long;
  using Key = unsigned;
};
template <>
struct ItemOf<2> {
  using Type = unsigned;
  using Key = unsigned short;
};
template <>
struct ItemOf<1> : ItemOf<2> {};
template <>
struct ItemOf<8> {
  using Key = unsigned long long;
  struct Type {
    Key key;
    unsigned element;
  };
};
using Item = ItemOf<sizeof(T)>::Type;
using StoredKey = ItemOf<sizeof(T)>::Key;
static_assert(sizeof(StoredKey) == key_bytes && sizeof(Item) == 2 * key_bytes, "as the layout has them");

template <typename I>
struct Items {
  static __device__ __forceinline__ I of(I key, int element) {
    return key << place_bits | static_cast<I>(element);
  }
  static __device__ __forceinline__ I last() { return ~I(0); }
  static __device__ __forceinline__ I key(I item) { return item >> place_bits; }
  static __device__ __forceinline__ int element(I item) {
    return static_cast<int>(item & ((1 << place_bits) - 1));
  }
  static __device__ __forceinline__ bool is_before(I a, I b) { return a < b; }
  static __device__ __forceinline__ I of_lane(I item, int distance) {
    return __shfl_xor_sync(0xffffffffu, item, distance);
  }
};
template <>
struct Items<ItemOf<8>::Type> {
  using I = ItemOf<8>::Type;
  using Key = ItemOf<8>::Key;
  static __device__ __forceinline__ I of(Key key, int element) {
    return {key, static_cast<unsigned>(element)};
  }
  static __device__ __forceinline__ I last() { return {~Key(0), ~0u}; }
  static __device__ __forceinline__ Key key(const I& item) { return item.key; }
  static __device__ __forceinline__ int element(const I& item) { return static_cast<int>(item.element); }
  static __device__ __forceinline__ bool is_before(const I& a, const I& b) {
    return a.key < b.key || (a.key == b.key && a.element < b.element);
  }
  static __device__ __forceinline__ I of_lane(const I& item, int distance) {
    return {__shfl_xor_sync(0xffffffffu, item.key, distance),
            __shfl_xor_sync(0xffffffffu, item.element, distance)};
  }
};

__device__ __forceinline__ void take(Item& own, Item other, bool lesser) {
  own = Items<Item>::is_before(other, own) == lesser ? other : own;
}

// Sorts items in the order of the threads; each thread has per_thread consecutive ones. It is a bitonic sort:
// the distance of a step decides if it stays in a thread's registers, in a warp or in the block.
__device__ __forceinline__ void sort(Item (&item)[per_thread], Item* memory) {
  const int thread = static_cast<int>(threadIdx.x);
#pragma unroll 1
  for (int size = 2; size <= SORTED; size *= 2) {
    const bool up = (thread * per_thread & size) == 0;
#pragma unroll 1
    for (int apart = size / 2; apart >= per_thread; apart /= 2) {
      const int distance = apart / per_thread;
      const bool lesser = ((thread & distance) == 0) == up;
      if (distance < 32) {
#pragma unroll
        for (int i = 0; i < per_thread; ++i) take(item[i], Items<Item>::of_lane(item[i], distance), lesser);
      } else {
        __syncthreads();
#pragma unroll
        for (int i = 0; i < per_thread; ++i) memory[i * threads + thread] = item[i];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < per_thread; ++i) take(item[i], memory[i * threads + (thread ^ distance)], lesser);
      }
    }
#pragma unroll
    for (int apart = per_thread / 2; apart > 0; apart /= 2) {
      if (apart >= size) continue;
#pragma unroll
      for (int i = 0; i < per_thread; ++i) {
        if ((i & apart) != 0) continue;
        const Item a = item[i], b = item[i + apart];
        const bool swap = Items<Item>::is_before(b, a) == (((thread * per_thread + i) & size) == 0);
        item[i] = swap ? b : a;
        item[i + apart] = swap ? a : b;
      }
    }
  }
  __syncthreads();
}

// The window of a group of lanes: a set of places, and the part of the set where the last search ended.
struct Window {
  unsigned* bits;
  const unsigned short* places;  // of the tile's elements
  int lane, first, column;       // of the group; the group's first lane in the warp
  int part_at, below;            // the part, and the elements in the ones before it

  // Adds or removes an element, for each lane that has one.
  __device__ __forceinline__ void turn_one(bool is_there, int element, int sign) {
    int place = SORTED;
    if (is_there) {
      place = places[element];
      atomicXor(bits + place / 32, 1u << place % 32);
    }
    below += sign * __popc(ballot(place < part_at * part));
  }
  // Adds or removes all elements of a row of a box. The second overload does so for the elements of a list.
  __device__ __forceinline__ void turn(int row, int sign) {
    constexpr int count = window_depth * window_width;
#pragma unroll
    for (int beside = 0; beside < count; beside += GROUP) {
      const int n = beside + lane;
      const int from = window_depth == 1 ? n : n / window_width * plane_elements + n % window_width;
      turn_one(beside + GROUP <= count || n < count, row * columns + column + from, sign);
    }
  }
  template <int count>
  __device__ __forceinline__ void turn(const int (&list)[count], int row, int sign) {
#pragma unroll 4
    for (int beside = 0; beside < count; beside += GROUP) {
      const bool is_there = beside + lane < count;
      turn_one(is_there, row * columns + column + list[is_there ? beside + lane : 0], sign);
    }
  }

  // The number of elements that the lanes up to this one have in a part.
  __device__ __forceinline__ int up_to(unsigned word) const {
    int count = __popc(word);
#pragma unroll
    for (int by = 1; by < GROUP; by *= 2) {
      const int before = __shfl_up_sync(0xffffffffu, count, by, GROUP);
      if (lane >= by) count += before;
    }
    return count;
  }

  // The groups of a warp search together until each has found its place.
  __device__ __forceinline__ int ranked() {
    int place = -1;
    do {
      const int left = rank - below;
      const bool is_before = left < 0 && place < 0;
      if (is_before) --part_at;
      const unsigned word = bits[part_at * GROUP + lane];
      const int count = up_to(word), all = __shfl_sync(0xffffffffu, count, GROUP - 1, GROUP);
      const int found = __ffs(static_cast<int>(ballot(count > left))) - 1;
      const unsigned its = __shfl_sync(0xffffffffu, word, found, GROUP);
      const int before = __shfl_sync(0xffffffffu, count, found, GROUP) - __popc(its);
      if (place >= 0) continue;
      if (is_before) {
        below -= all;
      } else if (left >= all) {
        below += all;
        ++part_at;
      } else {
        place = part_at * part + found * 32 + bit_of(its, left - before);
      }
    } while (__any_sync(0xffffffffu, place < 0));
    return place;
  }

  // The bit that is set and has `below` set bits below it.
  static __device__ __forceinline__ int bit_of(unsigned word, int below) {
    int bit = 0;
#pragma unroll
    for (int wide = 16; wide > 0; wide /= 2) {
      const int lower = __popc(word >> bit & ((1u << wide) - 1));
      if (below >= lower) {
        below -= lower;
        bit += wide;
      }
    }
    return bit;
  }

  // The ballot of the group's lanes.
  __device__ __forceinline__ unsigned ballot(bool is) const {
    const unsigned all = __ballot_sync(0xffffffffu, is);
    return GROUP == 32 ? all : all >> first & ((1u << GROUP % 32) - 1);
  }
};

extern "C" __global__ void __launch_bounds__(threads, RESIDENT_WARPS / warps)
    ENTRY(rank_filter_ranks)(const T* __restrict__ image, T* __restrict__ output, int depth, int height,
                             int width, int tiles_x, int tiles_y, int boundary, double outside) {
  // The sort exchanges items in the memory that holds the sets later.
  DYNAMIC_SHARED(Item, memory);
  StoredKey* const keys = reinterpret_cast<StoredKey*>(memory);
  char* const bytes = reinterpret_cast<char*>(memory);
  unsigned* const sets = reinterpret_cast<unsigned*>(bytes + sets_at);
  unsigned short* const places = reinterpret_cast<unsigned short*>(bytes + places_at);
  unsigned short* const results = reinterpret_cast<unsigned short*>(bytes + results_at);
  const int thread = static_cast<int>(threadIdx.x), lane = thread % GROUP, group = thread / GROUP;
  const int block = static_cast<int>(blockIdx.x);
  const int x = block % tiles_x * TILE_X, y = block / tiles_x % tiles_y * tile_y;
  const int z = block / tiles_x / tiles_y;

  Item item[per_thread];
#pragma unroll
  for (int i = 0; i < per_thread; ++i) {
    const int place = i * threads + thread;
    item[i] = Items<Item>::last();
    if (place >= elements) continue;
    const int in_plane = window_depth == 1 ? place : place % plane_elements;
    const int plane = sample_at(z + place / plane_elements - before_z, depth, boundary);
    const int row = sample_at(y + in_plane / columns - before_y, height, boundary);
    const int column = sample_at(x + in_plane % columns - before_x, width, boundary);
    const T value = plane >= 0 && row >= 0 && column >= 0
                        ? image[(static_cast<long long>(plane) * height + row) * width + column]
                        : from_outside<T>(outside);
    item[i] = Items<Item>::of(Keys<T>::key(value), place);
  }
  sort(item, memory);
#pragma unroll
  for (int i = 0; i < per_thread; ++i) {
    const int rank_of_it = thread * per_thread + i;
    const int place = Items<Item>::element(item[i]);
    keys[i * threads + thread] = static_cast<StoredKey>(Items<Item>::key(item[i]));
    if (rank_of_it < elements) places[place] = static_cast<unsigned short>(rank_of_it);
  }
  __syncthreads();

  const int across = width - x < TILE_X ? width - x : TILE_X,
            down = height - y < tile_y ? height - y : tile_y;
  const int first = thread % 32 - lane;
  for (int column = group; column - first / GROUP < across; column += groups) {
    // A group beyond the last column takes part in its warp's steps.
    const bool is_there = column < across;
    Window window = {sets + group * words, places, lane, first, is_there ? column : 0, 0, 0};
    for (int word = lane; word < words; word += GROUP) window.bits[word] = 0;
    __syncwarp();
    if constexpr (is_box) {
      for (int row = 0; row < window_height; ++row) window.turn(row, 1);
    } else {
      window.turn(counted, 0, 1);
    }
    for (int row = 0;; ++row) {
      __syncwarp();
      const int found = window.ranked();
      if (lane == 0 && is_there) results[row * TILE_X + column] = static_cast<unsigned short>(found);
      if (row + 1 == down) break;
      __syncwarp();
      if constexpr (is_box) {
        window.turn(row, -1);
        window.turn(row + window_height, 1);
      } else {
        window.turn(upper_ends, row, -1);
        window.turn(lower_ends, row + 1, 1);
      }
    }
  }
  __syncthreads();
  for (int n = thread; n < down * TILE_X; n += threads) {
    const int row = n / TILE_X, column = n % TILE_X;
    if (column >= across) continue;
    const int place = results[n];
    output[(static_cast<long long>(z) * height + y + row) * width + x + column] =
        Keys<T>::value(keys[place % per_thread * threads + place / per_thread]);
  }
}

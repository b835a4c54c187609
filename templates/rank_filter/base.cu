// SPDX-License-Identifier: Apache-2.0
// The plain kernels of rank_filter: any rank of any window, and extremes along one axis. Only the element
// type is compiled in.

#include "common/boundary.cuh"
#include "common/float16.cuh"
#include "common/shared_layout.cuh"
#include "rank_filter/rank_filter.cuh"

using Order = Keys<T>;
using Key = Order::Key;
constexpr Key last_key = Order::bits == 8 * sizeof(Key) ? ~Key(0) : (Key(1) << Order::bits % 64) - 1;

// This function is long. It is not inlined, which keeps the code small.
__device__ __noinline__ long long place_outside(long long place, long long size, int boundary) {
  return sample_at(place, size, boundary);
}
__device__ __forceinline__ long long place_at(long long place, long long size, int boundary) {
  return place >= 0 && place < size ? place : place_outside(place, size, boundary);
}

__device__ __forceinline__ Key lesser(Key a, Key b) { return a < b ? a : b; }
__device__ __forceinline__ Key greater(Key a, Key b) { return a < b ? b : a; }

// ---- any rank

// A thread's outputs lie below each other and share the elements that they read.
#include "rank_filter/base_layout.inl"
constexpr int together = base_together;

struct Window {
  const T* image;
  long long depth, height, width;  // of the image
  long long z, y, x;               // of the first output's first place
  int planes, rows, columns;
  const unsigned long long* bits;  // which places count; null: all
  int boundary;
  T outside;
};

// Calls take(key, k, i, j) for the elements of the rows from `begin` to `end` of all of the window's planes.
template <typename Take>
__device__ __forceinline__ void for_rows(const Window& w, int begin, int end, const Take& take) {
#pragma unroll 1
  for (int k = 0; k < w.planes; ++k) {
    const long long plane = place_at(w.z + k, w.depth, w.boundary);
#pragma unroll 1
    for (int i = begin; i < end; ++i) {
      const long long row = place_at(w.y + i, w.height, w.boundary);
      const bool is_there = plane >= 0 && row >= 0;
      const T* const from = w.image + (is_there ? (plane * w.height + row) * w.width : 0);
      if (is_there && w.x >= 0 && w.x + w.columns <= w.width) {
        const T* next = from + w.x;
#pragma unroll 1
        for (int j = 0; j < w.columns; ++j) take(Order::key(*next++), k, i, j);
        continue;
      }
#pragma unroll 1
      for (int j = 0; j < w.columns; ++j) {
        const long long column = place_at(w.x + j, w.width, w.boundary);
        take(Order::key(is_there && column >= 0 ? from[column] : w.outside), k, i, j);
      }
    }
  }
}

__device__ __forceinline__ bool has_row(const Window& w, int i) {
  return static_cast<unsigned>(i) < static_cast<unsigned>(w.rows);
}
__device__ __forceinline__ bool counts(const Window& w, int k, int i, int j) {
  const int place = (k * w.rows + i) * w.columns + j;
  return (w.bits[place / 64] >> (place % 64) & 1) != 0;
}

// The `size` smallest keys, in order.
template <int size>
struct Least {
  Key key[size];
  __device__ __forceinline__ void insert(Key given) {
#pragma unroll
    for (int n = 0; n < size; ++n) {
      const Key less = lesser(given, key[n]);
      given = greater(given, key[n]);
      key[n] = less;
    }
  }
};

// Finds ranks near an end of the order, for two outputs at a time: rows that both windows of a box contain
// are read once. A `turn` with all bits set reverses the order.
template <int size, typename Write>
__device__ __forceinline__ void find_near_end(const Window& w, int rank, Key turn, const Write& write) {
  const bool is_box = w.bits == nullptr;
#pragma unroll 1
  for (int pair = 0; pair < together; pair += 2) {
    Least<size> common;
#pragma unroll
    for (int n = 0; n < size; ++n) common.key[n] = last_key;
    if (is_box)
      for_rows(w, pair + 1, pair + w.rows, [&](Key key, int, int, int) { common.insert(key ^ turn); });
#pragma unroll 1
    for (int output = pair; output < pair + 2; ++output) {
      Least<size> least = common;
      const int first = is_box && output > pair ? output + w.rows - 1 : output;
      for_rows(w, first, is_box ? first + 1 : first + w.rows, [&](Key key, int k, int i, int j) {
        if (is_box || counts(w, k, i - output, j)) least.insert(key ^ turn);
      });
      Key found = least.key[0];
#pragma unroll
      for (int n = 1; n < size; ++n) found = n == rank ? least.key[n] : found;
      write(output, found ^ turn);
    }
  }
}

// Finds any rank. The number of elements below a pivot tells on which side of it the result is; the elements
// next to the pivot are the result's new bounds. Pivots alternate between the place where evenly spread
// elements would have the rank and the middle of the bounds, because the former alone could take too long.
template <bool is_box, typename Write>
__device__ __forceinline__ void find(const Window& w, int rank, int count, const Write& write) {
  Key from[together], to[together];
  int below[together], up_to[together];  // elements less than `from`, and up to `to`
#pragma unroll
  for (int n = 0; n < together; ++n) {
    from[n] = 0;
    to[n] = last_key;
    below[n] = 0;
    up_to[n] = count;
  }
  bool is_found = false;
  for (bool halfway = false; !is_found; halfway = !halfway) {
    Key pivot[together], least[together], greatest[together];
    int less[together];
#pragma unroll
    for (int n = 0; n < together; ++n) {
      const float even =
          (static_cast<float>(rank - below[n]) + 0.5f) / static_cast<float>(up_to[n] - below[n]);
      const float part = halfway ? 0.5f : even < 0.99f ? even : 0.99f;
      const Key between = to[n] - from[n] - 1;
      pivot[n] = from[n];
      if (from[n] < to[n]) pivot[n] += 1 + static_cast<Key>(part * static_cast<float>(between));
      least[n] = last_key;
      greatest[n] = 0;
      less[n] = 0;
    }
    for_rows(w, 0, w.rows + together - 1, [&](Key key, int k, int i, int j) {
      const auto compare = [&](int n) {
        if (key < pivot[n]) {
          ++less[n];
          greatest[n] = greater(greatest[n], key);
        } else {
          least[n] = lesser(least[n], key);
        }
      };
      const bool have_all = is_box && i >= together - 1 && i < w.rows;
#pragma unroll
      for (int n = 0; n < together; ++n) {
        if (have_all || (has_row(w, i - n) && (is_box || counts(w, k, i - n, j)))) compare(n);
      }
    });
    is_found = true;
#pragma unroll
    for (int n = 0; n < together; ++n) {
      if (less[n] <= rank) {
        from[n] = least[n];
        below[n] = less[n];
        if (less[n] == rank) to[n] = from[n];
      } else {
        to[n] = greatest[n];
        up_to[n] = less[n];
        if (less[n] == rank + 1) from[n] = to[n];
      }
      is_found = is_found && from[n] == to[n];
    }
  }
#pragma unroll
  for (int n = 0; n < together; ++n) write(n, from[n]);
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(rank_filter_base)(const T* image, T* output, long long depth, long long height, long long width,
                            int planes, int rows, int columns, int before_z, int before_y, int before_x,
                            int rank, int count, int boundary, double outside, int has_bits, long long bits0,
                            long long bits1, long long bits2, long long bits3, long long bits4,
                            long long bits5, long long bits6, long long bits7, long long bits8,
                            long long bits9, long long bits10, long long bits11, long long bits12,
                            long long bits13, long long bits14, long long bits15, long long bits16,
                            long long bits17, long long bits18, long long bits19, long long bits20,
                            long long bits21, long long bits22, long long bits23, long long bits24,
                            long long bits25, long long bits26, long long bits27, long long bits28,
                            long long bits29, long long bits30, long long bits31) {
  const long long places[] = {bits0,  bits1,  bits2,  bits3,  bits4,  bits5,  bits6,  bits7,
                              bits8,  bits9,  bits10, bits11, bits12, bits13, bits14, bits15,
                              bits16, bits17, bits18, bits19, bits20, bits21, bits22, bits23,
                              bits24, bits25, bits26, bits27, bits28, bits29, bits30, bits31};
  unsigned long long bits[32];
  if (has_bits != 0) {
    for (int n = 0; n < 32; ++n) bits[n] = static_cast<unsigned long long>(places[n]);
  }
  const bool backward = rank > count - 1 - rank;
  const int left = backward ? count - 1 - rank : rank;
  const Key turn = backward ? last_key : 0;
  const long long groups = (height + together - 1) / together, all = depth * groups * width;
  const long long step = static_cast<long long>(gridDim.x) * BLOCK;
  for (long long at = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x; at < all; at += step) {
    const long long line = at / width, x = at - line * width, z = line / groups;
    const long long y = (line - z * groups) * together;
    const Window window = {image,
                           depth,
                           height,
                           width,
                           z - before_z,
                           y - before_y,
                           x - before_x,
                           planes,
                           rows,
                           columns,
                           has_bits != 0 ? bits : nullptr,
                           boundary,
                           from_outside<T>(outside)};
    const auto write = [&](int n, Key found) {
      if (y + n < height) output[(z * height + y + n) * width + x] = Order::value(found);
    };
    if (left < 5) {  // the median of 9
      find_near_end<5>(window, left, turn, write);
    } else if (left < 14) {  // and of 25 and 27
      find_near_end<14>(window, left, turn, write);
    } else if (has_bits != 0) {
      find<false>(window, rank, count, write);
    } else {
      find<true>(window, rank, count, write);
    }
  }
}

// ---- any rank of bytes

// A thread goes down a column with the histogram of its window, which has at most 65535 bytes. Neighbouring
// outputs have similar results, so the search starts at the last one. The kernel does nothing for other
// types.
constexpr int byte_threads = base_byte_threads;

extern "C" __global__ void __launch_bounds__(byte_threads)
    ENTRY(rank_filter_base_bytes)(const T* image, T* output, long long depth, long long height,
                                  long long width, int planes, int rows, int columns, int before_z,
                                  int before_y, int before_x, int rank, int run, int boundary,
                                  double outside) {
  __shared__ unsigned short counts[sizeof(T) == 1 ? 256 : 1][byte_threads];
  if constexpr (sizeof(T) == 1) {
    const auto count = [&](Key key) -> unsigned short& { return counts[key][threadIdx.x]; };
    const long long runs = (height + run - 1) / run, all = depth * runs * width;
    const long long step = static_cast<long long>(gridDim.x) * byte_threads;
    for (long long at = static_cast<long long>(blockIdx.x) * byte_threads + threadIdx.x; at < all;
         at += step) {
      const long long line = at / width, x = at - line * width, z = line / runs;
      const long long y = (line - z * runs) * run;
      const Window window = {image,
                             depth,
                             height,
                             width,
                             z - before_z,
                             y - before_y,
                             x - before_x,
                             planes,
                             rows,
                             columns,
                             nullptr,
                             boundary,
                             from_outside<T>(outside)};
      for (Key key = 0; key < 256; ++key) count(key) = 0;
      Key found = 0;
      int below = 0;  // bytes less than `found`
      const auto enter = [&](Key key, int, int, int) {
        ++count(key);
        below += key < found;
      };
      const auto leave = [&](Key key, int, int, int) {
        --count(key);
        below -= key < found;
      };
      for_rows(window, 0, rows, enter);
      T* to = output + (z * height + y) * width + x;
      for (int n = 0;;) {
        while (below > rank) below -= count(--found);
        while (below + count(found) <= rank) below += count(found++);
        *to = Order::value(found);
        to += width;
        if (++n == run || y + n == height) break;
        for_rows(window, n - 1, n, leave);
        for_rows(window, n - 1 + rows, n + rows, enter);
      }
    }
  }
}

// ---- extremes along one axis

// A thread's outputs are consecutive along the axis: elements that all of their windows contain are read
// once.
constexpr int in_run = base_in_run;

// An image of `lines` x `length` x `beside` elements, along `length`.
extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(rank_filter_base_extreme)(const T* image, T* output, long long lines, long long length,
                                    long long beside, int window, int before, int is_greatest, int boundary,
                                    double outside) {
  const Key turn = is_greatest != 0 ? last_key : 0;
  const T other = from_outside<T>(outside);
  const long long runs = (length + in_run - 1) / in_run, all = lines * runs * beside;
  const long long step = static_cast<long long>(gridDim.x) * BLOCK;
  for (long long at = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x; at < all; at += step) {
    const long long row = at / beside, line = row / runs, run = (row - line * runs) * in_run;
    const long long begin = line * length * beside + (at - row * beside), first = run - before;
    const T* const from = image + begin;
    const auto read = [&](int i) {
      const long long place = place_at(first + i, length, boundary);
      return Order::key(place >= 0 ? from[place * beside] : other) ^ turn;
    };
    const bool inside = first >= 0 && first + window + in_run - 1 <= length;
    Key found[in_run], common = last_key;
    if (inside && window >= in_run) {
      // The extremes from each output's first element to the last element of the first output's window; then
      // the extremes of the elements behind that one.
      const T* place = from + (first + in_run - 1) * beside;
      const auto next_key = [&](long long by) {
        const Key key = Order::key(*place) ^ turn;
        place += by;
        return key;
      };
#pragma unroll 8
      for (int i = in_run - 1; i < window; ++i) common = lesser(common, next_key(beside));
      Key behind = last_key;
      found[0] = common;
#pragma unroll
      for (int n = 1; n < in_run; ++n) {
        behind = lesser(behind, next_key(beside));
        found[n] = lesser(common, behind);
      }
      place = from + (first + in_run - 2) * beside;
      Key before = last_key;
#pragma unroll
      for (int n = in_run - 2; n >= 0; --n) {
        before = lesser(before, next_key(-beside));
        found[n] = lesser(found[n], before);
      }
    } else if (inside) {
      Key key[2 * in_run - 2];
#pragma unroll
      for (int i = 0; i < 2 * in_run - 2; ++i)
        key[i] = i < window + in_run - 1 ? Order::key(from[(first + i) * beside]) ^ turn : last_key;
#pragma unroll
      for (int n = 0; n < in_run; ++n) found[n] = key[n];
#pragma unroll
      for (int i = 1; i < in_run - 1; ++i) {
        if (i >= window) break;
#pragma unroll
        for (int n = 0; n < in_run; ++n) found[n] = lesser(found[n], key[n + i]);
      }
    } else {
#pragma unroll
      for (int n = 0; n < in_run; ++n) found[n] = last_key;
#pragma unroll 1
      for (int i = 0; i < window + in_run - 1; ++i) {
        const Key key = read(i);
        if (i >= in_run - 1 && i < window) {  // all windows have it
          common = lesser(common, key);
          continue;
        }
#pragma unroll
        for (int n = 0; n < in_run; ++n) {
          if (static_cast<unsigned>(i - n) < static_cast<unsigned>(window)) found[n] = lesser(found[n], key);
        }
      }
#pragma unroll
      for (int n = 0; n < in_run; ++n) found[n] = lesser(found[n], common);
    }
#pragma unroll
    for (int n = 0; n < in_run; ++n) {
      if (run + n < length) output[begin + (run + n) * beside] = Order::value(found[n] ^ turn);
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Minima and maxima of bytes in short windows, for rank_filter: a warp goes down a strip of rows. A lane has
// VECTOR bytes of each row in registers, and the extremes of the last rows of its columns. Lanes exchange
// words to compute the extremes along a row. Columns outside the image are filled in between these two steps,
// because each equals the extreme of a column that the warp has.

#include "common/boundary.cuh"
#include "common/integer.cuh"
#include "common/resident_blocks.cuh"
#include "common/shared_layout.cuh"
#include "rank_filter/words.cuh"

constexpr int words = VECTOR / 4;  // of a row, of a lane
#include "rank_filter/streamed_layout.inl"
constexpr int after_x = window_width - 1 - before_x;
constexpr StreamedLayout layout = streamed_layout(VECTOR, window_width, before_x);
constexpr int left = layout.left, skipped = layout.skipped, first_byte = layout.first_byte,
              needed = layout.needed, out_columns = layout.out_columns, out_lanes = out_columns / VECTOR;

__device__ __forceinline__ unsigned extreme(unsigned a, unsigned b) {
  return rank > 0 ? upper(a, b) : lower(a, b);
}
__device__ __forceinline__ unsigned extreme(unsigned a, unsigned b, unsigned c) {
  return rank > 0 ? upper(a, b, c) : lower(a, b, c);
}

// A word of bytes is compared as two words of 16-bit numbers, whose upper bytes are the even and the odd
// bytes. The lower bytes matter only if the upper ones are equal.
__device__ __forceinline__ unsigned even_bytes(unsigned word) { return word << 8; }
__device__ __forceinline__ unsigned word_of(unsigned even, unsigned odd) {
  return __byte_perm(even, odd, 0x7351);
}

// Makes extremes of up to three times as many elements from extremes of `length` elements: the last one, and
// those `near` and `far` elements before it.
template <int length, int window>
struct Step {
  static constexpr int far = 3 * length <= window ? 2 * length : window - length;
  static constexpr int near = smaller(length, far), next = length + far;
};

struct Columns {
  unsigned part[2 * words];
};

// Computes extremes along columns, row by row.
template <int length, int window>
struct Running {
  using Here = Step<length, window>;
  Columns earlier[Here::far] = {};
  Running<Here::next, window> further;

  __device__ __forceinline__ Columns take(const Columns& last) {
    Columns all;
#pragma unroll
    for (int i = 0; i < 2 * words; ++i) {
      const unsigned far = earlier[0].part[i], near = earlier[Here::far - Here::near].part[i];
      all.part[i] = Here::near == Here::far ? extreme(far, last.part[i]) : extreme(far, near, last.part[i]);
    }
#pragma unroll
    for (int n = 0; n < Here::far - 1; ++n) earlier[n] = earlier[n + 1];
    earlier[Here::far - 1] = last;
    return further.take(all);
  }
};
template <int window>
struct Running<window, window> {
  __device__ __forceinline__ Columns take(const Columns& last) { return last; }
};

// ---- along a row

// The even and the odd bytes of the words of a row.
struct Row {
  unsigned part[2][needed];
};
// The bytes that are `bytes` behind the even or odd bytes of word n. Results that would need bytes behind the
// last word are not used.
__device__ __forceinline__ unsigned shifted(const Row& row, int odd, int n, int bytes) {
  const int by = odd + bytes, halves = by / 2, at = n + halves / 2;
  const unsigned first = row.part[by % 2][smaller(at, needed - 1)];
  return halves % 2 == 0 ? first : __byte_perm(first, row.part[by % 2][smaller(at + 1, needed - 1)], 0x5432);
}

// Computes the windows' extremes from the extremes of `length` bytes.
template <int length>
__device__ __forceinline__ void along_row(const Row& row, unsigned (&to)[words]) {
  using Here = Step<length, window_width>;
  constexpr bool is_last = Here::next == window_width;
  constexpr int from = is_last ? first_byte : 0, count = is_last ? words : needed;
  Row all = {};
#pragma unroll
  for (int n = 0; n < count; ++n) {
#pragma unroll
    for (int odd = 0; odd < 2; ++odd) {
      const unsigned first = shifted(row, odd, n, from), far = shifted(row, odd, n, from + Here::far);
      all.part[odd][n] = Here::near == Here::far
                             ? extreme(first, far)
                             : extreme(first, shifted(row, odd, n, from + Here::near), far);
    }
  }
  if constexpr (is_last) {
#pragma unroll
    for (int n = 0; n < words; ++n) to[n] = word_of(all.part[0][n], all.part[1][n]);
  } else {
    along_row<Here::next>(all, to);
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK, resident_blocks(RESIDENT_WARPS, BLOCK))
    ENTRY(rank_filter_streamed)(const T* __restrict__ image, T* __restrict__ output, int planes, int height,
                                int width, int strips_x, int strips_y, int boundary, double outside) {
  __shared__ unsigned rows[BLOCK / 32][32 * words];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  unsigned strip = blockIdx.x * (BLOCK / 32) + static_cast<unsigned>(warp);
  const int x = static_cast<int>(strip % strips_x) * out_columns;
  strip /= strips_x;
  const int y = static_cast<int>(strip % strips_y) * RUN, plane = static_cast<int>(strip / strips_y);
  if (plane >= planes) return;
  image += static_cast<long long>(plane) * height * width;
  const unsigned other = from_outside<T>(outside) * 0x01010101u;

  const int first_x = x - left, column = first_x + lane * VECTOR;
  const T* const from = image + (column >= 0 && column < width ? column : 0);  // others are filled in
  const int rows_left = smaller(RUN, height - y);
  const int first_y = y - before_y;
  const bool has_all_rows = first_y >= 0 && first_y + RUN + BATCH + window_height - 1 <= height;

  // A lane fills in one column outside the image.
  T* const row = reinterpret_cast<T*>(rows[warp]);
  const bool has_sides = x < before_x || x + out_columns + after_x > width;
  int side = -1, instead = -1;
  if (has_sides && lane < window_width - 1) {
    const int beside = lane < before_x ? -1 - lane : width + lane - before_x;
    const int found = sample_at(beside, width, boundary);
    side = beside - first_x < 32 * VECTOR ? beside - first_x : -1;
    instead = found >= 0 ? found - first_x : -1;
  }

  T* to = output + (static_cast<long long>(plane) * height + y) * width + x + lane * VECTOR;
  const bool has_output = lane < out_lanes && x + lane * VECTOR < width;
  using Read = Vector<unsigned, words>;
  const auto load = [&](int begin, Read(&read)[BATCH]) {
    const auto load_row = [&](int at) {
      return load_vector<words>(reinterpret_cast<const unsigned*>(from + static_cast<long long>(at) * width));
    };
    if (has_all_rows) {
#pragma unroll
      for (int i = 0; i < BATCH; ++i) read[i] = load_row(first_y + begin + i);
      return;
    }
    const int place = sample_at(first_y + begin + lane % BATCH, height, boundary);
#pragma unroll
    for (int i = 0; i < BATCH; ++i) {
      const int at = __shfl_sync(~0u, place, i);
      read[i] = load_row(larger(at, 0));
#pragma unroll
      for (int n = 0; n < words; ++n) read[i].element[n] = at >= 0 ? read[i].element[n] : other;
    }
  };
  const auto columns_of = [](const Read& read) {
    Columns columns;
#pragma unroll
    for (int n = 0; n < words; ++n) {
      columns.part[2 * n] = even_bytes(read.element[n]);
      columns.part[2 * n + 1] = read.element[n];
    }
    return columns;
  };
  const auto words_of = [](const Columns& columns) {
    Read own;
#pragma unroll
    for (int n = 0; n < words; ++n) own.element[n] = word_of(columns.part[2 * n], columns.part[2 * n + 1]);
    return own;
  };
  // Writes the row of outputs that belongs to the given extremes of columns.
  const auto write = [&](Columns columns, bool fills_sides) {
    Read own = words_of(columns);
    if constexpr (window_width > 1) {
      if (fills_sides) {
        store_vector<words>(rows[warp] + lane * words, own);
        __syncwarp();
        if (side >= 0) row[side] = instead >= 0 ? row[instead] : static_cast<T>(other & 0xffu);
        __syncwarp();
        own = load_vector<words>(rows[warp] + lane * words);
        columns = columns_of(own);
      }
      Row beside;
#pragma unroll
      for (int n = 0; n < needed; ++n) {
        const int word = skipped + n;
        if (word < words) {
          beside.part[0][n] = columns.part[2 * (word % words)];
          beside.part[1][n] = columns.part[2 * (word % words) + 1];
        } else {
          beside.part[1][n] = __shfl_down_sync(~0u, own.element[word % words], word / words);
          beside.part[0][n] = even_bytes(beside.part[1][n]);
        }
      }
      along_row<1>(beside, own.element);
    }
    if (has_output) store_vector<words>(reinterpret_cast<unsigned*>(to), own);
    to += width;
  };

  Running<1, window_height> running;
  Read read[BATCH], next[BATCH];
#pragma unroll
  for (int begin = 0; begin < window_height - 1; begin += BATCH) {
    load(begin, read);
#pragma unroll
    for (int i = 0; i < BATCH; ++i) {
      if (begin + i < window_height - 1) running.take(columns_of(read[i]));
    }
  }
  if constexpr (AHEAD > 0) load(window_height - 1, next);
#pragma unroll 1
  for (int down = 0; down < rows_left; down += BATCH) {
    const int begin = down + window_height - 1;
    if constexpr (AHEAD > 0) {
#pragma unroll
      for (int i = 0; i < BATCH; ++i) read[i] = next[i];
      if (down + BATCH < rows_left) load(begin + BATCH, next);
    } else {
      load(begin, read);
    }
    if (!has_sides && down + BATCH <= rows_left) {  // with no branch between rows
#pragma unroll
      for (int i = 0; i < BATCH; ++i) write(running.take(columns_of(read[i])), false);
      continue;
    }
#pragma unroll
    for (int i = 0; i < BATCH; ++i) {
      const Columns columns = running.take(columns_of(read[i]));
      if (down + i < rows_left) write(columns, has_sides);
    }
  }
}

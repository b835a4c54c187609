// SPDX-License-Identifier: Apache-2.0
// Minima and maxima of boxes, for rank_filter. A block marches down a strip of the image. Each thread keeps a
// few columns and computes running extremes along them by the method of van Herk and of Gil and Werman: rows
// come in groups as long as the window, and a window consists of the end of one group and the beginning of
// the next. This takes three comparisons for a window of any length. The extremes go to shared memory row by
// row, and a warp handles a row: each lane computes the extremes of the ends and the beginnings of its own
// elements. It gets those of other lanes, and of all elements between, by shuffles.

#include "common/boundary.cuh"
#include "common/integer.cuh"
#include "common/resident_blocks.cuh"
#include "common/shared.cuh"
#include "common/shared_layout.cuh"
#include "rank_filter/words.cuh"

using Word = Words<T>::Word;
constexpr int lanes = Words<T>::lanes;
constexpr bool is_plain = Words<T>::is_plain;
#include "rank_filter/extreme_layout.inl"
constexpr int columns = extreme_columns(sizeof(T)),
              own_words = extreme_words(sizeof(T));  // of a thread
static_assert(lanes == extreme_lanes(sizeof(T)) && sizeof(Word) == extreme_word_bytes(sizeof(T)),
              "as the layout has them");
constexpr int lane_words = own_words * BLOCK / 32;  // of a lane, when a warp takes a row
constexpr int lane_elements = lane_words * lanes;
constexpr int row_words = own_words * BLOCK;
constexpr int kept_words = own_words * larger(window_height, window_depth);  // of a thread, in registers
constexpr int resident_warps = kept_words > 64 ? 8 : sizeof(T) == 1 ? 12 : 16;

// A row's words lie in shared memory so that the vectors that lanes read together are in different banks.
constexpr int wide = 16 / sizeof(Word) < lane_words ? 16 / sizeof(Word) : lane_words;
__device__ __forceinline__ int in_row(int word) {
  const int vector = word / wide;
  return (vector ^ (vector >> 3 & (lane_words / wide - 1))) * wide + word % wide;
}

__device__ __forceinline__ Word extreme(Word a, Word b) { return rank > 0 ? upper(a, b) : lower(a, b); }

// Returns `word` of the lane that is `blocks` blocks of lane_words elements further on. If a word has two
// elements, the first belongs to one block and the second to the next.
template <typename W>
__device__ __forceinline__ W from_behind(W word, int blocks) {
  if (blocks == 0) return word;
  if constexpr (lanes == 1 || sizeof(W) != 4) {
    return __shfl_down_sync(0xffffffffu, word, blocks);
  } else {
    const unsigned near = __shfl_down_sync(0xffffffffu, word, blocks / 2);
    if (blocks % 2 == 0) return near;
    const unsigned far = __shfl_down_sync(0xffffffffu, word, blocks / 2 + 1);
    return __byte_perm(near, far, 0x5432);
  }
}

// The extreme of each window of `taps` elements that begins `shift` elements behind one of the lane's
// elements.
template <int taps, int shift>
struct Row {
  // The first and the last block of element j's window, and the places in them where it begins and ends.
  static __host__ __device__ constexpr int first(int j) { return (j + shift) / lane_words; }
  static __host__ __device__ constexpr int last(int j) { return (j + shift + taps - 1) / lane_words; }
  static __host__ __device__ constexpr int begin(int j) { return (j + shift) % lane_words; }
  static __host__ __device__ constexpr int end(int j) { return (j + shift + taps - 1) % lane_words; }
  static __host__ __device__ constexpr bool has(int from, int to) {
    for (int j = 0; j < lane_words; ++j) {
      if (first(j) == from && last(j) == to) return true;
    }
    return false;
  }

  // The extreme of `count` blocks from `from` on. `doubled` has the extremes of 1, 2, 4, ... blocks.
  template <int levels>
  static __device__ __forceinline__ Word blocks(const Word (&doubled)[levels], int from, int count) {
    int level = 0;
    while (level + 1 < levels && (2 << level) <= count) ++level;
    const Word one = from_behind(doubled[level], from);
    if ((1 << level) == count) return one;
    return extreme(one, from_behind(doubled[level], from + count - (1 << level)));
  }

  static __device__ __forceinline__ void apply(const Word (&x)[lane_words], Word (&result)[lane_words]) {
    Word before[lane_words], behind[lane_words];  // up to an element, and from it on
    before[0] = x[0];
    behind[lane_words - 1] = x[lane_words - 1];
#pragma unroll
    for (int i = 1; i < lane_words; ++i) {
      before[i] = extreme(before[i - 1], x[i]);
      behind[lane_words - 1 - i] = extreme(behind[lane_words - i], x[lane_words - 1 - i]);
    }
    constexpr int most = last(lane_words - 1) - first(0) - 1;  // whole blocks in a window
    constexpr int levels = most < 2 ? 1 : most < 4 ? 2 : most < 8 ? 3 : most < 16 ? 4 : most < 32 ? 5 : 6;
    Word doubled[levels];
    doubled[0] = before[lane_words - 1];
#pragma unroll
    for (int level = 1; level < levels; ++level)
      doubled[level] = extreme(doubled[level - 1], from_behind(doubled[level - 1], 1 << (level - 1)));
    constexpr int least_last = last(0);
    Word whole[2][2];
#pragma unroll
    for (int f = 0; f < 2; ++f) {
#pragma unroll
      for (int l = 0; l < 2; ++l) {
        const int from = first(0) + f, to = least_last + l;
        whole[f][l] = has(from, to) && to - from > 1 ? blocks(doubled, from + 1, to - from - 1) : Word(0);
      }
    }
#pragma unroll
    for (int j = 0; j < lane_words; ++j) {
      if (first(j) == last(j)) {
        Word all = x[begin(j)];
#pragma unroll
        for (int i = begin(j) + 1; i <= end(j); ++i) all = extreme(all, x[i]);
        result[j] = from_behind(all, first(j));
      } else {
        result[j] = extreme(from_behind(behind[begin(j)], first(j)), from_behind(before[end(j)], last(j)));
        if (last(j) - first(j) > 1)
          result[j] = extreme(result[j], whole[first(j) - first(0)][last(j) - least_last]);
      }
    }
  }
};

// Packs a thread's elements into words. A word of two bytes takes every other byte, so that two masks take
// them apart.
template <typename E>
__device__ __forceinline__ void read_words(typename Words<E>::Word (&to)[own_words],
                                           const Vector<E, columns>& from) {
  if constexpr (Words<E>::is_plain) {
    to[0] = from.element[0];
  } else if constexpr (sizeof(E) == 8) {
    to[0] = Words<E>::of(from.element[0]);
  } else if constexpr (sizeof(E) == 2) {
    to[0] = Words<E>::of(from.element[0], from.element[1]);
  } else {
    to[0] = Words<E>::of(from.element[0], from.element[2]);
    to[1] = Words<E>::of(from.element[1], from.element[3]);
  }
}

// Turns a row's words, as threads have written them, into blocks: word i has element i of the lane's first
// half and of its second half.
template <typename E>
__device__ __forceinline__ void by_blocks(typename Words<E>::Word (&to)[lane_words],
                                          const typename Words<E>::Word (&from)[lane_words]) {
#pragma unroll
  for (int i = 0; i < lane_words; ++i) {
    if constexpr (Words<E>::lanes == 1) {
      to[i] = from[i];
    } else {
      constexpr int half = lane_words / 2;
      const int word = sizeof(E) == 1 ? i / 4 * 2 + i % 2 : i / 2;
      const int place = sizeof(E) == 1 ? i % 4 / 2 : i % 2;
      to[i] = __byte_perm(from[word], from[half + word], place == 0 ? 0x5410 : 0x7632);
    }
  }
}

// Stores the lane's elements, of which `left` are in the tile.
template <typename E>
__device__ __forceinline__ void store_row(E* to, const typename Words<E>::Word (&words)[lane_words],
                                          long long left) {
  constexpr int most = 16 / sizeof(E);
  constexpr int wide = VECTOR == 1 ? 1 : lane_elements < most ? lane_elements : most;
#pragma unroll
  for (int n = 0; n < lane_elements; n += wide) {
    if (n >= left) break;
    Vector<E, wide> results;
#pragma unroll
    for (int i = 0; i < wide; ++i) {
      const int word = (n + i) % lane_words;
      if constexpr (Words<E>::is_plain) {
        results.element[i] = words[word];
      } else {
        results.element[i] = n + i < lane_words ? Words<E>::template element<0>(words[word])
                                                : Words<E>::template element<1>(words[word]);
      }
    }
    if (VECTOR == 1 || n + wide <= left) {
      store_vector<wide>(to + n, results);
    } else {
#pragma unroll
      for (int i = 0; i < wide; ++i) {
        if (n + i < left) to[n + i] = results.element[i];
      }
    }
  }
}

constexpr int ahead = AHEAD;  // rows that are read before they are needed

template <int rows_window, int columns_window>
__device__ __forceinline__ void march(const T* image, T* output, Word* memory, int height, long long width,
                                      int tiles_x, int tile_x, int runs, int run, int before_row,
                                      int before_column, int boundary, T outside) {
  constexpr int rows = extreme_batch(rows_window, BATCH);
  constexpr int left = extreme_shift(sizeof(T), VECTOR, columns_window, before_x);
  unsigned block = blockIdx.x;
  const long long x = static_cast<long long>(block % tiles_x) * tile_x;
  block /= tiles_x;
  const int y = static_cast<int>(block % runs) * run;
  const long long plane = block / runs;
  const int thread = static_cast<int>(threadIdx.x);

  // The offset in bytes of each row that the block reads.
  constexpr int bytes_written = extreme_row_bytes(sizeof(T), BLOCK, BUFFERS, rows);
  long long* const lines = reinterpret_cast<long long*>(reinterpret_cast<char*>(memory) + bytes_written);
  for (int n = thread; n < run + rows_window; n += BLOCK) {
    const int there = sample_at(y - before_row + n, height, boundary);
    lines[n] = (plane * height + (there >= 0 ? there : 0)) * width * static_cast<long long>(sizeof(T));
  }
  __syncthreads();

  const long long first_column = x - before_column - left + thread * columns;
  long long at[columns];  // -1: outside
  bool together = VECTOR > 1 || columns == 1;
#pragma unroll
  for (int i = 0; i < columns; ++i) {
    at[i] = sample_at(first_column + i, width, boundary);
    together = together && (i == 0 || (at[0] >= 0 && at[i] == at[0] + i));
  }

  const T* const own = image + (at[0] >= 0 ? at[0] : 0);
  const auto in_line = [&](const T* first, int line) {
    return reinterpret_cast<const T*>(reinterpret_cast<const char*>(first) + lines[line]);
  };

  // Loads `count` rows. Their loads do not depend on each other.
  using Read = Vector<T, columns>;
  const auto fetch = [&](Read(&to)[ahead], int first, int count) {
    if (together) {
#pragma unroll
      for (int i = 0; i < ahead; ++i) {
        if (i < count) to[i] = load_vector<columns>(in_line(own, first + i));
      }
    } else {
#pragma unroll
      for (int i = 0; i < ahead; ++i) {
        if (i >= count) break;
#pragma unroll
        for (int c = 0; c < columns; ++c)
          to[i].element[c] = in_line(image, first + i)[at[c] >= 0 ? at[c] : 0];
      }
    }
    if (boundary > boundary_constant) return;
    const int row = y - before_row + first;
    const bool all_rows = row >= 0 && row + count <= height;
    if (all_rows && together && at[0] >= 0) return;
#pragma unroll
    for (int i = 0; i < ahead; ++i) {
#pragma unroll
      for (int c = 0; c < columns; ++c) {
        if (at[c] < 0 || row + i < 0 || row + i >= height) to[i].element[c] = outside;
      }
    }
  };
  // The extremes from each row of a group to the group's end.
  Word ends[rows_window][own_words];
  const auto close = [&] {
#pragma unroll
    for (int i = rows_window - 2; i >= 0; --i) {
#pragma unroll
      for (int w = 0; w < own_words; ++w) ends[i][w] = extreme(ends[i][w], ends[i + 1][w]);
    }
  };
  Read next[ahead];
#pragma unroll
  for (int first = 0; first < rows_window; first += ahead) {
    fetch(next, first, smaller(ahead, rows_window - first));
#pragma unroll
    for (int i = 0; i < ahead; ++i) {
      if (first + i < rows_window) read_words(ends[first + i < rows_window ? first + i : 0], next[i]);
    }
  }
  close();
  int row = rows_window;
  fetch(next, row, smaller(ahead, rows));

  const int end = height - y < run ? height : y + run;
  const int own_place = in_row(thread * own_words);
  int buffer = 0;
  for (int top = y; top < end; top += rows, buffer = buffer + 1 < BUFFERS ? buffer + 1 : 0) {
    Word* const written = memory + buffer * (rows * row_words);
    if (BUFFERS == 1) __syncthreads();
    Word begin[own_words];
#pragma unroll
    for (int first = 0; first < rows; first += ahead) {
      Read now[ahead];
#pragma unroll
      for (int i = 0; i < ahead; ++i) now[i] = next[i];
      if (first + ahead < rows) {
        fetch(next, row + first + ahead, smaller(ahead, rows - first - ahead));
      } else if (top + rows < end) {
        fetch(next, row + rows, smaller(ahead, rows));
      }
#pragma unroll
      for (int k = 0; k < ahead; ++k) {
        const int r = first + k, i = r % rows_window;
        if (r >= rows) break;
        Word read[own_words];
        read_words(read, now[k]);
#pragma unroll
        for (int w = 0; w < own_words; ++w) {
          Word& out = written[r * row_words + own_place + w];
          out = i == 0 ? ends[0][w] : extreme(ends[i][w], begin[w]);
          begin[w] = i == 0 ? read[w] : extreme(begin[w], read[w]);
          ends[i][w] = read[w];
        }
        if (i == rows_window - 1) close();
      }
    }
    row += rows;
    __syncthreads();
    const int there = end - top < rows ? end - top : rows;
    for (int r = thread / 32; r < there; r += BLOCK / 32) {
      Word own[lane_words], elements[lane_words], result[lane_words];
      const Word* const words = written + r * row_words;
#pragma unroll
      for (int n = 0; n < lane_words; n += wide) {
        const auto read = load_vector<wide>(words + in_row(thread % 32 * lane_words + n));
#pragma unroll
        for (int i = 0; i < wide; ++i) own[n + i] = read.element[i];
      }
      by_blocks<T>(elements, own);
      Row<columns_window, left>::apply(elements, result);
      const int column = thread % 32 * lane_elements;
      const long long most = width - x < tile_x ? width - x : tile_x;
      store_row(output + (plane * height + top + r) * width + x + column, result, most - column);
    }
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK, resident_blocks(resident_warps, BLOCK))
    ENTRY(rank_filter_extreme)(const T* __restrict__ image, T* __restrict__ output, int height,
                               long long width, int tiles_x, int tile_x, int runs, int run, int boundary,
                               double outside) {
  DYNAMIC_SHARED(Word, memory);
  march<window_height, window_width>(image, output, memory, height, width, tiles_x, tile_x, runs, run,
                                     before_y, before_x, boundary, from_outside<T>(outside));
}

// Extremes along the planes: each plane is taken as one row.
extern "C" __global__ void __launch_bounds__(BLOCK, resident_blocks(resident_warps, BLOCK))
    ENTRY(rank_filter_extreme_planes)(const T* __restrict__ image, T* __restrict__ output, int height,
                                      long long width, int tiles_x, int tile_x, int runs, int run,
                                      int boundary, double outside) {
  DYNAMIC_SHARED(Word, memory);
  march<window_depth, 1>(image, output, memory, height, width, tiles_x, tile_x, runs, run, before_z, 0,
                         boundary, from_outside<T>(outside));
}

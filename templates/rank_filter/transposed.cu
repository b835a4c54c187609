// SPDX-License-Identifier: Apache-2.0
// Minima and maxima of boxes in a tile, for rank_filter, computed twice along columns. A word is 4 bytes of a
// row. A thread computes the extremes of a run of a word's columns, and writes them as words of a column.
// Lanes have neighbouring words, so that the tile is transposed without any exchange between lanes. Then its
// rows are columns. The outputs of a run share the elements that all of their windows contain. The extremes
// before and behind these are found by the algorithm of van Herk and of Gil and Werman.

#include "common/async_copy.cuh"
#include "common/boundary.cuh"
#include "common/copy_groups.cuh"
#include "common/integer.cuh"
#include "common/resident_blocks.cuh"
#include "common/shared.cuh"
#include "common/shared_layout.cuh"
#include "rank_filter/transposed_layout.inl"
#include "rank_filter/words.cuh"

constexpr int in_word = 4 / sizeof(T);    // elements
constexpr int stacks = TILE_Y / in_word;  // words of a column
constexpr int runs_x = TILE_X / RUN, runs_y = TILE_Y / RUN;
constexpr int vector_bytes = VECTOR > 4 ? VECTOR : 4, vector = vector_bytes / static_cast<int>(sizeof(T));

constexpr TransposedShape shape = {TILE_X, TILE_Y, STEPS, RUN, ROUNDS, in_word, vector, before_x};
template <int rows_window, int columns_window>
struct Layout {
  static constexpr TransposedLayout at = transposed_layout(shape, rows_window, columns_window);
  static constexpr int left = at.left, skipped = at.skipped, first = at.first, words = at.words,
                       pitch = at.pitch, kept = at.kept, transposed_at = at.transposed_at, out_at = at.out_at,
                       places_bytes = at.places_bytes;
};
constexpr int stacks_pitch = transposed_layout(shape, 1, 1).stacks_pitch,
              out_pitch = transposed_layout(shape, 1, 1).out_pitch;
constexpr int threads = transposed_threads(shape, window_width);

// ---- the extremes of two words, element by element

template <typename E>
struct Extremes;
template <>
struct Extremes<unsigned short> {
  static __device__ __forceinline__ unsigned of(unsigned a, unsigned b) {
    return rank > 0 ? upper(a, b) : lower(a, b);
  }
  static __device__ __forceinline__ unsigned of(unsigned a, unsigned b, unsigned c) {
    return rank > 0 ? upper(a, b, c) : lower(a, b, c);
  }
};
template <>
struct Extremes<unsigned char> : Extremes<unsigned short> {};
template <>
struct Extremes<int> {
  static __device__ __forceinline__ unsigned of(int a, int b) { return rank > 0 ? upper(a, b) : lower(a, b); }
  static __device__ __forceinline__ unsigned of(int a, int b, int c) {
    return rank > 0 ? upper(a, b, c) : lower(a, b, c);
  }
};
template <>
struct Extremes<float> {
  static __device__ __forceinline__ unsigned of(unsigned a, unsigned b) {
    const float x = __uint_as_float(a), y = __uint_as_float(b);
    return __float_as_uint(rank > 0 ? upper(x, y) : lower(x, y));
  }
  static __device__ __forceinline__ unsigned of(unsigned a, unsigned b, unsigned c) {
    return of(of(a, b), c);
  }
};
template <>
struct Extremes<short> {
  static __device__ __forceinline__ unsigned of(unsigned a, unsigned b) {
    return rank > 0 ? maximum_s16x2(a, b) : minimum_s16x2(a, b);
  }
  static __device__ __forceinline__ unsigned of(unsigned a, unsigned b, unsigned c) {
    return rank > 0 ? maximum_s16x2(a, b, c) : minimum_s16x2(a, b, c);
  }
};
template <>
struct Extremes<Float16> {
  static __device__ __forceinline__ unsigned of(unsigned a, unsigned b) {
    return rank > 0 ? maximum_f16x2(a, b) : minimum_f16x2(a, b);
  }
  static __device__ __forceinline__ unsigned of(unsigned a, unsigned b, unsigned c) {
    return of(of(a, b), c);
  }
};
template <>
struct Extremes<BFloat16> {
  static __device__ __forceinline__ unsigned of(unsigned a, unsigned b) {
    return rank > 0 ? maximum_bf16x2(a, b) : minimum_bf16x2(a, b);
  }
  static __device__ __forceinline__ unsigned of(unsigned a, unsigned b, unsigned c) {
    return of(of(a, b), c);
  }
};

// A word in the form that is compared. A word of bytes becomes two words of 16-bit numbers, whose upper bytes
// are the even and the odd bytes. The lower bytes matter only if the upper ones are equal.
constexpr int parts = sizeof(T) == 1 ? 2 : 1;
struct Compared {
  unsigned part[parts];
};
__device__ __forceinline__ Compared compared(unsigned word) {
  Compared to;
  to.part[parts - 1] = word;
  if constexpr (parts == 2) to.part[0] = word << 8;
  return to;
}
__device__ __forceinline__ unsigned as_word(const Compared& from) {
  if constexpr (parts == 1) return from.part[0];
  return __byte_perm(from.part[0], from.part[parts - 1], 0x7351);
}
__device__ __forceinline__ Compared extreme(const Compared& a, const Compared& b) {
  Compared to;
#pragma unroll
  for (int i = 0; i < parts; ++i) to.part[i] = Extremes<T>::of(a.part[i], b.part[i]);
  return to;
}
__device__ __forceinline__ Compared extreme(const Compared& a, const Compared& b, const Compared& c) {
  Compared to;
#pragma unroll
  for (int i = 0; i < parts; ++i) to.part[i] = Extremes<T>::of(a.part[i], b.part[i], c.part[i]);
  return to;
}

// Transposes in_word words that lie below or beside each other: element i of word n becomes element n of word
// i.
__device__ __forceinline__ void transpose(const Compared (&from)[in_word], unsigned (&to)[in_word]) {
  if constexpr (in_word == 4) {
#pragma unroll
    for (int odd = 0; odd < 2; ++odd) {
      const unsigned upper = __byte_perm(from[0].part[odd], from[1].part[odd], 0x7351);
      const unsigned lower = __byte_perm(from[2].part[odd], from[3].part[odd], 0x7351);
      to[odd] = __byte_perm(upper, lower, 0x5410);
      to[odd + 2] = __byte_perm(upper, lower, 0x7632);
    }
  } else if constexpr (in_word == 2) {
    to[0] = __byte_perm(from[0].part[0], from[1].part[0], 0x5410);
    to[1] = __byte_perm(from[0].part[0], from[1].part[0], 0x7632);
  } else {
    to[0] = from[0].part[0];
  }
}

// ---- along a column

// The number of outputs that are found together: at most one more than a window has elements.
__host__ __device__ constexpr int group_of(int window) {
  int group = 4;
  while (2 * group <= smaller(RUN, window + 1)) group *= 2;
  return group;
}

// Computes the extremes of RUN windows that begin at elements 0, 1, ... `read` gives the elements; `write`
// takes the extremes in order.
template <int window, typename Read, typename Write>
__device__ __forceinline__ void slide(const Read& read, const Write& write) {
  Compared x[RUN + window - 1];
  if constexpr (window <= 3) {
#pragma unroll
    for (int i = 0; i < RUN + window - 1; ++i) {
      x[i] = read(i);
      const int to = i - (window - 1);
      if (to < 0) continue;
      if constexpr (window == 1) write(to, x[i]);
      if constexpr (window == 2) write(to, extreme(x[i - 1], x[i]));
      if constexpr (window == 3) write(to, extreme(x[i - 2], x[i - 1], x[i]));
    }
  } else {
    constexpr int group = group_of(window);
#pragma unroll
    for (int begin = 0; begin < RUN; begin += group) {
      // The extremes from each output's first element to the last element of the first output's window.
      Compared before[group];
#pragma unroll
      for (int i = begin == 0 ? group - 1 : begin + window - 1; i < begin + window; ++i) x[i] = read(i);
      constexpr int shared = window - group + 1;  // elements that all have
      if constexpr (shared > 0) {
        Compared all = x[begin + group - 1];
#pragma unroll
        for (int i = 1; i < shared; i += 2) {
          const Compared& next = x[begin + group - 1 + i];
          all = i + 1 < shared ? extreme(all, next, x[begin + group - 1 + (i + 1 < shared ? i + 1 : i)])
                               : extreme(all, next);
        }
        before[group - 1] = all;
      }
#pragma unroll
      for (int i = group - 2; i >= 0; --i) {
        if (begin == 0) x[i] = read(i);
        before[i] = shared == 0 && i == group - 2 ? x[begin + i] : extreme(before[i + 1], x[begin + i]);
      }
      // The extremes of the elements behind that, for two outputs at a time.
      write(begin, before[0]);
      Compared behind;
#pragma unroll
      for (int i = 1; i < group; ++i) {
        const int last = begin + window - 1 + i;
        x[last] = read(last);
        const bool is_odd = i % 2 != 0, has_before = shared > 0 || i < group - 1;
        if (!is_odd) behind = i == 2 ? extreme(x[last - 1], x[last]) : extreme(behind, x[last - 1], x[last]);
        Compared out;
        if (i == 1) {
          out = extreme(before[1], x[last]);
        } else if (is_odd) {
          out = has_before ? extreme(before[i], behind, x[last]) : extreme(behind, x[last]);
        } else {
          out = extreme(before[i], behind);
        }
        write(begin + i, out);
      }
    }
  }
}

// ---- strips

struct Image {
  int height, width, boundary;
};

// Four of the eight bytes of two words, from byte `first` on.
__device__ __forceinline__ unsigned bytes_from(unsigned low, unsigned high, int first) {
  return __byte_perm(low, high, 0x3210u + 0x1111u * static_cast<unsigned>(first));
}

// If rows begin at any address, an unaligned word is read as the two aligned words that contain it. This many
// elements around it have to be in the row.
constexpr int margin = VECTOR == 1 ? in_word : 0;
__device__ __forceinline__ unsigned load_word(const T* from) {
  const int beyond = static_cast<int>(reinterpret_cast<size_t>(from) % 4);
  const unsigned* const aligned =
      reinterpret_cast<const unsigned*>(reinterpret_cast<const char*>(from) - beyond);
  return bytes_from(load_vector<1>(aligned).element[0], load_vector<1>(aligned + 1).element[0], beyond);
}

// Stores the first elements of a word, at most `count`.
__device__ __forceinline__ void store_elements(T* to, unsigned word, int count) {
#pragma unroll
  for (int k = 0; k < in_word; ++k) {
    if (k >= count) break;
    const unsigned element = word >> (32 / in_word * k);
    memcpy(to + k, &element, sizeof(T));
  }
}

template <int rows_window, int columns_window>
struct Strip : Layout<rows_window, columns_window> {
  using Here = Layout<rows_window, columns_window>;
  static constexpr int pitch = Here::pitch;

  const T* from;            // the plane
  T* to;                    // the strip's first output
  const long long* places;  // where in the plane its rows begin
  unsigned* memory;
  Image image;
  T outside;
  int first_x, needed_columns, columns_left;
  int sides_before, sides_behind;  // columns that vectors within the image have are from the one to the other
  int rows_begin, rows_end;        // those that are in the image, or that the boundary takes from it

  static __device__ __forceinline__ int thread() { return static_cast<int>(threadIdx.x); }
  static __device__ __forceinline__ int slot_of(int row) {
    return STEPS == 1 ? row : static_cast<int>(static_cast<unsigned>(row) % Here::kept);
  }

  // Fills the columns from `begin` to `end`, element by element: most are outside the image, and copies of
  // elements in shared memory.
  __device__ __forceinline__ void fill_columns(int first_row, int end_row, int begin, int end) const {
    T* const elements = reinterpret_cast<T*>(memory);
    for (int column = begin + thread() % 32; column < end; column += 32) {
      const int x = sample_at(first_x + column, image.width, image.boundary), here = x - first_x;
      if (x >= 0 && here >= sides_before && here < smaller(sides_behind, needed_columns)) {
#pragma unroll 4
        for (int row = first_row + thread() / 32; row < end_row; row += threads / 32) {
          T* const slot = elements + slot_of(row) * (pitch * in_word);
          slot[column] = slot[here];
        }
        continue;
      }
      const T* const read = from + (x >= 0 ? x : 0);
#pragma unroll 4
      for (int row = first_row + thread() / 32; row < end_row; row += threads / 32) {
        const T element = read[places[row]];
        elements[slot_of(row) * (pitch * in_word) + column] = x >= 0 ? element : outside;
      }
    }
  }

  // Fills the parts that whole vectors do not reach, in the rows from `begin` to `end`, which have arrived.
  __device__ __forceinline__ void fill_sides(int begin, int end) const {
    const int first_row = larger(begin, rows_begin), end_row = smaller(end, rows_end);
#pragma unroll 1
    for (int side = 0; side < 2; ++side)
      fill_columns(first_row, end_row, side == 0 ? Here::left : sides_behind,
                   side == 0 ? sides_before : needed_columns);
  }

  // Fills the rows from `begin` to `end`: vectors inside the image, and whole rows outside.
  __device__ __forceinline__ void fill(int begin, int end) const {
    const int first_row = larger(begin, rows_begin), end_row = smaller(end, rows_end);
    constexpr int units = pitch * 4 / vector_bytes, across = smaller(units, threads);
    constexpr int down = threads / across, unit_words = vector_bytes / 4;
    for (int unit = thread() % across; unit < units && thread() / across < down; unit += across) {
      const int x = first_x + unit * vector;
      if (x < margin || x + vector + margin > image.width || unit * vector >= needed_columns) continue;
      const T* const column = from + x;
#pragma unroll 4
      for (int row = first_row + thread() / across; row < end_row; row += down) {
        unsigned* const slot = memory + slot_of(row) * pitch + unit * unit_words;
        if constexpr (VECTOR == 1) {
          *slot = load_word(column + places[row]);
        } else {
          copy_async<unit_words>(slot, reinterpret_cast<const unsigned*>(column + places[row]), true);
        }
      }
    }
    if (first_row == begin && end_row == end) return;
    for (int n = thread(); n < (end - begin) * (pitch * in_word); n += threads) {
      const int row = begin + n / (pitch * in_word);
      if (row < rows_begin || row >= rows_end)
        reinterpret_cast<T*>(memory)[slot_of(row) * (pitch * in_word) + n % (pitch * in_word)] = outside;
    }
  }

  // Computes the extremes along the columns of the tile at row `y` of the strip; `rows_left` of its rows are
  // in the image.
  __device__ __forceinline__ void along_columns(int y, int rows_left) const {
    unsigned* const transposed = memory + Here::transposed_at;
    for (int n = thread(); n < Here::words * runs_y; n += threads) {
      const int word = n % Here::words, top = n / Here::words * RUN;
      if (top >= rows_left || (Here::skipped + word) * in_word >= needed_columns) continue;
      // Neighbouring rows are in neighbouring slots, from one multiple of RUN to the next.
      constexpr int pieces = STEPS == 1 ? 1 : ceil_divide(RUN + rows_window - 1, RUN);
      const unsigned* piece[pieces];
#pragma unroll
      for (int k = 0; k < pieces; ++k)
        piece[k] = memory + slot_of(y + top + k * RUN) * pitch + Here::skipped + word;
      const auto read = [&](int i) {
        return compared(STEPS == 1 ? piece[0][i * pitch] : piece[i / RUN % pieces][i % RUN * pitch]);
      };
      if constexpr (columns_window > 1) {
        Compared below[in_word];
        slide<rows_window>(read, [&](int i, const Compared& out) {
          below[i % in_word] = out;
          if (i % in_word < in_word - 1) return;
          unsigned words[in_word];
          transpose(below, words);
#pragma unroll
          for (int k = 0; k < in_word; ++k)
            transposed[(k * Here::words + word) * stacks_pitch + top / in_word + i / in_word] = words[k];
        });
      } else {
        slide<rows_window>(read, [&](int i, const Compared& out) {
          if (top + i >= rows_left) return;
          T* const place = to + static_cast<long long>(y + top + i) * image.width + word * in_word;
          if constexpr (VECTOR > 1) {
            store_vector<1>(reinterpret_cast<unsigned*>(place), Vector<unsigned, 1>{as_word(out)});
          } else {
            store_elements(place, as_word(out), columns_left - word * in_word);
          }
        });
      }
    }
  }

  // Lanes have neighbouring stacks. If a column has fewer than 32, they also have columns at a distance that
  // puts their words into the other banks.
  __device__ __forceinline__ void along_rows(int rows_left) const {
    unsigned* const outputs = memory + Here::out_at;
    constexpr int lanes_apart = stacks < 32 ? 32 / stacks : 1, runs_of_part = TILE_Y / RUN;
    constexpr int piece = smaller(4, RUN / in_word);  // words that are stored together
    for (int n = thread(); n < stacks * runs_x; n += threads) {
      const int stack = n % stacks, run = n / stacks, within = run / lanes_apart;
      const int left = lanes_apart == 1 ? run * RUN
                                        : (within / runs_of_part * lanes_apart + run % lanes_apart) * TILE_Y +
                                              within % runs_of_part * RUN;
      if (stack * in_word >= rows_left || left >= columns_left) continue;
      const unsigned* const row = memory + Here::transposed_at + left / in_word * stacks_pitch + stack;
      const auto read = [&](int i) {
        const int column = Here::first + i;
        return compared(row[(column % in_word * Here::words + column / in_word) * stacks_pitch]);
      };
      Compared beside[in_word];
      Vector<unsigned, piece> pieces[in_word];
      slide<columns_window>(read, [&](int i, const Compared& out) {
        beside[i % in_word] = out;
        if (i % in_word < in_word - 1) return;
        unsigned words[in_word];
        transpose(beside, words);
#pragma unroll
        for (int k = 0; k < in_word; ++k) {
          pieces[k].element[i / in_word % piece] = words[k];
          if (i / in_word % piece == piece - 1)
            store_vector<piece>(
                outputs + (k * stacks + stack) * out_pitch + left / in_word + i / in_word - (piece - 1),
                pieces[k]);
        }
      });
    }
  }

  static __device__ __forceinline__ int out_row(int row) {
    return (row % in_word * stacks + row / in_word) * out_pitch;
  }

  __device__ __forceinline__ void store(int y, int rows_left) const {
    const unsigned* const outputs = memory + Here::out_at;
    constexpr int units = TILE_X / vector, unit_words = vector_bytes / 4;
    constexpr int across = smaller(units, threads), all_down = threads / across;
    constexpr int down = all_down > in_word ? all_down / in_word * in_word : all_down;
    const int first_row = thread() / across;
    for (int unit = thread() % across; unit < units && first_row < down; unit += across) {
      if (unit * vector >= columns_left) break;
      T* place = to + static_cast<long long>(y + first_row) * image.width + unit * vector;
      int out = out_row(first_row);
#pragma unroll 2
      for (int row = first_row; row < rows_left; row += down) {
        if constexpr (VECTOR > 1) {
          store_vector<unit_words>(reinterpret_cast<unsigned*>(place),
                                   load_vector<unit_words>(outputs + out + unit * unit_words));
        } else {
          store_unaligned(place, outputs + out, unit);
        }
        place += static_cast<long long>(down) * image.width;
        out = down % in_word == 0 ? out + down / in_word * out_pitch : out_row(row + down);
      }
    }
  }

  // Stores word `unit` of a row that begins at any address: its part of the first aligned word, or the
  // elements of the next one.
  __device__ __forceinline__ void store_unaligned(T* place, const unsigned* row, int unit) const {
    constexpr int size = sizeof(T);
    const int beyond = static_cast<int>(reinterpret_cast<size_t>(place) % 4);
    const int head = (4 - beyond) % 4 / size;  // elements before an aligned word
    if (unit == 0) store_elements(place, row[0], smaller(head, columns_left));
    const int left = columns_left - unit * in_word - head;
    if (left <= 0) return;
    const unsigned word = bytes_from(row[unit], row[unit + 1], size * head);
    if (left >= in_word) {
      store_vector<1>(reinterpret_cast<unsigned*>(place + head), Vector<unsigned, 1>{word});
    } else {
      store_elements(place + head, word, left);
    }
  }

  __device__ __forceinline__ void run(int rows_left) const {
    const int needed_rows = rows_left + rows_window - 1;
    fill(0, smaller(needed_rows, TILE_Y + rows_window - 1));
    end_copy_group();
#pragma unroll 1
    for (int step = 0; step < STEPS && step * TILE_Y < rows_left; ++step) {
      const int y = step * TILE_Y, here = smaller(TILE_Y, rows_left - y);
      if constexpr (STEPS > 1) {  // the next tile's further rows
        const int read = y + TILE_Y + rows_window - 1;
        if (read < needed_rows) fill(read, smaller(needed_rows, read + TILE_Y));
        end_copy_group();
      }
      wait_for_copy_groups<(STEPS > 1)>();
      __syncthreads();
      if (sides_before > Here::left || sides_behind < needed_columns) {
        fill_sides(step == 0 ? 0 : y + rows_window - 1, smaller(needed_rows, y + TILE_Y + rows_window - 1));
        __syncthreads();
      }
      along_columns(y, here);
      if constexpr (columns_window > 1 || STEPS > 1) __syncthreads();
      if constexpr (columns_window > 1) {
        along_rows(here);
        __syncthreads();
        store(y, here);
      }
    }
  }
};

template <int rows_window, int columns_window>
__device__ __forceinline__ void filter(const T* images, T* outputs, long long* memory, const Image& image,
                                       int strips_x, int strips_y, int rows_before, int columns_before,
                                       T outside) {
  using Here = Strip<rows_window, columns_window>;
  unsigned block = blockIdx.x;
  const int x = static_cast<int>(block % strips_x) * TILE_X;
  block /= strips_x;
  const int y = static_cast<int>(block % strips_y) * (STEPS * TILE_Y);
  const long long plane = static_cast<long long>(block / strips_y) * image.height * image.width;
  const int rows_left = smaller(STEPS * TILE_Y, image.height - y),
            columns_left = smaller(TILE_X, image.width - x);

  const int first_y = y - rows_before, needed_rows = rows_left + rows_window - 1;
  for (int row = static_cast<int>(threadIdx.x); row < needed_rows; row += threads)
    memory[row] =
        static_cast<long long>(sample_at(first_y + row, image.height, image.boundary)) * image.width;
  __syncthreads();
  const bool has_constants = image.boundary <= boundary_constant;
  Here strip;
  strip.from = images + plane;
  strip.to = outputs + plane + static_cast<long long>(y) * image.width + x;
  strip.places = memory;
  strip.memory = reinterpret_cast<unsigned*>(memory + Here::places_bytes / 8);
  strip.image = image;
  strip.outside = outside;
  strip.first_x = x - columns_before - Here::left;
  strip.needed_columns = Here::left + columns_left + columns_window - 1;
  strip.columns_left = columns_left;
  const int before = strip.first_x < margin ? round_up(margin - strip.first_x, vector) : 0;
  strip.sides_before = smaller(strip.needed_columns, before);
  strip.sides_behind = larger(strip.sides_before, (image.width - margin - strip.first_x) / vector * vector);
  strip.rows_begin = has_constants && first_y < 0 ? -first_y : 0;
  strip.rows_end = has_constants ? smaller(needed_rows, image.height - first_y) : needed_rows;
  strip.run(rows_left);
}

extern "C" __global__ void __launch_bounds__(threads, resident_blocks(RESIDENT_WARPS, threads))
    ENTRY(rank_filter_transposed)(const T* __restrict__ image, T* __restrict__ output, int height, int width,
                                  int strips_x, int strips_y, int boundary, double outside) {
  DYNAMIC_SHARED(long long, memory);
  filter<window_height, window_width>(image, output, memory, {height, width, boundary}, strips_x, strips_y,
                                      before_y, before_x, from_outside<T>(outside));
}

// Extremes along the planes: each plane is taken as one row.
extern "C" __global__ void __launch_bounds__(threads, resident_blocks(RESIDENT_WARPS, threads))
    ENTRY(rank_filter_transposed_planes)(const T* __restrict__ image, T* __restrict__ output, int height,
                                         int width, int strips_x, int strips_y, int boundary,
                                         double outside) {
  DYNAMIC_SHARED(long long, memory);
  filter<window_depth, 1>(image, output, memory, {height, width, boundary}, strips_x, strips_y, before_z, 0,
                          from_outside<T>(outside));
}

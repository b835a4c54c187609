// SPDX-License-Identifier: Apache-2.0
// filter_bank in one pass. A block marches down a strip of the image. Each thread keeps the rows of a window
// in registers, for a few columns, and sums them along the column masks, ROWS rows at a time; the rows needed
// next are read meanwhile. These sums go to shared memory. From there, each thread takes OUTPUTS neighbours
// of a row and sums along the row masks. The masks' sizes are compiled in; weights, boundary and the image's
// size are arguments. The two halves of a mask are summed separately, from its ends inwards. If the halves
// differ only in sign, the two sums are opposite where all samples are equal (base.cu).

#include "common/boundary.cuh"
#include "common/integer.cuh"
#include "common/opaque.cuh"
#include "common/resident_blocks.cuh"
#include "common/shared.cuh"
#include "common/shared_layout.cuh"
#include "common/vector.cuh"
#include "common/widened.cuh"
#include "filter_bank/filter_bank.cuh"

using Sum = sum_type<T>;

constexpr int lanes = 16 / static_cast<int>(sizeof(Sum));  // of an access to shared memory
constexpr int strip = BLOCK * COLUMNS;                     // columns of a block, channels apart
constexpr int store = smaller(smaller(VECTOR, ROW_VECTOR), lanes);

#include "filter_bank/sliding_layout.inl"
constexpr SlidingLayout layout =
    sliding_layout({BLOCK, COLUMNS, ROWS, OUTPUTS, BUFFERS, smaller(VECTOR, ROW_VECTOR), lanes, filters,
                    taps_y, taps_x, channels, PHASE});
constexpr int load = layout.load;  // elements of a load
constexpr int shift = layout.shift, reach = layout.reach, units = layout.units;
constexpr int tile = units * OUTPUTS;

// The rows of a window, and of the windows below it that are summed at the same time.
constexpr int ring_rows = taps_y - 1 + ROWS;

// The number of rows of a thread's sums along a column mask that are made together. Weights are read from
// shared memory once for all of them.
__host__ __device__ constexpr int rows_together() {
  int rows = ROWS;
  while (rows > 1 && (ROWS % rows != 0 || 2 * rows * COLUMNS * static_cast<int>(sizeof(Sum)) > 96)) --rows;
  return rows;
}
constexpr int together = rows_together();

// For sums along the rows, the threads' units cover rows_at_once rows. The threads move on to the next rows
// in steps, some of which are made together.
constexpr int rows_at_once = layout.rows_at_once;
constexpr int steps = ROWS / rows_at_once;
__host__ __device__ constexpr int steps_together() {
  int count = steps;
  while (count > 1 && (steps % count != 0 || count * filters * OUTPUTS * static_cast<int>(sizeof(Sum)) > 96))
    --count;
  return count;
}
constexpr int units_together = steps_together();

constexpr int pitch_y = layout.pitch_y, pitch_x = layout.pitch_x;
__host__ __device__ constexpr int last_lanes(int taps) { return (taps - 1) / lanes * lanes; }
constexpr int staged_row = layout.row, staged = layout.group;
constexpr int masks_y_at = layout.masks_y_at, masks_x_at = layout.masks_x_at;

using Read = Vector<T, COLUMNS>;
using Kept = Sum[ring_rows][COLUMNS];

struct Strip {
  const T* image;
  int height, length;  // of the image; elements of a row
  int at[COLUMNS];     // where in a row the thread's columns are; -1: outside
  bool is_vector;      // they are neighbours, and aligned
  int boundary;
  Sum outside;
};

__device__ __forceinline__ void fetch(Read (&rows)[ROWS], const Strip& from, int first) {
  if (from.is_vector && first >= 0 && first + ROWS <= from.height) {
    const T* line = from.image + static_cast<long long>(first) * from.length + from.at[0];
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
#pragma unroll
      for (int c = 0; c < COLUMNS; c += load) {
        const Vector<T, load> part = load_vector<load>(line + c);
#pragma unroll
        for (int e = 0; e < load; ++e) rows[i].element[c + e] = part.element[e];
      }
      line += from.length;
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
    const int row = sample_at(first + i, from.height, from.boundary);
    const T* const line = from.image + static_cast<long long>(row < 0 ? 0 : row) * from.length;
#pragma unroll
    for (int c = 0; c < COLUMNS; ++c) rows[i].element[c] = line[from.at[c] < 0 ? 0 : from.at[c]];
  }
}

// Stores the rows that were read among the kept ones, from `slot` on. Rows outside the image get the value
// outside.
template <int slot>
__device__ __forceinline__ void keep(Kept& kept, const Read (&rows)[ROWS], const Strip& from, int first) {
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
    if (slot + i < 0) continue;  // above the first window
#pragma unroll
    for (int c = 0; c < COLUMNS; ++c) kept[slot + i][c] = widened(rows[i].element[c]);
  }
  if (from.boundary > boundary_constant) return;
  if (from.is_vector && first >= 0 && first + ROWS <= from.height) return;
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
    if (slot + i < 0) continue;
    const bool is_row = first + i >= 0 && first + i < from.height;
#pragma unroll
    for (int c = 0; c < COLUMNS; ++c) {
      if (!is_row || from.at[c] < 0) kept[slot + i][c] = from.outside;
    }
  }
}

// Fills all kept rows except the last ROWS. `first` is the row at `slot`, which may be above the first
// window.
template <int slot>
__device__ __forceinline__ void fill(Kept& kept, const Strip& from, int first) {
  if constexpr (slot + ROWS < ring_rows) {
    Read rows[ROWS];
    fetch(rows, from, first);
    fill<slot + ROWS>(kept, from, first + ROWS);
    keep<slot>(kept, rows, from, first);
  }
}

// Computes ROWS rows of sums along the column masks.
__device__ __forceinline__ void sum_columns(const Kept& kept, const Sum* masks, Sum* to) {
  constexpr int half = taps_y / 2;
#pragma unroll
  for (int first = 0; first < ROWS; first += together) {
#pragma unroll
    for (int f = 0; f < filters; ++f) {
      const Sum* const mask = masks + f * pitch_y;
      Sum low[together][COLUMNS] = {}, high[together][COLUMNS] = {};
#pragma unroll
      for (int t = 0; t < half; t += lanes) {
        const Vector<Sum, lanes> weights = load_vector<lanes>(mask + t);
#pragma unroll
        for (int e = 0; e < lanes; ++e) {
          if (t + e >= half) break;
#pragma unroll
          for (int j = 0; j < together; ++j) {
#pragma unroll
            for (int c = 0; c < COLUMNS; ++c) low[j][c] += weights.element[e] * kept[first + j + t + e][c];
          }
        }
      }
#pragma unroll
      for (int t = last_lanes(taps_y); t + lanes > taps_y - half; t -= lanes) {
        const Vector<Sum, lanes> weights = load_vector<lanes>(mask + t);
#pragma unroll
        for (int e = lanes - 1; e >= 0; --e) {
          if (t + e >= taps_y) continue;
          if (t + e < taps_y - half) break;
#pragma unroll
          for (int j = 0; j < together; ++j) {
#pragma unroll
            for (int c = 0; c < COLUMNS; ++c) high[j][c] += weights.element[e] * kept[first + j + t + e][c];
          }
        }
      }
#pragma unroll
      for (int j = 0; j < together; ++j) {
        Vector<Sum, COLUMNS> all;
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) {
          all.element[c] = low[j][c] + high[j][c];
          if constexpr (taps_y % 2 != 0) all.element[c] += mask[half] * kept[first + j + half][c];
        }
        store_vector<COLUMNS>(to + (first + j) * staged_row + f * strip, all);
      }
    }
  }
}

__device__ __forceinline__ void store_unit(Sum* to, const Sum (&values)[OUTPUTS], int left) {
#pragma unroll
  for (int n = 0; n < OUTPUTS; n += store) {
    if (n >= left) break;
    Vector<Sum, store> part;
#pragma unroll
    for (int e = 0; e < store; ++e) part.element[e] = values[n + e];
    if constexpr (STORE == Store::streaming) {
      store_vector_streaming<store>(to + n, part);
    } else {
      store_vector<store>(to + n, part);
    }
  }
}

// A 0 that is unknown to the compiler. Otherwise it would read all weights before the loop over the units,
// and have no registers left for loads from global memory that are under way.
__device__ __forceinline__ int unknown_zero() {
  int zero = 0;
  make_opaque(zero);
  return zero;
}

// Reads the samples [n, end) of some units.
template <int count>
__device__ __forceinline__ void read_samples(Sum (&samples)[units_together][count], const Sum* from, int n,
                                             int end) {
#pragma unroll
  for (int k = 0; k < count; k += lanes) {
    if (k < n || k >= end) continue;
#pragma unroll
    for (int u = 0; u < units_together; ++u) {
      const Vector<Sum, lanes> part = load_vector<lanes>(from + u * rows_at_once * staged_row + k);
#pragma unroll
      for (int e = 0; e < lanes; ++e) samples[u][k + e] = part.element[e];
    }
  }
}

template <int count>
__device__ __forceinline__ void add_products(Sum (&sums)[units_together][OUTPUTS], Sum weight,
                                             const Sum (&samples)[units_together][count], int t) {
#pragma unroll
  for (int u = 0; u < units_together; ++u) {
#pragma unroll
    for (int o = 0; o < OUTPUTS; ++o) sums[u][o] += weight * samples[u][shift + o + t * channels];
  }
}

// Computes the sums along a row mask for some units. `from` is the filter's row at the first unit's first
// column. Samples are read only when the weights reach them, so that few are in registers.
__device__ __forceinline__ void sum_rows(Sum (&sums)[units_together][OUTPUTS], const Sum* from,
                                         const Sum* mask) {
  constexpr int half = taps_x / 2, count = round_up(shift + OUTPUTS + reach, lanes);
  Sum samples[units_together][count], high[units_together][OUTPUTS];
#pragma unroll
  for (int u = 0; u < units_together; ++u) {
#pragma unroll
    for (int o = 0; o < OUTPUTS; ++o) sums[u][o] = high[u][o] = 0;
  }
  int read = 0;
#pragma unroll
  for (int t = 0; t < half; t += lanes) {
    const Vector<Sum, lanes> weights = load_vector<lanes>(mask + t + unknown_zero());
    const int needed =
        smaller(count, round_up(shift + OUTPUTS + (smaller(t + lanes, half) - 1) * channels, lanes));
    read_samples<count>(samples, from, read, needed);
    read = needed;
#pragma unroll
    for (int e = 0; e < lanes; ++e) {
      if (t + e >= half) break;
      add_products<count>(sums, weights.element[e], samples, t + e);
    }
  }
  read = count;
#pragma unroll
  for (int t = last_lanes(taps_x); t + lanes > half; t -= lanes) {
    const Vector<Sum, lanes> weights = load_vector<lanes>(mask + t + unknown_zero());
    const int needed = (shift + larger(t, half) * channels) / lanes * lanes;
    read_samples<count>(samples, from, needed, read);
    read = needed;
#pragma unroll
    for (int e = lanes - 1; e >= 0; --e) {
      if (t + e >= taps_x) continue;
      if (t + e < taps_x - half) break;
      add_products<count>(high, weights.element[e], samples, t + e);
    }
  }
#pragma unroll
  for (int u = 0; u < units_together; ++u) {
#pragma unroll
    for (int o = 0; o < OUTPUTS; ++o) sums[u][o] += high[u][o];
  }
  if constexpr (taps_x % 2 != 0) add_products<count>(sums, mask[half], samples, half);
}

// Makes a unit's outputs from the sums of all filters.
__device__ __forceinline__ void join(Sum (&to)[OUTPUTS], const Sum (&sums)[filters][units_together][OUTPUTS],
                                     int u) {
  Sum here[OUTPUTS][filters];
#pragma unroll
  for (int o = 0; o < OUTPUTS; ++o) {
#pragma unroll
    for (int f = 0; f < filters; ++f) here[o][f] = sums[f][u][o];
  }
  if constexpr (results == Results::norm) {
    norms<Sum, filters, OUTPUTS>(to, here);
  } else {
#pragma unroll
    for (int o = 0; o < OUTPUTS; ++o) {
      to[o] = here[o][0];
#pragma unroll
      for (int f = 1; f < filters; ++f) to[o] += here[o][f];
    }
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK, resident_blocks(RESIDENT_WARPS, BLOCK))
    ENTRY(filter_bank_sliding)(const T* __restrict__ image, const Sum* __restrict__ column_masks,
                               const Sum* __restrict__ row_masks, Sum* __restrict__ output, int height,
                               int width, int before_y, int before_x, int tiles_x, int runs, int run,
                               long long image_elements, long long filter_elements, int boundary,
                               double value) {
  DYNAMIC_SHARED(Sum, memory);
  Sum* const masks_y = memory + masks_y_at;
  Sum* const masks_x = memory + masks_x_at;
  const int thread = static_cast<int>(threadIdx.x);
  for (int n = thread; n < filters * taps_y; n += BLOCK)
    masks_y[n / taps_y * pitch_y + n % taps_y] = column_masks[n];
  for (int n = thread; n < filters * taps_x; n += BLOCK)
    masks_x[n / taps_x * pitch_x + n % taps_x] = row_masks[n];

  unsigned block = blockIdx.x;
  const int x = static_cast<int>(block % tiles_x) * tile;
  block /= tiles_x;
  const int y = static_cast<int>(block % runs) * run;
  const long long plane = block / runs;
  const int end = height - y < run ? height : y + run;

  Strip from;
  from.image = image + plane * image_elements;
  from.height = height;
  from.length = width * channels;
  from.boundary = boundary;
  from.outside = static_cast<Sum>(value);
#pragma unroll
  for (int c = 0; c < COLUMNS; ++c) {
    // Moves `load` pixels to the right before the division, so that the dividend is not negative.
    const int column = x + thread * COLUMNS + c - shift;
    const int pixel = (column + load * channels) / channels - load;
    const int place = sample_at(pixel - before_x, width, boundary);
    from.at[c] = place < 0 ? -1 : place * channels + (column - pixel * channels);
  }
  from.is_vector = from.at[0] >= 0 && from.at[0] % load == 0;
#pragma unroll
  for (int c = 1; c < COLUMNS; ++c) from.is_vector = from.is_vector && from.at[c] == from.at[0] + c;

  // A thread's unit along the rows.
  const int unit_row = thread / units, unit_column = thread % units * OUTPUTS;
  const int left = unit_row < rows_at_once ? from.length - x - unit_column : 0;  // outputs that the image has
  const long long stride = static_cast<long long>(rows_at_once) * from.length;
  Sum* to =
      output + plane * image_elements + static_cast<long long>(y + unit_row) * from.length + x + unit_column;

  constexpr int above = (ROWS - (taps_y - 1) % ROWS) % ROWS;  // rows that are read and not needed
  Kept kept;
  Read next[ROWS];
  int row = y - before_y - above;
  fill<-above>(kept, from, row);
  row += taps_y - 1 + above;
  fetch(next, from, row);
  __syncthreads();  // the masks

  int buffer = 0;
  for (int top = y; top < end; top += ROWS) {
    Sum* const sums_y = memory + buffer * staged;
    if (BUFFERS == 1 && top > y) __syncthreads();
    keep<taps_y - 1>(kept, next, from, row);
    sum_columns(kept, masks_y, sums_y + thread * COLUMNS);
#pragma unroll
    for (int i = 0; i < taps_y - 1; ++i) {
#pragma unroll
      for (int c = 0; c < COLUMNS; ++c) kept[i][c] = kept[i + ROWS][c];
    }
    row += ROWS;
    if (top + ROWS < end) fetch(next, from, row);
    __syncthreads();
    if (left > 0) {
#pragma unroll 1
      for (int step = 0; step < steps; step += units_together) {
        const int first = unit_row + step * rows_at_once;
        const Sum* const line = sums_y + first * staged_row + unit_column;
        Sum sums[filters][units_together][OUTPUTS];
#pragma unroll
        for (int f = 0; f < filters; ++f) {
          sum_rows(sums[f], line + f * strip, masks_x + f * pitch_x);
          if constexpr (results != Results::each) continue;
#pragma unroll
          for (int u = 0; u < units_together; ++u) {
            if (top + first + u * rows_at_once < end)
              store_unit(to + (step + u) * stride + f * filter_elements, sums[f][u], left);
          }
        }
        if constexpr (results != Results::each) {
#pragma unroll
          for (int u = 0; u < units_together; ++u) {
            Sum all[OUTPUTS];
            join(all, sums, u);
            if (top + first + u * rows_at_once < end) store_unit(to + (step + u) * stride, all, left);
          }
        }
      }
    }
    to += static_cast<long long>(ROWS) * from.length;
    buffer = buffer + 1 < BUFFERS ? buffer + 1 : 0;
  }
}

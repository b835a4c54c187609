// filter_bank in one pass. A block marches down a strip of the image. Each thread keeps the rows of a window
// in registers, of a few columns, and sums them along the column masks, ROWS rows at a time; the rows that
// the next ones need are read meanwhile. These sums go to shared memory, where each thread takes OUTPUTS
// neighbours of a row and sums along the row masks. It knows the masks' sizes; weights, boundary and the
// image's size are arguments.

#include "common/boundary.cuh"
#include "common/integer.cuh"
#include "common/shared.cuh"
#include "common/vector.cuh"
#include "common/widened.cuh"
#include "filter_bank/filter_bank.cuh"

using Sum = sum_type<T>;

constexpr int resident_blocks = larger(1, RESIDENT_WARPS * 32 / BLOCK);  // bounds the registers of a thread
constexpr int lanes = 16 / static_cast<int>(sizeof(Sum));                // of an access to shared memory
constexpr int strip = BLOCK * COLUMNS;                                   // columns of a block, channels apart
constexpr int load = smaller(smaller(VECTOR, ROW_VECTOR), smaller(COLUMNS, lanes));
constexpr int store = smaller(smaller(VECTOR, ROW_VECTOR), lanes);

// So many columns further to the left a strip begins that the vectors of the image are aligned.
constexpr int shift = (load - PHASE % load) % load;
constexpr int reach = (taps_x - 1) * channels;
constexpr int units = (strip - shift - reach) / OUTPUTS;  // of a row: each a thread's outputs
constexpr int tile = units * OUTPUTS;

// The window's rows and those that are read ahead are a ring: ROWS rows come, and the ring turns by as many.
constexpr int phases = 1 + ceil_divide(taps_y - 1, ROWS);
constexpr int ring_rows = phases * ROWS;

// Sums of one thread at a time: weights are read from shared memory once for all of them.
__host__ __device__ constexpr int rows_together() {
  int rows = ROWS;
  while (rows > 1 && (ROWS % rows != 0 || rows * filters * COLUMNS * static_cast<int>(sizeof(Sum)) > 96))
    --rows;
  return rows;
}
constexpr int together = rows_together();

constexpr int pitch_y = round_up(taps_y, lanes), pitch_x = round_up(taps_x, lanes);
constexpr int staged_row = filters * strip;
constexpr int staged = ROWS * staged_row;

using Read = Vector<T, COLUMNS>;
using Ring = Sum[ring_rows][COLUMNS];

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

// Puts the rows that were read into the ring from `slot` on, and what stands outside where they are not in
// the image.
template <int slot>
__device__ __forceinline__ void keep(Ring& ring, const Read (&rows)[ROWS], const Strip& from, int first) {
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
#pragma unroll
    for (int c = 0; c < COLUMNS; ++c) ring[slot + i][c] = widened(rows[i].element[c]);
  }
  if (from.boundary > boundary_constant) return;
  if (from.is_vector && first >= 0 && first + ROWS <= from.height) return;
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
    const bool is_row = first + i >= 0 && first + i < from.height;
#pragma unroll
    for (int c = 0; c < COLUMNS; ++c) {
      if (!is_row || from.at[c] < 0) ring[slot + i][c] = from.outside;
    }
  }
}

// The ring's first rows: all but ROWS.
template <int phase>
__device__ __forceinline__ void fill(Ring& ring, const Strip& from, int first) {
  if constexpr (phase + 1 < phases) {
    Read rows[ROWS];
    fetch(rows, from, first);
    fill<phase + 1>(ring, from, first + ROWS);
    keep<phase * ROWS>(ring, rows, from, first);
  }
}

// ROWS rows of sums along the column masks.
template <int phase>
__device__ __forceinline__ void sum_columns(const Ring& ring, const Sum* masks, Sum* to) {
#pragma unroll
  for (int first = 0; first < ROWS; first += together) {
    Sum sums[together][filters][COLUMNS] = {};
#pragma unroll
    for (int t = 0; t < taps_y; t += lanes) {
      Vector<Sum, lanes> weights[filters];
#pragma unroll
      for (int f = 0; f < filters; ++f) weights[f] = load_vector<lanes>(masks + f * pitch_y + t);
#pragma unroll
      for (int e = 0; e < lanes; ++e) {
        if (t + e >= taps_y) break;
#pragma unroll
        for (int j = 0; j < together; ++j) {
#pragma unroll
          for (int f = 0; f < filters; ++f) {
#pragma unroll
            for (int c = 0; c < COLUMNS; ++c)
              sums[j][f][c] +=
                  weights[f].element[e] * ring[(phase * ROWS + first + j + t + e) % ring_rows][c];
          }
        }
      }
    }
#pragma unroll
    for (int j = 0; j < together; ++j) {
#pragma unroll
      for (int f = 0; f < filters; ++f) {
        Vector<Sum, COLUMNS> all;
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) all.element[c] = sums[j][f][c];
        store_vector<COLUMNS>(to + (first + j) * staged_row + f * strip, all);
      }
    }
  }
}

// One code for each place at which the ring may begin, so that its rows are registers.
template <int candidate>
__device__ __forceinline__ void turn(int phase, Ring& ring, const Read (&rows)[ROWS], const Strip& from,
                                     int first, const Sum* masks, Sum* to) {
  if (phase == candidate) {
    keep<(candidate + phases - 1) % phases * ROWS>(ring, rows, from, first);
    sum_columns<candidate>(ring, masks, to);
  } else if constexpr (candidate + 1 < phases) {
    turn<candidate + 1>(phase, ring, rows, from, first, masks, to);
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

// A unit's sums along a row mask; `from` is the filter's row at the unit's first column.
__device__ __forceinline__ void sum_row(Sum (&sums)[OUTPUTS], const Sum* from, const Sum* mask) {
  constexpr int count = round_up(shift + OUTPUTS + reach, lanes);
  Sum samples[count];
#pragma unroll
  for (int n = 0; n < count; n += lanes) {
    const Vector<Sum, lanes> part = load_vector<lanes>(from + n);
#pragma unroll
    for (int e = 0; e < lanes; ++e) samples[n + e] = part.element[e];
  }
#pragma unroll
  for (int o = 0; o < OUTPUTS; ++o) sums[o] = 0;
#pragma unroll
  for (int t = 0; t < taps_x; t += lanes) {
    const Vector<Sum, lanes> weights = load_vector<lanes>(mask + t);
#pragma unroll
    for (int e = 0; e < lanes; ++e) {
      if (t + e >= taps_x) break;
#pragma unroll
      for (int o = 0; o < OUTPUTS; ++o)
        sums[o] += weights.element[e] * samples[shift + o + (t + e) * channels];
    }
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK, resident_blocks)
    ENTRY(filter_bank_sliding)(const T* __restrict__ image, const Sum* __restrict__ column_masks,
                               const Sum* __restrict__ row_masks, Sum* __restrict__ output, int height,
                               int width, int before_y, int before_x, int tiles_x, int runs, int run,
                               long long image_elements, long long filter_elements, int boundary,
                               double value) {
  DYNAMIC_SHARED(Sum, memory);
  Sum* const masks_y = memory + BUFFERS * staged;
  Sum* const masks_x = masks_y + filters * pitch_y;
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
    // One window further to the right, so that the division is one of no negative number.
    const int column = x + thread * COLUMNS + c - shift;
    const int pixel = (column + load * channels) / channels - load;
    const int place = sample_at(pixel - before_x, width, boundary);
    from.at[c] = place < 0 ? -1 : place * channels + (column - pixel * channels);
  }
  from.is_vector = from.at[0] >= 0 && from.at[0] % load == 0;
#pragma unroll
  for (int c = 1; c < COLUMNS; ++c) from.is_vector = from.is_vector && from.at[c] == from.at[0] + c;

  Ring ring;
  Read next[ROWS];
  int row = y - before_y;
  fill<0>(ring, from, row);
  row += ring_rows - ROWS;
  fetch(next, from, row);
  __syncthreads();  // the masks

  Sum* to = output + plane * image_elements + static_cast<long long>(y) * from.length + x;
  int phase = 0, buffer = 0;
  for (int top = y; top < end; top += ROWS) {
    Sum* const sums_y = memory + buffer * staged;
    if (BUFFERS == 1 && top > y) __syncthreads();
    turn<0>(phase, ring, next, from, row, masks_y, sums_y + thread * COLUMNS);
    row += ROWS;
    if (top + ROWS < end) fetch(next, from, row);
    __syncthreads();
#pragma unroll 1
    for (int n = thread; n < ROWS * units; n += BLOCK) {
      const int j = n / units, k = n % units * OUTPUTS;
      const int left = from.length - x - k;
      if (top + j >= end || left <= 0) continue;
      const Sum* const line = sums_y + j * staged_row + k;
      Sum* const unit = to + static_cast<long long>(j) * from.length + k;
      Sum sums[filters][OUTPUTS];
#pragma unroll
      for (int f = 0; f < filters; ++f) {
        sum_row(sums[f], line + f * strip, masks_x + f * pitch_x);
        if constexpr (results == Results::each) store_unit(unit + f * filter_elements, sums[f], left);
      }
      if constexpr (results != Results::each) {
        Sum all[OUTPUTS], here[OUTPUTS][filters];
#pragma unroll
        for (int o = 0; o < OUTPUTS; ++o) {
#pragma unroll
          for (int f = 0; f < filters; ++f) here[o][f] = sums[f][o];
        }
        if constexpr (results == Results::norm) {
          norms<Sum, filters, OUTPUTS>(all, here);
        } else {
#pragma unroll
          for (int o = 0; o < OUTPUTS; ++o) {
            all[o] = here[o][0];
#pragma unroll
            for (int f = 1; f < filters; ++f) all[o] += here[o][f];
          }
        }
        store_unit(unit, all, left);
      }
    }
    to += static_cast<long long>(ROWS) * from.length;
    phase = phase + 1 < phases ? phase + 1 : 0;
    buffer = buffer + 1 < BUFFERS ? buffer + 1 : 0;
  }
}

// A block's tile of the image with the windows' overhang, as words in shared memory. Words of two elements
// have one of the tile's left half and the one as far into its right half. Reads `half_x` (columns of a
// half), `tile_y`, the window, `before_*`, `threads` and VECTOR.

using Word = Words<T>::Word;
constexpr int lanes = Words<T>::lanes;

// The first column is moved to the left so far that vectors of the image are vectors of the tile.
constexpr int shift = (VECTOR - before_x % VECTOR) % VECTOR, unit_columns = VECTOR > 4 ? VECTOR : 4;
constexpr int pitch = (half_x + window_width - 1 + shift + unit_columns - 1) / unit_columns * unit_columns,
              tile_rows = tile_y + window_height - 1;

struct Place {
  int x, y, z;  // of the tile's first output
};

__device__ __forceinline__ Place place_of(unsigned block, unsigned tiles_x, unsigned tiles_y) {
  return {static_cast<int>(block % tiles_x) * (lanes * half_x),
          static_cast<int>(block / tiles_x % tiles_y) * tile_y, static_cast<int>(block / tiles_x / tiles_y)};
}

// Of a tile that lies within the image, of pairs: loads that wait for nothing, some at a time.
template <typename E>
__device__ __forceinline__ void fill_pairs(typename Words<E>::Word* tile, const E* first, int height,
                                           int width) {
  constexpr int units = pitch / unit_columns, all = window_depth * tile_rows * units, together = 4;
  using Read = Vector<E, unit_columns>;
  for (int begin = static_cast<int>(threadIdx.x); begin < all; begin += together * threads) {
    Read low[together], high[together];
#pragma unroll
    for (int n = 0; n < together; ++n) {
      const int unit = begin + n * threads, row = unit / units;
      if (unit >= all) break;
      const long long y =
          window_depth == 1 ? row : static_cast<long long>(row / tile_rows) * height + row % tile_rows;
      const E* const from = first + y * width + (unit - row * units) * unit_columns;
      low[n] = load_vector<unit_columns>(from);
      high[n] = load_vector<unit_columns>(from + half_x);
    }
#pragma unroll
    for (int n = 0; n < together; ++n) {
      const int unit = begin + n * threads;
      if (unit >= all) break;
#pragma unroll
      for (int part = 0; part < unit_columns; part += 4) {
        Vector<typename Words<E>::Word, 4> words;
#pragma unroll
        for (int i = 0; i < 4; ++i)
          words.element[i] = Words<E>::of(low[n].element[part + i], high[n].element[part + i]);
        store_vector<4>(tile + unit * unit_columns + part, words);
      }
    }
  }
}

template <typename E>
__device__ __forceinline__ void fill_tile(typename Words<E>::Word* tile, const E* image, int depth,
                                          int height, int width, const Place& place, int boundary,
                                          E outside) {
  constexpr int units = pitch / 4, all = window_depth * tile_rows * units;
  const int first_x = place.x - before_x - shift;
  if constexpr (Words<E>::lanes == 2 && VECTOR >= 4) {
    const int first_y = place.y - before_y, first_z = place.z - before_z;
    if (first_x >= 0 && first_x + half_x + pitch <= width && first_y >= 0 && first_y + tile_rows <= height &&
        first_z >= 0 && first_z + window_depth <= depth) {
      fill_pairs(tile, image + (static_cast<long long>(first_z) * height + first_y) * width + first_x, height,
                 width);
      __syncthreads();
      return;
    }
  }
#pragma unroll 2
  for (int unit = static_cast<int>(threadIdx.x); unit < all; unit += threads) {
    const int row = unit / units, column = (unit - row * units) * 4;
    const int z = sample_at(place.z + row / tile_rows - before_z, depth, boundary);
    const int y = sample_at(place.y + row % tile_rows - before_y, height, boundary);
    const E* const from = image + (static_cast<long long>(z) * height + y) * width;
    const bool there = z >= 0 && y >= 0;
    const int x = first_x + column;
    auto* const to = tile + row * pitch + column;
    const bool whole = there && x >= 0 && x + (lanes - 1) * half_x + 4 <= width;
    if constexpr (Words<E>::is_plain) {
      if (VECTOR >= 4 && whole) {
        copy_async<4>(to, from + x, true);
        continue;
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int at = there ? sample_at(x + i, width, boundary) : -1;
        if (at >= 0) {
          copy_async<1>(to + i, from + at, true);
        } else {
          to[i] = outside;
        }
      }
    } else {
      E element[lanes][4];
#pragma unroll
      for (int lane = 0; lane < lanes; ++lane) {
        if (VECTOR >= 4 && whole) {
          constexpr int wide = sizeof(E) == 8 ? 2 : 4;
#pragma unroll
          for (int n = 0; n < 4; n += wide) {
            const auto read = load_vector<wide>(from + x + lane * half_x + n);
#pragma unroll
            for (int i = 0; i < wide; ++i) element[lane][n + i] = read.element[i];
          }
        } else {
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            const int at = there ? sample_at(x + lane * half_x + i, width, boundary) : -1;
            element[lane][i] = at >= 0 ? from[at] : outside;
          }
        }
      }
      Vector<typename Words<E>::Word, 4> words;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        if constexpr (Words<E>::lanes == 2) {
          words.element[i] = Words<E>::of(element[0][i], element[1][i]);
        } else {
          words.element[i] = Words<E>::of(element[0][i]);
        }
      }
      store_vector<4>(to, words);
    }
  }
  wait_for_copies();
  __syncthreads();
}

// Writes the lane's elements of `count` words beside each other to `to`, of which `left` are in the image.
template <int lane, int count, typename E>
__device__ __forceinline__ void store_elements(E* to, const typename Words<E>::Word (&words)[count],
                                               int left) {
  constexpr int wide = VECTOR < 4 || count % 4 != 0 ? 1 : VECTOR >= 8 && count % 8 == 0 ? 8 : 4;
#pragma unroll
  for (int n = 0; n < count; n += wide) {
    if (n >= left) break;
    Vector<E, wide> results;
#pragma unroll
    for (int i = 0; i < wide; ++i) {
      if constexpr (Words<E>::is_plain) {
        results.element[i] = words[n + i];
      } else {
        results.element[i] = Words<E>::template element<lane>(words[n + i]);
      }
    }
    store_vector<wide>(to + n, results);
  }
}

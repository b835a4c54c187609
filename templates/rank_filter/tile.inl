// A block's tile of the image with the windows' overhang, as words in shared memory. Words of two elements
// have one of the tile's left half and the one as far into its right half. Reads `half_x` (columns of a
// half), `tile_y`, the window, `before_*`, `threads` and VECTOR.

using Word = Words<T>::Word;
constexpr int lanes = Words<T>::lanes;

// The first column is moved to the left so far that vectors of the image are vectors of the tile.
constexpr int shift = VECTOR == 4 ? (4 - before_x % 4) % 4 : 0;
constexpr int pitch = (half_x + window_width - 1 + shift + 3) / 4 * 4, tile_rows = tile_y + window_height - 1;

struct Place {
  int x, y, z;  // of the tile's first output
};

__device__ __forceinline__ Place place_of(unsigned block, unsigned tiles_x, unsigned tiles_y) {
  return {static_cast<int>(block % tiles_x) * (lanes * half_x),
          static_cast<int>(block / tiles_x % tiles_y) * tile_y, static_cast<int>(block / tiles_x / tiles_y)};
}

template <typename E>
__device__ __forceinline__ void fill_tile(typename Words<E>::Word* tile, const E* image, int depth,
                                          int height, int width, const Place& place, int boundary,
                                          E outside) {
  constexpr int units = pitch / 4, all = window_depth * tile_rows * units;
  const int first_x = place.x - before_x - shift;
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
      if (VECTOR == 4 && whole) {
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
        if (VECTOR == 4 && whole) {
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
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        if constexpr (lanes == 2) {
          to[i] = Words<E>::of(element[0][i], element[1][i]);
        } else {
          to[i] = Words<E>::of(element[0][i]);
        }
      }
    }
  }
  wait_for_copies();
  __syncthreads();
}

// Writes the lane's elements of `count` words beside each other to `to`, of which `left` are in the image.
template <int lane, int count, typename E>
__device__ __forceinline__ void store_elements(E* to, const typename Words<E>::Word (&words)[count],
                                               int left) {
  constexpr int wide = VECTOR == 4 && count % 4 == 0 ? 4 : 1;
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

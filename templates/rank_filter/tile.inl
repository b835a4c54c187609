// SPDX-License-Identifier: Apache-2.0
// Fills a block's tile of the image in shared memory, as network_layout.inl describes it, and stores outputs.
// Needs `half_x` (columns of a half), `tile_y`, the window, `before_*`, `threads`, OUTPUTS_X, VECTOR and
// UNALIGNED.

using Word = Words<T>::Word;
constexpr int lanes = Words<T>::lanes;

constexpr int unit_columns = VECTOR > 4 ? VECTOR : 4;
constexpr NetworkLayout layout =
    network_layout({half_x, tile_y, OUTPUTS_X, VECTOR, lanes, static_cast<int>(sizeof(Word)), window_depth,
                    window_height, window_width, before_x});
constexpr int shift = layout.shift, thread_columns = layout.thread_columns, needed = layout.needed,
              pitch = layout.pitch, tile_rows = layout.tile_rows, all_rows = layout.rows;
// In a row of pairs, the words next to two neighbouring words are those that the next thread reads at the
// same time.
__host__ __device__ constexpr int in_row(unsigned column) {
  return static_cast<int>(lanes == 1 ? column
                                     : column % thread_columns / 2 * (2 * pitch / thread_columns) +
                                           column / thread_columns * 2 + column % 2);
}

struct Place {
  int x, y, z;  // of the tile's first output
};

__device__ __forceinline__ Place place_of(unsigned block, unsigned tiles_x, unsigned tiles_y) {
  return {static_cast<int>(block % tiles_x) * (lanes * half_x),
          static_cast<int>(block / tiles_x % tiles_y) * tile_y, static_cast<int>(block / tiles_x / tiles_y)};
}

template <typename E>
__device__ __forceinline__ Word pair_of(E low, E high) {
  return Words<E>::of(low, high) | (sizeof(E) == 1 ? bytes_as_halves : 0u);
}

// Makes the pairs of `count` columns from the elements of both halves.
template <typename E, int count>
__device__ __forceinline__ void make_pairs(Word (&to)[count], const Vector<E, count>& low,
                                           const Vector<E, count>& high) {
#pragma unroll
  for (int i = 0; i < count; ++i) to[i] = pair_of(low.element[i], high.element[i]);
}
template <int count>
__device__ __forceinline__ void make_pairs(Word (&to)[4 * count], const Vector<unsigned, count>& low,
                                           const Vector<unsigned, count>& high) {
  const auto even = [](unsigned bytes) { return __byte_perm(bytes, bytes_as_halves, 0x5250); };
  const auto odd = [](unsigned bytes) { return __byte_perm(bytes, bytes_as_halves, 0x5351); };
#pragma unroll
  for (int i = 0; i < count; ++i) {
    const unsigned a = low.element[i], b = high.element[i];
    to[4 * i] = __byte_perm(even(a), even(b), 0x5410);
    to[4 * i + 1] = __byte_perm(odd(a), odd(b), 0x5410);
    to[4 * i + 2] = __byte_perm(even(a), even(b), 0x7632);
    to[4 * i + 3] = __byte_perm(odd(a), odd(b), 0x7632);
  }
}

// The unit in which the image is read: four bytes at a time for bytes.
template <typename E, int bytes = sizeof(E)>
struct UnitOf {
  using Type = E;
  static __device__ __forceinline__ Type repeated(E value) { return value; }
};
template <typename E>
struct UnitOf<E, 1> {
  using Type = unsigned;
  static __device__ __forceinline__ Type repeated(E value) { return value * 0x01010101u; }
};

// If rows begin at any address (UNALIGNED), a word is made of the two aligned words that contain it. This
// many elements around it have to be in the row.
template <typename E>
constexpr int margin = UNALIGNED != 0 ? 4 / static_cast<int>(sizeof(E)) : 0;

// Four of the eight bytes of two words, from byte `first` on.
__device__ __forceinline__ unsigned bytes_from(unsigned low, unsigned high, int first) {
  return __byte_perm(low, high, 0x3210u + 0x1111u * static_cast<unsigned>(first));
}
template <int count, typename E>
__device__ __forceinline__ Vector<unsigned, count> load_words(const E* from) {
  const int beyond = static_cast<int>(reinterpret_cast<size_t>(from) % 4);
  const unsigned* const aligned =
      reinterpret_cast<const unsigned*>(reinterpret_cast<const char*>(from) - beyond);
  Vector<unsigned, count> words;
  unsigned low = load_vector<1>(aligned).element[0];
#pragma unroll
  for (int i = 0; i < count; ++i) {
    const unsigned high = load_vector<1>(aligned + i + 1).element[0];
    words.element[i] = bytes_from(low, high, beyond);
    low = high;
  }
  return words;
}

// Finds the offset in the image of each row of the tile, or -1.
__device__ __forceinline__ void find_rows(long long* rows, int depth, int height, int width,
                                          const Place& place, int boundary) {
  for (int row = static_cast<int>(threadIdx.x); row < all_rows; row += threads) {
    const int z = sample_at(place.z + row / tile_rows - before_z, depth, boundary);
    const int at = place.y + row % tile_rows - before_y;
    const int y = at < height + window_height ? sample_at(at, height, boundary) : -1;  // nobody needs more
    rows[row] = z >= 0 && y >= 0 ? (static_cast<long long>(z) * height + y) * width : -1;
  }
  __syncthreads();
}

// Fills the columns from `begin` to `end` of all rows, element by element. `most` is 0 or an upper limit of
// the number of columns.
template <int most, typename E>
__device__ __forceinline__ void fill_columns(Word* tile, const E* image, const long long* rows, int first_x,
                                             int width, int boundary, E outside, int begin, int end) {
  const int count = most > 0 ? most : end - begin;
#pragma unroll 2
  for (int n = static_cast<int>(threadIdx.x); n < all_rows * count; n += threads) {
    const int row = n / count, column = begin + n - row * count;
    if (most > 0 && column >= end) continue;
    const E* const from = image + rows[row];
    const bool is_there = rows[row] >= 0;
    const int x = first_x + column;
    const int low = sample_at(x, width, boundary), high = sample_at(x + half_x, width, boundary);
    tile[row * pitch + in_row(column)] =
        pair_of(is_there && low >= 0 ? from[low] : outside, is_there && high >= 0 ? from[high] : outside);
  }
}

// Vectors lie wholly inside or wholly outside the image. Elements of windows outside it are filled in
// afterwards.
template <typename E>
__device__ __forceinline__ void fill_pairs(Word* tile, const E* image, const long long* rows, int first_x,
                                           int width, int boundary, E outside) {
  if constexpr (VECTOR < 4 && UNALIGNED == 0) {
    fill_columns<needed>(tile, image, rows, first_x, width, boundary, outside, 0,
                         smaller(needed, width + window_width - first_x));
  } else {
    using Unit = typename UnitOf<E>::Type;
    constexpr unsigned units = pitch / unit_columns, all = all_rows * units;
    constexpr int together = unit_columns > 8 ? 2 : 4;
    constexpr int parts = unit_columns * static_cast<int>(sizeof(E)) / static_cast<int>(sizeof(Unit));
    for (unsigned begin = threadIdx.x; begin < all; begin += together * threads) {
      Vector<Unit, parts> low[together], high[together];
#pragma unroll
      for (int n = 0; n < together; ++n) {
        const unsigned unit = begin + n * threads, row = unit / units;
        if (unit >= all) break;
        const long long from = rows[row];
        const int x = first_x + static_cast<int>((unit - row * units) * unit_columns);
        const auto read = [&](int at) {
          if constexpr (UNALIGNED != 0) {
            if (from >= 0 && at >= margin<E> && at + unit_columns + margin<E> <= width) {
              const auto words = load_words<unit_columns * sizeof(E) / 4>(image + from + at);
              Vector<Unit, parts> vector;
              memcpy(&vector, &words, sizeof(words));
              return vector;
            }
          } else if (from >= 0 && at >= 0 && at < width) {
            return load_vector<parts>(reinterpret_cast<const Unit*>(image + from + at));
          }
          Vector<Unit, parts> all_outside;
#pragma unroll
          for (int i = 0; i < parts; ++i) all_outside.element[i] = UnitOf<E>::repeated(outside);
          return all_outside;
        };
        low[n] = read(x);
        high[n] = read(x + half_x);
      }
#pragma unroll
      for (int n = 0; n < together; ++n) {
        const unsigned unit = begin + n * threads, row = unit / units;
        if (unit >= all) break;
        Word words[unit_columns];
        make_pairs(words, low[n], high[n]);
        const unsigned column = (unit - row * units) * unit_columns;
#pragma unroll
        for (int i = 0; i < unit_columns; i += 2)
          store_vector<2>(tile + row * pitch + in_row(column + i), Vector<Word, 2>{words[i], words[i + 1]});
      }
    }
    constexpr int read = UNALIGNED != 0 ? pitch + margin<E> : needed;
    if (first_x + shift >= margin<E> && first_x + half_x + read <= width) return;
    __syncthreads();
    // The columns before the image, behind it, and behind it in the second half; and the units that lie close
    // to them.
    const auto whole_units = [](int columns) { return UNALIGNED != 0 ? columns & -unit_columns : columns; };
#pragma unroll 1
    for (int n = 0; n < 3; ++n) {
      const int behind = width - first_x - (n == 2 ? half_x : 0);
      const int begin = n == 0 ? shift : larger(whole_units(behind - margin<E>), shift);
      const int end = n == 0
                          ? (UNALIGNED != 0 ? whole_units(margin<E> - first_x + unit_columns - 1) : -first_x)
                          : behind + window_width;
      if (begin < end)
        fill_columns<0>(tile, image, rows, first_x, width, boundary, outside, begin, smaller(end, needed));
    }
  }
}

template <typename E>
__device__ __forceinline__ void fill_tile(Word* tile, const E* image, int depth, int height, int width,
                                          const Place& place, int boundary, E outside) {
  long long* const rows = reinterpret_cast<long long*>(tile + all_rows * pitch);
  find_rows(rows, depth, height, width, place, boundary);
  const int first_x = place.x - before_x - shift;
  if constexpr (Words<E>::lanes == 2) {
    fill_pairs(tile, image, rows, first_x, width, boundary, outside);
  } else {
    constexpr int units = pitch / 4, all = all_rows * units;
#pragma unroll 2
    for (int unit = static_cast<int>(threadIdx.x); unit < all; unit += threads) {
      const int row = unit / units, column = (unit - row * units) * 4;
      const E* const from = image + rows[row];
      const bool is_there = rows[row] >= 0;
      const int x = first_x + column;
      if (x >= width + window_width) continue;
      Word* const to = tile + row * pitch + column;
      const bool is_whole = VECTOR >= 4 && is_there && x >= 0 && x + 4 <= width;
      if constexpr (Words<E>::is_plain) {
        if (is_whole) {
          copy_async<4>(to, from + x, true);
          continue;
        }
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int at = is_there ? sample_at(x + i, width, boundary) : -1;
          if (at >= 0) {
            copy_async<1>(to + i, from + at, true);
          } else {
            to[i] = outside;
          }
        }
      } else {
        Vector<E, 4> read;
        if (is_whole) {
          read = load_vector<4>(from + x);
        } else {
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            const int at = is_there ? sample_at(x + i, width, boundary) : -1;
            read.element[i] = at >= 0 ? from[at] : outside;
          }
        }
#pragma unroll
        for (int i = 0; i < 4; ++i) to[i] = Words<E>::of(read.element[i]);
      }
    }
    wait_for_copies();
  }
  __syncthreads();
}

// Writes words at `to`, which may have any alignment; `left` elements are in the image. It writes aligned
// words, whose last elements are the next lane's first ones.
template <int count, typename E>
__device__ __forceinline__ void store_unaligned(E* to, const Vector<unsigned, count>& words, int left) {
  constexpr int size = sizeof(E), in_word = 4 / size, across = smaller(BLOCK_X, 32);
  const unsigned next = __shfl_down_sync(~0u, words.element[0], 1, across);
  const int lane = static_cast<int>(threadIdx.x) % across;
  const int head = (4 - static_cast<int>(reinterpret_cast<size_t>(to) % 4)) % 4 / size;
  const auto store_elements = [&](E* place, unsigned word, int number) {
#pragma unroll
    for (int k = 0; k < in_word; ++k) {
      if (k >= number) break;
      const unsigned element = word >> (8 * size * k);
      memcpy(place + k, &element, size);
    }
  };
  if (lane == 0) store_elements(to, words.element[0], smaller(head, left));
#pragma unroll
  for (int i = 0; i < count; ++i) {
    const int first = head + i * in_word;
    const unsigned further = i + 1 < count ? words.element[i + 1 < count ? i + 1 : i] : next;
    const unsigned word = bytes_from(words.element[i], further, size * head);
    const int own = i + 1 == count && lane == across - 1 ? in_word - head : in_word;
    if (own == in_word && left - first >= in_word) {
      store_vector<1>(reinterpret_cast<unsigned*>(to + first), Vector<unsigned, 1>{word});
    } else {
      store_elements(to + first, word, smaller(own, left - first));
    }
  }
}

// Packs the elements `lane` of `words` into words.
template <int lane, typename E, int count>
__device__ __forceinline__ Vector<unsigned, count * sizeof(E) / 4> elements_of(const Word (&words)[count]) {
  Vector<E, count> elements;
#pragma unroll
  for (int i = 0; i < count; ++i) elements.element[i] = Words<E>::template element<lane>(words[i]);
  Vector<unsigned, count * sizeof(E) / 4> result;
  memcpy(&result, &elements, sizeof(result));
  return result;
}

// Writes the elements of `count` neighbouring words to `to`; `left` of them are in the image. The words'
// second elements go half a tile further.
template <int count, typename E>
__device__ __forceinline__ void store_words(E* to, const Word (&words)[count], int left) {
  if constexpr (UNALIGNED != 0) {
    store_unaligned(to, elements_of<0, E>(words), left);
    store_unaligned(to + half_x, elements_of<1, E>(words), left - half_x);
    return;
  }
  constexpr int wide = VECTOR < 4 ? 1 : VECTOR >= 8 && count % 8 == 0 ? 8 : count < 4 ? count : 4;
#pragma unroll
  for (int n = 0; n < count; n += wide) {
    if (n >= left) break;
    if constexpr (sizeof(E) == 1 && wide >= 4) {
      Vector<unsigned, wide / 4> low, high;
#pragma unroll
      for (int i = 0; i < wide / 4; ++i) {
        const Word* const four = words + n + 4 * i;
        const unsigned first = __byte_perm(four[0], four[1], 0x6240),
                       second = __byte_perm(four[2], four[3], 0x6240);
        low.element[i] = __byte_perm(first, second, 0x5410);
        high.element[i] = __byte_perm(first, second, 0x7632);
      }
      store_vector<wide / 4>(reinterpret_cast<unsigned*>(to + n), low);
      if (n + half_x < left) store_vector<wide / 4>(reinterpret_cast<unsigned*>(to + n + half_x), high);
    } else {
      Vector<E, wide> results[lanes];
#pragma unroll
      for (int i = 0; i < wide; ++i) {
        if constexpr (Words<E>::is_plain) {
          results[0].element[i] = words[n + i];
        } else {
          results[0].element[i] = Words<E>::template element<0>(words[n + i]);
          if constexpr (lanes == 2) results[1].element[i] = Words<E>::template element<1>(words[n + i]);
        }
      }
      store_vector<wide>(to + n, results[0]);
      if constexpr (lanes == 2) {
        if (n + half_x < left) store_vector<wide>(to + n + half_x, results[1]);
      }
    }
  }
}

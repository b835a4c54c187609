// SPDX-License-Identifier: Apache-2.0
// How a block multiplies floats in tensor cores at the accuracy of f32. While a tile of both operands is
// staged, each float is split into two halves, high and middle, with a scale for the tile
// (common/halves.cuh). A stage has the highs of an operand's tile, laid out as elements of 16 bits are
// (mma.inl), behind them its middles, and behind both operands the ranges of the tiles' sizes. If a tile does
// not split, the halves' places hold the upper and the lower 16 bits of the floats instead, and the tile's
// terms are multiplied as floats; the next tile is split again. UNIT=halves splits in each block that needs a
// tile; with UNIT=packed_halves a kernel before writes all tiles into the workspace, each as it lies in
// shared memory but without gaps, with its scale behind it, or 0 if it does not split. So it does with
// UNIT=wgmma_halves, where warpgroups multiply, and all TILE_K terms are added in tensor cores.
//
// With UNIT=half, packed_half and wgmma_half the highs alone are multiplied, for problems that accept the
// error of that. Then middles are not written, and packed tiles are copied without them. The lower bits of a
// tile that does not split are read from the workspace.
//
// Accuracy, in units of u sum |term| with u = 2^-24. Splitting costs 12. `terms_in_tensor_cores` terms are
// added in tensor cores, which cut: of eight products and the sum before them all but the largest by one unit
// at most, and the result by two. That is 10 for 8 terms, and 0.02 for the small products, which come first,
// are twice as many and have 2^-10 of the size. Each such run of terms is then added to a thread's sum by one
// rounding, and so is a tile of floats, whose own sum costs TILE_K, and 10 more if one operand is split.
// The template has the rule that keeps the total below n. Highs alone are each off by 2^-11 of their size at
// most, so that a product is by 2^-10 + 2^-22, whatever the number of terms.

constexpr bool few_sums = THREAD_M * THREAD_N <= 64;  // more leave registers for fewer operands
constexpr int terms_in_tensor_cores = few_sums && TILE_K % 32 == 0 ? 32 : 16;  // of a warp
constexpr int block_warps = threads / 32;

// The range of the sizes that a thread has loaded.
template <typename Side>
__device__ __forceinline__ SizeRange range_of(const Side& side) {
  SizeRange range;
  if (!Side::all_busy && side.idle) return range;
#pragma unroll
  for (int s = 0; s < Side::steps; ++s) {
    if (!side.has_term(s)) break;
#pragma unroll
    for (int r = 0; r < Side::rows; ++r) {
      if (!side.has_unit(r)) break;
#pragma unroll
      for (const auto& element : side.held[s][r].element)
        include(range, static_cast<float>(to_float(element)));
    }
  }
  return range;
}

// Two floats as two words: their halves, or their upper and their lower bits.
template <bool SPLITS>
__device__ __forceinline__ Halves as_two_words(float first, float second, float scale) {
  if constexpr (SPLITS) return split(first, second, scale);
  const unsigned low = __float_as_uint(first), high = __float_as_uint(second);
  return {low >> 16 | (high & 0xffff0000u), (low & 0xffffu) | high << 16};
}

// How a tile of halves lies in shared memory: lines of rows or of terms; and how in the workspace: there one
// behind the other.
template <typename Side>
struct InShared {
  static constexpr int plane = Side::elements;
  static __device__ __forceinline__ int at(int row, int term) {
    return row * Side::row_step + term * Side::term_step;
  }
};
template <typename Side, int TILE>
struct InWorkspace {
  static constexpr int plane = TILE * TILE_K, line = Side::by_rows ? TILE_K : TILE;
  static constexpr int pitch = Side::by_rows ? Side::row_pitch : Side::pitch;  // in shared memory
  static __device__ __forceinline__ int at(int row, int term) {
    return Side::by_rows ? row * TILE_K + term : term * TILE + row;
  }
};

// How it lies in both for a warpgroup (common/swizzled_matrix.cuh). OF_THREADS: a warpgroup's product gives a
// thread rows that are eight apart; rows stand so that these are a thread's rows (unit.inl).
template <typename Side, int TILE, bool OF_THREADS>
struct Swizzled {
  static constexpr int plane = TILE * TILE_K, line = 64, pitch = 64;
  static __device__ __forceinline__ int at(int row, int term) {
    if constexpr (OF_THREADS) {
      const int warp = row % threads_m / 8, i = row / threads_m;
      row = warp / 4 * (32 * THREAD_M) + i / 2 * 64 + warp % 4 * 16 + i % 2 * 8 + row % 8;
    }
    const int its_line = Side::by_rows ? row : row / 64 * TILE_K + term;
    const int along = Side::by_rows ? term : row % 64;
    return its_line * 64 + (along / 8 ^ its_line % 8) * 8 + along % 8;
  }
};

template <bool SWIZZLED, typename Side, int TILE, bool OF_THREADS>
struct LayoutsOf {
  using shared = InShared<Side>;
  using packed = InWorkspace<Side, TILE>;
};
template <typename Side, int TILE, bool OF_THREADS>
struct LayoutsOf<true, Side, TILE, OF_THREADS> {
  using shared = Swizzled<Side, TILE, OF_THREADS>;
  using packed = Swizzled<Side, TILE, OF_THREADS>;
};
using FirstLayouts = LayoutsOf<swizzles_halves, First, TILE_M, true>;
using SecondLayouts = LayoutsOf<swizzles_halves, Second, TILE_N, false>;
constexpr int scale_elements = contract_scale_bytes / static_cast<int>(sizeof(Held));
template <typename Packed>
constexpr int packed_elements = 2 * Packed::plane + scale_elements;

// Puts what a thread has loaded into both planes of a tile.
template <bool SPLITS, typename Layout, typename Side>
__device__ __forceinline__ void put_halves(const Side& side, Held* tile, float scale) {
  if (!Side::all_busy && side.idle) return;
  constexpr int count = sizeof(side.held[0][0]) / sizeof(T);
  constexpr bool has_second_plane = !(SPLITS && one_half);
#pragma unroll
  for (int s = 0; s < Side::steps; ++s) {
    if (!side.has_term(s)) break;
#pragma unroll
    for (int r = 0; r < Side::rows; ++r) {
      if (!side.has_unit(r)) break;
      Held* const to = tile + Layout::at(side.place_of_unit(r), side.its_term(s));
      const auto number = [&](int e) { return static_cast<float>(to_float(side.held[s][r].element[e])); };
      if constexpr (count == 1) {
        const Halves one = as_two_words<SPLITS>(number(0), 0, scale);
        *reinterpret_cast<unsigned short*>(to) = static_cast<unsigned short>(one.high);
        if constexpr (has_second_plane)
          *reinterpret_cast<unsigned short*>(to + Layout::plane) = static_cast<unsigned short>(one.middle);
      } else {
        Vector<unsigned, count / 2> high, middle;
#pragma unroll
        for (int e = 0; e < count / 2; ++e) {
          const Halves pair = as_two_words<SPLITS>(number(2 * e), number(2 * e + 1), scale);
          high.element[e] = pair.high;
          middle.element[e] = pair.middle;
        }
        store_vector<count / 2>(reinterpret_cast<unsigned*>(to), high);
        if constexpr (has_second_plane)
          store_vector<count / 2>(reinterpret_cast<unsigned*>(to + Layout::plane), middle);
      }
    }
  }
}

// How a tile of both operands is split.
struct Scales {
  float first = 1, second = 1;
  bool splits = false;
};
__device__ __forceinline__ Scales scales_of(const WarpRange* ranges) {
  const SizeRange first = collect<block_warps>(ranges), second = collect<block_warps>(ranges + block_warps);
  return {scale_of(first), scale_of(second), splits(first) && splits(second)};
}

// Adds a tile's products of halves. After the small products of the j-th part of the columns it calls
// between(j), whose work fills the time until they are there.
template <typename First, typename Second, typename Element, typename Between>
__device__ __forceinline__ void multiply_halves(Compute (&sum)[THREAD_M][THREAD_N], const Element* first,
                                                const Element* second, float unscale, Between between) {
  constexpr int steps = terms_in_tensor_cores / 16, parts = larger(1, THREAD_N / 4);
  constexpr int groups = few_sums ? 2 : 1;  // of eight columns that have registers at once
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const MatrixRows<First, threads_m, false> rows(warp / (threads_n / 4) * 8, lane);
  const MatrixRows<Second, 2 * threads_n, true> columns(warp % (threads_n / 4) * 8, lane);
#pragma unroll 1
  for (int from = 0; from < TILE_K; from += terms_in_tensor_cores) {
    unsigned row_high[steps][THREAD_M / 2][4], row_middle[steps][THREAD_M / 2][4];
#pragma unroll
    for (int s = 0; s < steps; ++s) {
#pragma unroll
      for (int i = 0; i < THREAD_M / 2; ++i) {
        rows.load(row_high[s][i], first, 2 * i, from + 16 * s);
        if constexpr (!one_half) rows.load(row_middle[s][i], first + First::elements, 2 * i, from + 16 * s);
      }
    }
#pragma unroll
    for (int j = 0; j < parts; ++j) {
      unsigned high[steps][4], middle[steps][4];  // of two groups of eight columns
#pragma unroll
      for (int s = 0; s < steps; ++s) {
        columns.load(high[s], second, 2 * j, from + 16 * s);
        if constexpr (!one_half) columns.load(middle[s], second + Second::elements, 2 * j, from + 16 * s);
      }
#pragma unroll
      for (int group = 0; group < 2; group += groups) {
        float run[THREAD_M / 2][groups][4] = {};
        const auto multiply_all = [&](const unsigned(&row)[steps][THREAD_M / 2][4],
                                      const unsigned(&column)[steps][4]) {
#pragma unroll
          for (int s = 0; s < steps; ++s) {
#pragma unroll
            for (int i = 0; i < THREAD_M / 2; ++i) {
#pragma unroll
              for (int n = 0; n < groups; ++n)
                multiply_add_matrices<Element>(run[i][n], row[s][i], column[s][2 * (group + n)],
                                               column[s][2 * (group + n) + 1]);
            }
          }
        };
        const auto each = [&](auto change) {
#pragma unroll
          for (int i = 0; i < THREAD_M / 2; ++i) {
#pragma unroll
            for (int n = 0; n < groups; ++n) {
#pragma unroll
              for (int e = 0; e < 4; ++e)
                change(run[i][n][e], sum[2 * i + e / 2][4 * j + 2 * (group + n) + e % 2]);
            }
          }
        };
        if constexpr (!one_half) {
          multiply_all(row_middle, high);
          multiply_all(row_high, middle);
        }
        if (from == 0 && group == 0) between(j);
        if constexpr (!one_half) each([](float& its, const Compute&) { its *= 0x1p-11f; });
        multiply_all(row_high, high);
        each([=](const float& its, Compute& all) {
          all = static_cast<Compute>(fmaf(its, unscale, static_cast<float>(all)));
        });
      }
    }
  }
}

// Where the lower bits of a tile are: behind the upper ones, or, of a tile that was copied without them, in
// the workspace.
template <typename Layout>
struct LowersBehind {
  template <typename Element>
  static __device__ __forceinline__ const Element* at(const Element* upper, const Element*, int, int) {
    return upper + Layout::plane;
  }
};
template <typename Packed>
struct LowersInWorkspace {
  template <typename Element>
  static __device__ __forceinline__ const Element* at(const Element*, const Element* tile, int row,
                                                      int term) {
    return tile + (Packed::plane + Packed::at(row, term));
  }
};

// Adds a tile's products of floats, of operands that are split with a scale, or not if that is 0.
// `first_packed` and `second_packed` are the tiles in the workspace, if lower bits are read from there.
template <typename FirstLayout, typename SecondLayout, typename FirstLowers, typename SecondLowers,
          typename Element>
__device__ __forceinline__ void multiply_floats(Compute (&sum)[THREAD_M][THREAD_N], const Element* first,
                                                const Element* second, float first_scale, float second_scale,
                                                const Element* first_packed = nullptr,
                                                const Element* second_packed = nullptr) {
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  int m = warp / (threads_n / 4) * 8 + lane / 4, n = warp % (threads_n / 4) * 8 + lane % 4 * 2;
  make_opaque(m, n);  // the compiler would keep all places in registers for the next tile
  const auto number = [](const Element* at, const Element* its_lower, float scale) {
    if constexpr (one_half)
      if (scale != 0) return static_cast<Compute>(low_half(at->bits) * reciprocal(scale));
    const unsigned upper = at->bits, lower = its_lower->bits;
    if (scale == 0) return static_cast<Compute>(__uint_as_float(upper << 16 | lower));
    return static_cast<Compute>(fmaf(low_half(lower), 0x1p-11f, low_half(upper)) * reciprocal(scale));
  };
  const auto first_number = [&](int its_row, int k) {
    const Element* const at = first + FirstLayout::at(its_row, k);
    return number(at, FirstLowers::at(at, first_packed, its_row, k), first_scale);
  };
  const auto second_number = [&](int its_column, int k) {
    const Element* const at = second + SecondLayout::at(its_column, k);
    return number(at, SecondLowers::at(at, second_packed, its_column, k), second_scale);
  };
  constexpr int rows = alignment_of(THREAD_M, 4), columns = alignment_of(THREAD_N, 8);  // at once
#pragma unroll
  for (int from_i = 0; from_i < THREAD_M; from_i += rows) {
#pragma unroll
    for (int from_j = 0; from_j < THREAD_N; from_j += columns) {
      Compute run[rows][columns] = {};
#pragma unroll 1
      for (int k = 0; k < TILE_K; ++k) {
        Compute row[rows], column[columns];
#pragma unroll
        for (int i = 0; i < rows; ++i) row[i] = first_number(m + (from_i + i) * threads_m, k);
#pragma unroll
        for (int j = 0; j < columns; ++j)
          column[j] = second_number(n + (from_j + j) / 2 * 2 * threads_n + j % 2, k);
#pragma unroll
        for (int i = 0; i < rows; ++i) {
#pragma unroll
          for (int j = 0; j < columns; ++j) run[i][j] = added(run[i][j], term(row[i], column[j]));
        }
      }
#pragma unroll
      for (int i = 0; i < rows; ++i) {
#pragma unroll
        for (int j = 0; j < columns; ++j)
          sum[from_i + i][from_j + j] = added(sum[from_i + i][from_j + j], run[i][j]);
      }
    }
  }
}

// Adds `tiles` tiles of K. While a tile is multiplied, the next one is split from registers into the other
// stage, and the one after that is loaded. load_first(t) and load_second(t) load the t-th tile, whose terms
// fill(t) has put in place before a barrier.
template <typename First, typename Second, typename LoadFirst, typename LoadSecond, typename Fill>
__device__ __forceinline__ void accumulate_halves(Sums& sums, const First& a, const Second& b, Held* shared,
                                                  int tiles, LoadFirst load_first, LoadSecond load_second,
                                                  Fill fill) {
  constexpr int second_at = stage_layout.second_at;
  const auto ranges_of = [&](int t) {
    return reinterpret_cast<WarpRange*>(shared + (t % 2 * stage_elements + stage_layout.ranges_at));
  };
  const auto publish_ranges = [&](int t) {
    WarpRange* const to = ranges_of(t) + threadIdx.x / 32;
    publish(to, range_of(a));
    publish(to + block_warps, range_of(b));
  };
  const auto put = []<typename Side>(const Side& side, Held* to, float scale, bool splits) {
    if (splits) {
      put_halves<true, InShared<Side>>(side, to, scale);
    } else {
      put_halves<false, InShared<Side>>(side, to, scale);
    }
  };

  load_first(0);
  load_second(0);
  publish_ranges(0);
  __syncthreads();
  fill(2);
  Scales scales = scales_of(ranges_of(0));
  put(a, shared, scales.first, scales.splits);
  put(b, shared + second_at, scales.second, scales.splits);
  load_first(1);
  load_second(1);
  publish_ranges(1);
#pragma unroll 1
  for (int t = 0; t < tiles; ++t) {
    __syncthreads();
    fill(t + 3);
    const Scales next = scales_of(ranges_of(t + 1));
    const Held* const its = shared + t % 2 * stage_elements;
    Held* const other = shared + (t + 1) % 2 * stage_elements;
    const auto stage_first = [&] {
      put(a, other, next.first, next.splits);
      load_first(t + 2);
    };
    const auto stage_second = [&] {
      put(b, other + second_at, next.second, next.splits);
      load_second(t + 2);
    };
    if (scales.splits) {
      multiply_halves<First, Second>(sums.sum, its, its + second_at, reciprocal(scales.first * scales.second),
                                     [&](int j) {
                                       if (j == 0) stage_first();
                                       if (j == smaller(1, THREAD_N / 4 - 1)) stage_second();
                                     });
    } else {
      multiply_floats<InShared<First>, InShared<Second>, LowersBehind<InShared<First>>,
                      LowersBehind<InShared<Second>>>(sums.sum, its, its + second_at, 0, 0);
      stage_first();
      stage_second();
    }
    publish_ranges(t + 2);
    scales = next;
  }
}

// The packed tiles of a row or column of tiles, from one on.
__device__ __forceinline__ const Held* packed_halves(const T* all, long long row, int tiles_k, int first_tile,
                                                     int elements) {
  return reinterpret_cast<const Held*>(all) + (row * tiles_k + first_tile) * elements;
}

// Copies a tile from the workspace into shared memory, line by line; of highs alone the first plane.
template <typename Packed>
__device__ __forceinline__ void copy_halves(Held* to, const Held* from) {
  constexpr int vector = 16 / static_cast<int>(sizeof(Held)), of_line = Packed::line / vector;
  constexpr int vectors = (one_half ? 1 : 2) * Packed::plane / vector;
  const int thread = static_cast<int>(threadIdx.x);
  if constexpr (threads % of_line == 0) {
    to += thread / of_line * Packed::pitch + thread % of_line * vector;
    from += thread * vector;
  }
#pragma unroll
  for (int at = 0; at < vectors; at += threads) {
    const int its = at + thread;
    if (at + threads > vectors && its >= vectors) continue;
    if constexpr (threads % of_line == 0) {
      copy_async<vector>(to + at / of_line * Packed::pitch, from + at * vector, true);
    } else {
      copy_async<vector>(to + its / of_line * Packed::pitch + its % of_line * vector, from + its * vector,
                         true);
    }
  }
}

// Adds a tile's products of halves by warpgroups, each 32 THREAD_M rows and all columns. While one adds its
// products to its sums, others multiply.
template <typename First, typename Second, typename Element>
__device__ __forceinline__ void multiply_swizzled_halves(Compute (&sum)[THREAD_M][THREAD_N],
                                                         const Element* first, const Element* second,
                                                         float unscale) {
  constexpr int columns = smaller(THREAD_N, 32);  // of a thread at once
  constexpr int far = TILE_K * 64 * 2;            // bytes of 64 rows
  constexpr int step_a = First::by_rows ? 32 : 2048, step_b = Second::by_rows ? 32 : 2048;  // of 16 terms
  const int group = static_cast<int>(threadIdx.x) / 128;
  const MatrixPlace its_a = moved(swizzled_place(first, far), group * (THREAD_M / 2) * far);
  const MatrixPlace all_b = swizzled_place(second, far);
#pragma unroll
  for (int i = 0; i < THREAD_M; i += 2) {
#pragma unroll
    for (int from = 0; from < THREAD_N; from += columns) {
      const MatrixPlace a = moved(its_a, i / 2 * far), b = moved(all_b, from * 4 * TILE_K * 2);
      float low[columns] = {}, high[columns] = {};
      const auto multiply_all = [&](int a_plane, int b_plane) {
#pragma unroll
        for (int k = 0; k < TILE_K / 16; ++k)
          multiply_add_swizzled<Element, !First::by_rows, !Second::by_rows>(
              low, high, moved(a, a_plane * TILE_M * TILE_K * 2 + k * step_a),
              moved(b, b_plane * TILE_N * TILE_K * 2 + k * step_b));
      };
      const auto finish = [&] {
        end_group();
        wait_for_groups<0>();
        hold(low);
        hold(high);
      };
      if constexpr (!one_half) {
        hold(low);
        hold(high);
        begin_products();
        multiply_all(1, 0);
        multiply_all(0, 1);
        finish();
#pragma unroll
        for (int j = 0; j < columns; ++j) {
          low[j] *= 0x1p-11f;
          high[j] *= 0x1p-11f;
        }
      }
      hold(low);
      hold(high);
      begin_products();
      multiply_all(0, 0);
      finish();
#pragma unroll
      for (int j = 0; j < columns; ++j) {
        Compute &its_low = sum[i][from + j], &its_high = sum[i + 1][from + j];
        its_low = static_cast<Compute>(fmaf(low[j], unscale, static_cast<float>(its_low)));
        its_high = static_cast<Compute>(fmaf(high[j], unscale, static_cast<float>(its_high)));
      }
    }
  }
}

// Copies the t-th of `tiles` tiles of both operands with their scales into a stage, if there is one.
template <typename FirstPacked, typename SecondPacked>
__device__ __forceinline__ void copy_packed_halves(Held* to, const Held* first, const Held* second, int t,
                                                   int tiles) {
  constexpr int second_at = stage_layout.second_at, scales_at = stage_layout.ranges_at;
  if (t < tiles) {
    const Held* const from_first = first + static_cast<long long>(t) * packed_elements<FirstPacked>;
    const Held* const from_second = second + static_cast<long long>(t) * packed_elements<SecondPacked>;
    copy_halves<FirstPacked>(to, from_first);
    copy_halves<SecondPacked>(to + second_at, from_second);
    if (threadIdx.x == 0) {
      copy_async<scale_elements>(to + scales_at, from_first + 2 * FirstPacked::plane, true);
      copy_async<scale_elements>(to + scales_at + scale_elements, from_second + 2 * SecondPacked::plane,
                                 true);
    }
  }
  end_copy_group();
}

// Adds the t-th tile's products of floats, which has been copied into a stage.
template <typename FirstPacked, typename SecondPacked>
__device__ __forceinline__ void multiply_packed_floats(Sums& sums, const Held* its, const Held* first,
                                                       const Held* second, int t, float first_scale,
                                                       float second_scale) {
  using FirstLayout = FirstLayouts::shared;
  using SecondLayout = SecondLayouts::shared;
  if constexpr (one_half) {
    multiply_floats<FirstLayout, SecondLayout, LowersInWorkspace<FirstPacked>,
                    LowersInWorkspace<SecondPacked>>(
        sums.sum, its, its + stage_layout.second_at, first_scale, second_scale,
        first + static_cast<long long>(t) * packed_elements<FirstPacked>,
        second + static_cast<long long>(t) * packed_elements<SecondPacked>);
  } else {
    multiply_floats<FirstLayout, SecondLayout, LowersBehind<FirstLayout>, LowersBehind<SecondLayout>>(
        sums.sum, its, its + stage_layout.second_at, first_scale, second_scale);
  }
}

// With one half of each number warpgroups' products of a tile run on while the next tile's begin, as long as
// tiles have the first one's scale: the sums are as many times too large until a tile has another one.
constexpr bool shares_scale = swizzles_halves && one_half;

// The number of tiles before the first one that has not the scale.
template <typename FirstPacked, typename SecondPacked>
__device__ __forceinline__ int tiles_of_scale(const Held* first, const Held* second, int tiles, float scale) {
  const auto scale_of_tile = [](const Held* tiles_of_side, int t, int elements, int plane) {
    return *reinterpret_cast<const float*>(tiles_of_side +
                                           (static_cast<long long>(t) * elements + 2 * plane));
  };
#pragma unroll 1
  for (int t = 0; t < tiles; t += 32) {
    const int its = min(t + static_cast<int>(threadIdx.x) % 32, tiles - 1);
    const float its_scale = scale_of_tile(first, its, packed_elements<FirstPacked>, FirstPacked::plane) *
                            scale_of_tile(second, its, packed_elements<SecondPacked>, SecondPacked::plane);
    const unsigned others = __ballot_sync(0xffffffffu, its_scale != scale);
    if (others != 0) return min(t + __ffs(static_cast<int>(others)) - 1, tiles - 1);
  }
  return tiles;
}

// Adds `tiles` tiles of K that have been split before.
template <typename FirstPacked, typename SecondPacked>
__device__ __forceinline__ void accumulate_packed_halves(Sums& sums, const Held* first, const Held* second,
                                                         Held* shared, int tiles) {
  constexpr int second_at = stage_layout.second_at, scales_at = stage_layout.ranges_at;
  const auto copy = [&](int t, int stage) {
    if (t < tiles) {
      Held* const to = shared + stage * stage_elements;
      const Held* const from_first = first + static_cast<long long>(t) * packed_elements<FirstPacked>;
      const Held* const from_second = second + static_cast<long long>(t) * packed_elements<SecondPacked>;
      copy_halves<FirstPacked>(to, from_first);
      copy_halves<SecondPacked>(to + second_at, from_second);
      if (threadIdx.x == 0) {
        copy_async<scale_elements>(to + scales_at, from_first + 2 * FirstPacked::plane, true);
        copy_async<scale_elements>(to + scales_at + scale_elements, from_second + 2 * SecondPacked::plane,
                                   true);
      }
    }
    end_copy_group();
  };
  constexpr int ahead = shares_scale ? stages - 2 : stages - 1;  // products may read the stage before
#pragma unroll 1
  for (int t = 0; t < ahead; ++t) copy(t, t);
  int stage = 0;  // of the tile t
  int alike = 0;
  if constexpr (shares_scale) {
    const float scale = *reinterpret_cast<const float*>(first + 2 * FirstPacked::plane) *
                        *reinterpret_cast<const float*>(second + 2 * SecondPacked::plane);
    const int end = scale == 0 ? 0 : tiles_of_scale<FirstPacked, SecondPacked>(first, second, tiles, scale);
#pragma unroll 1
    for (; alike < end; ++alike) {
      wait_for_copy_groups<ahead - 1>();
      show_to_products();
      __syncthreads();
      copy(alike + ahead, stage < 2 ? stage + ahead : stage - 2);
      const Held* const its = shared + stage * stage_elements;
      multiply_by_warpgroups<First, Second, 1>(sums.sum, its, its + second_at);
      stage = stage + 1 == stages ? 0 : stage + 1;
    }
    end_products<0>(sums.sum);
    const float unscale = scale == 0 ? 1 : reciprocal(scale);
#pragma unroll
    for (int i = 0; i < THREAD_M; ++i) {
#pragma unroll
      for (int j = 0; j < THREAD_N; ++j) sums.sum[i][j] *= unscale;
    }
  }
#pragma unroll 1
  for (int t = alike; t < tiles; ++t) {
    wait_for_copy_groups<larger(0, ahead - 1)>();
    if constexpr (swizzles_halves) show_to_products();
    __syncthreads();
    if constexpr (shares_scale) {
      copy(t + ahead, stage < 2 ? stage + ahead : stage - 2);
    } else {
      copy(t + ahead, stage == 0 ? stages - 1 : stage - 1);
    }
    const Held* const its = shared + stage * stage_elements;
    const float first_scale = *reinterpret_cast<const float*>(its + scales_at);
    const float second_scale = *reinterpret_cast<const float*>(its + scales_at + scale_elements);
    if (first_scale == 0 || second_scale == 0) {
      multiply_packed_floats<FirstPacked, SecondPacked>(sums, its, first, second, t, first_scale,
                                                        second_scale);
    } else {
      const float unscale = reciprocal(first_scale * second_scale);
      if constexpr (swizzles_halves) {
        multiply_swizzled_halves<First, Second>(sums.sum, its, its + second_at, unscale);
      } else {
        multiply_halves<First, Second>(sums.sum, its, its + second_at, unscale, [](int) {});
      }
    }
    stage = stage + 1 == stages ? 0 : stage + 1;
  }
}

// A sample of the numbers of some rows, by which blocks agree on one scale for all their tiles: an element
// for each thread, spread over all terms. A tile has that scale if it splits with it.
template <typename Side, int TILE, bool IS_SECOND>
__device__ __forceinline__ SizeRange sample_of(const T* from, const Offset* rows, const Digits& digits,
                                               int k) {
  SizeRange range;
  const int row = static_cast<int>(threadIdx.x) % TILE, in_vector = row % Side::offset_step;
  const Place term = K::place(digits, threadIdx.x * 2654435761u % static_cast<unsigned>(k), k, 0);
  const Offset at = rows[row - in_vector] + in_vector + (IS_SECOND ? term.second : term.first);
  include(range, static_cast<float>(to_float(from[at])));
  return range;
}

// True if all numbers of the range, times the scale, are 0 or normal halves.
__device__ __forceinline__ bool splits_with(const SizeRange& range, float scale) {
  return range.most == 0 || (__uint_as_float(range.most) * scale <= 65504.0f &&
                             __uint_as_float(range.least / 2 + 1) * scale >= 0x1p-14f);
}

// Splits a tile of an operand, whose rows begin at `rows`, in the workspace.
template <typename Side, typename Packed>
__device__ __forceinline__ void split_tile(Held* to, const T* from, const Offset* rows,
                                           const typename Side::Terms& terms, WarpRange* ranges,
                                           const SizeRange& sample) {
  if constexpr (packs_halves) {
    Side side;
    side.share(static_cast<int>(threadIdx.x), rows);
    side.load(from, terms);
    publish(ranges + threadIdx.x / 32, range_of(side));
    if constexpr (shares_scale) publish(ranges + block_warps + threadIdx.x / 32, sample);
    __syncthreads();
    const SizeRange range = collect<block_warps>(ranges);
    float scale = 0;
    if constexpr (shares_scale) {
      const SizeRange shared = collect<block_warps>(ranges + block_warps);
      const float its = scale_of(shared) * 0.5f;  // others may be four times as large as the sample
      if (shared.most != 0 && splits(shared) && splits_with(range, its)) scale = its;
    }
    if (scale != 0 || splits(range)) {
      if (scale == 0) scale = scale_of(range);
      put_halves<true, Packed>(side, to, scale);
    } else {
      put_halves<false, Packed>(side, to, scale);
    }
    if (threadIdx.x == 0)
      store_vector<4>(reinterpret_cast<float*>(to + 2 * Packed::plane), Vector<float, 4>{{scale}});
  }
}

// Splits all tiles of both operands. The grid has a block for each: for each place in the batch, tile of M
// and tile of K, and behind these for each tile of N in the same way.
extern "C" __global__ void __launch_bounds__(threads)
    ENTRY(tensor_contract_split)(InputPointer<T> first, InputPointer<T> second, InOutPointer<T> to_first,
                                 InOutPointer<T> to_second, long long first_start, long long second_start,
                                 int m, int n, int k, int runs_n, int tiles_m, int tiles_n, int first_blocks,
                                 Extents extents, Extents multipliers, Strides first_strides,
                                 Strides second_strides) {
  if constexpr (!packs_halves) return;  // it is not launched
  DYNAMIC_SHARED(unsigned char, memory);
  Tables& tables = *reinterpret_cast<Tables*>(memory);
  Terms* const terms = reinterpret_cast<Terms*>(memory + terms_at);
  WarpRange* const ranges = reinterpret_cast<WarpRange*>(memory + runs_at);
  const Digits digits = {extents, multipliers, first_strides, second_strides, {}};
  const Sizes sizes = {m, n, k, runs_n};
  const bool is_second = blockIdx.x >= static_cast<unsigned>(first_blocks);
  const unsigned at = is_second ? blockIdx.x - static_cast<unsigned>(first_blocks) : blockIdx.x;
  const unsigned tiles = static_cast<unsigned>(is_second ? tiles_n : tiles_m);
  const unsigned tiles_k = ceil_divide(k, TILE_K), row = at / tiles_k, all = row / tiles;
  const unsigned tile = row - all * tiles;
  const int first_term = static_cast<int>(at - row * tiles_k) * TILE_K;
  const Place batch = Batch::place(digits, all, 2147483647, 0);
  fill(tables, digits, sizes, tile * TILE_M, tile * TILE_N);
  fill(terms, 1, digits, sizes, first_term);
  start();
  __syncthreads();
  SizeRange sample;
  if (is_second) {
    const Offset step = digits.second[K::first];
    if constexpr (shares_scale)
      sample =
          sample_of<Second, TILE_N, true>(second + (second_start + batch.second), tables.second, digits, k);
    split_tile<Second, SecondLayouts::packed>(
        reinterpret_cast<Held*>(to_second) +
            static_cast<long long>(at) * packed_elements<SecondLayouts::packed>,
        second + (second_start + batch.second), tables.second,
        {first_term * step, step, terms->second, k - first_term}, ranges, sample);
  } else {
    const Offset step = digits.first[K::first];
    if constexpr (shares_scale)
      sample = sample_of<First, TILE_M, false>(first + (first_start + batch.first), tables.first, digits, k);
    split_tile<First, FirstLayouts::packed>(
        reinterpret_cast<Held*>(to_first) +
            static_cast<long long>(at) * packed_elements<FirstLayouts::packed>,
        first + (first_start + batch.first), tables.first,
        {first_term * step, step, terms->first, k - first_term}, ranges, sample);
  }
}

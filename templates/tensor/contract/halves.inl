// SPDX-License-Identifier: Apache-2.0
// How a block multiplies floats in tensor cores at the accuracy of f32 (UNIT=halves). While a tile of both
// operands is staged, each float is split into two halves, high and middle, with a scale for the tile
// (common/halves.cuh). A stage has the highs of an operand's tile, laid out as elements of 16 bits are
// (mma.inl), behind them its middles, and behind both operands the ranges of the tiles' sizes. If a tile of
// either operand does not split, the halves' places hold the upper and the lower 16 bits of the floats
// instead, and the tile's terms are multiplied as floats; the next tile is split again.
//
// Accuracy, in units of u sum |term| with u = 2^-24. Splitting costs 12. `terms_in_tensor_cores` terms are
// added in tensor cores, which cut: of eight products and the sum before them each by one unit at most, and
// the result by two. That are 10 for 8 terms, and a thousandth of it for the small products, which come first
// and have 2^-10 of the size. Each such run of terms is then added to a thread's sum by one rounding, and so
// is a tile of floats, whose own sum costs TILE_K. The template has the rule that keeps the total below n.

constexpr int terms_in_tensor_cores = TILE_K % 32 == 0 ? 32 : 16;
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

// Puts what a thread has loaded into both planes of a tile.
template <bool SPLITS, typename Side>
__device__ __forceinline__ void put_halves(const Side& side, Held* tile, float scale) {
  if (!Side::all_busy && side.idle) return;
  constexpr int count = sizeof(side.held[0][0]) / sizeof(T);
#pragma unroll
  for (int s = 0; s < Side::steps; ++s) {
    if (!side.has_term(s)) break;
#pragma unroll
    for (int r = 0; r < Side::rows; ++r) {
      if (!side.has_unit(r)) break;
      Held* const to = tile + (side.its_term(s) * Side::term_step + side.place_of_unit(r) * Side::row_step);
      const auto number = [&](int e) { return static_cast<float>(to_float(side.held[s][r].element[e])); };
      if constexpr (count == 1) {
        const Halves one = as_two_words<SPLITS>(number(0), 0, scale);
        *reinterpret_cast<unsigned short*>(to) = static_cast<unsigned short>(one.high);
        *reinterpret_cast<unsigned short*>(to + Side::elements) = static_cast<unsigned short>(one.middle);
      } else {
        Vector<unsigned, count / 2> high, middle;
#pragma unroll
        for (int e = 0; e < count / 2; ++e) {
          const Halves pair = as_two_words<SPLITS>(number(2 * e), number(2 * e + 1), scale);
          high.element[e] = pair.high;
          middle.element[e] = pair.middle;
        }
        store_vector<count / 2>(reinterpret_cast<unsigned*>(to), high);
        store_vector<count / 2>(reinterpret_cast<unsigned*>(to + Side::elements), middle);
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
  constexpr int groups = THREAD_M * THREAD_N <= 64 ? 2 : 1;  // of eight columns that have registers at once
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const MatrixRows<First, threads_m, false> rows(warp / (threads_n / 4) * 8, lane);
  const MatrixRows<Second, 2 * threads_n, true> columns(warp % (threads_n / 4) * 8, lane);
#pragma unroll
  for (int from = 0; from < TILE_K; from += terms_in_tensor_cores) {
    unsigned row_high[steps][THREAD_M / 2][4], row_middle[steps][THREAD_M / 2][4];
#pragma unroll
    for (int s = 0; s < steps; ++s) {
#pragma unroll
      for (int i = 0; i < THREAD_M / 2; ++i) {
        rows.load(row_high[s][i], first, 2 * i, from + 16 * s);
        rows.load(row_middle[s][i], first + First::elements, 2 * i, from + 16 * s);
      }
    }
#pragma unroll
    for (int j = 0; j < parts; ++j) {
      unsigned high[steps][4], middle[steps][4];  // of two groups of eight columns
#pragma unroll
      for (int s = 0; s < steps; ++s) {
        columns.load(high[s], second, 2 * j, from + 16 * s);
        columns.load(middle[s], second + Second::elements, 2 * j, from + 16 * s);
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
        multiply_all(row_middle, high);
        multiply_all(row_high, middle);
        if (from == 0 && group == 0) between(j);
        each([](float& its, const Compute&) { its *= 0x1p-11f; });
        multiply_all(row_high, high);
        each([=](const float& its, Compute& all) {
          all = static_cast<Compute>(fmaf(its, unscale, static_cast<float>(all)));
        });
      }
    }
  }
}

// Adds a tile's products of floats that are kept as their upper and lower bits.
template <typename First, typename Second, typename Element>
__device__ __forceinline__ void multiply_floats(Compute (&sum)[THREAD_M][THREAD_N], const Element* first,
                                                const Element* second) {
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int m = warp / (threads_n / 4) * 8 + lane / 4, n = warp % (threads_n / 4) * 8 + lane % 4 * 2;
  const auto number = [](const Element* at, int to_lower) {
    return static_cast<Compute>(__uint_as_float(static_cast<unsigned>(at->bits) << 16 | at[to_lower].bits));
  };
  constexpr int rows = alignment_of(THREAD_M, larger(1, 32 / THREAD_N));  // at once
#pragma unroll
  for (int begin = 0; begin < THREAD_M; begin += rows) {
    Compute run[rows][THREAD_N] = {};
#pragma unroll 1
    for (int k = 0; k < TILE_K; ++k) {
      Compute row[rows], column[THREAD_N];
#pragma unroll
      for (int i = 0; i < rows; ++i)
        row[i] = number(first + First::place_of(m + (begin + i) * threads_m, k), First::elements);
#pragma unroll
      for (int j = 0; j < THREAD_N; ++j)
        column[j] = number(second + Second::place_of(n + j / 2 * 2 * threads_n + j % 2, k), Second::elements);
#pragma unroll
      for (int i = 0; i < rows; ++i) {
#pragma unroll
        for (int j = 0; j < THREAD_N; ++j) run[i][j] = added(run[i][j], term(row[i], column[j]));
      }
    }
#pragma unroll
    for (int i = 0; i < rows; ++i) {
#pragma unroll
      for (int j = 0; j < THREAD_N; ++j) sum[begin + i][j] = added(sum[begin + i][j], run[i][j]);
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
  constexpr int second_at = 2 * First::elements;
  const auto ranges_of = [&](int t) {
    return reinterpret_cast<WarpRange*>(shared + (t % 2 * stage_elements + stage_layout.ranges_at));
  };
  const auto publish_ranges = [&](int t) {
    WarpRange* const to = ranges_of(t) + threadIdx.x / 32;
    publish(to, range_of(a));
    publish(to + block_warps, range_of(b));
  };
  const auto put = [](const auto& side, Held* to, float scale, bool splits) {
    if (splits) {
      put_halves<true>(side, to, scale);
    } else {
      put_halves<false>(side, to, scale);
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
      multiply_floats<First, Second>(sums.sum, its, its + second_at);
      stage_first();
      stage_second();
    }
    publish_ranges(t + 2);
    scales = next;
  }
}

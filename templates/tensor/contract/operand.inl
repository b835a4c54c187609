// SPDX-License-Identifier: Apache-2.0
// How a block brings an operand's tile into shared memory. Needs nest.inl, contract_layout.inl, STAGES,
// TILE_K, T, Held, Compute, `threads`.

constexpr bool asynchronous = STAGES > 1 && sizeof(T) == sizeof(Held);
constexpr int stages = asynchronous || packs_halves ? STAGES : 2;
// The number of tiles that are copied ahead. A warpgroup's products run on while it goes on, so the stage of
// the tile before is not free yet.
constexpr int stages_ahead = asynchronous && warpgroups ? stages - 2 : stages - 1;
constexpr bool in_pieces = LOAD_BY == LoadBy::pieces;  // common/pieces.cuh
constexpr bool in_boxes = LOAD_BY == LoadBy::boxes;    // common/boxes.cuh
// If false, a term's offset is a multiple of the stride of K's one index.
constexpr bool counted_terms = K::end - K::first > 1 && PACK != Pack::both && !in_boxes;
constexpr int bank_lanes = 16 / static_cast<int>(sizeof(Held));  // elements of 16 bytes

template <typename To>
__device__ __forceinline__ To as_held(T value) {
  if constexpr (sizeof(To) == sizeof(T)) {
    return value;
  } else if constexpr (sizeof(To) < sizeof(T)) {
    return from_float<To>(value);
  } else {
    return to_float(value);
  }
}

// A vector on its way through registers.
template <bool IN_PIECES, int VECTOR>
struct HeldVector {
  using type = Vector<T, VECTOR>;
};
template <int VECTOR>
struct HeldVector<true, VECTOR> {
  using type = Pieces;
};

// TILE rows of TILE_K terms, stored term by term in shared memory. A copy moves VECTOR neighbours. ALONG_K:
// the neighbours are terms of a row, and so are those of neighbouring threads. Eight threads have the terms
// of a row and a warp has four rows, so that with padding all 32 threads write to different banks. Operands
// of matrix instructions, and those that are copied asynchronously for tensor cores of doubles, stay row by
// row, at a pitch with which reads hit different banks. Without ALONG_K the neighbours are rows of a term.
// Where rows are counted in runs of SPAN neighbours of the output, eight threads have rows that are SPAN
// apart and four threads the neighbours in the run; their padding is within a term. REACH: where a thread's
// next piece of the tile begins.
template <int TILE, int VECTOR, bool ALONG_K, int SPAN, int REACH, int ROW_PADDING>
struct Operand {
  static constexpr ContractOperandLayout layout =
      contract_operand_layout({TILE, TILE_K, SPAN, REACH, ROW_PADDING, bank_lanes, ALONG_K, tensor_cores,
                               matrices, warpgroups, asynchronous});
  static constexpr bool skewed = layout.skewed, by_rows = layout.by_rows;
  static __device__ __forceinline__ constexpr int place_of(int row) {
    return skewed ? row + row / (8 * bank_lanes) * bank_lanes : row;
  }
  static constexpr int reach = layout.reach, pitch = layout.pitch, row_pitch = layout.row_pitch,
                       elements = layout.elements;
  static __device__ __forceinline__ constexpr int place_of(int row, int term) {
    return by_rows ? row * row_pitch + term : place_of(row) + term * pitch;
  }
  // The same as a warpgroup takes them (common/swizzled_matrix.cuh).
  static constexpr int line_length = 8 * bank_lanes;
  static __device__ __forceinline__ int swizzled_place_of(int row, int term) {
    const int line = ALONG_K ? row : row / line_length * TILE_K + term,
              along = ALONG_K ? term : row % line_length;
    return line * line_length + (along / bank_lanes ^ line % 8) * bank_lanes + along % bank_lanes;
  }
  // The distances between a thread's pieces, between neighbouring rows and between neighbouring terms.
  static constexpr int piece_step = by_rows ? REACH * row_pitch : reach;
  static constexpr int row_step = by_rows ? row_pitch : 1, term_step = by_rows ? 1 : pitch;

  static constexpr int offset_step = ALONG_K || SPAN > 1 ? 1 : VECTOR;  // between rows whose offsets are read
  static constexpr int vector_k = ALONG_K ? VECTOR : 1;
  static constexpr int units = TILE / (ALONG_K ? 1 : VECTOR);  // of a term
  static constexpr int units_k = TILE_K / vector_k;
  static constexpr int spare = larger(1, threads / units);  // so many terms if each thread copies one unit
  static constexpr int lanes_k = smaller(units_k, ALONG_K ? (spare < 16 ? 8 : 16) : spare);
  static constexpr int lanes = smaller(units, threads / lanes_k);
  static constexpr int rows = ceil_divide(units, lanes);       // units of a thread,
  static constexpr int steps = ceil_divide(units_k, lanes_k);  // and terms of each
  static constexpr bool all_busy = lanes * lanes_k == threads;

  Offset offset[rows];  // of its units from the operand's start
  int unit, unit_k;     // the first of them
  int swizzled;         // its place, as a warpgroup takes it
  bool idle;
  typename HeldVector<in_pieces, VECTOR>::type held[asynchronous ? 1 : steps][rows];
  // In pieces: the rows of the tile and the terms of the held tile that exist, and where its vectors begin in
  // their first pieces, in 3 bits each.
  int existing, left;
  unsigned long long shifts;

  static __device__ __forceinline__ constexpr int row_of(int at) {
    if constexpr (SPAN > 1) return (at % 8 + at / (8 * SPAN) * 8) * SPAN + at / 8 % SPAN;
    return at * (ALONG_K ? 1 : VECTOR);
  }
  // The place of a thread's unit in a tile. It is a constant distance behind the first unit's place if the
  // mapping repeats in whole rounds.
  static constexpr bool rounds = SPAN == 1 || lanes % (8 * SPAN) == 0;
  static constexpr bool places_rounds = !skewed || row_of(lanes) % (8 * bank_lanes) == 0;
  __device__ __forceinline__ int place_of_unit(int r) const {
    if constexpr (rounds && places_rounds) return place_of(row_of(unit)) + place_of(row_of(r * lanes));
    return place_of(row_of(unit + r * lanes));
  }
  __device__ __forceinline__ int its_term(int s) const { return unit_k * vector_k + s * lanes_k * vector_k; }
  __device__ __forceinline__ bool has_unit(int r) const {
    return units % lanes == 0 || unit + r * lanes < units;
  }
  __device__ __forceinline__ bool has_term(int s) const {
    return units_k % lanes_k == 0 || unit_k + s * lanes_k < units_k;
  }

  // The place in the tile of a thread's unit r in its step s.
  static constexpr bool lines_repeat = ALONG_K ? lanes % 8 == 0 && steps == 1 : lanes_k % 8 == 0 && rows == 1;
  __device__ __forceinline__ int place_of_copy(int s, int r) const {
    if constexpr (!warpgroups) return its_term(s) * term_step + place_of_unit(r) * row_step;
    if constexpr (lines_repeat) return swizzled + (ALONG_K ? r * lanes : s * lanes_k) * line_length;
    return swizzled_place_of(row_of(unit + r * lanes), its_term(s));
  }

  // `row_offsets` holds the offsets of all rows of the tile, of which `rows_there` exist. `thread` is signed
  // or unsigned, whichever takes fewer registers.
  template <typename Number>
  __device__ __forceinline__ void share(Number thread, const Offset* row_offsets, int rows_there = TILE) {
    existing = rows_there;
    unit = static_cast<int>(ALONG_K ? thread / lanes_k : thread % lanes);
    unit_k = static_cast<int>(ALONG_K ? thread % lanes_k : thread / lanes);
    idle = !all_busy && (unit >= lanes || unit_k >= lanes_k);
    if constexpr (warpgroups) swizzled = swizzled_place_of(row_of(unit), its_term(0));
#pragma unroll
    for (int r = 0; r < rows; ++r)
      offset[r] = idle || !has_unit(r) ? 0 : row_offsets[row_of(unit + r * lanes)];
  }

  // The offsets that terms add: they begin `base` from the operand's start and are `stride` apart, or lie
  // offsets[term] from it; `left` of them exist.
  struct Terms {
    Offset base, stride;
    const Offset* offsets;
    int left;
  };

  // Calls visit(step, the unit's number, its place in the tile, its place in the array, whether it exists).
  template <bool FULL, typename Visit>
  __device__ __forceinline__ void each(const T* source, const Terms& terms, Visit visit) const {
#pragma unroll
    for (int s = 0; s < steps; ++s) {
      if (!has_term(s)) break;
      const int term = its_term(s);
      const Offset along = counted_terms ? terms.offsets[term] : terms.base + term * terms.stride;
      const bool exists = FULL || term < terms.left;
#pragma unroll
      for (int r = 0; r < rows; ++r) {
        if (!has_unit(r)) break;
        visit(s, r, place_of_copy(s, r), source + (exists ? offset[r] + along : 0), exists);
      }
    }
  }

  __device__ __forceinline__ void copy(Held* tile, const T* source, const Terms& terms) const {
    if (!all_busy && idle) return;
    if constexpr (asynchronous) {
      const auto visit = [&](int, int, int to, const T* from, bool exists) {
        copy_async<VECTOR>(reinterpret_cast<T*>(tile) + to, from, exists);
      };
      if (terms.left >= TILE_K) {
        each<true>(source, terms, visit);
      } else {
        each<false>(source, terms, visit);
      }
    }
  }

  // load() and put() copy in two steps, through registers.
  __device__ __forceinline__ void load(const T* source, const Terms& terms) {
    if (!all_busy && idle) return;
    if constexpr (in_pieces) {
      left = terms.left;
      shifts = 0;
    }
    each<false>(source, terms, [&](int s, int r, int, const T* from, bool exists) {
      if constexpr (in_pieces) {
        const int count = ALONG_K ? terms.left - its_term(s) : existing - row_of(unit + r * lanes);
        held[s][r] = load_pieces(from, exists ? smaller(VECTOR, count) : 0);
        shifts |= static_cast<unsigned long long>(shift_in_piece(from)) << (3 * (s * rows + r));
      } else {
        held[s][r] = {};
        if (exists) held[s][r] = load_vector<VECTOR>(from);
      }
    });
  }
  __device__ __forceinline__ void put(Held* tile) const {
    if (!all_busy && idle) return;
#pragma unroll
    for (int s = 0; s < steps; ++s) {
      if (!has_term(s)) break;
#pragma unroll
      for (int r = 0; r < rows; ++r) {
        if (!has_unit(r)) break;
        Held* const to = tile + place_of_copy(s, r);
        if constexpr (in_pieces) {
          static_assert(3 * steps * rows <= 64, "as many bits as there are");
          const auto shift = static_cast<unsigned>(shifts >> (3 * (s * rows + r))) & 7;
          store_vector<4>(reinterpret_cast<unsigned*>(to),
                          elements_of(held[s][r], shift, ALONG_K ? left - its_term(s) : VECTOR));
          continue;
        } else {
          Vector<Held, VECTOR> wide;
#pragma unroll
          for (int e = 0; e < VECTOR; ++e) wide.element[e] = as_held<Held>(held[s][r].element[e]);
          if constexpr (ALONG_K && !by_rows) {
#pragma unroll
            for (int e = 0; e < VECTOR; ++e) to[e * pitch] = wide.element[e];
          } else {
            store_vector<VECTOR>(to, wide);
          }
        }
      }
    }
  }
};

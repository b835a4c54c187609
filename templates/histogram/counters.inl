// SPDX-License-Identifier: Apache-2.0
// A block's counters in shared memory, in copies, and functions that count a tile. Needs T, function,
// CONTIGUOUS, BLOCK, ITEMS, VECTOR, COPIES, OWNER, COUNTER_BITS, INCREMENT and MERGE.

constexpr int per_thread = ITEMS * VECTOR;  // elements of a tile
constexpr long long per_block = static_cast<long long>(BLOCK) * per_thread;

// Bytes are counted by value. The bins of the 256 values are found at the end, instead of the bins of
// `length` bytes.
constexpr bool of_bytes = sizeof(T) == 1;
constexpr bool by_lane = OWNER == Owner::lane;
constexpr bool packed = COUNTER_BITS == 16;  // two counters per word
constexpr unsigned full = 0x8000;            // where a packed counter is emptied

static_assert(!packed || per_block < 0x10000 - full, "a counter may reach `full` and then take a whole tile");

struct Counters {
  unsigned* word;
  unsigned cells, rows;  // counters of a copy, and their words
  unsigned offset;       // of this thread's copy, in words
  unsigned one;          // what an element adds; not a constant for INCREMENT=value
  unsigned long long* counts;
};

__device__ __forceinline__ unsigned place_of(unsigned row, const Counters& counters) {
  return (by_lane ? row * COPIES : row) + counters.offset;
}

__device__ __forceinline__ void add(unsigned cell, unsigned times, const Counters& counters) {
  if (cell >= counters.cells) return;
  if constexpr (packed) {
    const unsigned shift = (cell & 1) * 16;
    unsigned* const word = counters.word + place_of(cell >> 1, counters);
    const unsigned before = atomicAdd(word, times << shift) >> shift & 0xffff;
    // One thread sees a counter become full and empties it. Because of the barrier after each tile, the
    // others add at most a tile to it meanwhile, so that it never overflows.
    if (before < full && before + times >= full) {
      atomicAdd(word, 0u - (full << shift));
      atomicAdd(counters.counts + cell, static_cast<unsigned long long>(full));
    }
  } else {
    atomicAdd(counters.word + place_of(cell, counters), times);
  }
}

__device__ __forceinline__ void count(const unsigned (&cell)[per_thread], const Counters& counters) {
  if constexpr (MERGE == Merge::run) {
    unsigned current = cell[0];
    unsigned times = 1;
#pragma unroll
    for (int e = 1; e < per_thread; ++e) {
      if (cell[e] == current) {
        ++times;
      } else {
        add(current, times, counters);
        current = cell[e];
        times = 1;
      }
    }
    add(current, times, counters);
  } else {
#pragma unroll
    for (int e = 0; e < per_thread; ++e) {
      if constexpr (MERGE == Merge::warp) {
        const unsigned peers = __match_any_sync(0xffffffffu, cell[e]);
        if (static_cast<int>(threadIdx.x % 32) == __ffs(static_cast<int>(peers)) - 1)
          add(cell[e], static_cast<unsigned>(__popc(peers)), counters);
      } else {
        add(cell[e], counters.one, counters);
      }
    }
  }
}

__host__ __device__ constexpr int log2_of(int power) { return power == 1 ? 0 : 1 + log2_of(power / 2); }

// True if a byte's counter is found from the word that holds the byte, without extracting the byte.
constexpr bool straight =
    of_bytes && VECTOR >= 4 && by_lane && !packed && MERGE == Merge::none && CONTIGUOUS != 0;

using Loaded = Tile<T, ITEMS, VECTOR>;

// Counts a whole tile of bytes. Each lane's counters are in its own banks; two instructions compute a byte's
// offset into the counters from the word that holds it.
__device__ __forceinline__ void count_bytes(const Loaded& tile, const Counters& counters) {
  constexpr int up = log2_of(COPIES) + 2;  // from a byte to its counter's offset in bytes
#pragma unroll
  for (int e = 0; e < per_thread; ++e) {
    const unsigned w = tile.word[e / VECTOR][e % VECTOR / 4];
    const int shift = 8 * (e % 4) - up;
    const unsigned offset =
        ((shift < 0 ? w << (shift < 0 ? -shift : 0) : w >> (shift < 0 ? 0 : shift)) & (255u << up)) |
        counters.offset * 4;
    atomicAdd(reinterpret_cast<unsigned*>(reinterpret_cast<char*>(counters.word) + offset), counters.one);
  }
}

__device__ __forceinline__ void count_tile(const Loaded& tile, const Bins& bins, const Counters& counters,
                                           long long first, long long length) {
  if constexpr (straight) {
    if (tile.whole) return count_bytes(tile, counters);
  }
  unsigned cell[per_thread];
  bins_of_tile<BLOCK, of_bytes || function == Function::bincount>(cell, tile, bins, first, length);
  count(cell, counters);
  if constexpr (packed) __syncthreads();
}

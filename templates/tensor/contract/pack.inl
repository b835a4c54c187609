// SPDX-License-Identifier: Apache-2.0
// Copies operands into the workspace, where their rows are neighbours and their terms come one after another.

constexpr int pack_side = contract_pack_side, pack_threads = contract_pack_threads;
constexpr int pack_line = contract_pack_line(static_cast<int>(sizeof(T)));
constexpr int in_word = larger(1, 4 / static_cast<int>(sizeof(T)));  // elements

// For each digit of an operand: its extent, the places from `begins` to `ends` that are in the array, and how
// far it moves in the array and in the packed copy. The first digit is the nearest in the copy, the second
// the nearest in the array or another one.
struct PackPlaces {
  int extents[16], begins[16], ends[16];
};
struct PackStrides {
  long long from[16], to[16];
};

// The part that a block moves, 64 places of the first two digits: where they are in the array, from `begin`
// to `end`, and in the copy, whose neighbours are the first digit's; beyond `room` there is nothing.
struct PackTile {
  const T* from;
  T* to;
  long long from_strides[2], to_stride;  // to_stride: of the second digit
  int begin[2], end[2], room[2];

  __device__ __forceinline__ T element(int first, int second) const {
    if (first < begin[0] || first >= end[0] || second < begin[1] || second >= end[1]) return {};
    return from[first * from_strides[0] + second * from_strides[1]];
  }
  // True if all elements of a square, a word by a word, are in the array.
  __device__ __forceinline__ bool has_square(int first, int second) const {
    return first >= begin[0] && first + in_word <= end[0] && second >= begin[1] && second + in_word <= end[1];
  }
  __device__ __forceinline__ void store(int first, int second, const Vector<T, in_word>& word) const {
    if (first >= room[0] || second >= room[1]) return;
    T* const at = to + (first + second * to_stride);
    if (first + in_word <= room[0]) {
      store_vector<in_word>(at, word);
    } else {
#pragma unroll
      for (int e = 0; e < in_word; ++e)
        if (first + e < room[0]) at[e] = word.element[e];
    }
  }
  static __device__ __forceinline__ bool is_word(const T* at) {
    return reinterpret_cast<unsigned long long>(at) % 4 == 0;
  }
  // True if words of the copy are whole, and those of the array, unless their neighbours are the same.
  __device__ __forceinline__ bool has_words() const {
    return to_stride % in_word == 0 && is_word(to) &&
           (from_strides[0] == 1 ||
            (from_strides[1] == 1 && from_strides[0] % in_word == 0 && is_word(from)));
  }
};

// Moves elements of less than 4 bytes in words. Where the array has other neighbours than the copy, a thread
// turns squares of them.
__device__ __forceinline__ void pack_words(const PackTile& its, T* tile) {
  constexpr int words = pack_side / in_word;
  const int thread = static_cast<int>(threadIdx.x);
  if (its.from_strides[0] == 1) {
#pragma unroll
    for (int before = 0; before < pack_side * words; before += pack_threads) {
      const int first = (before + thread) % words * in_word, second = (before + thread) / words;
      Vector<T, in_word> word;
#pragma unroll
      for (int e = 0; e < in_word; ++e) word.element[e] = its.element(first + e, second);
      its.store(first, second, word);
    }
    return;
  }
#pragma unroll
  for (int before = 0; before < words * words; before += pack_threads) {
    const int first = (before + thread) / words * in_word, second = (before + thread) % words * in_word;
    Vector<T, in_word> row[in_word];
    if (its.has_square(first, second)) {
#pragma unroll
      for (int e = 0; e < in_word; ++e)
        row[e] = load_vector<in_word>(its.from + ((first + e) * its.from_strides[0] + second));
    } else {
#pragma unroll
      for (int e = 0; e < in_word * in_word; ++e)
        row[e / in_word].element[e % in_word] = its.element(first + e / in_word, second + e % in_word);
    }
#pragma unroll
    for (int s = 0; s < in_word; ++s) {
      Vector<T, in_word> turned;
#pragma unroll
      for (int e = 0; e < in_word; ++e) turned.element[e] = row[e].element[s];
      store_vector<in_word>(tile + ((second + s) * pack_line + first), turned);
    }
  }
  __syncthreads();
#pragma unroll
  for (int before = 0; before < pack_side * words; before += pack_threads) {
    const int first = (before + thread) % words * in_word, second = (before + thread) / words;
    its.store(first, second, load_vector<in_word>(tile + (second * pack_line + first)));
  }
}

// A block moves 64 places of the first two digits; blocks count through the other digits. Places that are not
// in the array are zeros in the copy.
__device__ __forceinline__ void pack_places(const T* from, T* to, long long start_from,
                                            const PackPlaces& places, const PackStrides& strides, T* tile,
                                            unsigned at) {
  int corner[2], room[2];
#pragma unroll
  for (int d = 0; d < 2; ++d) {
    const unsigned tiles = ceil_divide(places.extents[d], pack_side);
    corner[d] = static_cast<int>(at % tiles) * pack_side;
    room[d] = places.extents[d] - corner[d];
    at /= tiles;
  }
  long long source = start_from + corner[0] * strides.from[0] + corner[1] * strides.from[1];
  long long target = corner[0] * strides.to[0] + corner[1] * strides.to[1];
  bool exists = true;
  constexpr int digits = larger(M_RANK, N_RANK) + K_RANK + BATCH_RANK;
#pragma unroll
  for (int d = 2; d < smaller(16, digits + 1); ++d) {
    const unsigned extent = static_cast<unsigned>(places.extents[d]);
    const long long digit = at % extent;
    exists = exists && digit >= places.begins[d] && digit < places.ends[d];
    source += digit * strides.from[d];
    target += digit * strides.to[d];
    at /= extent;
  }
  start();
  if constexpr (in_word > 1) {
    PackTile its = {
        from + source, to + target, {strides.from[0], strides.from[1]}, strides.to[1], {}, {}, {}};
#pragma unroll
    for (int d = 0; d < 2; ++d) {
      its.begin[d] = places.begins[d] - corner[d];
      its.end[d] = exists ? smaller(places.ends[d] - corner[d], pack_side) : its.begin[d];
      its.room[d] = room[d];
    }
    if (its.has_words()) {
      pack_words(its, tile);
      return;
    }
  }
  // A lane is a place of the digit whose neighbours it reads, and a line one of the other digit.
  constexpr int steps = pack_side * pack_side / pack_threads, lines = pack_threads / pack_side;
  const int lane = static_cast<int>(threadIdx.x) % pack_side;
  const int line = static_cast<int>(threadIdx.x) / pack_side;
  const bool turned = strides.from[1] == 1;
  const auto exists_at = [&](int d, int at) {
    return static_cast<unsigned>(corner[d] + at - places.begins[d]) <
           static_cast<unsigned>(places.ends[d] - places.begins[d]);
  };
  const long long step = turned ? strides.from[0] : strides.from[1];
  const T* its = from + (source + lane * (turned ? strides.from[1] : strides.from[0]) + line * step);
  exists = exists && (turned ? exists_at(1, lane) : exists_at(0, lane));
  T held[steps];  // all loads run at once
#pragma unroll
  for (int s = 0; s < steps; ++s) {
    held[s] = {};
    if (exists && (turned ? exists_at(0, line + s * lines) : exists_at(1, line + s * lines))) held[s] = *its;
    its += step * lines;
  }
  T* const place = tile + (turned ? lane * pack_line + line : line * pack_line + lane);
#pragma unroll
  for (int s = 0; s < steps; ++s) place[turned ? s * lines : s * lines * pack_line] = held[s];
  __syncthreads();
  if (lane >= room[0]) return;
  T* its_to = to + (target + lane * strides.to[0] + line * strides.to[1]);
#pragma unroll
  for (int s = 0; s < steps; ++s) {
    if (line + s * lines < room[1]) *its_to = tile[(line + s * lines) * pack_line + lane];
    its_to += strides.to[1] * lines;
  }
}

// Packs one operand or both; the first `first_blocks` blocks pack the first.
extern "C" __global__ void __launch_bounds__(pack_threads)
    ENTRY(tensor_contract_pack)(InputPointer<T> first, InputPointer<T> second, InOutPointer<T> to_first,
                                InOutPointer<T> to_second, long long first_start, long long second_start,
                                int first_blocks, const __grid_constant__ PackPlaces first_places,
                                const __grid_constant__ PackStrides first_strides,
                                const __grid_constant__ PackPlaces second_places,
                                const __grid_constant__ PackStrides second_strides) {
  if constexpr (PACK == Pack::none) return;  // it is not launched
  DYNAMIC_SHARED(T, tile);
  const unsigned before = static_cast<unsigned>(first_blocks);
  if (blockIdx.x < before) {
    pack_places(first, to_first, first_start, first_places, first_strides, tile, blockIdx.x);
  } else {
    pack_places(second, to_second, second_start, second_places, second_strides, tile, blockIdx.x - before);
  }
}

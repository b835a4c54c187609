// SPDX-License-Identifier: Apache-2.0
// The groups of a contraction's indices as contract.cu sees them. Needs INDEX, M_RANK, N_RANK, K_RANK,
// BATCH_RANK and SPAN_N. The digits of M come first, then those of N, K and the batch, at most 16 in all; in
// each group the fastest comes first. A span other than 1 takes one more digit: the first digit is a place in
// a run of `span` places of an index, the third says which run.

template <int BITS>
struct OffsetOf {
  using type = long long;
};
template <>
struct OffsetOf<32> {
  using type = int;
};
using Offset = typename OffsetOf<INDEX>::type;  // in elements
constexpr Offset nowhere =
    INDEX == 32 ? static_cast<Offset>(-2147483647 - 1) : static_cast<Offset>(-9223372036854775807ll - 1);

// A number for each digit, which a launch passes as Number and kernels use as As.
template <typename Number, typename As = Number>
struct OfDigits {
  Number number[16];
  __device__ __forceinline__ As operator[](int d) const { return static_cast<As>(number[d]); }
};
using Extents = OfDigits<int>;
using Strides = OfDigits<long long, Offset>;

// For each digit: its extent; 2^31 * (the next power of two / the extent), rounded up; and how far it moves
// the two operands and the output.
struct Digits {
  Extents extents, multipliers;
  Strides first, second, out;
};

// Divides `at`, which is below 2^31, by the extent.
__device__ __forceinline__ unsigned divided(unsigned at, int extent, int multiplier) {
  const int shift = 31 + 32 - __clz(extent - 1);
  return static_cast<unsigned>(static_cast<unsigned long long>(at) * static_cast<unsigned>(multiplier) >>
                               shift);
}

// The offsets that a number in a group adds in each array; `nowhere` if it is beyond an index that is counted
// in runs.
struct Place {
  Offset first, second, out;
};

template <int FIRST, int RANK, int SPAN>
struct Counted {
  static constexpr int first = FIRST;
  static constexpr int end = FIRST + RANK + (SPAN > 1 ? 1 : 0);

  // `size` is the count of the group's numbers, `in_runs` the extent of the index that is counted in runs.
  static __device__ __forceinline__ Place place(const Digits& digits, unsigned at, int size, int in_runs) {
    Place place = {0, 0, 0};
    bool inside = at < static_cast<unsigned>(size);
    int run = 0;
#pragma unroll
    for (int d = first; d < end; ++d) {
      const unsigned rest = d + 1 < end ? divided(at, digits.extents[d], digits.multipliers[d]) : 0;
      const int digit = static_cast<int>(at - rest * static_cast<unsigned>(digits.extents[d]));
      if (SPAN > 1 && d == first) run = digit;
      if (SPAN > 1 && d == first + 2) inside = inside && run + digit * SPAN < in_runs;
      place.first += digit * digits.first[d];
      place.second += digit * digits.second[d];
      place.out += digit * digits.out[d];
      at = rest;
    }
    return inside ? place : Place{nowhere, nowhere, nowhere};
  }
};

using M = Counted<0, M_RANK, 1>;
using N = Counted<M::end, N_RANK, SPAN_N>;
using K = Counted<N::end, K_RANK, 1>;
using Batch = Counted<K::end, BATCH_RANK, 1>;

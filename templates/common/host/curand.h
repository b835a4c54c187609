// SPDX-License-Identifier: Apache-2.0
// The host twin of <curand_kernel.h> for Philox4x32-10 (Salmon et al. 2011): the same numbers as on a GPU, up
// to the rounding of normal ones.
#pragma once

#include "common/host/bits.h"
#include "common/host/builtins.h"
#include "common/host/math.h"

// `ctr` counts blocks of four numbers, `output` is its block, and STATE the next number of it.
struct curandStatePhilox4_32_10 {
  uint4 ctr, output;
  uint2 key;
  unsigned STATE;
  int has_normal;
  float next_normal;
  int unused[3];
};
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;
struct curandStateXORWOW {};
struct curandStateMRG32k3a {};
struct curandStateMtgp32 {};
struct curandStateSobol32 {};
typedef curandStateXORWOW curandState, curandState_t, curandStateXORWOW_t;
typedef curandStateMRG32k3a curandStateMRG32k3a_t;

namespace tunesmith_shim {

inline uint4 philox(uint4 counter, uint2 key) {
  for (int round = 0; round < 10; ++round) {
    const unsigned long long first = 0xd2511f53ull * counter.x, second = 0xcd9e8d57ull * counter.z;
    counter = {static_cast<unsigned>(second >> 32) ^ counter.y ^ key.x, static_cast<unsigned>(second),
               static_cast<unsigned>(first >> 32) ^ counter.w ^ key.y, static_cast<unsigned>(first)};
    key = {key.x + 0x9e3779b9u, key.y + 0xbb67ae85u};
  }
  return counter;
}

inline unsigned long long joined(unsigned low, unsigned high) {
  return static_cast<unsigned long long>(high) << 32 | low;
}

// Goes on by so many blocks, and by so many sequences of 2^64 of them.
inline void advance(curandStatePhilox4_32_10* state, unsigned long long blocks,
                    unsigned long long sequences) {
  const unsigned long long low = joined(state->ctr.x, state->ctr.y) + blocks;
  const unsigned long long high = joined(state->ctr.z, state->ctr.w) + sequences + (low < blocks ? 1 : 0);
  state->ctr = {static_cast<unsigned>(low), static_cast<unsigned>(low >> 32), static_cast<unsigned>(high),
                static_cast<unsigned>(high >> 32)};
  state->output = philox(state->ctr, state->key);
}

inline float uniform_of(unsigned x) { return static_cast<float>(x) * 0x1p-32f + 0x1p-33f; }
inline float2 normals_of(unsigned x, unsigned y) {
  const float size = sqrtf(-2.0f * logf(uniform_of(x)));
  const float turn = 0x1p-32f * 6.2831855f, angle = static_cast<float>(y) * turn + turn / 2;
  return {size * sinf(angle), size * cosf(angle)};
}

}  // namespace tunesmith_shim

inline void skipahead(unsigned long long count, curandStatePhilox4_32_10* state) {
  const unsigned long long all = state->STATE + (count & 3);
  state->STATE = static_cast<unsigned>(all & 3);
  tunesmith_shim::advance(state, count / 4 + all / 4, 0);
}
inline void skipahead_sequence(unsigned long long count, curandStatePhilox4_32_10* state) {
  tunesmith_shim::advance(state, 0, count);
}
inline void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                        curandStatePhilox4_32_10* state) {
  *state = {};
  state->key = {static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32)};
  skipahead_sequence(subsequence, state);
  skipahead(offset, state);
}
template <typename Other>
inline void curand_init(unsigned long long, unsigned long long, unsigned long long, Other*) {
  static_assert(
      sizeof(Other) == 0,
      "of curand's generators the host emulates curandStatePhilox4_32_10_t only: take that one, or tune "
      "on a GPU");
}

inline unsigned curand(curandStatePhilox4_32_10* state) {
  const unsigned numbers[4] = {state->output.x, state->output.y, state->output.z, state->output.w};
  const unsigned number = numbers[state->STATE & 3];
  skipahead(1, state);
  return number;
}
inline uint4 curand4(curandStatePhilox4_32_10* state) {
  const unsigned x = curand(state), y = curand(state), z = curand(state);
  return {x, y, z, curand(state)};
}
inline float curand_uniform(curandStatePhilox4_32_10* state) {
  return tunesmith_shim::uniform_of(curand(state));
}
inline float4 curand_uniform4(curandStatePhilox4_32_10* state) {
  const uint4 all = curand4(state);
  return {tunesmith_shim::uniform_of(all.x), tunesmith_shim::uniform_of(all.y),
          tunesmith_shim::uniform_of(all.z), tunesmith_shim::uniform_of(all.w)};
}
inline double curand_uniform_double(curandStatePhilox4_32_10* state) {
  return curand(state) * 0x1p-32 + 0x1p-32;
}
inline float2 curand_normal2(curandStatePhilox4_32_10* state) {
  const unsigned x = curand(state), y = curand(state);
  return tunesmith_shim::normals_of(x, y);
}
inline float4 curand_normal4(curandStatePhilox4_32_10* state) {
  const float2 first = curand_normal2(state), second = curand_normal2(state);
  return {first.x, first.y, second.x, second.y};
}
inline float curand_normal(curandStatePhilox4_32_10* state) {
  if (state->has_normal != 0) {
    state->has_normal = 0;
    return state->next_normal;
  }
  const float2 both = curand_normal2(state);
  state->has_normal = 1;
  state->next_normal = both.y;
  return both.x;
}

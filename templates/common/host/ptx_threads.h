// SPDX-License-Identifier: Apache-2.0
// Instructions of PTX in which threads meet, and the registers that tell a thread which one it is.
#pragma once

#include "common/host/block.h"
#include "common/host/exchange.h"
#include "common/host/intrinsics.h"
#include "common/host/language.h"
#include "common/host/ptx_operands.h"

namespace tunesmith_ptx {

// A barrier of a block with a number. The threads that wait at it may be some of the block's.
struct NumberedBarrier {
  unsigned phase;
  int missing;  // threads that have not arrived; 0: none has
  unsigned long long block;
};
constexpr int numbered_barriers = 16;
static NumberedBarrier barriers[numbered_barriers];

TUNESMITH_UNWATCHED inline unsigned arrive_at_numbered(NumberedBarrier& one, int threads) {
  if (one.block != tunesmith_shim::blocks_run) {
    one.block = tunesmith_shim::blocks_run;
    one.missing = 0;
  }
  if (one.missing == 0) one.missing = threads;
  const unsigned phase = one.phase;
  TUNESMITH_TELL(signal, reinterpret_cast<const char*>(&one) + (phase & 1), tunesmith_shim::thread_number(),
                 0);
  if (--one.missing == 0) ++one.phase;
  return phase;
}
inline NumberedBarrier& barrier_of(unsigned number) {
  if (number >= static_cast<unsigned>(numbered_barriers)) __trap();
  return barriers[number % static_cast<unsigned>(numbered_barriers)];
}

template <typename Barrier>
inline void bar_sync(const Barrier& number, int line = __builtin_LINE()) {
  const auto n = get<u32>(number);
  if (n == 0) {
    tunesmith_shim::barrier(false, line);
  } else {
    bar_sync(number, Number{tunesmith_shim::threads_of_block()}, line);
  }
}
template <typename Barrier, typename Threads>
TUNESMITH_UNWATCHED inline void bar_sync(const Barrier& number, const Threads& threads,
                                         int line = __builtin_LINE()) {
  static_cast<void>(line);
  NumberedBarrier& one = barrier_of(get<u32>(number));
  const unsigned phase = arrive_at_numbered(one, get<int>(threads));
  tunesmith_shim::wait_for_signal(&one.phase, phase);
  TUNESMITH_TELL(signal, reinterpret_cast<const char*>(&one) + (phase & 1), tunesmith_shim::thread_number(),
                 1);
}
template <typename Barrier, typename Threads>
inline void bar_arrive(const Barrier& number, const Threads& threads) {
  arrive_at_numbered(barrier_of(get<u32>(number)), get<int>(threads));
}
template <typename Mask>
inline void bar_warp_sync(const Mask& mask, int line = __builtin_LINE()) {
  __syncwarp(get<u32>(mask), line);
}

inline void membar_cta() { __threadfence_block(); }
inline void membar_gl() { __threadfence(); }
inline void membar_sys() { __threadfence(); }
inline void fence_cta() { __threadfence_block(); }
inline void fence_gpu() { __threadfence(); }
inline void fence_cluster() { __threadfence(); }
inline void fence_sys() { __threadfence(); }

template <typename Register>
inline void activemask(Register& to, int line = __builtin_LINE()) {
  set(to, __activemask(line));
}
template <typename Register, typename P, typename Mask>
inline void vote_ballot(Register& to, const P& p, const Mask& mask, int line = __builtin_LINE()) {
  set(to, __ballot_sync(get<u32>(mask), get<bool>(p) ? 1 : 0, line));
}
template <typename Register, typename P, typename Mask>
inline void vote_all(Register& to, const P& p, const Mask& mask, int line = __builtin_LINE()) {
  set(to, __all_sync(get<u32>(mask), get<bool>(p) ? 1 : 0, line) != 0);
}
template <typename Register, typename P, typename Mask>
inline void vote_any(Register& to, const P& p, const Mask& mask, int line = __builtin_LINE()) {
  set(to, __any_sync(get<u32>(mask), get<bool>(p) ? 1 : 0, line) != 0);
}
template <typename Register, typename P, typename Mask>
inline void vote_uni(Register& to, const P& p, const Mask& mask, int line = __builtin_LINE()) {
  const unsigned votes = __ballot_sync(get<u32>(mask), get<bool>(p) ? 1 : 0, line);
  set(to, votes == 0 || votes == tunesmith_shim::met);
}

// A shuffle: `c` has the last lane of a segment in bits 0 to 4, and in bits 8 to 12 which bits of the lane
// number the segment.
#define TUNESMITH_PTX_SHUFFLE(name, its_from, its_is_inside)                                       \
  template <typename D, typename A, typename B, typename C, typename Mask>                         \
  inline void shfl_##name(D&& to, const A& a, const B& b, const C& c, const Mask& mask,            \
                          int line = __builtin_LINE()) {                                           \
    tunesmith_shim::meet(get<u32>(mask), get<u32>(a), line);                                       \
    const int own = tunesmith_shim::running->lane, by = static_cast<int>(get<u32>(b) & 31u);       \
    const int segment = static_cast<int>(get<u32>(c) >> 8 & 31u), clamp = get<int>(c) & 31;        \
    [[maybe_unused]] const int first = own & segment, last = (own & segment) | (clamp & ~segment); \
    const int from = its_from;                                                                     \
    const bool is_inside = its_is_inside;                                                          \
    set_with(to, tunesmith_shim::given<u32>(is_inside ? from : own), is_inside);                   \
  }
TUNESMITH_PTX_SHUFFLE(up, own - by, from >= last)
TUNESMITH_PTX_SHUFFLE(down, own + by, from <= last)
TUNESMITH_PTX_SHUFFLE(bfly, own ^ by, from <= last)
TUNESMITH_PTX_SHUFFLE(idx, first | (by & ~segment), from <= last)
#undef TUNESMITH_PTX_SHUFFLE

template <typename T, typename Register, typename A, typename Mask>
inline void match_any(Register& to, const A& a, const Mask& mask, int line = __builtin_LINE()) {
  set(to, __match_any_sync(get<u32>(mask), get<T>(a), line));
}
template <typename T, typename D, typename A, typename Mask>
inline void match_all(D&& to, const A& a, const Mask& mask, int line = __builtin_LINE()) {
  int all = 0;
  const unsigned same = __match_all_sync(get<u32>(mask), get<T>(a), &all, line);
  set_with(to, same, all != 0);
}
#define TUNESMITH_PTX_REDUX(name)                                                                     \
  template <typename T, typename Register, typename A, typename Mask>                                 \
  inline void redux_##name(Register& to, const A& a, const Mask& mask, int line = __builtin_LINE()) { \
    set(to, __reduce_##name##_sync(get<u32>(mask), get<T>(a), line));                                 \
  }
TUNESMITH_PTX_REDUX(add)
TUNESMITH_PTX_REDUX(min)
TUNESMITH_PTX_REDUX(max)
TUNESMITH_PTX_REDUX(and)
TUNESMITH_PTX_REDUX(or)
TUNESMITH_PTX_REDUX(xor)
#undef TUNESMITH_PTX_REDUX
// One lane of the mask, the lowest, is elected.
template <typename D, typename Mask>
inline void elect(D&& to, const Mask& mask, int line = __builtin_LINE()) {
  tunesmith_shim::meet(get<u32>(mask), 0, line);
  const int first = __builtin_ctz(tunesmith_shim::met);
  set_with(to, static_cast<u32>(first), tunesmith_shim::running->lane == first);
}

inline void trap() { __trap(); }
template <typename Time>
inline void nanosleep(const Time& time) {
  __nanosleep(get<u32>(time));
}

inline u32 special_tid_x() { return threadIdx.x; }
inline u32 special_tid_y() { return threadIdx.y; }
inline u32 special_tid_z() { return threadIdx.z; }
inline u32 special_ntid_x() { return blockDim.x; }
inline u32 special_ntid_y() { return blockDim.y; }
inline u32 special_ntid_z() { return blockDim.z; }
inline u32 special_ctaid_x() { return blockIdx.x; }
inline u32 special_ctaid_y() { return blockIdx.y; }
inline u32 special_ctaid_z() { return blockIdx.z; }
inline u32 special_nctaid_x() { return gridDim.x; }
inline u32 special_nctaid_y() { return gridDim.y; }
inline u32 special_nctaid_z() { return gridDim.z; }
inline u32 special_laneid() { return tunesmith_shim::rank_in_block() % 32; }
inline u32 special_warpid() { return tunesmith_shim::rank_in_block() / 32; }
inline u32 special_nwarpid() { return (tunesmith_shim::threads_of_block() + 31) / 32; }
constexpr u32 multiprocessors = 132;  // as the host's facts have it (DeviceFacts)
inline u32 special_smid() {
  return ((blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x) % multiprocessors;
}
inline u32 special_nsmid() { return multiprocessors; }
inline u32 special_lanemask_eq() { return 1u << special_laneid(); }
inline u32 special_lanemask_lt() { return special_lanemask_eq() - 1; }
inline u32 special_lanemask_le() { return special_lanemask_lt() | special_lanemask_eq(); }
inline u32 special_lanemask_gt() { return ~special_lanemask_le(); }
inline u32 special_lanemask_ge() { return ~special_lanemask_lt(); }
inline u32 special_clock() { return static_cast<u32>(clock()); }
inline u64 special_clock64() { return static_cast<u64>(clock64()); }
inline u64 special_globaltimer() { return static_cast<u64>(clock64()); }
inline u32 special_globaltimer_lo() { return static_cast<u32>(clock64()); }
inline u32 special_globaltimer_hi() { return static_cast<u32>(special_globaltimer() >> 32); }

}  // namespace tunesmith_ptx

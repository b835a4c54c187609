// SPDX-License-Identifier: Apache-2.0
// Warps and their collectives (shuffles, votes, matches, reductions).
//
// A warp is 32 neighbouring threads that start together. A thread at a collective waits until all threads
// that its mask names have come to the same line with the same mask, or have returned. The value of a
// returned thread, or of one that the mask does not name, is all ones. If no thread of the warp can go on
// before that, the launch ends with an error.
#pragma once

#include <string.h>

#include "common/host/builtins.h"
#include "common/host/fibers.h"
#include "common/host/shared_memory.h"

namespace tunesmith_shim {

constexpr int at_update = -0x7fffffff - 1;           // the line of lanes that come to an atomic operation
static int meeting = 0;                              // fibers at a collective
static unsigned long long meetings = 0;              // collectives so far
static unsigned met = 0;                             // lanes of the collective that has just taken place
static unsigned met_votes = 0;                       // the lanes among these whose operand is not 0
static unsigned long long met_operands[warp_lanes];  // the operands of all lanes

// Runs one warp, the fibers waiting[first] to waiting[count - 1], until each has finished or waits at a
// barrier. Returns the new count. It is marked cold so that it is compiled for size, which takes less time:
// every variant compiles it.
TUNESMITH_UNWATCHED __attribute__((noinline, cold)) static int settle(int first, int count) {
  while (meeting > 0) {
    unsigned alive = 0;
    bool is_here = false, waits = false;
    for (int n = first; n < count; ++n) {
      const Fiber& fiber = fibers[waiting[n]];
      alive |= 1u << fiber.lane;
      is_here |= fiber.mask != 0;
      waits |= fiber.signal != nullptr;
    }
    const Fiber* ready = nullptr;
    for (int n = first; n < count && (ready == nullptr || ready->line < 0); ++n) {
      const Fiber& fiber = fibers[waiting[n]];
      if (fiber.mask == 0) continue;
      unsigned here = 0;
      for (int m = first; m < count; ++m) {
        const Fiber& other = fibers[waiting[m]];
        if (other.line == fiber.line && other.mask == fiber.mask) here |= 1u << other.lane;
      }
      // __activemask takes whichever lanes have come, so it runs only when no other collective can.
      if (fiber.line < 0 ? ready == nullptr : here == (fiber.mask & alive)) {
        ready = &fiber;
        met = here;
      }
    }
    if (ready == nullptr) {
      // Threads at a collective of another warp, or a lane that waits for a signal, may come later.
      if (is_here && !waits) failure = divergent_warp;
      return count;
    }
    // Coming to an atomic operation puts nothing in order.
    if (ready->line != at_update) TUNESMITH_TELL(collective, fibers[waiting[first]].warp, met);
    ++meetings;
    met_votes = 0;
    memset(met_operands, nan_poison, sizeof(met_operands));
    for (int n = first; n < count; ++n) {
      Fiber& fiber = fibers[waiting[n]];
      if ((met >> fiber.lane & 1) == 0) continue;
      met_operands[fiber.lane] = fiber.operand;
      if (fiber.operand != 0) met_votes |= 1u << fiber.lane;
    }
    int still = first;
    const unsigned group = met;
    for (int n = first; n < count; ++n) {
      const int f = waiting[n];
      if ((group >> fibers[f].lane & 1) != 0) {
        fibers[f].mask = 0;
        --meeting;
        resume(&fibers[f]);
        if (failure != ok) return count;
      }
      if (!fibers[f].finished) waiting[still++] = f;
    }
    count = still;
  }
  return count;
}

// Returns when the lanes of `mask` have met. Then met, met_votes and met_operands belong to these lanes.
TUNESMITH_UNWATCHED __attribute__((noinline)) static void meet(unsigned mask, unsigned long long operand,
                                                               int line) {
  if ((mask >> running->lane & 1) == 0) fail(divergent_warp);
  running->line = line;
  running->mask = mask;
  running->operand = operand;
  ++meeting;
  to_scheduler(false);
}

}  // namespace tunesmith_shim

// The default argument gives the line of the call, even if an optimizer merges two calls.
inline void __syncwarp(unsigned mask = ~0u, int line = __builtin_LINE()) {
  tunesmith_shim::meet(mask, 0, line);
}
inline unsigned __activemask(int line = __builtin_LINE()) {
  tunesmith_shim::meet(~0u, 0, -line);
  return tunesmith_shim::met;
}
inline unsigned __ballot_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  tunesmith_shim::meet(mask, static_cast<unsigned>(predicate), line);
  return tunesmith_shim::met_votes;
}
inline int __any_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  return __ballot_sync(mask, predicate, line) != 0 ? 1 : 0;
}
inline int __all_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  return __ballot_sync(mask, predicate, line) == tunesmith_shim::met ? 1 : 0;
}

namespace tunesmith_shim {

// The type to which an integer is promoted, as if there were an overload for each arithmetic type.
template <typename Number>
using Promoted = decltype(Number() + Number());

template <typename Number>
inline unsigned long long operand(Number value) {
  unsigned long long all = 0;
  memcpy(&all, &value, sizeof(value));
  return all;
}

// The value that `lane` gave.
template <typename Number>
inline Number given(int lane) {
  Number value;
  memcpy(&value, &met_operands[lane], sizeof(value));
  return value;
}

}  // namespace tunesmith_shim

// `own` is this lane; `first` and `last` are the first and last lanes of its segment of `width` lanes. The
// value comes from lane `from`, or from the lane itself if `from` is beyond the segment.
#define TUNESMITH_SHUFFLE(name, type, from)                                                                \
  template <typename Number>                                                                               \
  inline tunesmith_shim::Promoted<Number> name(unsigned mask, Number value, type by, int width = warpSize, \
                                               int line = __builtin_LINE()) {                              \
    const tunesmith_shim::Promoted<Number> promoted = value;                                               \
    tunesmith_shim::meet(mask, tunesmith_shim::operand(promoted), line);                                   \
    const int own = tunesmith_shim::running->lane;                                                         \
    [[maybe_unused]] const int first = own & ~(width - 1), last = own | (width - 1);                       \
    const int n = static_cast<int>(by) & 31;                                                               \
    return tunesmith_shim::given<tunesmith_shim::Promoted<Number>>(from);                                  \
  }
TUNESMITH_SHUFFLE(__shfl_sync, int, first | (n & (width - 1)))
TUNESMITH_SHUFFLE(__shfl_up_sync, unsigned, own - n < first ? own : own - n)
TUNESMITH_SHUFFLE(__shfl_down_sync, unsigned, own + n > last ? own : own + n)
TUNESMITH_SHUFFLE(__shfl_xor_sync, int, (own ^ n) > last ? own : own ^ n)
#undef TUNESMITH_SHUFFLE

template <typename Number>
inline unsigned __match_any_sync(unsigned mask, Number value, int line = __builtin_LINE()) {
  const tunesmith_shim::Promoted<Number> promoted = value;
  const unsigned long long own = tunesmith_shim::operand(promoted);
  tunesmith_shim::meet(mask, own, line);
  unsigned same = 0;
  for (int lane = 0; lane < warpSize; ++lane)
    same |= (tunesmith_shim::met_operands[lane] == own ? 1u : 0u) << lane;
  return same & tunesmith_shim::met;
}
template <typename Number>
inline unsigned __match_all_sync(unsigned mask, Number value, int* all, int line = __builtin_LINE()) {
  const unsigned same = __match_any_sync(mask, value, line);
  *all = same == tunesmith_shim::met ? 1 : 0;
  return *all != 0 ? same : 0;
}

#define TUNESMITH_REDUCE(name, type, expression)                             \
  inline type name(unsigned mask, type value, int line = __builtin_LINE()) { \
    tunesmith_shim::meet(mask, tunesmith_shim::operand(value), line);        \
    for (int lane = 0; lane < warpSize; ++lane) {                            \
      if (lane == tunesmith_shim::running->lane) continue;                   \
      if ((tunesmith_shim::met >> lane & 1) == 0) continue;                  \
      const type other = tunesmith_shim::given<type>(lane);                  \
      value = expression;                                                    \
    }                                                                        \
    return value;                                                            \
  }
TUNESMITH_REDUCE(__reduce_add_sync, unsigned, value + other)
TUNESMITH_REDUCE(__reduce_min_sync, unsigned, other < value ? other : value)
TUNESMITH_REDUCE(__reduce_max_sync, unsigned, value < other ? other : value)
TUNESMITH_REDUCE(__reduce_add_sync, int,
                 static_cast<int>(static_cast<unsigned>(value) + static_cast<unsigned>(other)))
TUNESMITH_REDUCE(__reduce_min_sync, int, other < value ? other : value)
TUNESMITH_REDUCE(__reduce_max_sync, int, value < other ? other : value)
TUNESMITH_REDUCE(__reduce_and_sync, unsigned, value& other)
TUNESMITH_REDUCE(__reduce_or_sync, unsigned, value | other)
TUNESMITH_REDUCE(__reduce_xor_sync, unsigned, value ^ other)
#undef TUNESMITH_REDUCE

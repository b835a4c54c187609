// SPDX-License-Identifier: Apache-2.0
// A block and its barriers.
//
// The threads run in order (or in reverse), each to its first barrier, so that a missing barrier reads poison
// or old data. As on a GPU, a thread that has returned counts as arrived at every later barrier. If threads
// wait at different lines, the launch ends with an error.
#pragma once

#include "common/host/builtins.h"
#include "common/host/fibers.h"
#include "common/host/warp.h"

namespace tunesmith_shim {

static int arrived = 0;           // threads at the barrier that is filling up
static int votes = 0;             // the threads among these whose predicate is true
static int released_arrived = 0;  // `arrived` of the barrier that has just opened
static int released_votes = 0;

static int still_waiting = 0;  // the fibers of a block whose result is never_signalled

// Looks in vain after which no thread is expected to find a change.
constexpr unsigned long long most_looks_in_vain = 1ull << 23;

// Goes on with the first `count` fibers of `waiting`, in rounds until all have finished.
TUNESMITH_UNWATCHED static int go_on(int count) {
  while (count > 0) {
    const bool opens = at_signals == 0;  // otherwise only threads whose signal has come go on
    ++turn_of_waiting;
    if (looks_in_vain > most_looks_in_vain) return waits_for_ever;
    if (opens) {
      looks_in_vain = 0;
      for (int n = 1; n < count; ++n) {
        if (fibers[waiting[n]].line != fibers[waiting[0]].line) return divergent_barrier;
      }
      TUNESMITH_TELL(barrier, arrived);
      released_arrived = arrived;
      released_votes = votes;
      arrived = votes = 0;
    }
    bool moved = opens;
    int still = 0;
    int first = 0;  // the warp's first waiting fiber
    for (int n = 0; n < count; ++n) {
      const int f = waiting[n];
      if (opens || (fibers[f].signal != nullptr && *fibers[f].signal != fibers[f].signal_before)) {
        moved = true;
        resume(&fibers[f]);
      }
      if (failure != ok) return failure;
      if (fibers[f].finished) {
        looks_in_vain = 0;
      } else {
        waiting[still++] = f;
      }
      if (n + 1 < count && fibers[waiting[n + 1]].warp == fibers[f].warp) continue;
      first = still = settle(first, still);
      if (failure != ok) return failure;
    }
    count = still;
    if (!moved) {
      still_waiting = count;
      return never_signalled;
    }
  }
  return ok;
}

// Runs one block: every thread runs to its first barrier, warp after warp; then rounds follow.
TUNESMITH_UNWATCHED static int run_block(int threads) {
  int count = 0;
  failure = ok;
  arrived = votes = meeting = at_signals = 0;
  looks_in_vain = 0;
  ++blocks_run;
  warp = 0;
  next_thread = {0, 0, 0};
  if (reversed) next_thread = {blockDim.x - 1, blockDim.y - 1, blockDim.z - 1};
  for (int left = threads; left > 0; left -= lanes, ++warp) {
    lanes = left < warp_lanes ? left : warp_lanes;
    if (reversed && left % warp_lanes != 0) lanes = left % warp_lanes;
    threads_left = lanes;
    const int first = count;
    while (threads_left > 0) {
      const int f = count == 0 ? 0 : waiting[count - 1] + 1;
      Fiber* fiber = &fibers[f];
      if (!start(fiber)) return out_of_memory;
      resume(fiber);
      if (failure != ok) return failure;
      if (!fiber->finished) {
        waiting[count] = f;
        ++count;
      }
    }
    count = settle(first, count);
    if (failure != ok) return failure;
  }
  return go_on(count);
}

TUNESMITH_UNWATCHED __attribute__((noinline)) static void barrier(bool predicate, int line) {
  running->line = line;
  ++arrived;
  votes += predicate ? 1 : 0;
  to_scheduler(false);
}

}  // namespace tunesmith_shim

// The default argument gives the line of the call, even if an optimizer merges two calls.
inline void __syncthreads(int line = __builtin_LINE()) { tunesmith_shim::barrier(false, line); }
inline int __syncthreads_count(int predicate, int line = __builtin_LINE()) {
  tunesmith_shim::barrier(predicate != 0, line);
  return tunesmith_shim::released_votes;
}
inline int __syncthreads_or(int predicate, int line = __builtin_LINE()) {
  return __syncthreads_count(predicate, line) > 0 ? 1 : 0;
}
inline int __syncthreads_and(int predicate, int line = __builtin_LINE()) {
  tunesmith_shim::barrier(predicate != 0, line);
  return tunesmith_shim::released_votes == tunesmith_shim::released_arrived ? 1 : 0;
}

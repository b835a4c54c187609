// SPDX-License-Identifier: Apache-2.0
// The wait of a whole grid. A block whose threads all wait is put aside, with its stacks and its shared
// memory, until each block has come there or has ended.
#pragma once

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "common/host/block.h"
#include "common/host/launch.h"
#include "common/host/shared_memory.h"

extern "C" void* realloc(void* memory, size_t size);
extern "C" void* malloc(size_t size);

namespace tunesmith_shim {

struct AsideBlock {
  uint3 index;
  int count;  // of its waiting fibers
  int* waiting;
  Fiber* fibers;
  char* stacks;
  unsigned char* shared;  // static shared memory, and then the dynamic one
};
static AsideBlock* aside = nullptr;
static int blocks_aside = 0;
static unsigned grid_phase = 0;

TUNESMITH_UNWATCHED inline size_t static_shared() {
  return __start_tunesmith_shared == nullptr
             ? 0
             : static_cast<size_t>(__stop_tunesmith_shared - __start_tunesmith_shared);
}

#if defined(__SANITIZE_ADDRESS__)
// Between variables are zones that memcpy() may not copy.
__attribute__((no_sanitize_address)) static void copy_bytes(void* to, const void* from, size_t size) {
  for (size_t at = 0; at < size; ++at)
    static_cast<volatile unsigned char*>(to)[at] = static_cast<const unsigned char*>(from)[at];
}
#else
// Shared memory may have no bytes, and then no address.
TUNESMITH_UNWATCHED inline void copy_bytes(void* to, const void* from, size_t size) {
  if (size > 0) memcpy(to, from, size);
}
#endif

// Keeps the running block's state in `to`.
TUNESMITH_UNWATCHED inline void keep(AsideBlock& to, unsigned char* dynamic, size_t dynamic_size) {
  const int threads = static_cast<int>(blockDim.x * blockDim.y * blockDim.z);
  to.count = still_waiting;
  memcpy(to.waiting, waiting, sizeof(int) * static_cast<size_t>(still_waiting));
  memcpy(to.fibers, fibers, sizeof(Fiber) * static_cast<size_t>(threads));
  copy_bytes(to.shared, reinterpret_cast<unsigned char*>(__start_tunesmith_shared), static_shared());
  copy_bytes(to.shared + static_shared(), dynamic, dynamic_size);
}

TUNESMITH_UNWATCHED inline bool all_wait_for_grid() {
  for (int n = 0; n < still_waiting; ++n)
    if (fibers[waiting[n]].signal != &grid_phase) return false;
  return true;
}

TUNESMITH_UNWATCHED inline bool put_block_aside(unsigned char* dynamic, size_t dynamic_size) {
  if (!all_wait_for_grid()) return false;
  const size_t threads = static_cast<size_t>(blockDim.x * blockDim.y * blockDim.z);
  aside =
      static_cast<AsideBlock*>(realloc(aside, sizeof(AsideBlock) * (static_cast<size_t>(blocks_aside) + 1)));
  AsideBlock& block = aside[blocks_aside++];
  block.index = blockIdx;
  block.waiting = static_cast<int*>(malloc(sizeof(int) * threads));
  block.fibers = static_cast<Fiber*>(malloc(sizeof(Fiber) * threads));
  block.shared = static_cast<unsigned char*>(malloc(static_shared() + dynamic_size + 1));
  block.stacks = stacks;
  keep(block, dynamic, dynamic_size);
  memset(fibers, 0, sizeof(Fiber) * threads);  // the next block's threads get stacks of their own
  stacks = nullptr;
  return reserve_stacks();
}

// Lets the blocks go on, phase after phase; without shared memory it only forgets them.
TUNESMITH_UNWATCHED inline int blocks_go_on(unsigned char* dynamic, size_t dynamic_size) {
  const size_t threads = static_cast<size_t>(blockDim.x * blockDim.y * blockDim.z);
  const unsigned long long all = 1ull * gridDim.x * gridDim.y * gridDim.z;
  int result = ok, left = dynamic == nullptr ? 0 : blocks_aside;
#if defined(TUNESMITH_WATCHED)
  const bool runs_all = watch == nullptr || watch->runs_all(watch->self) != 0;
#else
  const bool runs_all = true;
#endif
  if (left > 0 && runs_all && static_cast<unsigned long long>(left) < all) result = grid_waits;
  if (blocks_aside == 0) return ok;
  Fiber* const idle = static_cast<Fiber*>(malloc(sizeof(Fiber) * threads));
  char* const idle_stacks = stacks;
  memcpy(idle, fibers, sizeof(Fiber) * threads);
  while (left > 0 && result == ok) {
    ++grid_phase;
    TUNESMITH_TELL(grid, -1);
    const int before = left;
    left = 0;
    for (int n = 0; n < blocks_aside && result == ok; ++n) {
      AsideBlock& block = aside[n];
      if (block.count == 0) continue;
      blockIdx = block.index;
      memcpy(fibers, block.fibers, sizeof(Fiber) * threads);
      memcpy(waiting, block.waiting, sizeof(int) * static_cast<size_t>(block.count));
      copy_bytes(reinterpret_cast<unsigned char*>(__start_tunesmith_shared), block.shared, static_shared());
      copy_bytes(dynamic, block.shared + static_shared(), dynamic_size);
      stacks = block.stacks;
      at_signals = block.count;
      arrived = votes = meeting = 0;
      failure = ok;
      TUNESMITH_TELL(grid,
                     (static_cast<long long>(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x);
      result = go_on(block.count);
      block.count = 0;
      if (result != never_signalled || !all_wait_for_grid()) continue;
      result = ok;
      keep(block, dynamic, dynamic_size);
      ++left;
    }
    if (result == ok && left > 0 && left < before) result = grid_waits;
  }
  for (int n = 0; n < blocks_aside; ++n) {
    munmap(aside[n].stacks, max_threads * (stack_bytes + page));
    free(aside[n].waiting);
    free(aside[n].fibers);
    free(aside[n].shared);
  }
  free(aside);
  aside = nullptr;
  blocks_aside = 0;
  memcpy(fibers, idle, sizeof(Fiber) * threads);
  free(idle);
  stacks = idle_stacks;
  at_signals = 0;
  return result;
}

struct GridBarriers {
  GridBarriers() {
    put_aside = put_block_aside;
    go_on_together = blocks_go_on;
  }
};
static const GridBarriers grid_barriers;

// Waits for all threads of the grid; what they have done before is known behind it.
TUNESMITH_UNWATCHED inline void wait_for_grid(int line) {
  running->line = line;
  wait_for_signal(&grid_phase, grid_phase);
}

}  // namespace tunesmith_shim

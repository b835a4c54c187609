// SPDX-License-Identifier: Apache-2.0
// Copies from global to shared memory that arrive only when their thread waits for them. Until then the
// target holds poison, so that a missing wait shows. Groups are those of cp.async.
#pragma once

#include <stddef.h>
#include <string.h>

#include "common/host/aligned.h"
#include "common/host/fibers.h"
#include "common/host/shared_memory.h"

extern "C" {
void* realloc(void* memory, size_t size);
void free(void* memory);
}

namespace tunesmith_shim {

struct PendingCopy {
  void* to;
  unsigned char bytes[16];
  int size;
  int group;            // of the thread, or the phase of its barrier
  const void* barrier;  // the cuda::barrier to whose phase it is bound, or null
};
struct PendingCopies {  // the copies of one fiber
  PendingCopy* copies;
  int count, room;
  int group;  // the group that is being filled
  uint3 thread;
  unsigned long long block;  // of all that have run
};
static PendingCopies pending_copies[max_threads];

// Frees the copies when the kernel is unloaded.
__attribute__((destructor)) static void free_pending_copies() {
  for (PendingCopies& mine : pending_copies) free(mine.copies);
}

TUNESMITH_UNWATCHED inline PendingCopies& pending_of_thread() {
  PendingCopies& mine = pending_copies[running - fibers];
  const uint3 &at = running->thread, &of = mine.thread;
  if (at.x != of.x || at.y != of.y || at.z != of.z || mine.block != blocks_run) {  // another thread had it
    mine.count = mine.group = 0;
    mine.thread = at;
    mine.block = blocks_run;
  }
  return mine;
}

// `from` gives the first `read` bytes; the others are 0.
TUNESMITH_UNWATCHED inline void copy_later(void* to, const void* from, int size, int read,
                                           const void* barrier = nullptr, unsigned phase = 0) {
  require_alignment(to, static_cast<size_t>(size));
  if (read > 0) require_alignment(from, static_cast<size_t>(size));
  if (read > 0) TUNESMITH_NOTE(from, read, reads);
  TUNESMITH_NOTE(to, size, writes);
  PendingCopies& mine = pending_of_thread();
  if (mine.count == mine.room) {
    mine.room = 2 * mine.room + 16;
    mine.copies =
        static_cast<PendingCopy*>(realloc(mine.copies, sizeof(PendingCopy) * static_cast<size_t>(mine.room)));
    if (mine.copies == nullptr) abort();
  }
  PendingCopy& copy = mine.copies[mine.count++];
  copy.to = to;
  copy.size = size;
  copy.group = barrier == nullptr ? mine.group : static_cast<int>(phase);
  copy.barrier = barrier;
  auto* const target = static_cast<unsigned char*>(to);
  const auto* const source = static_cast<const unsigned char*>(from);
  for (int i = 0; i < size; ++i) copy.bytes[i] = i < read ? source[i] : 0;
  for (int i = 0; i < size; ++i) target[i] = poison[i / 16 % 2];
}

TUNESMITH_UNWATCHED inline void end_copy_group() { ++pending_of_thread().group; }

TUNESMITH_UNWATCHED inline void arrive(const PendingCopy& copy) {
  auto* const target = static_cast<unsigned char*>(copy.to);
  for (int i = 0; i < copy.size; ++i) target[i] = copy.bytes[i];
}

// Waits until only the last `left` groups, or fewer, have not arrived.
TUNESMITH_UNWATCHED inline void wait_for_groups(int left) {
  PendingCopies& mine = pending_of_thread();
  int still = 0;
  for (int n = 0; n < mine.count; ++n) {
    const PendingCopy& copy = mine.copies[n];
    if (copy.barrier != nullptr || copy.group >= mine.group - left) {
      mine.copies[still++] = copy;
      continue;
    }
    TUNESMITH_NOTE(copy.to, copy.size, writes);
    arrive(copy);
  }
  mine.count = still;
}

// The copies of all threads that are bound to a phase of a barrier, or to an earlier one, arrive, because a
// thread has waited for it. Their threads noted the stores when they began the copies, so another thread that
// reads without waiting is found.
[[maybe_unused]] TUNESMITH_UNWATCHED static void arrive_at(const void* barrier, unsigned phase) {
  for (PendingCopies& one : pending_copies) {
    if (one.count == 0 || one.block != blocks_run) continue;
    int still = 0;
    for (int n = 0; n < one.count; ++n) {
      const PendingCopy& copy = one.copies[n];
      if (copy.barrier != barrier || copy.group > static_cast<int>(phase)) {
        one.copies[still++] = copy;
        continue;
      }
      arrive(copy);
    }
    one.count = still;
  }
}

}  // namespace tunesmith_shim

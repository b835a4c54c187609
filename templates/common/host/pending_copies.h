// SPDX-License-Identifier: Apache-2.0
// Copies from global to shared memory that arrive only when their thread waits for them. Until then the
// target holds poison, so that a missing wait shows. Groups are those of cp.async.
#pragma once

#include <stddef.h>

#include "common/host/aligned.h"
#include "common/host/pending.h"
#include "common/host/shared_memory.h"

namespace tunesmith_shim {

struct PendingCopy {
  void* to;
  unsigned char bytes[16];
  int size;
  int group;            // of the thread, or the phase of its barrier
  const void* barrier;  // the cuda::barrier to whose phase it is bound, or null
};
static Pending<PendingCopy> pending_copies[max_threads];

// Frees the copies when the kernel is unloaded.
__attribute__((destructor)) static void free_pending_copies() { free_lists(pending_copies); }

// `from` gives the first `read` bytes; the others are 0.
TUNESMITH_UNWATCHED inline void copy_later(void* to, const void* from, int size, int read,
                                           const void* barrier = nullptr, unsigned phase = 0) {
  require_alignment(to, static_cast<size_t>(size));
  if (read > 0) require_alignment(from, static_cast<size_t>(size));
  if (read > 0) TUNESMITH_NOTE(from, read, reads);
  TUNESMITH_NOTE(to, size, writes);
  Pending<PendingCopy>& mine = list_of_thread(pending_copies);
  PendingCopy copy;
  copy.to = to;
  copy.size = size;
  copy.group = barrier == nullptr ? mine.group : static_cast<int>(phase);
  copy.barrier = barrier;
  auto* const target = static_cast<unsigned char*>(to);
  const auto* const source = static_cast<const unsigned char*>(from);
  for (int i = 0; i < size; ++i) copy.bytes[i] = i < read ? source[i] : 0;
  mine.add(copy);
  for (int i = 0; i < size; ++i) target[i] = poison[i / 16 % 2];
}

TUNESMITH_UNWATCHED inline void end_copy_group() { ++list_of_thread(pending_copies).group; }

TUNESMITH_UNWATCHED inline void arrive(const PendingCopy& copy) {
  auto* const target = static_cast<unsigned char*>(copy.to);
  for (int i = 0; i < copy.size; ++i) target[i] = copy.bytes[i];
}

// Waits until only the last `left` groups, or fewer, have not arrived.
TUNESMITH_UNWATCHED inline void wait_for_groups(int left) {
  Pending<PendingCopy>& mine = list_of_thread(pending_copies);
  mine.end_some([&mine, left](const PendingCopy& copy) TUNESMITH_UNWATCHED {
    if (copy.barrier != nullptr || copy.group >= mine.group - left) return false;
    TUNESMITH_NOTE(copy.to, copy.size, writes);
    arrive(copy);
    return true;
  });
}

// The copies of all threads that are bound to a phase of a barrier, or to an earlier one, arrive, because a
// thread has waited for it. Their threads noted the stores when they began the copies, so another thread that
// reads without waiting is found.
[[maybe_unused]] TUNESMITH_UNWATCHED static void arrive_at(const void* barrier, unsigned phase) {
  for (Pending<PendingCopy>& one : pending_copies) {
    if (one.count == 0 || one.block != blocks_run) continue;
    one.end_some([=](const PendingCopy& copy) TUNESMITH_UNWATCHED {
      if (copy.barrier != barrier || copy.group > static_cast<int>(phase)) return false;
      arrive(copy);
      return true;
    });
  }
}

}  // namespace tunesmith_shim

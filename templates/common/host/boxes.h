// SPDX-License-Identifier: Apache-2.0
// The host twin of common/boxes.cuh. A box arrives when a thread waits for the phase of the barrier that it
// is bound to; until then its place holds poison. A box is stored when its thread waits for that, as late as
// a GPU may read it.
#pragma once

#include <stddef.h>

#include "common/host/fibers.h"
#include "common/host/pending_copies.h"
#include "common/host/shared_memory.h"
#include "common/host/watch.h"

// As runtime/host_executable.cpp fills it.
struct TensorMap {
  char* first;
  long long strides[5];  // in bytes
  int extents[5], sides[5];
  int rank, element_bytes;
  char unused[32];
};

struct alignas(16) BoxBarrier {
  unsigned phase;
  int expected, missing, bytes;
};

namespace tunesmith_shim {

// One of a barrier's two phases, as the watch knows it.
inline const void* signal_of(const BoxBarrier* barrier, unsigned phase) {
  return reinterpret_cast<const char*>(barrier) + (phase & 1);
}
TUNESMITH_UNWATCHED inline void end_phase(BoxBarrier* barrier) {
  if (barrier->missing < 0) fail(never_signalled);  // more than set() said
  if (barrier->missing > 0 || barrier->bytes != 0) return;
  barrier->missing = barrier->expected;
  ++barrier->phase;
}
TUNESMITH_UNWATCHED inline void arrive_with_bytes(BoxBarrier* barrier, int bytes) {
  TUNESMITH_NOTE(barrier, sizeof(*barrier), updates_in_block);
  TUNESMITH_TELL(signal, signal_of(barrier, barrier->phase), thread_number(), 0);
  --barrier->missing;
  barrier->bytes += bytes;
  end_phase(barrier);
}

// Threads that have called sync() of each of a block's barriers.
static unsigned syncs_ended[16];
static int syncing[16];
static unsigned long long syncs_block;

}  // namespace tunesmith_shim

TUNESMITH_UNWATCHED inline void set(BoxBarrier* barrier, int arrivals) {
  TUNESMITH_NOTE(barrier, sizeof(*barrier), writes);
  *barrier = {0, arrivals, arrivals, 0};
}
inline void show_barriers() {}
inline void arrive_at(BoxBarrier* barrier) { tunesmith_shim::arrive_with_bytes(barrier, 0); }
inline void arrive_with(BoxBarrier* barrier, int bytes) { tunesmith_shim::arrive_with_bytes(barrier, bytes); }

TUNESMITH_UNWATCHED inline void wait_for(BoxBarrier* barrier, unsigned phase) {
  TUNESMITH_NOTE(barrier, sizeof(*barrier), updates_in_block);
  const unsigned running = barrier->phase;
  // A barrier that has not ended a phase yet lets a wait for the one before the first pass.
  const unsigned its = (running & 1u) == phase ? running : running - 1;
  tunesmith_shim::wait_for_signal(&barrier->phase, its);
  tunesmith_shim::arrive_at(barrier, its);
  TUNESMITH_TELL(signal, tunesmith_shim::signal_of(barrier, its), tunesmith_shim::thread_number(), 1);
}

inline void prepare_boxes(const TensorMap&) {}

namespace tunesmith_shim {

constexpr int box_row = 128, box_piece = 16;  // bytes

// Calls visit(piece in shared memory, in the array, its bytes that are in the array) of each piece of a box,
// and returns the bytes of all.
template <typename Visit>
TUNESMITH_UNWATCHED inline int each_piece(char* in_shared, const TensorMap& map, const int* place, int rank,
                                          const Visit& visit) {
  const ptrdiff_t at = in_shared - static_cast<char*>(dynamic_shared);
  if (at % 1024 != 0 || map.rank != rank || map.sides[0] * map.element_bytes != box_row ||
      reinterpret_cast<size_t>(map.first) % box_piece != 0)
    fail(misaligned);
  int rows = 1;
  for (int d = 1; d < rank; ++d) rows *= map.sides[d];
  for (int row = 0; row < rows; ++row) {
    char* in_array = map.first + static_cast<long long>(place[0]) * map.element_bytes;
    bool inside = true;
    for (int d = 1, rest = row; d < rank; rest /= map.sides[d++]) {
      const int its = place[d] + rest % map.sides[d];
      inside = inside && its < map.extents[d];
      in_array += its * map.strides[d];
    }
    const long long left = static_cast<long long>(map.extents[0] - place[0]) * map.element_bytes;
    for (int piece = 0; piece < box_row / box_piece; ++piece) {
      const long long there = inside ? left - piece * box_piece : 0;
      visit(in_shared + row * box_row + (piece ^ row % 8) * box_piece, in_array + piece * box_piece,
            there <= 0          ? 0
            : there < box_piece ? static_cast<int>(there)
                                : box_piece);
    }
  }
  return rows * box_row;
}

struct PendingBox {
  TensorMap map;
  int place[5], rank;
  char* from;
  int group;
};
static Pending<PendingBox> pending_boxes[max_threads];

// Frees the boxes when the kernel is unloaded.
__attribute__((destructor)) static void free_pending_boxes() { free_lists(pending_boxes); }

}  // namespace tunesmith_shim

template <int RANK>
TUNESMITH_UNWATCHED inline void copy_box(void* to, const TensorMap& map, const int (&place)[RANK],
                                         BoxBarrier* barrier) {
  static_assert(RANK >= 2 && RANK <= 5, "as many dimensions as a GPU's version has");
  const auto copy = [&](char* piece, const char* from, int bytes) TUNESMITH_UNWATCHED {
    tunesmith_shim::copy_later(piece, from, tunesmith_shim::box_piece, bytes, barrier, barrier->phase);
  };
  barrier->bytes -= tunesmith_shim::each_piece(static_cast<char*>(to), map, place, RANK, copy);
  tunesmith_shim::end_phase(barrier);
}

template <int RANK>
TUNESMITH_UNWATCHED inline void store_box(const TensorMap& map, const int (&place)[RANK], const void* from) {
  static_assert(RANK >= 2 && RANK <= 5, "as many dimensions as a GPU's version has");
  auto& mine = tunesmith_shim::list_of_thread(tunesmith_shim::pending_boxes);
  tunesmith_shim::PendingBox box = {map, {}, RANK, static_cast<char*>(const_cast<void*>(from)), mine.group};
  for (int d = 0; d < RANK; ++d) box.place[d] = place[d];
  mine.add(box);
}

TUNESMITH_UNWATCHED inline void end_box_group() {
  ++tunesmith_shim::list_of_thread(tunesmith_shim::pending_boxes).group;
}

template <int LEFT>
TUNESMITH_UNWATCHED inline void wait_for_box_groups() {
  auto& mine = tunesmith_shim::list_of_thread(tunesmith_shim::pending_boxes);
  mine.end_some([&mine](const tunesmith_shim::PendingBox& box) TUNESMITH_UNWATCHED {
    if (box.group >= mine.group - LEFT) return false;
    const auto copy = [](const char* piece, char* to, int bytes) TUNESMITH_UNWATCHED {
      if (bytes == 0) return;
      TUNESMITH_NOTE(piece, bytes, reads);
      TUNESMITH_NOTE(to, bytes, writes);
      for (int i = 0; i < bytes; ++i) to[i] = piece[i];
    };
    tunesmith_shim::each_piece(box.from, box.map, box.place, box.rank, copy);
    return true;
  });
}

// The barriers of common/warpgroup.cuh.
template <int THREADS>
TUNESMITH_UNWATCHED inline void sync(int barrier) {
  using namespace tunesmith_shim;
  if (syncs_block != blocks_run) {
    syncs_block = blocks_run;
    for (int& each : syncing) each = 0;
  }
  const unsigned ended = syncs_ended[barrier];
  TUNESMITH_TELL(signal, &syncs_ended[barrier], thread_number(), 0);
  if (++syncing[barrier] == THREADS) {
    syncing[barrier] = 0;
    ++syncs_ended[barrier];
  }
  wait_for_signal(&syncs_ended[barrier], ended);
  TUNESMITH_TELL(signal, &syncs_ended[barrier], thread_number(), 1);
}

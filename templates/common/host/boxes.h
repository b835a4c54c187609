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
  int walks;  // of an image that windows step through; else 0
  short firsts[3], behind[3], steps[3];
  char unused[10];
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

TUNESMITH_UNWATCHED inline void check_box(const char* in_shared, const TensorMap& map, int rank, int walks) {
  const ptrdiff_t at = in_shared - static_cast<char*>(dynamic_shared);
  if (at % 1024 != 0 || map.rank != rank || map.walks != walks ||
      map.sides[0] * map.element_bytes != box_row || reinterpret_cast<size_t>(map.first) % box_piece != 0)
    fail(misaligned);
}

// Visits the pieces of a box's row, whose first element has this place in the array.
template <typename Visit>
TUNESMITH_UNWATCHED inline void each_piece_of_row(char* in_shared, int row, const TensorMap& map,
                                                  const int* place, const Visit& visit) {
  bool inside = true;
  long long at = static_cast<long long>(place[0]) * map.element_bytes;
  for (int d = 1; d < map.rank; ++d) {
    inside = inside && place[d] >= 0 && place[d] < map.extents[d];
    at += place[d] * map.strides[d];
  }
  const long long left = static_cast<long long>(map.extents[0] - place[0]) * map.element_bytes;
  for (int piece = 0; piece < box_row / box_piece; ++piece) {
    const long long there = inside ? left - piece * box_piece : 0;
    visit(in_shared + row * box_row + (piece ^ row % 8) * box_piece, map.first + at + piece * box_piece,
          there <= 0          ? 0
          : there < box_piece ? static_cast<int>(there)
                              : box_piece);
  }
}

// Calls visit(piece in shared memory, in the array, its bytes that are in the array) of each piece of a box,
// and returns the bytes of all.
template <typename Visit>
TUNESMITH_UNWATCHED inline int each_piece(char* in_shared, const TensorMap& map, const int* place, int rank,
                                          const Visit& visit) {
  check_box(in_shared, map, rank, 0);
  int rows = 1;
  for (int d = 1; d < rank; ++d) rows *= map.sides[d];
  for (int row = 0; row < rows; ++row) {
    int its[5] = {place[0]};
    for (int d = 1, rest = row; d < rank; rest /= map.sides[d++]) its[d] = place[d] + rest % map.sides[d];
    each_piece_of_row(in_shared, row, map, its, visit);
  }
  return rows * box_row;
}

// The same of pixels: the second side of them, for windows that begin at `place` and behind it.
template <typename Visit>
TUNESMITH_UNWATCHED inline int each_piece_of_pixels(char* in_shared, const TensorMap& map, const int* place,
                                                    const int* in_window, int walks, const Visit& visit) {
  check_box(in_shared, map, walks + 2, walks);
  int window[5] = {};
  for (int d = 0; d < walks + 2; ++d) window[d] = place[d];
  for (int row = 0; row < map.sides[1]; ++row) {
    int its[5] = {window[0]};
    for (int d = 1; d < walks + 2; ++d) its[d] = window[d] + (d <= walks ? in_window[d - 1] : 0);
    each_piece_of_row(in_shared, row, map, its, visit);
    int d = 1;
    for (; d <= walks; ++d) {
      window[d] += map.steps[d - 1];
      if (window[d] < map.extents[d] + map.behind[d - 1]) break;
      window[d] = map.firsts[d - 1];
    }
    if (d > walks) ++window[d];
  }
  return map.sides[1] * box_row;
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

namespace tunesmith_shim {

// Copies a piece when the barrier's phase ends.
struct CopyWhenWaited {
  BoxBarrier* barrier;
  TUNESMITH_UNWATCHED void operator()(char* piece, const char* from, int bytes) const {
    copy_later(piece, from, box_piece, bytes, barrier, barrier->phase);
  }
};

}  // namespace tunesmith_shim

template <int RANK>
TUNESMITH_UNWATCHED inline void copy_box(void* to, const TensorMap& map, const int (&place)[RANK],
                                         BoxBarrier* barrier) {
  static_assert(RANK >= 2 && RANK <= 5, "as many dimensions as a GPU's version has");
  const tunesmith_shim::CopyWhenWaited copy = {barrier};
  barrier->bytes -= tunesmith_shim::each_piece(static_cast<char*>(to), map, place, RANK, copy);
  tunesmith_shim::end_phase(barrier);
}

template <int WALKS>
TUNESMITH_UNWATCHED inline void copy_pixels(void* to, const TensorMap& map, const int (&place)[WALKS + 2],
                                            const int (&in_window)[WALKS], BoxBarrier* barrier) {
  static_assert(WALKS >= 1 && WALKS <= 3, "as many dimensions as a GPU's version has");
  const tunesmith_shim::CopyWhenWaited copy = {barrier};
  barrier->bytes -=
      tunesmith_shim::each_piece_of_pixels(static_cast<char*>(to), map, place, in_window, WALKS, copy);
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

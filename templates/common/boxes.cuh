// SPDX-License-Identifier: Apache-2.0
// Copies of boxes of an array, which one thread begins: to shared memory, where they signal a barrier when
// they have arrived, so that a warp of its own fills a ring of stages while others multiply; and from there.
// A launch gives a BoxedArray for a parameter `const __grid_constant__ TensorMap`. Needs compute
// capability 9.0. On the host common/host/boxes.h stands for this file.
#pragma once

#include "common/warpgroup.cuh"

// A view of an array with 2 to 5 dimensions (PTX ISA, "Tensor-map"), as the driver encodes it.
struct alignas(64) TensorMap {
  unsigned long long encoded[16];
};

// A barrier in shared memory: a phase ends when as many threads have arrived as set() said and the bytes that
// were announced in it have arrived too. Threads wait for the phase 0, then for the phase 1, then again for
// 0.
struct alignas(16) BoxBarrier {
  unsigned long long state, unused;
};

__device__ __forceinline__ unsigned shared_address(const void* at) {
  return static_cast<unsigned>(__cvta_generic_to_shared(at));
}

__device__ __forceinline__ void set(BoxBarrier* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals)
               : "memory");
}
// The thread that has set barriers calls it before the block's barrier.
__device__ __forceinline__ void show_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;" ::: "memory");
}

__device__ __forceinline__ void arrive_at(BoxBarrier* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}
// Arrives and announces bytes that this thread's copies will bring.
__device__ __forceinline__ void arrive_with(BoxBarrier* barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(bytes)
               : "memory");
}
// Waits until the barrier's phase of this number, 0 or 1, has ended; the one before it has.
__device__ __forceinline__ void wait_for(BoxBarrier* barrier, unsigned phase) {
  unsigned ended;
  do {
    asm volatile(
        "{.reg .pred ended; mbarrier.try_wait.parity.shared::cta.b64 ended, [%1], %2; selp.u32 %0, 1, 0, "
        "ended;}"
        : "=r"(ended)
        : "r"(shared_address(barrier)), "r"(phase)
        : "memory");
  } while (ended == 0);
}

// Begins to load the map itself.
__device__ __forceinline__ void prepare_boxes(const TensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

// Begins to copy the box whose first element is at `place`, the nearest dimension first, to `to`, a multiple
// of 1024 bytes: rows of 128 bytes follow each other, and piece p of 16 bytes of row r stands in place p ^ r.
// What is beyond the array is 0.
template <int RANK>
__device__ __forceinline__ void copy_box(void* to, const TensorMap& map, const int (&place)[RANK],
                                         BoxBarrier* barrier) {
#define COPY_BOX(rank, places, ...)                                                       \
  asm volatile("cp.async.bulk.tensor." rank                                               \
               ".shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {" places \
               "}], [%2];" ::"r"(shared_address(to)),                                     \
               "l"(&map), "r"(shared_address(barrier)), __VA_ARGS__                       \
               : "memory")
  static_assert(RANK >= 2 && RANK <= 5, "as many dimensions as are written out here");
  if constexpr (RANK == 2) {
    COPY_BOX("2d", "%3, %4", "r"(place[0]), "r"(place[1]));
  } else if constexpr (RANK == 3) {
    COPY_BOX("3d", "%3, %4, %5", "r"(place[0]), "r"(place[1]), "r"(place[2]));
  } else if constexpr (RANK == 4) {
    COPY_BOX("4d", "%3, %4, %5, %6", "r"(place[0]), "r"(place[1]), "r"(place[2]), "r"(place[3]));
  } else {
    COPY_BOX("5d", "%3, %4, %5, %6, %7", "r"(place[0]), "r"(place[1]), "r"(place[2]), "r"(place[3]),
             "r"(place[4]));
  }
#undef COPY_BOX
}

// Likewise of a map whose array is an image that windows step through (BoxedArray::walks): a row for each
// place of a window, of the channels from place[0] on. The first window begins at the pixel `place`, before
// the image's first one if that is negative; the others follow, along the nearest dimension first. Of each
// window the pixel is copied that is `in_window` behind its first one.
template <int WALKS>
__device__ __forceinline__ void copy_pixels(void* to, const TensorMap& map, const int (&place)[WALKS + 2],
                                            const int (&in_window)[WALKS], BoxBarrier* barrier) {
#define COPY_PIXELS(rank, places, offsets, ...)                                                  \
  asm volatile("cp.async.bulk.tensor." rank                                                      \
               ".shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {" places \
               "}], [%2], {" offsets "};" ::"r"(shared_address(to)),                             \
               "l"(&map), "r"(shared_address(barrier)), __VA_ARGS__                              \
               : "memory")
  static_assert(WALKS >= 1 && WALKS <= 3, "as many dimensions as are written out here");
  const auto offset = [&](int walk) { return static_cast<unsigned short>(in_window[walk]); };
  if constexpr (WALKS == 1) {
    COPY_PIXELS("3d", "%3, %4, %5", "%6", "r"(place[0]), "r"(place[1]), "r"(place[2]), "h"(offset(0)));
  } else if constexpr (WALKS == 2) {
    COPY_PIXELS("4d", "%3, %4, %5, %6", "%7, %8", "r"(place[0]), "r"(place[1]), "r"(place[2]), "r"(place[3]),
                "h"(offset(0)), "h"(offset(1)));
  } else {
    COPY_PIXELS("5d", "%3, %4, %5, %6, %7", "%8, %9, %10", "r"(place[0]), "r"(place[1]), "r"(place[2]),
                "r"(place[3]), "r"(place[4]), "h"(offset(0)), "h"(offset(1)), "h"(offset(2)));
  }
#undef COPY_PIXELS
}

// Begins to copy a box in shared memory, which copy_box() could have brought, to the array. What is beyond
// the array is left out. All threads that have stored it have called show_to_products() before a barrier.
template <int RANK>
__device__ __forceinline__ void store_box(const TensorMap& map, const int (&place)[RANK], const void* from) {
#define STORE_BOX(rank, places, ...)                                                       \
  asm volatile("cp.async.bulk.tensor." rank ".global.shared::cta.bulk_group [%0, {" places \
               "}], [%1];" ::"l"(&map),                                                    \
               "r"(shared_address(from)), __VA_ARGS__                                      \
               : "memory")
  static_assert(RANK >= 2 && RANK <= 5, "as many dimensions as are written out here");
  if constexpr (RANK == 2) {
    STORE_BOX("2d", "%2, %3", "r"(place[0]), "r"(place[1]));
  } else if constexpr (RANK == 3) {
    STORE_BOX("3d", "%2, %3, %4", "r"(place[0]), "r"(place[1]), "r"(place[2]));
  } else if constexpr (RANK == 4) {
    STORE_BOX("4d", "%2, %3, %4, %5", "r"(place[0]), "r"(place[1]), "r"(place[2]), "r"(place[3]));
  } else {
    STORE_BOX("5d", "%2, %3, %4, %5, %6", "r"(place[0]), "r"(place[1]), "r"(place[2]), "r"(place[3]),
              "r"(place[4]));
  }
#undef STORE_BOX
}

// Ends a group: it consists of the boxes that this thread has begun to store since the last call.
__device__ __forceinline__ void end_box_group() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

// Waits until at most LEFT of this thread's groups have not been read from shared memory. A thread must wait
// for all before it ends.
template <int LEFT>
__device__ __forceinline__ void wait_for_box_groups() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(LEFT) : "memory");
}

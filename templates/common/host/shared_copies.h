// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies that the threads of a group share, in the pieces of a GPU's copies.
#pragma once

#include <stddef.h>

#include "common/host/pending_copies.h"

namespace cuda {
// A number of bytes that is a multiple of `alignment`, as both addresses are.
template <size_t alignment>
struct aligned_size_t {
  size_t value;
  explicit aligned_size_t(size_t given) : value(given) {
    if (given % alignment != 0) tunesmith_shim::fail(tunesmith_shim::misaligned);
  }
  operator size_t() const { return value; }
};
}  // namespace cuda

namespace tunesmith_shim {

template <size_t Alignment>
inline void require_promised(const void* to, const void* from, cuda::aligned_size_t<Alignment>) {
  require_alignment(to, Alignment);
  require_alignment(from, Alignment);
}
template <typename Size>
inline void require_promised(const void*, const void*, Size) {}

// The largest piece of 16, 8, 4, 2 or 1 bytes by which a copy may be divided.
inline size_t piece_of(const void* to, const void* from, size_t bytes) {
  const size_t all = reinterpret_cast<size_t>(to) | reinterpret_cast<size_t>(from) | bytes;
  for (size_t piece = 16; piece > 1; piece /= 2)
    if ((all & (piece - 1)) == 0) return piece;
  return 1;
}

// This thread's pieces of a copy. They arrive when the thread waits for them, or, with a barrier, when a
// thread waits for that phase of it.
template <typename Group, typename Size>
inline void share_copy(const Group& group, void* to, const void* from, Size size,
                       const void* barrier = nullptr, unsigned phase = 0) {
  require_promised(to, from, size);
  const size_t bytes = static_cast<size_t>(size);
  const size_t piece = piece_of(to, from, bytes);
  const size_t rank = static_cast<size_t>(group.thread_rank()), all = static_cast<size_t>(group.size());
  for (size_t at = rank * piece; at < bytes; at += all * piece)
    copy_later(static_cast<char*>(to) + at, static_cast<const char*>(from) + at, static_cast<int>(piece),
               static_cast<int>(piece), barrier, phase);
}

}  // namespace tunesmith_shim

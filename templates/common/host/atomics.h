// SPDX-License-Identifier: Apache-2.0
// Atomic operations. Two variants may run at the same time on the same memory, so these are truly atomic.
#pragma once

#include "common/host/look.h"
#include "common/host/warp.h"
#include "common/host/watch.h"

namespace tunesmith_shim {

#if defined(TUNESMITH_WATCHED)
static bool is_of_block = false;  // the next operation is atomic within its block only
#endif

template <typename Element, typename Change>
TUNESMITH_UNWATCHED inline Element update(Element* at, Change change) {
  look_again();
#if defined(TUNESMITH_WATCHED)
  const int kind = is_of_block ? updates_in_block : updates;
  is_of_block = false;
  // The lanes of a warp come to an operation together, as on a GPU: what a lane has looked at before, another
  // one may have changed.
  if (watch != nullptr && in_thread) meet(~0u, 0, at_update);
  for (;;) {
    TUNESMITH_TELL(collective, 0, 0u);  // of no lane: an older value that a load was shown is put away
    Element before, found;
    __atomic_load(at, &before, __ATOMIC_RELAXED);
    note(at, sizeof(Element), kind);
    __atomic_load(at, &found, __ATOMIC_RELAXED);
    if (memcmp(&before, &found, sizeof(Element)) == 0) break;
    // It is shown an older value. If it would have changed that, the later ones had been others.
    const Element changed = change(found);
    if (memcmp(&changed, &found, sizeof(Element)) == 0) break;
    __atomic_store(at, &before, __ATOMIC_RELAXED);
  }
#endif
  Element old;
  __atomic_load(at, &old, __ATOMIC_RELAXED);
  for (;;) {
    Element changed = change(old);
    if (!__atomic_compare_exchange(at, &old, &changed, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) continue;
    if (memcmp(&changed, &old, sizeof(Element)) == 0) {
      looked(at, &old, sizeof(Element));
    } else {
      no_look_in_vain();
    }
    return old;
  }
}

}  // namespace tunesmith_shim

#define TUNESMITH_ATOMIC(name, type, expression)                                           \
  inline type name(type* at, type value) {                                                 \
    return tunesmith_shim::update(at, [value](type old) -> type { return (expression); }); \
  }
#define TUNESMITH_ATOMICS(type)                                                                         \
  TUNESMITH_ATOMIC(atomicAdd, type, old + value)                                                        \
  TUNESMITH_ATOMIC(atomicMin, type, value < old ? value : old)                                          \
  TUNESMITH_ATOMIC(atomicMax, type, old < value ? value : old)                                          \
  TUNESMITH_ATOMIC(atomicAnd, type, old& value)                                                         \
  TUNESMITH_ATOMIC(atomicOr, type, old | value)                                                         \
  TUNESMITH_ATOMIC(atomicXor, type, old ^ value)                                                        \
  TUNESMITH_ATOMIC(atomicExch, type, (static_cast<void>(old), value))                                   \
  inline type atomicCAS(type* at, type expected, type value) {                                          \
    return tunesmith_shim::update(at, [=](type old) -> type { return old == expected ? value : old; }); \
  }
TUNESMITH_ATOMICS(int)
TUNESMITH_ATOMICS(unsigned)
TUNESMITH_ATOMICS(unsigned long long)
TUNESMITH_ATOMIC(atomicSub, int, old - value)
TUNESMITH_ATOMIC(atomicSub, unsigned, old - value)
TUNESMITH_ATOMIC(atomicInc, unsigned, old >= value ? 0 : old + 1)
TUNESMITH_ATOMIC(atomicAdd, float, old + value)
TUNESMITH_ATOMIC(atomicAdd, double, old + value)
TUNESMITH_ATOMIC(atomicExch, float, (static_cast<void>(old), value))
#undef TUNESMITH_ATOMICS
#undef TUNESMITH_ATOMIC

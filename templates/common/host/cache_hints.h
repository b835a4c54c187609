// SPDX-License-Identifier: Apache-2.0
// Loads and stores with a cache hint. A CPU ignores the hint.
#pragma once

#include "common/host/aligned.h"

#define TUNESMITH_LOAD(name)                                  \
  template <typename Element>                                 \
  inline Element name(const Element* from) {                  \
    tunesmith_shim::require_alignment(from, sizeof(Element)); \
    return *from;                                             \
  }
#define TUNESMITH_STORE(name)                               \
  template <typename Element>                               \
  inline void name(Element* to, Element value) {            \
    tunesmith_shim::require_alignment(to, sizeof(Element)); \
    *to = value;                                            \
  }
TUNESMITH_LOAD(__ldca)
TUNESMITH_LOAD(__ldcg)
TUNESMITH_LOAD(__ldcs)
TUNESMITH_LOAD(__ldcv)
TUNESMITH_LOAD(__ldlu)
TUNESMITH_STORE(__stcg)
TUNESMITH_STORE(__stcs)
TUNESMITH_STORE(__stwb)
TUNESMITH_STORE(__stwt)
#undef TUNESMITH_LOAD
#undef TUNESMITH_STORE

// Reads what no thread of the launch writes: other stores may not be seen.
template <typename Element>
inline Element __ldg(const Element* from) {
  tunesmith_shim::require_alignment(from, sizeof(Element));
  TUNESMITH_NOTE(from, sizeof(Element), reads_constant);
  return *from;
}

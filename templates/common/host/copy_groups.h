// SPDX-License-Identifier: Apache-2.0
// The host twin of common/copy_groups.cuh: groups of copies that arrive when they are waited for.
#pragma once

#include "common/host/pending_copies.h"

inline void end_copy_group() { tunesmith_shim::end_copy_group(); }

template <int LEFT>
inline void wait_for_copy_groups() {
  tunesmith_shim::wait_for_groups(LEFT);
}

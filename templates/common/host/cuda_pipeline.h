// SPDX-License-Identifier: Apache-2.0
// The host twin of <cuda_pipeline.h>'s functions for one thread.
#pragma once

#include "common/host/pending_copies.h"

inline void __pipeline_memcpy_async(void* to, const void* from, size_t size, size_t zeros = 0) {
  tunesmith_shim::copy_later(to, from, static_cast<int>(size), static_cast<int>(size - zeros));
}
inline void __pipeline_commit() { tunesmith_shim::end_copy_group(); }
inline void __pipeline_wait_prior(size_t groups) {
  tunesmith_shim::wait_for_groups(static_cast<int>(groups));
}

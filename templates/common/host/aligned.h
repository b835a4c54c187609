// SPDX-License-Identifier: Apache-2.0
// Checks the alignment that a GPU requires for the address of a wide access.
#pragma once

#include <stddef.h>

#include "common/host/fibers.h"

namespace tunesmith_shim {

inline void require_alignment(const void* address, size_t bytes) {
  if ((reinterpret_cast<size_t>(address) & (bytes - 1)) != 0) fail(misaligned);
}

}  // namespace tunesmith_shim

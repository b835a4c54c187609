// SPDX-License-Identifier: Apache-2.0
// The threads for which something of <cuda/…> holds.
#pragma once

namespace cuda {
enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };
}  // namespace cuda

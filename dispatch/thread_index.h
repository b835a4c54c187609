// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>

namespace tunesmith {

/// 0, 1, 2, ... in the order in which this process's threads first ask. Data that is kept once per few
/// threads uses it, so that threads do not wait for each other's memory.
inline std::size_t thread_index() noexcept {
  static std::atomic<std::size_t> next = 0;
  thread_local const std::size_t index = next++;
  return index;
}

}  // namespace tunesmith

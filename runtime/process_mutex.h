// SPDX-License-Identifier: Apache-2.0
// A mutex that may be held for long, also across a fork(). Dispatch and host_executable.cpp use it.
#pragma once

#include <unistd.h>

#include <atomic>

namespace tunesmith {

/// A mutex that a thread of the parent holds is free in the child, which does not have that thread.
class ProcessMutex {
 public:
  void lock() noexcept {
    const pid_t self = ::getpid();
    pid_t holder = 0;
    while (!holder_.compare_exchange_strong(holder, self)) {
      if (holder != self) continue;
      holder_.wait(self);
      holder = 0;
    }
  }
  void unlock() noexcept {
    holder_ = 0;
    holder_.notify_one();
  }

 private:
  std::atomic<pid_t> holder_ = 0;  ///< the id of a process; 0: free
};

}  // namespace tunesmith

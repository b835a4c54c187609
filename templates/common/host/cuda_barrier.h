// SPDX-License-Identifier: Apache-2.0
// The host twin of <cuda/barrier>, for the threads of one block: a phase ends when as many have arrived as
// init() said, and copies that are bound to it arrive when a thread waits for it. A thread whose phase cannot
// end ends the launch.
#pragma once

#include <stddef.h>

#include "common/host/cpp_library.h"
#include "common/host/cuda_scope.h"
#include "common/host/fibers.h"
#include "common/host/shared_copies.h"
#include "common/host/watch.h"

namespace cuda {

template <thread_scope Scope>
class barrier {
  static_assert(Scope == thread_scope_block || Scope == thread_scope_thread,
                "the host emulates a cuda::barrier of thread_scope_block");

 public:
  struct arrival_token {
    unsigned phase;
  };
  barrier() = default;
  barrier(const barrier&) = delete;
  barrier& operator=(const barrier&) = delete;

  TUNESMITH_UNWATCHED void initialize(ptrdiff_t expected) {
    TUNESMITH_NOTE(this, sizeof(*this), writes);
    expected_ = missing_ = static_cast<int>(expected);
    phase_ = 0;
  }
  TUNESMITH_UNWATCHED arrival_token arrive(ptrdiff_t count = 1) {
    use();
    const arrival_token token = {phase_};
    TUNESMITH_TELL(signal, signal_of(phase_), tunesmith_shim::thread_number(), 0);
    missing_ -= static_cast<int>(count);
    if (missing_ < 0) tunesmith_shim::fail(tunesmith_shim::never_signalled);  // more than init() said
    if (missing_ == 0) {
      missing_ = expected_;
      ++phase_;
    }
    return token;
  }
  TUNESMITH_UNWATCHED void wait(arrival_token token) const {
    use();
    tunesmith_shim::wait_for_signal(&phase_, token.phase);
    tunesmith_shim::arrive_at(this, token.phase);
    TUNESMITH_TELL(signal, signal_of(token.phase), tunesmith_shim::thread_number(), 1);
  }
  void arrive_and_wait() { wait(arrive()); }
  TUNESMITH_UNWATCHED void arrive_and_drop() {
    use();
    --expected_;
    arrive();
  }
  // Waits until the phase of that parity has ended.
  TUNESMITH_UNWATCHED void wait_parity(bool parity) const {
    use();
    const unsigned running = phase_;
    if ((running & 1u) != (parity ? 1u : 0u)) {
      wait({running - 1});
    } else {
      wait({running});
    }
  }
  // These come back when the phase has ended, which a GPU may do too.
  bool try_wait(arrival_token token) const {
    wait(token);
    return true;
  }
  bool test_wait(arrival_token token) const { return try_wait(token); }
  bool try_wait_parity(bool parity) const {
    wait_parity(parity);
    return true;
  }
  static constexpr ptrdiff_t max() { return (1 << 20) - 1; }

  unsigned phase() const { return phase_; }

 private:
  TUNESMITH_UNWATCHED void use() const { TUNESMITH_NOTE(this, sizeof(*this), updates_in_block); }
  const void* signal_of(unsigned phase) const { return reinterpret_cast<const char*>(this) + (phase & 1); }
  unsigned phase_;
  int expected_, missing_;
};

template <thread_scope Scope>
inline void init(barrier<Scope>* one, ptrdiff_t expected) {
  one->initialize(expected);
}

template <typename Group, typename T, typename Size, thread_scope Scope>
inline void memcpy_async(const Group& group, T* to, const T* from, Size bytes, barrier<Scope>& one) {
  tunesmith_shim::share_copy(group, to, from, bytes, &one, one.phase());
}

namespace tunesmith_alone {
struct Thread {
  static unsigned thread_rank() { return 0; }
  static unsigned size() { return 1; }
};
}  // namespace tunesmith_alone

template <typename T, typename Size, thread_scope Scope>
inline void memcpy_async(T* to, const T* from, Size bytes, barrier<Scope>& one) {
  tunesmith_shim::share_copy(tunesmith_alone::Thread(), to, from, bytes, &one, one.phase());
}

}  // namespace cuda

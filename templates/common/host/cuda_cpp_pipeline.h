// SPDX-License-Identifier: Apache-2.0
// The host twin of <cuda/pipeline>: of one thread, whose stages are the groups of its copies, and of a block,
// whose stages are pairs of barriers in shared memory.
#pragma once

#include <stddef.h>

#include "common/host/block.h"
#include "common/host/cuda_barrier.h"
#include "common/host/pending_copies.h"
#include "common/host/shared_copies.h"

namespace cuda {

enum class pipeline_role { producer, consumer };

template <thread_scope Scope, size_t Stages>
struct pipeline_shared_state {
  barrier<thread_scope_block> filled[Stages], emptied[Stages];
};

template <thread_scope Scope>
class pipeline;

template <>
class pipeline<thread_scope_thread> {
 public:
  void producer_acquire() {}
  TUNESMITH_UNWATCHED void producer_commit() {
    tunesmith_shim::end_copy_group();
    ++committed_;
  }
  TUNESMITH_UNWATCHED void consumer_wait() {
    tunesmith_shim::wait_for_groups(committed_ > waited_ ? committed_ - waited_ - 1 : 0);
    ++waited_;
  }
  void consumer_release() {}
  bool quit() { return true; }
  void wait_prior(int stages) {
    tunesmith_shim::wait_for_groups(stages);
    if (committed_ - stages > waited_) waited_ = committed_ - stages;
  }
  template <typename Group, typename Size>
  void copy(const Group& group, void* to, const void* from, Size bytes) {
    tunesmith_shim::share_copy(group, to, from, bytes);
  }

 private:
  int committed_ = 0, waited_ = 0;
};

template <thread_scope Scope>
class pipeline {
  static_assert(Scope == thread_scope_block, "the host emulates a cuda::pipeline of a thread and of a block");

 public:
  using Barrier = barrier<thread_scope_block>;
  pipeline(Barrier* filled, Barrier* emptied, unsigned stages)
      : filled_(filled), emptied_(emptied), stages_(stages) {}
  void producer_acquire() {
    // The n-th use of a stage waits for the end of its use before.
    if (put_ >= stages_) emptied_[put_ % stages_].wait({put_ / stages_ - 1});
  }
  void producer_commit() {
    static_cast<void>(filled_[put_ % stages_].arrive());
    ++put_;
  }
  void consumer_wait() { filled_[taken_ % stages_].wait({taken_ / stages_}); }
  void consumer_release() {
    static_cast<void>(emptied_[taken_ % stages_].arrive());
    ++taken_;
  }
  bool quit() { return true; }
  template <typename Group, typename Size>
  void copy(const Group& group, void* to, const void* from, Size bytes) {
    Barrier& stage = filled_[put_ % stages_];
    tunesmith_shim::share_copy(group, to, from, bytes, &stage, stage.phase());
  }

 private:
  Barrier *filled_, *emptied_;
  unsigned stages_, put_ = 0, taken_ = 0;
};

inline pipeline<thread_scope_thread> make_pipeline() { return {}; }

namespace tunesmith_pipeline {
template <typename Group, size_t Stages>
inline pipeline<thread_scope_block> made(const Group& group,
                                         pipeline_shared_state<thread_scope_block, Stages>* state,
                                         size_t producers, size_t consumers, int line) {
  if (group.thread_rank() == 0) {
    for (size_t n = 0; n < Stages; ++n) {
      init(&state->filled[n], static_cast<ptrdiff_t>(producers));
      init(&state->emptied[n], static_cast<ptrdiff_t>(consumers));
    }
  }
  group.sync(line);
  return {state->filled, state->emptied, static_cast<unsigned>(Stages)};
}
}  // namespace tunesmith_pipeline

// All threads are producers and consumers.
template <typename Group, size_t Stages>
inline pipeline<thread_scope_block> make_pipeline(const Group& group,
                                                  pipeline_shared_state<thread_scope_block, Stages>* state,
                                                  tunesmith_shim::CallLine at = tunesmith_shim::CallLine()) {
  const size_t all = static_cast<size_t>(group.size());
  return tunesmith_pipeline::made(group, state, all, all, at.line);
}
template <typename Group, size_t Stages>
inline pipeline<thread_scope_block> make_pipeline(const Group& group,
                                                  pipeline_shared_state<thread_scope_block, Stages>* state,
                                                  pipeline_role role,
                                                  tunesmith_shim::CallLine at = tunesmith_shim::CallLine()) {
  const unsigned before =
      static_cast<unsigned>(__syncthreads_count(role == pipeline_role::producer ? 1 : 0, at.line));
  return tunesmith_pipeline::made(group, state, before, static_cast<size_t>(group.size()) - before, at.line);
}
template <typename Group, size_t Stages>
inline pipeline<thread_scope_block> make_pipeline(const Group& group,
                                                  pipeline_shared_state<thread_scope_block, Stages>* state,
                                                  size_t producers,
                                                  tunesmith_shim::CallLine at = tunesmith_shim::CallLine()) {
  return tunesmith_pipeline::made(group, state, producers, static_cast<size_t>(group.size()) - producers,
                                  at.line);
}

template <unsigned char Left>
inline void pipeline_consumer_wait_prior(pipeline<thread_scope_thread>& one) {
  one.wait_prior(Left);
}

template <typename Group, typename T, typename Size, thread_scope Scope>
inline void memcpy_async(const Group& group, T* to, const T* from, Size bytes, pipeline<Scope>& one) {
  one.copy(group, to, from, bytes);
}
template <typename T, typename Size, thread_scope Scope>
inline void memcpy_async(T* to, const T* from, Size bytes, pipeline<Scope>& one) {
  one.copy(tunesmith_alone::Thread(), to, from, bytes);
}

}  // namespace cuda

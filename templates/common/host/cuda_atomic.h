// SPDX-License-Identifier: Apache-2.0
// The host twin of <cuda/atomic>. An order is a fence before or behind the operation, as on a GPU.
#pragma once

#include <stddef.h>

#include "common/host/atomics.h"
#include "common/host/cpp_library.h"
#include "common/host/cuda_scope.h"
#include "common/host/language.h"

namespace cuda {

enum memory_order {
  memory_order_relaxed,
  memory_order_consume,
  memory_order_acquire,
  memory_order_release,
  memory_order_acq_rel,
  memory_order_seq_cst
};

TUNESMITH_UNWATCHED inline void atomic_thread_fence(memory_order order,
                                                    thread_scope scope = thread_scope_system) {
  if (order == memory_order_relaxed) return;
  if (scope == thread_scope_block || scope == thread_scope_thread) {
    __threadfence_block();
  } else {
    __threadfence();
  }
}

// The operations of atomic and atomic_ref, on the object at `at()`.
template <typename Self, typename T, thread_scope Scope>
class atomic_operations {
 public:
  T load(memory_order order = memory_order_seq_cst) const {
    return changed(order, [](T old) { return old; });
  }
  void store(T value, memory_order order = memory_order_seq_cst) const {
    changed(order, [=](T) { return value; });
  }
  T exchange(T value, memory_order order = memory_order_seq_cst) const {
    return changed(order, [=](T) { return value; });
  }
  bool compare_exchange_strong(T& expected, T value, memory_order order = memory_order_seq_cst) const {
    const T wanted = expected;
    expected = changed(order, [=](T old) { return old == wanted ? value : old; });
    return expected == wanted;
  }
  bool compare_exchange_strong(T& expected, T value, memory_order order, memory_order) const {
    return compare_exchange_strong(expected, value, order);
  }
  bool compare_exchange_weak(T& expected, T value, memory_order order = memory_order_seq_cst) const {
    return compare_exchange_strong(expected, value, order);
  }
  bool compare_exchange_weak(T& expected, T value, memory_order order, memory_order) const {
    return compare_exchange_strong(expected, value, order);
  }
#define TUNESMITH_FETCH(name, expression)                                     \
  T name(T value, memory_order order = memory_order_seq_cst) const {          \
    return changed(order, [=](T old) { return static_cast<T>(expression); }); \
  }
  TUNESMITH_FETCH(fetch_add, old + value)
  TUNESMITH_FETCH(fetch_sub, old - value)
  TUNESMITH_FETCH(fetch_min, value < old ? value : old)
  TUNESMITH_FETCH(fetch_max, old < value ? value : old)
  TUNESMITH_FETCH(fetch_and, old& value)
  TUNESMITH_FETCH(fetch_or, old | value)
  TUNESMITH_FETCH(fetch_xor, old ^ value)
#undef TUNESMITH_FETCH
  operator T() const { return load(); }
  T operator=(T value) const {
    store(value);
    return value;
  }
  T operator+=(T value) const { return static_cast<T>(fetch_add(value) + value); }
  T operator-=(T value) const { return static_cast<T>(fetch_sub(value) - value); }
  T operator++() const { return *this += T(1); }
  T operator--() const { return *this -= T(1); }
  T operator++(int) const { return fetch_add(T(1)); }
  T operator--(int) const { return fetch_sub(T(1)); }
  static constexpr bool is_lock_free() { return true; }

 private:
  template <typename Change>
  TUNESMITH_UNWATCHED T changed(memory_order order, Change change) const {
    if (order != memory_order_acquire && order != memory_order_consume) atomic_thread_fence(order, Scope);
#if defined(TUNESMITH_WATCHED)
    tunesmith_shim::is_of_block = Scope == thread_scope_block || Scope == thread_scope_thread;
#endif
    const T old = tunesmith_shim::update(static_cast<const Self*>(this)->at(), change);
    if (order != memory_order_release) atomic_thread_fence(order, Scope);
    return old;
  }
};

template <typename T, thread_scope Scope = thread_scope_system>
class atomic : public atomic_operations<atomic<T, Scope>, T, Scope> {
 public:
  using atomic_operations<atomic<T, Scope>, T, Scope>::operator=;
  atomic() = default;
  constexpr atomic(T value) : value_(value) {}
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;
  T* at() const { return &value_; }

 private:
  mutable T value_;
};

template <typename T, thread_scope Scope = thread_scope_system>
class atomic_ref : public atomic_operations<atomic_ref<T, Scope>, T, Scope> {
 public:
  using atomic_operations<atomic_ref<T, Scope>, T, Scope>::operator=;
  explicit atomic_ref(T& value) : at_(&value) {}
  atomic_ref(const atomic_ref&) = default;
  T* at() const { return at_; }

 private:
  T* at_;
};

}  // namespace cuda

namespace cuda::std {
using ::cuda::memory_order;
using ::cuda::memory_order_acq_rel;
using ::cuda::memory_order_acquire;
using ::cuda::memory_order_consume;
using ::cuda::memory_order_relaxed;
using ::cuda::memory_order_release;
using ::cuda::memory_order_seq_cst;
}  // namespace cuda::std

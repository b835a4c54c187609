// SPDX-License-Identifier: Apache-2.0
// Instructions of PTX that access memory: loads, stores, atomic operations, fences and asynchronous copies.
#pragma once

#include "common/host/atomics.h"
#include "common/host/language.h"
#include "common/host/pending_copies.h"
#include "common/host/ptx_operands.h"
#include "common/host/shared_window.h"

namespace tunesmith_ptx {

template <typename T>
struct __attribute__((may_alias)) InMemory {
  T value;
};

template <Scope S>
inline void fence() {
  if constexpr (S == Scope::cta) {
    __threadfence_block();
  } else {
    __threadfence();
  }
}

template <Order O, Scope S>
inline void fence_before() {
  if constexpr (O == Order::release || O == Order::acq_rel || O == Order::sc) fence<S>();
}
template <Order O, Scope S>
inline void fence_behind() {
  if constexpr (O == Order::acquire || O == Order::acq_rel || O == Order::sc) fence<S>();
}

// Changes a word in memory as an atomic operation, and returns what it held.
template <Scope S, typename T, typename Change>
TUNESMITH_UNWATCHED inline T changed(char* at, Change change) {
#if defined(TUNESMITH_WATCHED)
  tunesmith_shim::is_of_block = S == Scope::cta;
#endif
  using Word = Unsigned<sizeof(T)>;
  tunesmith_shim::require_alignment(at, sizeof(Word));
  return get<T>(tunesmith_shim::update(reinterpret_cast<Word*>(at), [change](Word old) -> Word {
    Word made;
    set(made, change(get<T>(old)));
    return made;
  }));
}

template <typename T>
TUNESMITH_UNWATCHED inline T volatile_value(const char* at) {
#if defined(TUNESMITH_WATCHED)
  TUNESMITH_NOTE(at, sizeof(T), reads_volatile);
#else
  tunesmith_shim::look_again();
  tunesmith_shim::looked(at, at, sizeof(T));
#endif
  return reinterpret_cast<const InMemory<T>*>(at)->value;
}
template <typename T>
TUNESMITH_UNWATCHED inline void set_volatile(char* at, T value) {
  TUNESMITH_NOTE(at, sizeof(T), writes_volatile);
  reinterpret_cast<InMemory<T>*>(at)->value = value;
}

template <Order O, Scope S, typename T>
inline T loaded(char* at) {
  if constexpr (O == Order::volatile_access) {
    return volatile_value<T>(at);
  } else if constexpr (O == Order::weak) {
    return reinterpret_cast<const InMemory<T>*>(at)->value;
  } else {
    return changed<S, T>(at, [](T old) { return old; });
  }
}
template <Order O, Scope S, typename T>
inline void store_one(char* at, T value) {
  if constexpr (O == Order::volatile_access) {
    set_volatile<T>(at, value);
  } else if constexpr (O == Order::weak) {
    reinterpret_cast<InMemory<T>*>(at)->value = value;
  } else {
    changed<S, T>(at, [value](T) { return value; });
  }
}

// Loads and stores; what follows the address or the value says what caches keep.
template <Order O, Scope S, Space P, typename T, typename Register, int N, typename... Policy>
inline void load(Registers<Register, N> to, Address from, Policy...) {
  char* const at = pointer_of<P>(from);
  tunesmith_shim::require_alignment(at, N * sizeof(T));
  T values[N];
  for (int n = 0; n < N; ++n) values[n] = loaded<O, S, T>(at + n * sizeof(T));
  fence_behind<O, S>();
  for (int n = 0; n < N; ++n) set(to[n], values[n]);
}
template <Order O, Scope S, Space P, typename T, typename Register, typename... Policy>
inline void load(Register& to, Address from, Policy... policy) {
  load<O, S, P, T>(vector(to), from, policy...);
}
template <Order O, Scope S, Space P, typename T, typename Register, int N, typename... Policy>
inline void store(Address to, Registers<Register, N> from, Policy...) {
  char* const at = pointer_of<P>(to);
  tunesmith_shim::require_alignment(at, N * sizeof(T));
  fence_before<O, S>();
  for (int n = 0; n < N; ++n) store_one<O, S, T>(at + n * sizeof(T), get<T>(from[n]));
}
template <Order O, Scope S, Space P, typename T, typename Operand, typename... Policy>
inline void store(Address to, const Operand& from, Policy... policy) {
  Unsigned<sizeof(T)> bits;
  set(bits, get<T>(from));
  store<O, S, P, T>(to, vector(bits), policy...);
}

// Loads what no thread of the launch writes.
template <Space P, typename T, typename Register, int N, typename... Policy>
inline void load_constant(Registers<Register, N> to, Address from, Policy... policy) {
  TUNESMITH_NOTE(pointer_of<P>(from), N * sizeof(T), reads_constant);
  load<Order::weak, Scope::gpu, P, T>(to, from, policy...);
}
template <Space P, typename T, typename Register, typename... Policy>
inline void load_constant(Register& to, Address from, Policy... policy) {
  load_constant<P, T>(vector(to), from, policy...);
}

template <typename T>
inline T plus(T a, T b) {
  if constexpr (is_number<T>) {
    return static_cast<T>(static_cast<Unsigned<sizeof(T)>>(a) + static_cast<Unsigned<sizeof(T)>>(b));
  } else {
    return a + b;
  }
}

#define TUNESMITH_PTX_ATOMIC(name, expression)                                    \
  template <Order O, Scope S, Space P, typename T, typename Register, typename A> \
  inline void atom_##name(Register& to, Address at, const A& a) {                 \
    const T value = get<T>(a);                                                    \
    fence_before<O, S>();                                                         \
    set(to, changed<S, T>(pointer_of<P>(at), [value](T old) -> T {                \
          static_cast<void>(old);                                                 \
          return expression;                                                      \
        }));                                                                      \
    fence_behind<O, S>();                                                         \
  }                                                                               \
  template <Order O, Scope S, Space P, typename T, typename A>                    \
  inline void red_##name(Address at, const A& a) {                                \
    Unsigned<sizeof(T)> unused;                                                   \
    atom_##name<O, S, P, T>(unused, at, a);                                       \
  }
TUNESMITH_PTX_ATOMIC(add, plus(old, value))
TUNESMITH_PTX_ATOMIC(min, value < old ? value : old)
TUNESMITH_PTX_ATOMIC(max, old < value ? value : old)
TUNESMITH_PTX_ATOMIC(and, static_cast<T>(old& value))
TUNESMITH_PTX_ATOMIC(or, static_cast<T>(old | value))
TUNESMITH_PTX_ATOMIC(xor, static_cast<T>(old ^ value))
TUNESMITH_PTX_ATOMIC(exch, value)
TUNESMITH_PTX_ATOMIC(inc, old >= value ? T(0) : static_cast<T>(old + 1))
TUNESMITH_PTX_ATOMIC(dec, old == 0 || old > value ? value : static_cast<T>(old - 1))
#undef TUNESMITH_PTX_ATOMIC
template <Order O, Scope S, Space P, typename T, typename Register, typename A, typename B>
inline void atom_cas(Register& to, Address at, const A& a, const B& b) {
  const T expected = get<T>(a), value = get<T>(b);
  fence_before<O, S>();
  set(to, changed<S, T>(pointer_of<P>(at),
                        [expected, value](T old) -> T { return old == expected ? value : old; }));
  fence_behind<O, S>();
}

// Copies from global to shared memory that arrive when they are waited for.
template <typename Size>
TUNESMITH_UNWATCHED inline void copy_bytes(Address to, Address from, Size, int read) {
  static_assert(Size::value == 4 || Size::value == 8 || Size::value == 16,
                "cp.async copies 4, 8 or 16 bytes");
  constexpr int size = static_cast<int>(Size::value);
  tunesmith_shim::copy_later(pointer_of<Space::shared>(to), pointer_of<Space::global>(from), size,
                             read < size ? read : size);
}
template <bool HasPolicy, typename Size>
inline void cp_async(Address to, Address from, Size size) {
  copy_bytes(to, from, size, static_cast<int>(Size::value));
}
template <bool HasPolicy, typename Size, typename Fourth>
inline void cp_async(Address to, Address from, Size size, const Fourth& fourth) {
  if constexpr (HasPolicy) {
    copy_bytes(to, from, size, static_cast<int>(Size::value));
  } else if constexpr (__is_same(Fourth, bool)) {
    copy_bytes(to, from, size, fourth ? 0 : static_cast<int>(Size::value));  // true: the source is ignored
  } else {
    copy_bytes(to, from, size, get<int>(fourth));
  }
}
template <bool HasPolicy, typename Size, typename Fourth, typename Policy>
inline void cp_async(Address to, Address from, Size size, const Fourth& fourth, const Policy&) {
  cp_async<false>(to, from, size, fourth);
}
inline void cp_async_commit_group() { tunesmith_shim::end_copy_group(); }
template <typename Groups>
inline void cp_async_wait_group(const Groups& left) {
  tunesmith_shim::wait_for_groups(get<int>(left));
}
inline void cp_async_wait_all() {
  tunesmith_shim::end_copy_group();
  tunesmith_shim::wait_for_groups(0);
}

// Conversions of addresses.
template <Space P, typename T, typename Register, typename A>
inline void cvta_to(Register& to, const A& a) {
  if constexpr (P == Space::shared) {
    set(to, static_cast<T>(tunesmith_shim::shared_number(reinterpret_cast<const void*>(get<u64>(a)))));
  } else {
    set(to, get<T>(a));
  }
}
template <Space P, typename T, typename Register, typename A>
inline void cvta(Register& to, const A& a) {
  set(to, static_cast<T>(reinterpret_cast<size_t>(pointer_of<P>({get<Unsigned<sizeof(A)>>(a)}))));
}
template <Space P, typename Register, typename A>
inline void isspacep(Register& to, const A& a) {
  const auto* const pointer = reinterpret_cast<const void*>(get<u64>(a));
  set(to, (P == Space::shared ? __isShared(pointer) : __isGlobal(pointer)) != 0);
}

// Stands for instructions that only say what caches should do.
template <typename... Operands>
inline void nothing(const Operands&...) {}
template <typename Register, typename... Operands>
inline void no_policy(Register& to, const Operands&...) {
  to = 0;
}

}  // namespace tunesmith_ptx

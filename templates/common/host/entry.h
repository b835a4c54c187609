// SPDX-License-Identifier: Apache-2.0
// The functions that a binary exports for each of its kernels. The executable that loads the binary finds
// them by name.
#pragma once

#include "common/host/launch.h"
#include "common/host/shared_memory.h"

namespace tunesmith_shim {

// The export of a kernel's parameters returns 4 * bytes + kind for each index from 0 on, and -1 beyond the
// last. runtime/host_executable.cpp compares this with the arguments of a launch.
constexpr int unknown_kind = 0, pointer_kind = 1, integer_kind = 2, floating_kind = 3;
template <typename P>
constexpr int kind(P*) {
  return __is_enum(P) ? integer_kind : unknown_kind;
}
template <typename P>
constexpr int kind(P**) {
  return pointer_kind;
}
constexpr int kind(bool*) { return integer_kind; }
constexpr int kind(char*) { return integer_kind; }
constexpr int kind(signed char*) { return integer_kind; }
constexpr int kind(unsigned char*) { return integer_kind; }
constexpr int kind(short*) { return integer_kind; }
constexpr int kind(unsigned short*) { return integer_kind; }
constexpr int kind(int*) { return integer_kind; }
constexpr int kind(unsigned*) { return integer_kind; }
constexpr int kind(long*) { return integer_kind; }
constexpr int kind(unsigned long*) { return integer_kind; }
constexpr int kind(long long*) { return integer_kind; }
constexpr int kind(unsigned long long*) { return integer_kind; }
constexpr int kind(float*) { return floating_kind; }
constexpr int kind(double*) { return floating_kind; }

// Unpacks the parameters, which have the types of the kernel's parameters, and describes these types.
template <auto Kernel>
struct Entry;
template <typename... P, void (*Kernel)(P...)>
struct Entry<Kernel> {
  template <int... I>
  struct Indices {};
  template <int N, int... I>
  struct Count : Count<N - 1, N - 1, I...> {};
  template <int... I>
  struct Count<0, I...> {
    typedef Indices<I...> type;
  };
  template <typename Q>
  static Q& as(void* at) {
    return *static_cast<Q*>(at);
  }
  template <int... I>
  TUNESMITH_UNWATCHED static void call(void* const* arguments, Indices<I...>) {
    (void)arguments;
    Kernel(as<P>(arguments[I])...);
  }
  static void thread(void* const* arguments) { call(arguments, typename Count<sizeof...(P)>::type()); }
  static long long parameter(int index) {
    constexpr long long all[] = {(4 * static_cast<long long>(sizeof(P)) + kind(static_cast<P*>(nullptr)))...,
                                 -1};
    return index < static_cast<int>(sizeof...(P)) ? all[index] : -1;
  }
};

}  // namespace tunesmith_shim

#define TUNESMITH_EXPORT extern "C" __attribute__((visibility("default")))
// Ends the running launch from within a kernel, for example from the handler of a signal that the kernel
// raised.
TUNESMITH_EXPORT void tunesmith_fail(int code) { tunesmith_shim::fail(code); }

#if defined(TUNESMITH_WATCHED)
#define TUNESMITH_LAST_GUARD TUNESMITH_SHARED_GUARD;
#else
#define TUNESMITH_LAST_GUARD
#endif
#define TUNESMITH_HOST_ENTRY(name)                                                                         \
  TUNESMITH_LAST_GUARD                                                                                     \
  TUNESMITH_EXPORT int tunesmith_run_##name(void* const* arguments, const long long* grid,                 \
                                            const long long* block, long long dynamic_bytes, int way) {    \
    return tunesmith_shim::run(tunesmith_shim::Entry<name>::thread, arguments, grid, block, dynamic_bytes, \
                               way);                                                                       \
  }                                                                                                        \
  TUNESMITH_EXPORT long long tunesmith_shared_bytes_##name() { return tunesmith_shim::shared_bytes(); }    \
  TUNESMITH_EXPORT long long tunesmith_parameter_##name(int index) {                                       \
    return tunesmith_shim::Entry<name>::parameter(index);                                                  \
  }
// The export of a variable in a namespace.
#define TUNESMITH_HOST_SYMBOL(name)                                  \
  TUNESMITH_EXPORT void* tunesmith_symbol_##name(long long* bytes) { \
    *bytes = sizeof(name);                                           \
    return (void*)&name;                                             \
  }

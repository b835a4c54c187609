// What a binary exports for each of its kernels; the executable that loads it finds these by name.
#pragma once

#include "common/host/launch.h"
#include "common/host/shared_memory.h"

namespace tunesmith_shim {

// Unpacks the parameters, whose types are the kernel's own.
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
  static void call(void* const* arguments, Indices<I...>) {
    (void)arguments;
    Kernel(as<P>(arguments[I])...);
  }
  static void thread(void* const* arguments) { call(arguments, typename Count<sizeof...(P)>::type()); }
};

}  // namespace tunesmith_shim

#define TUNESMITH_HOST_ENTRY(name)                                                                         \
  extern "C" __attribute__((visibility("default"))) int tunesmith_run_##name(                              \
      void* const* arguments, const long long* grid, const long long* block, long long dynamic_bytes,      \
      int reverse) {                                                                                       \
    return tunesmith_shim::run(tunesmith_shim::Entry<name>::thread, arguments, grid, block, dynamic_bytes, \
                               reverse);                                                                   \
  }                                                                                                        \
  extern "C" __attribute__((visibility("default"))) long long tunesmith_shared_bytes_##name() {            \
    return __start_tunesmith_shared == nullptr ? 0 : __stop_tunesmith_shared - __start_tunesmith_shared;   \
  }

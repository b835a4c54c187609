// SPDX-License-Identifier: Apache-2.0
// The twin of common/aligned_shared.cuh: alignas as an attribute that may stand behind __shared__, where C++
// does not take its own.
#pragma once

#include <stddef.h>

namespace tunesmith_shim {
template <size_t Bytes>
constexpr size_t alignment() {
  return Bytes;
}
template <typename T>
constexpr size_t alignment() {
  return alignof(T);
}
}  // namespace tunesmith_shim

#define alignas(...) __attribute__((aligned(tunesmith_shim::alignment<__VA_ARGS__>())))

// SPDX-License-Identifier: Apache-2.0
// For the typed functions of the ops.
#pragma once

#include <array>
#include <type_traits>

namespace tunesmith {

/// What Plan::launch() takes. Inputs are only read; a list of pointers of both kinds has to be one of void*.
template <typename... T>
std::array<void*, sizeof...(T)> launch_arguments(T*... pointers) {
  return {const_cast<std::remove_const_t<T>*>(pointers)...};
}

}  // namespace tunesmith

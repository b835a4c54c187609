// SPDX-License-Identifier: Apache-2.0
// The arguments of a launch, as the typed functions of the ops pass them.
#pragma once

#include <array>
#include <type_traits>

namespace tunesmith {

/// The arguments in the form that Plan::launch() takes. Inputs are only read, but a list that mixes const and
/// other pointers has to be a list of void*.
template <typename... T>
std::array<void*, sizeof...(T)> launch_arguments(T*... pointers) {
  return {const_cast<std::remove_const_t<T>*>(pointers)...};
}

}  // namespace tunesmith

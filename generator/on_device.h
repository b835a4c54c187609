// SPDX-License-Identifier: Apache-2.0
// A function that may depend on the device. A template's space and work are such functions.
#pragma once

#include <functional>
#include <type_traits>
#include <utility>

#include "generator/device_facts.h"

namespace tunesmith {

/// Calls a function of a problem (and a config) for a device. A template's function may omit the device
/// parameter. A caller should pass the device; otherwise the result is the one for a device without known
/// facts.
template <typename Result, typename... Arguments>
class OnDevice {
 public:
  OnDevice() = default;
  template <typename Function>
  requires std::is_invocable_r_v<Result, const Function&, const Arguments&..., const DeviceFacts&> OnDevice(
      Function function)
      : function_(std::move(function)) {}
  template <typename Function>
  requires(std::is_invocable_r_v<Result, const Function&, const Arguments&...> &&
           !std::is_same_v<Function, OnDevice>) OnDevice(Function function)
      : function_([function = std::move(function)](const Arguments&... arguments, const DeviceFacts&) {
          return function(arguments...);
        }) {}

  Result operator()(const Arguments&... arguments, const DeviceFacts& device = {}) const {
    return function_(arguments..., device);
  }
  explicit operator bool() const { return function_ != nullptr; }

 private:
  std::function<Result(const Arguments&..., const DeviceFacts&)> function_;
};

}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
// A function that may depend on the device: what a template gives as its space and its work.
#pragma once

#include <functional>
#include <type_traits>
#include <utility>

#include "generator/device_facts.h"

namespace tunesmith {

/// A function of a problem (and a config) for a device. A template whose function does not read the device
/// may leave that argument out; who calls it may not, or gets what holds for a device that nothing is known
/// of.
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

// SPDX-License-Identifier: Apache-2.0
// For the typed functions of ops with a boundary, whose shapes have the members `boundary` and `value`. The
// value is a text in a problem and a number in a launch.
#pragma once

#include <tunesmith/boundary.h>
#include <tunesmith/dispatcher.h>

#include <array>
#include <span>
#include <string_view>

#include "generator/number_text.h"
#include "templates/choice.h"

namespace tunesmith {

/// The text of a problem's `value`. By default it is the text for a plan that serves all values, which are
/// then numbers of its launches.
class ValueText {
 public:
  ValueText() = default;
  /// The text for a plan of the shape's own value, if the boundary has one.
  template <typename Shape>
  explicit ValueText(const Shape& shape) {
    if (shape.boundary != Boundary::constant) return;
    text_ = ShortestText(shape.value);
  }
  std::string_view get() const { return text_.get().empty() ? "0" : text_.get(); }

 private:
  ShortestText text_;
};

/// Launches a plan that serves all values.
template <typename Shape>
Status launch_with_value(const Plan& plan, const Shape& shape, std::span<void* const> arguments,
                         void* stream) {
  if (shape.boundary != Boundary::constant) return plan.launch(arguments, stream);
  return plan.launch(arguments, std::array{shape.value}, stream);
}

}  // namespace tunesmith

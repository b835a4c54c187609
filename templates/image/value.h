// SPDX-License-Identifier: Apache-2.0
// The value of samples outside with boundary=constant. It is a number of each launch, so that one plan serves
// all values.
#pragma once

#include <cmath>
#include <functional>
#include <span>
#include <string>

#include "generator/element.h"
#include "generator/number_text.h"
#include "generator/op.h"
#include "templates/image/boundary.h"

namespace tunesmith {

inline Parameter value_parameter(const std::string& what) {
  return {.name = "value",
          .what = what + ", a decimal number; boundary=constant only",
          .initial = "0",
          .refuses_text = [](const std::string& text) -> std::string {
            if (parsed_number<double>(text)) return "";
            return "'" + text + "' is not a decimal number, such as -1, 0.25, 1e-3 or nan.";
          },
          .at_launch = true};
}

/// The value as elements of the type hold it: rounded to nearest for floats; truncated and clamped to their
/// range for integers.
inline double outside_value(double value, DType held) {
  if (!is_whole(held)) return round_to(held, value);
  return std::isnan(value) ? 0 : round_to(held, std::trunc(value));
}

/// The value outside if the boundary is zero or constant.
inline double value_of(const Problem& problem, DType held) {
  if (boundary_of(problem) != Boundary::constant) return outside_value(0, held);
  return outside_value(parsed_number<double>(problem.string("value")).value_or(0), held);
}

/// For Op::launch_numbers.
inline std::function<MakeNumbers(const Problem&)> value_at_launch(DType (*held)(const Problem&)) {
  return [held](const Problem& problem) -> MakeNumbers {
    if (boundary_of(problem) != Boundary::constant) return nullptr;
    return [type = held(problem)](std::span<const double> given, LaunchNumbers& made) -> std::string {
      made.doubles[0] = outside_value(given[0], type);
      return "";
    };
  };
}

/// Adds the value as the last of a launch's arguments.
inline void add_value(Launch& launch, const Problem& problem, DType held) {
  launch.arguments.emplace_back(value_of(problem, held));
  if (boundary_of(problem) != Boundary::constant) return;
  launch.numbers.assign(launch.arguments.size(), -1);
  launch.numbers.back() = 0;
}

}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
// An array that is seen as outer x length x inner, of which the inner elements are contiguous: what the ops
// that work along such an axis share.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "generator/problem.h"

namespace tunesmith {

/// As Op::rewritten: a stride that says what 0 says, or by which nothing is moved, is 0, so that an array is
/// one problem however it is written.
inline Problem with_least_strides(const Problem& given) {
  const auto number = [&](std::string_view name, std::optional<std::int64_t> initial) {
    const Value* const value = given.find(name);
    if (value == nullptr) return initial;
    const auto* const whole = std::get_if<std::int64_t>(value);
    return whole != nullptr && *whole >= 0 ? std::optional(*whole) : std::nullopt;
  };
  const auto outer = number("outer", 1), length = number("length", std::nullopt), inner = number("inner", 1),
             stride = number("stride", 0), outer_stride = number("outer_stride", 0);
  if (!outer || !length || !inner || !stride || !outer_stride) return given;  // which is refused
  Problem least = given;
  const bool is_empty = *outer == 0 || *length == 0 || *inner == 0;
  const std::int64_t step = is_empty || *length == 1 || *stride == *inner ? 0 : *stride;
  if (step != *stride) least.set("stride", step);
  // Steps of more elements than there can be are refused for their sizes.
  const double contiguous = static_cast<double>(*length) * static_cast<double>(step == 0 ? *inner : step);
  if (*outer_stride != 0 && (is_empty || *outer == 1 || static_cast<double>(*outer_stride) == contiguous))
    least.set("outer_stride", std::int64_t{0});
  return least;
}

/// Likewise of an array of `length` elements, `stride` apart, which is 1 where there is none behind the
/// first.
inline Problem with_least_stride(const Problem& given) {
  const Value* const length = given.find("length");
  const Value* const stride = given.find("stride");
  const auto* const apart = stride != nullptr ? std::get_if<std::int64_t>(stride) : nullptr;
  if (length == nullptr || apart == nullptr || *apart < 1) return given;
  Problem least = given;
  if (*length == Value(0) || *length == Value(1)) least.set("stride", std::int64_t{1});
  return least;
}

}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
// The forms of an index expression: other sequences of loops that compute the same, found by rewriting sums
// and products. docs/derive.md describes the rewrites. Pure. Private to this folder and to `tunesmith
// derive`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "templates/tensor/notation/expression.h"

namespace tunesmith::tensor_op {

constexpr std::size_t most_forms = 8;

/// The changes of rounding that are allowed. No form subtracts what the expression does not.
enum class May {
  reorder,    ///< the order of sums; each value of the function is computed as it is written
  distribute  ///< also a * b + a * c as a * (b + c), and a * (b * c) as (a * b) * c
};
constexpr auto names_of(May) { return std::to_array<std::string_view>({"reorder", "distribute"}); }

/// One nest of loops. It writes the result or an intermediate array, which is dense: its dimensions are the
/// step's free indices, the last one contiguous.
struct FormStep {
  Expression expression;              ///< reads inputs and earlier steps' arrays, as any expression
  std::vector<std::int64_t> extents;  ///< of the expression's indices
  std::vector<int> arrays;            ///< for each of expression.arrays: an input's place, or their number +
                                      ///< the place of the step that computes it
  bool joined = false;                ///< in one launch with the step before: each element of that step's
                                      ///< array is used as it is computed, and nowhere else
  double operations = 0;              ///< each operation and function of the language is one
  double bytes = 0;                   ///< each element that is read or written is moved once
};

struct Form {
  std::vector<FormStep> steps;  ///< the last writes the result
  double operations = 0;
  double bytes = 0;
  bool distributes = false;  ///< needs May::distribute

  std::size_t launches() const;
};

/// At most `most_forms` forms, none of which another one beats in operations and in bytes. The first is
/// always the expression as it is written; the others are in the order of operations. `extents`: one for each
/// index. `element_bytes`: bytes of an element of the inputs and of the result; elements of intermediate
/// arrays have at least 4, in the type that is computed in.
std::vector<Form> forms(const Expression& expression, const std::vector<std::int64_t>& extents, May may,
                        std::int64_t element_bytes = 4);

/// The f32 operations that an H200 computes while it moves a byte: 55 / 4.2 (both in 10^12 per second). It
/// is no rate of a device, since the forms of a problem are the same on all devices.
constexpr double usual_operations_per_byte = 13;

/// The place of the form with the least sum over its launches of max(operations / operations_per_byte,
/// bytes) + 4 MB, which a device moves in the time that a launch costs.
std::size_t cheapest(const std::vector<Form>& forms, double operations_per_byte);

/// The form's loops as text, for people: "for y in 0:32:" and what they hold, a line each. A joined step's
/// loops stand inside the loops of the step before it.
std::string loops_text(const Form& form);

}  // namespace tunesmith::tensor_op

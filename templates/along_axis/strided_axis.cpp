// SPDX-License-Identifier: Apache-2.0
#include "templates/along_axis/strided_axis.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "generator/sample.h"
#include "templates/array_limits.h"
#include "templates/axes.h"

namespace tunesmith {

StridedAxis::StridedAxis(const Problem& problem)
    : outer(problem.integer("outer")),
      length(problem.integer("length")),
      inner(problem.integer("inner")),
      stride(problem.integer("stride") == 0 ? inner : problem.integer("stride")),
      outer_stride(problem.integer("outer_stride") == 0 ? length * stride : problem.integer("outer_stride")) {
}

std::int64_t StridedAxis::span() const {
  return empty() ? 0 : (outer - 1) * outer_stride + (length - 1) * stride + inner;
}

std::vector<Parameter> axis_parameters(const std::string& done, const UsualExtents& usual,
                                       const std::vector<Parameter>& others) {
  const auto extent = [](const char* name, std::string what, std::optional<Value> initial,
                         std::optional<UsualSizes> its_usual = std::nullopt) {
    return Parameter{.name = name,
                     .what = std::move(what),
                     .minimum = 0,
                     .maximum = most_elements,
                     .initial = std::move(initial),
                     .usual = its_usual};
  };
  std::vector<Parameter> all = {
      extent("outer", "positions before the " + done + " axis", Value(1), usual.outer),
      extent("length", "elements of the " + done + " axis", std::nullopt, usual.length),
      extent("inner", "positions after the " + done + " axis, contiguous", Value(1), usual.inner),
      extent("outer_stride", "elements from one outer position to the next; 0: length * stride", Value(0)),
      extent("stride", "elements from one position of the axis to the next; 0: inner", Value(0))};
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

Problem with_least_strides(const Problem& given) {
  const auto number = [&](std::string_view name, std::optional<std::int64_t> initial) {
    const Value* const value = given.find(name);
    if (value == nullptr) return initial;
    const auto* const whole = std::get_if<std::int64_t>(value);
    return whole != nullptr && *whole >= 0 ? std::optional(*whole) : std::nullopt;
  };
  const auto outer = number("outer", 1), length = number("length", std::nullopt), inner = number("inner", 1),
             stride = number("stride", 0), outer_stride = number("outer_stride", 0);
  if (!outer || !length || !inner || !stride || !outer_stride) return given;  // this is refused
  Problem least = given;
  const bool is_empty = *outer == 0 || *length == 0 || *inner == 0;
  const std::int64_t step = is_empty || *length == 1 || *stride == *inner ? 0 : *stride;
  if (step != *stride) least.set("stride", step);
  // Steps over more elements than there can be are refused for their sizes.
  const double contiguous = static_cast<double>(*length) * static_cast<double>(step == 0 ? *inner : step);
  if (*outer_stride != 0 && (is_empty || *outer == 1 || static_cast<double>(*outer_stride) == contiguous))
    least.set("outer_stride", std::int64_t{0});
  return least;
}

Problem with_least_stride(const Problem& given) {
  const Value* const length = given.find("length");
  const Value* const stride = given.find("stride");
  const auto* const apart = stride != nullptr ? std::get_if<std::int64_t>(stride) : nullptr;
  if (length == nullptr || apart == nullptr || *apart < 1) return given;
  Problem least = given;
  if (*length == Value(0) || *length == Value(1)) least.set("stride", std::int64_t{1});
  return least;
}

std::string refuses_reach(const Problem& problem, bool has_axis) {
  const auto real = [&](const char* name) { return static_cast<double>(problem.integer(name)); };
  const double stride = problem.integer("stride") == 0 ? real("inner") : real("stride");
  const double outer_stride =
      problem.integer("outer_stride") == 0 ? real("length") * stride : real("outer_stride");
  const double last = std::max(real("outer") - 1, 0.0) * outer_stride +
                      std::max(real("length") - 1, 0.0) * stride + real("inner");
  const double outputs = real("outer") * real("inner") * (has_axis ? real("length") : 1);
  if (!are_too_many(std::max({last, outputs, real("outer") * real("inner")}))) return "";
  std::string extents;
  for (const char* name : {"outer", "length", "inner", "stride", "outer_stride"})
    extents += " " + std::string(name) + "=" + std::to_string(problem.integer(name));
  return "The arrays of" + extents + " reach beyond the " + most_elements_text +
         " elements that are allowed.";
}

double axis_elements(const Problem& problem) {
  const StridedAxis axis(problem);
  return static_cast<double>(axis.lines()) * static_cast<double>(axis.length);
}

Values axis_sizes(const Problem& problem) {
  const std::int64_t inner = problem.integer("inner"), stride = problem.integer("stride");
  return {
      {"outer", problem.integer("outer")},
      {"length", problem.integer("length")},
      {"inner", inner},
      {"spacing", stride == 0 ? 1 : std::max<std::int64_t>(1, stride / std::max<std::int64_t>(1, inner))}};
}

void draw_strides(Random& random, Problem& problem) {
  if (!draw_chance(random, 8)) return;
  const std::int64_t inner = problem.integer("inner");
  problem.set("stride", draw_chance(random, 50) ? round_up(inner, 32) : inner + 1);
  if (draw_chance(random, 50)) problem.set("outer_stride", StridedAxis(problem).outer_stride + 16);
}

std::string refuses_empty(const StridedAxis& axis) {
  if (!axis.empty()) return "";
  return "An array of " + std::to_string(axis.outer) + " x " + std::to_string(axis.length) + " x " +
         std::to_string(axis.inner) + " has no elements; take the base template.";
}

std::string refuses_apart(const StridedAxis& axis) {
  if (axis.inner == 1 && (axis.stride == 1 || axis.length == 1)) return "";
  return "This template walks along contiguous elements; an inner of " + std::to_string(axis.inner) +
         " with a stride of " + std::to_string(axis.stride) + " is for the columns template.";
}

Rule vector_rule(const StridedAxis& axis, bool has_axis) {
  return {
      "VECTOR must divide what lies from one line, or row, to the next.", [axis, has_axis](const Config& c) {
        const std::int64_t vector = c[VECTOR];
        const bool rows =
            axis.inner == 1 || (axis.inner % vector == 0 && (axis.length == 1 || axis.stride % vector == 0));
        const bool slabs = axis.outer == 1 || (axis.outer_stride % vector == 0 &&
                                               (!has_axis || axis.length * axis.inner % vector == 0));
        return rows && slabs;
      }};
}

}  // namespace tunesmith

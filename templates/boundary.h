// SPDX-License-Identifier: Apache-2.0
// What stands outside an image or a signal: the modes of scipy.ndimage, and what op.h of the ops that have
// them share.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "generator/number_text.h"
#include "generator/op.h"
#include "generator/sample.h"
#include "templates/boundary_names.h"

namespace tunesmith {

inline const std::vector<std::string>& boundary_categories() {
  static const std::vector<std::string> categories(boundary_names.begin(), boundary_names.end());
  return categories;
}

inline Boundary boundary_of(const Problem& problem) {
  const std::vector<std::string>& categories = boundary_categories();
  return static_cast<Boundary>(std::find(categories.begin(), categories.end(), problem.string("boundary")) -
                               categories.begin());
}

/// The sample of [0, size) that stands at any place, by definition: a period of the boundary at a time; -1:
/// none, there stands a constant.
inline std::int64_t sample_at(std::int64_t place, std::int64_t size, Boundary boundary) {
  const auto within = [place](std::int64_t period) { return (place % period + period) % period; };
  switch (boundary) {
    case Boundary::zero:
    case Boundary::constant:
      return place >= 0 && place < size ? place : -1;
    case Boundary::nearest:
      return std::clamp<std::int64_t>(place, 0, size - 1);
    case Boundary::reflect:
      return std::min(within(2 * size), 2 * size - 1 - within(2 * size));
    case Boundary::mirror: {
      const std::int64_t period = std::max<std::int64_t>(2 * size - 2, 1);
      return std::min(within(period), period - within(period)) % size;
    }
    case Boundary::wrap:
      return within(size);
  }
  return -1;
}

/// The sums' dtype, and that of everything but the image or the signal.
inline DType sum_dtype(const Problem& problem) {
  return dtype_of(problem) == DType::f64 ? DType::f64 : DType::f32;
}

inline const std::vector<std::string>& sample_dtypes() {
  static const std::vector<std::string> categories = {"f32", "f64", "f16", "bf16", "u8", "u16", "i16"};
  return categories;
}

/// Mostly f32 and f64, of which only the latter is exact to SciPy's last digits.
inline void draw_sample_type(Random& random, Problem& problem) {
  problem.set("dtype", draw_chance(random, 20)   ? draw(random, sample_dtypes())
                       : draw_chance(random, 70) ? std::string("f32")
                                                 : std::string("f64"));
}

// ---- the constant, a number of the launch

/// Whether the text is a number; "inf" and "nan" are.
inline bool reads_as_double(const std::string& text, double& value) {
  const auto number = parsed_number<double>(text);
  if (number) value = *number;
  return number.has_value();
}

inline Parameter value_parameter(std::string what) {
  return {.name = "value",
          .what = std::move(what),
          .initial = "0",
          .refuses_text = [](const std::string& text) -> std::string {
            double value = 0;
            if (reads_as_double(text, value)) return "";
            return "'" + text + "' is not a decimal number, such as -1, 0.25, 1e-3 or nan.";
          },
          .at_launch = true};
}

/// What stands outside, as the sums have it.
inline double rounded_value(double value, DType sums) {
  constexpr double most = std::numeric_limits<float>::max();
  if (sums == DType::f64 || !std::isfinite(value)) return value;
  if (std::abs(value) > most) return std::copysign(std::numeric_limits<double>::infinity(), value);
  return static_cast<double>(static_cast<float>(value));
}

inline double value_of(const Problem& problem) {
  double value = 0;
  reads_as_double(problem.string("value"), value);
  return boundary_of(problem) == Boundary::constant ? rounded_value(value, sum_dtype(problem)) : 0;
}

inline MakeNumbers value_at_launch(const Problem& problem) {
  if (boundary_of(problem) != Boundary::constant) return nullptr;
  return [sums = sum_dtype(problem)](std::span<const double> given, LaunchNumbers& made) -> std::string {
    made.doubles[0] = rounded_value(given[0], sums);
    return "";
  };
}

/// Adds the value as the last of a launch's arguments.
inline void add_value(Launch& launch, const Problem& problem) {
  launch.arguments.emplace_back(value_of(problem));
  if (boundary_of(problem) != Boundary::constant) return;
  launch.numbers.assign(launch.arguments.size(), -1);
  launch.numbers.back() = 0;
}

}  // namespace tunesmith

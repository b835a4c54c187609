// SPDX-License-Identifier: Apache-2.0
// The samples of images and signals that are summed, and draws of images that users typically have.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "generator/op.h"
#include "generator/sample.h"
#include "templates/image/boundary.h"

namespace tunesmith {

inline const std::vector<std::string>& sample_dtypes() {
  static const std::vector<std::string> categories = {"f32", "f64", "f16", "bf16", "u8", "u16", "i16"};
  return categories;
}

inline Parameter sample_dtype_parameter(std::string what) {
  return {.name = "dtype", .what = std::move(what), .categories = sample_dtypes(), .initial = "f32"};
}

/// The dtype of the sums, and of all arrays except the image or the signal.
inline DType sum_dtype(const Problem& problem) {
  return dtype_of(problem) == DType::f64 ? DType::f64 : DType::f32;
}
inline std::int64_t sum_bytes(const Problem& problem) { return bytes(sum_dtype(problem)); }

/// True if samples are converted before they are summed.
inline bool converts(const Problem& problem) { return dtype_of(problem) != sum_dtype(problem); }

/// For Argument::contents of samples that are summed.
inline std::vector<Contents> summed_contents() {
  return {{Contents::uniform, -100, 100},
          {Contents::few, -1, 1},
          {Contents::magnitudes, 0x1p-13, 0x1p13},
          {Contents::ascending, -1, 1}};
}

// ---- for Op::sample

/// Draws mostly f32 and f64. Only f64 is exact to SciPy's last digits.
inline void draw_sample_type(Random& random, Problem& problem) {
  problem.set("dtype", draw_chance(random, 20)   ? draw(random, sample_dtypes())
                       : draw_chance(random, 70) ? std::string("f32")
                                                 : std::string("f64"));
}

/// Draws mostly the usual boundary.
inline void draw_boundary(Random& random, Problem& problem, Boundary usual) {
  problem.set("boundary",
              draw_chance(random, 70) ? std::string(name_of(usual)) : draw(random, choices<Boundary>()));
}

/// Sets height and width to those of a square of up to `largest` or of a frame of cameras and screens, or
/// leaves them as they were drawn.
inline void draw_image(Random& random, Problem& problem, std::int64_t largest, int percent_of_frames,
                       const std::vector<std::array<std::int64_t, 2>>& frames) {
  const auto set = [&](std::int64_t height, std::int64_t width) {
    problem.set("height", height);
    problem.set("width", width);
  };
  if (draw_chance(random, 30)) {
    const std::int64_t side = draw_size(random, 16, largest);
    set(side, side);
  } else if (draw_chance(random, percent_of_frames)) {
    const auto& [height, width] = draw(random, frames);
    set(height, width);
  }
}

/// Halves the largest of these extents until the problem is small enough, or all are 1.
inline void draw_smaller(Problem& problem, std::initializer_list<const char*> extents,
                         const std::function<bool(const Problem&)>& is_small) {
  while (!is_small(problem)) {
    const char* const largest = *std::max_element(extents.begin(), extents.end(), [&](auto a, auto b) {
      return problem.integer(a) < problem.integer(b);
    });
    if (problem.integer(largest) <= 1) return;
    problem.set(largest, problem.integer(largest) / 2);
  }
}

}  // namespace tunesmith

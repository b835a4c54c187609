// SPDX-License-Identifier: Apache-2.0
// Declarations that the files of the op rank_filter share: the shape of a problem, its window, and its
// templates.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "generator/op.h"
#include "templates/axes.h"
#include "templates/image/boundary.h"

namespace tunesmith::rank_filter_op {

/// A footprint is passed to the base by its bits, as this many numbers of 64 bits.
inline constexpr std::int64_t footprint_words = 32;
inline constexpr std::int64_t most_window = std::int64_t{1} << 24;  ///< places
inline constexpr std::int64_t most_of_extreme = 64;                 ///< places along a dimension

struct Extents3 {
  std::int64_t z, y, x;
  /// The places, at most 2^63 - 1; 0 if an extent is 0.
  std::int64_t product() const {
    std::int64_t all = 0;
    if (z == 0 || y == 0 || x == 0) return 0;
    const bool is_more = __builtin_mul_overflow(z, y, &all) || __builtin_mul_overflow(all, x, &all);
    return is_more ? std::numeric_limits<std::int64_t>::max() : all;
  }
  bool operator==(const Extents3&) const = default;
};

struct Dims {
  explicit Dims(const Problem& problem);
  bool empty() const { return image.product() == 0; }

  Extents3 image, window;
  Extents3 before;  ///< places from a window's first one to its output's: half a window and the origin
};

bool is_box(const Problem& problem);  ///< true if all places of the window count
/// The places of the footprint's text in order, without the separators of rows; empty for a box.
std::string footprint_bits(const Problem& problem);
std::int64_t counted_places(const Problem& problem);  ///< places of the window that count
bool is_least(const Problem& problem);                ///< true if the rank is that of the minimum
bool is_greatest(const Problem& problem);

Template base();
Template network();
Template transposed();
Template extreme();
Template streamed();
Template ranks();

// ---- declarations that the tuned templates share

inline constexpr IntegerAxis OUTPUTS_X("OUTPUTS_X");
inline constexpr IntegerAxis OUTPUTS_Y("OUTPUTS_Y");

/// Template::compiled_in: the window, and the type of the elements.
std::vector<std::string> window_parameters();
/// Template::constants: how far before its output a window begins.
Values window_constants(const Problem& problem);

std::string refuses_empty(const Problem& problem);

/// Adds the boundary's number and the value as the last of a launch's arguments.
void add_outside(Launch& launch, const Problem& problem);
std::string refuses_all_but_box_extremes(const Problem& problem);  ///< a sentence, or ""
inline std::int64_t element_bytes(const Problem& problem) { return bytes(dtype_of(problem)); }
/// Template::alignment_bytes, where VECTOR is in bytes.
std::int64_t vector_bytes(const Problem& problem, const Config& config);
/// The work of minima or maxima of a box: `launch` makes the launch along an image's rows and columns. For
/// windows of several planes, a launch of the kernel `planes` comes first, which takes planes as rows; the
/// workspace holds the result between both.
using BoxLaunch =
    std::function<Launch(const Extents3& image, std::int64_t rows_window, std::int64_t columns_window)>;
Work work_of_box(const Problem& problem, const char* planes, const BoxLaunch& launch);

}  // namespace tunesmith::rank_filter_op

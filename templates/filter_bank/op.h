// SPDX-License-Identifier: Apache-2.0
// Declarations that the files of the op filter_bank share: the sizes of a problem, and its templates.
#pragma once

#include <cstdint>

#include "generator/op.h"
#include "templates/axes.h"
#include "templates/filter_bank/tunesmith/filter_bank_results.h"
#include "templates/image/boundary.h"
#include "templates/image/samples.h"
#include "templates/image/value.h"

namespace tunesmith::filter_bank_op {

inline constexpr std::int64_t most_filters = 4;
inline constexpr std::int64_t most_taps = 1024;

inline constexpr IntegerAxis ROWS("ROWS");

struct Dims {
  explicit Dims(const Problem& problem);
  bool empty() const { return batch * height * width * channels == 0; }
  std::int64_t row_length() const { return width * channels; }
  std::int64_t image_elements() const { return height * row_length(); }

  std::int64_t batch, height, width, channels;
  std::int64_t filters, taps_y, taps_x;
  std::int64_t before_y,
      before_x;  ///< places from a window's first one to its output's: half a mask and the origin
  FilterBankResults results;
  Boundary boundary;
};

Template base();
Template sliding();

}  // namespace tunesmith::filter_bank_op

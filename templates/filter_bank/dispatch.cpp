// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <charconv>
#include <string_view>

#include "generator/error.h"
#include "templates/boundary_names.h"
#include "tunesmith/filter_bank.h"

namespace tunesmith {
inline namespace TUNESMITH_ABI {
namespace {

static_assert(has_all_boundaries<FilterBankBoundary>());
constexpr std::array<std::string_view, 3> results = {"each", "sum", "norm"};

Plan plan_of(Dispatcher& dispatcher, const FilterBankShape& shape, ElementName type, std::string_view value) {
  const Field problem[] = {{"batch", shape.batch},
                           {"height", shape.height},
                           {"width", shape.width},
                           {"channels", shape.channels},
                           {"filters", shape.filters},
                           {"taps_y", shape.taps_y},
                           {"taps_x", shape.taps_x},
                           {"results", results.at(static_cast<std::size_t>(shape.results))},
                           {"boundary", boundary_names.at(static_cast<std::size_t>(shape.boundary))},
                           {"origin_y", shape.origin_y},
                           {"origin_x", shape.origin_x},
                           {"dtype", type.text},
                           {"value", value}};
  return dispatcher.plan("filter_bank", problem);
}

// The plan's own value is 0: it serves all.
Status run(Dispatcher& dispatcher, const void* image, const void* column_masks, const void* row_masks,
           void* output, const FilterBankShape& shape, ElementName type, void* stream) {
  void* const arguments[] = {const_cast<void*>(image), const_cast<void*>(column_masks),
                             const_cast<void*>(row_masks), output};
  const Plan plan = plan_of(dispatcher, shape, type, "0");
  if (shape.boundary != FilterBankBoundary::constant) return plan.launch(arguments, stream);
  return plan.launch(arguments, std::array{shape.value}, stream);
}

}  // namespace

Plan filter_bank_plan(Dispatcher& dispatcher, const FilterBankShape& shape, ElementName type) {
  if (shape.boundary != FilterBankBoundary::constant) return plan_of(dispatcher, shape, type, "0");
  std::array<char, 32> text = {};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), shape.value).ptr;
  return plan_of(dispatcher, shape, type, {text.data(), end});
}

Status filter_bank(Dispatcher& dispatcher, const float* image, const float* column_masks,
                   const float* row_masks, float* output, const FilterBankShape& shape, void* stream) {
  return run(dispatcher, image, column_masks, row_masks, output, shape, "f32", stream);
}

Status filter_bank(Dispatcher& dispatcher, const double* image, const double* column_masks,
                   const double* row_masks, double* output, const FilterBankShape& shape, void* stream) {
  return run(dispatcher, image, column_masks, row_masks, output, shape, "f64", stream);
}

// Masks and output are float: "f64" is no image of these.
Status filter_bank(Dispatcher& dispatcher, ElementName type, const void* image, const float* column_masks,
                   const float* row_masks, float* output, const FilterBankShape& shape, void* stream) {
  if (type.text == "f64") {
    throw UsageError("Images of f64 have masks and an output of double; call filter_bank() with these.");
  }
  return run(dispatcher, image, column_masks, row_masks, output, shape, type, stream);
}

}  // namespace TUNESMITH_ABI
}  // namespace tunesmith

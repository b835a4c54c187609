// SPDX-License-Identifier: Apache-2.0
// The typed functions of tunesmith/filter_bank.h: they make problems and launch plans of the dispatcher.
#include <string_view>

#include "generator/error.h"
#include "templates/image/launch.h"
#include "tunesmith/filter_bank.h"

namespace tunesmith {
inline namespace TUNESMITH_ABI {
namespace {

Plan plan_of(Dispatcher& dispatcher, const FilterBankShape& shape, ElementName type, const ValueText& value) {
  const Field problem[] = {{"batch", shape.batch},
                           {"height", shape.height},
                           {"width", shape.width},
                           {"channels", shape.channels},
                           {"filters", shape.filters},
                           {"taps_y", shape.taps_y},
                           {"taps_x", shape.taps_x},
                           {"results", name_of(shape.results)},
                           {"boundary", name_of(shape.boundary)},
                           {"origin_y", shape.origin_y},
                           {"origin_x", shape.origin_x},
                           {"dtype", type.text},
                           {"value", value.get()}};
  return dispatcher.plan("filter_bank", problem);
}

Status run(Dispatcher& dispatcher, const void* image, const void* column_masks, const void* row_masks,
           void* output, const FilterBankShape& shape, ElementName type, void* stream) {
  void* const arguments[] = {const_cast<void*>(image), const_cast<void*>(column_masks),
                             const_cast<void*>(row_masks), output};
  return launch_with_value(plan_of(dispatcher, shape, type, {}), shape, arguments, stream);
}

}  // namespace

Plan filter_bank_plan(Dispatcher& dispatcher, const FilterBankShape& shape, ElementName type) {
  return plan_of(dispatcher, shape, type, ValueText(shape));
}

Status filter_bank(Dispatcher& dispatcher, const float* image, const float* column_masks,
                   const float* row_masks, float* output, const FilterBankShape& shape, void* stream) {
  return run(dispatcher, image, column_masks, row_masks, output, shape, "f32", stream);
}

Status filter_bank(Dispatcher& dispatcher, const double* image, const double* column_masks,
                   const double* row_masks, double* output, const FilterBankShape& shape, void* stream) {
  return run(dispatcher, image, column_masks, row_masks, output, shape, "f64", stream);
}

// Masks and output are float here, so images of f64 are refused.
Status filter_bank(Dispatcher& dispatcher, ElementName type, const void* image, const float* column_masks,
                   const float* row_masks, float* output, const FilterBankShape& shape, void* stream) {
  if (type.text == "f64") {
    throw UsageError("Images of f64 have masks and an output of double; call filter_bank() with these.");
  }
  return run(dispatcher, image, column_masks, row_masks, output, shape, type, stream);
}

}  // namespace TUNESMITH_ABI
}  // namespace tunesmith

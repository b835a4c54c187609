// SPDX-License-Identifier: Apache-2.0
#include "tunesmith/reduce.h"

namespace tunesmith {
inline namespace TUNESMITH_ABI {

Plan reduce_plan(Dispatcher& dispatcher, ElementName type, const ReduceShape& shape, ReduceFunction function,
                 ReduceOrder order, const ReduceOptions& options) {
  const Field problem[] = {{"outer", shape.outer},
                           {"length", shape.length},
                           {"inner", shape.inner},
                           {"outer_stride", shape.outer_stride},
                           {"stride", shape.stride},
                           {"function", reduce_function_names.at(static_cast<std::size_t>(function))},
                           {"order", reduce_order_names.at(static_cast<std::size_t>(order))},
                           {"dtype", type.text},
                           {"ddof", options.ddof},
                           {"sum_dtype", options.sums_in_double ? "f64" : "same"}};
  return dispatcher.plan("reduce", problem);
}

}  // namespace TUNESMITH_ABI
}  // namespace tunesmith

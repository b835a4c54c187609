// SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include "generator/number_text.h"
#include "tunesmith/scan.h"

namespace tunesmith {
inline namespace TUNESMITH_ABI {
namespace {

struct What {
  ScanFunction function = ScanFunction::sum;
  ScanKind kind = ScanKind::inclusive;
  ElementName type = ElementType::f32;
  std::string_view sum_dtype = "same";
  std::string_view expression = "none";
  std::string_view identity = "none";
};

Plan plan_of(Dispatcher& dispatcher, const ScanShape& shape, const What& what) {
  const Field problem[] = {{"outer", shape.outer},
                           {"length", shape.length},
                           {"inner", shape.inner},
                           {"outer_stride", shape.outer_stride},
                           {"stride", shape.stride},
                           {"function", scan_function_names.at(static_cast<std::size_t>(what.function))},
                           {"kind", scan_kind_names.at(static_cast<std::size_t>(what.kind))},
                           {"dtype", what.type.text},
                           {"sum_dtype", what.sum_dtype},
                           {"direction", shape.reverse ? "reverse" : "forward"},
                           {"expression", what.expression},
                           {"identity", what.identity}};
  return dispatcher.plan("scan", problem);
}

}  // namespace

Plan scan_plan(Dispatcher& dispatcher, const ScanShape& shape, ScanFunction function, ScanKind kind,
               ElementName type, bool sums_in_double) {
  return plan_of(
      dispatcher, shape,
      {.function = function, .kind = kind, .type = type, .sum_dtype = sums_in_double ? "f64" : "same"});
}

Plan scan_expression_plan(Dispatcher& dispatcher, std::string_view expression, const ScanShape& shape,
                          ElementName type, std::optional<double> exclusive_first) {
  What what{.type = type, .expression = expression};
  ShortestText text;
  if (exclusive_first) {
    what.kind = ScanKind::exclusive;
    text = ShortestText(*exclusive_first);
    what.identity = text.get();
  }
  return plan_of(dispatcher, shape, what);
}

}  // namespace TUNESMITH_ABI
}  // namespace tunesmith

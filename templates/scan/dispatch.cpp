#include <array>
#include <string_view>

#include "tunesmith/scan.h"

namespace tunesmith {
inline namespace TUNESMITH_ABI {
namespace {

// In the order of ScanFunction and ScanKind.
constexpr std::array<std::string_view, 6> functions = {"sum", "product", "max", "min", "any", "all"};
constexpr std::array<std::string_view, 2> kinds = {"inclusive", "exclusive"};

}  // namespace

// Strides that say what 0 says, or that nothing depends on, are 0: one array is one problem.
Plan scan_plan(Dispatcher& dispatcher, const ScanShape& shape, ScanFunction function, ScanKind kind,
               std::string_view dtype, bool sums_in_double) {
  const std::int64_t stride = shape.stride == shape.inner || shape.length == 1 ? 0 : shape.stride;
  // Contiguous steps of more elements than there can be are refused by plan() for their sizes.
  const bool contiguous = shape.outer == 1 || static_cast<double>(shape.outer_stride) ==
                                                  static_cast<double>(shape.length) *
                                                      static_cast<double>(stride == 0 ? shape.inner : stride);
  const Field problem[] = {{"outer", shape.outer},
                           {"length", shape.length},
                           {"inner", shape.inner},
                           {"outer_stride", contiguous ? 0 : shape.outer_stride},
                           {"stride", stride},
                           {"function", functions.at(static_cast<std::size_t>(function))},
                           {"kind", kinds.at(static_cast<std::size_t>(kind))},
                           {"dtype", dtype},
                           {"sum_dtype", sums_in_double ? "f64" : "same"}};
  return dispatcher.plan("scan", problem);
}

}  // namespace TUNESMITH_ABI
}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
// The typed functions of tunesmith/rank_filter.h: they make problems and launch plans of the dispatcher.
#include <algorithm>
#include <string_view>

#include "templates/image/launch.h"
#include "tunesmith/rank_filter.h"

namespace tunesmith {
inline namespace TUNESMITH_ABI {
namespace {

Plan plan_of(Dispatcher& dispatcher, const RankFilterShape& shape, std::int64_t rank, ElementName type,
             const ValueText& value) {
  const Field problem[] = {{"depth", shape.depth},
                           {"height", shape.height},
                           {"width", shape.width},
                           {"window_depth", shape.window_depth},
                           {"window_height", shape.window_height},
                           {"window_width", shape.window_width},
                           {"footprint", shape.footprint},
                           {"rank", rank},
                           {"boundary", name_of(shape.boundary)},
                           {"origin_z", shape.origin_z},
                           {"origin_y", shape.origin_y},
                           {"origin_x", shape.origin_x},
                           {"dtype", type.text},
                           {"value", value.get()}};
  return dispatcher.plan("rank_filter", problem);
}

}  // namespace

std::int64_t rank_filter_count(const RankFilterShape& shape) noexcept {
  if (shape.footprint != "box") return std::count(shape.footprint.begin(), shape.footprint.end(), 'x');
  return shape.window_depth * shape.window_height * shape.window_width;
}

Plan rank_filter_plan(Dispatcher& dispatcher, const RankFilterShape& shape, std::int64_t rank,
                      ElementName type) {
  return plan_of(dispatcher, shape, rank, type, ValueText(shape));
}

Status rank_filter(Dispatcher& dispatcher, const void* image, void* output, const RankFilterShape& shape,
                   std::int64_t rank, ElementName type, void* stream) {
  void* const arguments[] = {const_cast<void*>(image), output};
  return launch_with_value(plan_of(dispatcher, shape, rank, type, {}), shape, arguments, stream);
}

}  // namespace TUNESMITH_ABI
}  // namespace tunesmith

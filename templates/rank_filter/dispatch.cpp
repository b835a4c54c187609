// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "templates/boundary_names.h"
#include "tunesmith/rank_filter.h"

namespace tunesmith {
inline namespace TUNESMITH_ABI {
namespace {

static_assert(has_all_boundaries<RankFilterBoundary>());

Plan plan_of(Dispatcher& dispatcher, const RankFilterShape& shape, std::int64_t rank, ElementName type,
             std::string_view value) {
  const Field problem[] = {{"depth", shape.depth},
                           {"height", shape.height},
                           {"width", shape.width},
                           {"window_depth", shape.window_depth},
                           {"window_height", shape.window_height},
                           {"window_width", shape.window_width},
                           {"footprint", shape.footprint},
                           {"rank", rank},
                           {"boundary", boundary_names.at(static_cast<std::size_t>(shape.boundary))},
                           {"origin_z", shape.origin_z},
                           {"origin_y", shape.origin_y},
                           {"origin_x", shape.origin_x},
                           {"dtype", type.text},
                           {"value", value}};
  return dispatcher.plan("rank_filter", problem);
}

}  // namespace

std::int64_t rank_filter_count(const RankFilterShape& shape) noexcept {
  if (shape.footprint != "box") return std::count(shape.footprint.begin(), shape.footprint.end(), 'x');
  return shape.window_depth * shape.window_height * shape.window_width;
}

Plan rank_filter_plan(Dispatcher& dispatcher, const RankFilterShape& shape, std::int64_t rank,
                      ElementName type) {
  if (shape.boundary != RankFilterBoundary::constant) return plan_of(dispatcher, shape, rank, type, "0");
  std::array<char, 32> text = {};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), shape.value).ptr;
  return plan_of(dispatcher, shape, rank, type, {text.data(), end});
}

// The plan's own value is 0: it serves all.
Status rank_filter(Dispatcher& dispatcher, const void* image, void* output, const RankFilterShape& shape,
                   std::int64_t rank, ElementName type, void* stream) {
  void* const arguments[] = {const_cast<void*>(image), output};
  const Plan plan = plan_of(dispatcher, shape, rank, type, "0");
  if (shape.boundary != RankFilterBoundary::constant) return plan.launch(arguments, stream);
  return plan.launch(arguments, std::array{shape.value}, stream);
}

}  // namespace TUNESMITH_ABI
}  // namespace tunesmith

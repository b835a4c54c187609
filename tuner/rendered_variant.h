// A variant as the tuner handles it: a point of the search, rendered for the device's target.
#pragma once

#include <cstdint>
#include <string>

#include "generator/render.h"
#include "tuner/search.h"

namespace tunesmith {

struct RenderedVariant {
  Point point;
  const Template* tmpl = nullptr;
  Source source;
  std::string compiled_in;  ///< the part of the problem that is in the text
  std::int64_t alignment_bytes = 0;
  Work work;
  bool is_base = false;
};

RenderedVariant render_variant(const Op& op, const Problem& problem, const Point& point,
                               const DeviceFacts& device);

}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
// A variant as the tuner handles it: a point of the search, rendered for the device's target.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "generator/render.h"
#include "tuner/search/search.h"

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

/// Renders a config given as text. Returns nothing if its template does not have it, or it is not legal for
/// the problem.
std::optional<RenderedVariant> render_legal(const Op& op, const Problem& problem,
                                            std::string_view template_name, std::string_view config,
                                            const DeviceFacts& device);

}  // namespace tunesmith

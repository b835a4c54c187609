// SPDX-License-Identifier: Apache-2.0
#include "tuner/check/rendered_variant.h"

#include "generator/ops.h"

namespace tunesmith {

RenderedVariant render_variant(const Op& op, const Problem& problem, const Point& point,
                               const DeviceFacts& device) {
  RenderedVariant variant;
  variant.point = point;
  variant.tmpl = &op.templates.at(point.template_index);
  variant.source = render(op, *variant.tmpl, problem, point.config, device.target);
  variant.compiled_in = compiled_in(op, *variant.tmpl, problem).text();
  variant.work = variant.tmpl->work(problem, point.config, device);
  variant.alignment_bytes = alignment_bytes(*variant.tmpl, problem, point.config);
  return variant;
}

std::optional<RenderedVariant> render_legal(const Op& op, const Problem& problem,
                                            std::string_view template_name, std::string_view config,
                                            const DeviceFacts& device) {
  const auto point = legal_point(op, problem, device, template_name, config);
  if (!point) return std::nullopt;
  return render_variant(op, problem, *point, device);
}

}  // namespace tunesmith

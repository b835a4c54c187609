#include "tuner/rendered_variant.h"

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

}  // namespace tunesmith

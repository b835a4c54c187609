#include "generator/ops.h"

namespace tunesmith {

Source render(const Op& op, const Template& tmpl, const Problem& problem, const Config& config,
              std::string_view target) {
  return render(op, tmpl, problem, config, target, template_files());
}

}  // namespace tunesmith

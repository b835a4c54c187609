// SPDX-License-Identifier: Apache-2.0
// The build compiles this file into the same library as the generated table of ops, which defines ops() and
// template_files().
#include "generator/ops.h"

namespace tunesmith {

const Files& files_of(const Op& op) { return op.files != nullptr ? *op.files : template_files(); }

Source render(const Op& op, const Template& tmpl, const Problem& problem, const Config& config,
              std::string_view target) {
  return render(op, tmpl, problem, config, target, files_of(op));
}

}  // namespace tunesmith

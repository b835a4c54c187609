// SPDX-License-Identifier: Apache-2.0
// Compiled with the table of ops, beside ops() and template_files().
#include "generator/ops.h"

namespace tunesmith {

const Files& files_of(const Op& op) { return op.files != nullptr ? *op.files : template_files(); }

Source render(const Op& op, const Template& tmpl, const Problem& problem, const Config& config,
              std::string_view target) {
  return render(op, tmpl, problem, config, target, files_of(op));
}

}  // namespace tunesmith

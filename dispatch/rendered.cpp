// SPDX-License-Identifier: Apache-2.0
#include "dispatch/source.h"
#include "generator/ops.h"
#include "kernel_file/add.h"
#include "kernel_file/read.h"

namespace tunesmith {

Source source_of(const VariantSpec& spec, std::string_view target) {
  return render(spec.op, spec.tmpl, spec.problem, spec.config, target);
}

void add_kernel_file(const std::string& path) { add_user_kernel(read_kernel_file(path)); }

bool is_exported() { return false; }

}  // namespace tunesmith

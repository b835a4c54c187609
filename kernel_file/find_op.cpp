// SPDX-License-Identifier: Apache-2.0
// The build compiles this file into the same library as the generated table of ops, which defines ops().
#include "kernel_file/find_op.h"

#include <string>
#include <vector>

#include "generator/error.h"
#include "generator/listed.h"
#include "generator/nearest_name.h"
#include "generator/ops.h"
#include "kernel_file/user_kernel.h"

namespace tunesmith {

const Op* op_or_null(std::string_view name) {
  for (const Op& op : ops())
    if (op.name == name) return &op;
  const UserKernel* kernel = find_user_kernel(name);
  return kernel == nullptr ? nullptr : &kernel->op;
}

const Op& find_op(std::string_view name) {
  if (const Op* op = op_or_null(name)) return *op;
  std::vector<std::string> names;
  for (const Op& op : ops()) names.push_back(op.name);
  throw UsageError("There is no op " + std::string(name) + "; the ops are " + listed(names) +
                   ", and those that files of yours describe, such as my_kernel.cu." +
                   did_you_mean(name, names));
}

}  // namespace tunesmith

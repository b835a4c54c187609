// Compiled with the table of ops, beside ops().
#include "kernel_file/find_op.h"

#include <string>

#include "generator/error.h"
#include "generator/ops.h"
#include "kernel_file/user_kernel.h"

namespace tunesmith {

const Op& find_op(std::string_view name) {
  std::string names;
  for (const Op& op : ops()) {
    if (op.name == name) return op;
    names += (names.empty() ? "" : ", ") + op.name;
  }
  if (const UserKernel* kernel = find_user_kernel(name)) return kernel->op;
  throw UsageError("There is no op " + std::string(name) + "; the ops are " + names +
                   ", and those that files of yours describe, such as my_kernel.cu.");
}

}  // namespace tunesmith

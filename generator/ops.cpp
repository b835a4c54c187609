#include "generator/ops.h"

#include <string>

#include "generator/error.h"
#include "generator/own_op.h"

namespace tunesmith {

const Op& find_op(std::string_view name) {
  std::string names;
  for (const Op& op : ops()) {
    if (op.name == name) return op;
    names += (names.empty() ? "" : ", ") + op.name;
  }
  if (const OwnOp* own = find_own_op(name)) return own->op;
  throw UsageError("There is no op " + std::string(name) + "; the ops are " + names +
                   ", and those that files of yours describe, such as my_kernel.cu.");
}

}  // namespace tunesmith

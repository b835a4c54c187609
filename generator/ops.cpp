#include "generator/ops.h"

#include <string>

#include "generator/error.h"

namespace tunesmith {

const Op& find_op(std::string_view name) {
  std::string names;
  for (const Op& op : ops()) {
    if (op.name == name) return op;
    names += (names.empty() ? "" : ", ") + op.name;
  }
  throw UsageError("There is no op " + std::string(name) + "; the ops are " + names + ".");
}

}  // namespace tunesmith

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

Source render(const Op& op, const Template& tmpl, const Problem& problem, const Config& config,
              std::string_view target) {
  return render(op, tmpl, problem, config, target, template_files());
}

}  // namespace tunesmith

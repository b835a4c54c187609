#include <algorithm>

#include "generator/described_op.h"
#include "generator/error.h"
#include "generator/ops.h"

namespace tunesmith {

const Files& files_of(const Op& op) {
  const OwnOp* own = find_own_op(op.name);
  return own != nullptr ? own->files : template_files();
}

const OwnOp& add_own_op(const OwnText& text) {
  auto made = described_op(text, template_files());
  const std::string& name = made->op.name;
  if (std::any_of(ops().begin(), ops().end(), [&](const Op& op) { return op.name == name; })) {
    throw UsageError(text.path + " describes an op " + name +
                     ", which is one of Tunesmith's own; give it another by name = \"…\".");
  }
  return add_own_op(std::move(made));
}

Source render(const Op& op, const Template& tmpl, const Problem& problem, const Config& config,
              std::string_view target) {
  return render(op, tmpl, problem, config, target, files_of(op));
}

}  // namespace tunesmith

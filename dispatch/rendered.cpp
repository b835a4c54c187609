#include "dispatch/source.h"
#include "generator/ops.h"
#include "runtime/own_text.h"

namespace tunesmith {

Source source_of(const Wanted& wanted, std::string_view target) {
  return render(wanted.op, wanted.tmpl, wanted.problem, wanted.config, target);
}

void add_kernel_file(const std::string& path) { add_own_op(read_own_text(path)); }

bool is_exported() { return false; }

}  // namespace tunesmith

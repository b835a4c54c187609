#include "generator/own_op.h"

#include <map>
#include <mutex>

#include "generator/error.h"

namespace tunesmith {
namespace {

// Never destroyed: spaces refer to its sentences, and threads that plan may outlive main().
struct Added {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<const OwnOp>, std::less<>> ops;
};
Added& added() {
  static auto* const all = new Added;
  return *all;
}

}  // namespace

const OwnOp& add_own_op(std::unique_ptr<const OwnOp> op) {
  const std::scoped_lock lock(added().mutex);
  auto& kept = added().ops[op->op.name];
  if (!kept) {
    kept = std::move(op);
  } else if (kept->text != op->text) {
    throw UsageError(op->text.path + " describes the op " + op->op.name +
                     ", which this process already has from " + kept->text.path +
                     "; give one of them another name, or start again to use a changed file.");
  }
  return *kept;
}

const OwnOp* find_own_op(std::string_view name) {
  const std::scoped_lock lock(added().mutex);
  const auto found = added().ops.find(name);
  return found == added().ops.end() ? nullptr : found->second.get();
}

std::string words_for(const Op& op) {
  const OwnOp* own = find_own_op(op.name);
  return own != nullptr ? own->text.path : op.name;
}

}  // namespace tunesmith

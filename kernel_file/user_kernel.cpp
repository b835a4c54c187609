// SPDX-License-Identifier: Apache-2.0
#include "kernel_file/user_kernel.h"

#include <map>
#include <mutex>

#include "generator/error.h"

namespace tunesmith {
namespace {

// Never destroyed, because spaces refer to the kernels' sentences, and threads that plan may outlive main().
struct Kernels {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<const UserKernel>, std::less<>> by_name;
};
Kernels& all_kernels() {
  static auto* const all = new Kernels;
  return *all;
}

}  // namespace

const UserRecord* record_of(const Op& op, const Argument& argument) {
  if (op.user_kernel == nullptr) return nullptr;
  const auto found = op.user_kernel->records.find(argument.name);
  return found == op.user_kernel->records.end() ? nullptr : &found->second;
}

const UserKernel& keep_user_kernel(std::unique_ptr<const UserKernel> kernel) {
  const std::scoped_lock lock(all_kernels().mutex);
  auto& kept = all_kernels().by_name[kernel->op.name];
  if (!kept) {
    kept = std::move(kernel);
  } else if (kept->file != kernel->file) {
    throw UsageError(kernel->file.path + " describes the op " + kernel->op.name +
                     ", which this process already has from " + kept->file.path +
                     "; give one of them another name, or start again to use a changed file.");
  }
  return *kept;
}

const UserKernel* find_user_kernel(std::string_view name) {
  const std::scoped_lock lock(all_kernels().mutex);
  const auto found = all_kernels().by_name.find(name);
  return found == all_kernels().by_name.end() ? nullptr : found->second.get();
}

double default_tolerance(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return 0x1p-17;
    case DType::f64:
      return 0x1p-46;
    case DType::f16:
      return 0x1p-8;
    case DType::bf16:
      return 0x1p-5;
    default:
      return 0;
  }
}

}  // namespace tunesmith

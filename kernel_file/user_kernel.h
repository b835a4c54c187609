// SPDX-License-Identifier: Apache-2.0
// Users' kernels that this process was given: a .cu with its description (description.h), and the op that it
// makes. They are found by name beside the ops that the program was built with (find_op.h).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "generator/op.h"
#include "generator/render.h"

namespace tunesmith {

/// The files that describe an op, as texts: what another process needs to have it too.
struct KernelFile {
  std::string path;         ///< as it was named
  std::string cu;           ///< the kernel's file
  std::string description;  ///< the text of the .toml beside it; empty: it stands in the .cu
  /// What the .cu includes from its own folder: the names in its lines #include "…", and the texts.
  std::vector<std::pair<std::string, std::string>> included = {};
  bool operator==(const KernelFile&) const = default;
};

struct UserKernel {
  Op op;        ///< without a function as reference: that is a kernel
  Files files;  ///< of its body, and of what every body may include
  KernelFile file;
  Template reference;              ///< with the space of the op's template, of which it takes the base config
  bool reference_is_base = false;  ///< there is no other kernel to compare with
  /// The reference is a host function, whatever is tuned for: C++ with it and with
  /// extern "C" void tunesmith_call(void* const* values), which takes an array or the address of a number for
  /// each argument of `reference`'s launch. Empty: it is a kernel.
  std::string reference_text;
  double relative_tolerance = -1, absolute_tolerance = -1;  ///< below 0: as for the dtype
  std::string compared;                                     ///< a sentence: with what it is compared
  std::vector<std::string> notes;                           ///< sentences: which lines gave way
  /// A sentence on an expression that some config, which no rule excludes, cannot compute; empty: none is
  /// known. It tries many configs.
  std::function<std::string(const Problem&)> mistake = nullptr;
};

/// Keeps it for the rest of the process; the same texts again give the one that is there. Throws UsageError
/// where another kernel has its name. Thread-safe. (add.h makes one of a file.)
const UserKernel& keep_user_kernel(std::unique_ptr<const UserKernel> kernel);

/// For find_op.h and add.h. Null: there is none of that name. Thread-safe.
const UserKernel* find_user_kernel(std::string_view name);

}  // namespace tunesmith

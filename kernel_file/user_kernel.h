// SPDX-License-Identifier: Apache-2.0
// The users' kernels that this process was given: a .cu with its description (description.h), and the op made
// of it. They are found by name like the ops that the program was built with (find_op.h).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "generator/op.h"
#include "generator/render.h"
#include "kernel_file/struct_layout.h"

namespace tunesmith {

/// The files that describe an op, as texts: another process needs them to make the same op.
struct KernelFile {
  std::string path;  ///< the path as it was given
  std::string cu;    ///< the kernel's file
  std::string
      description;  ///< the text of the .toml in the same folder; empty: the description is in the .cu
  /// The files that the .cu includes from its own folder: the names in its lines #include "…", and the texts.
  std::vector<std::pair<std::string, std::string>> included = {};
  bool operator==(const KernelFile&) const = default;
};

/// A number of the description's that is computed from a measured time.
struct UserMetric {
  std::string name;
  bool larger_is_better = false;
  /// Throws Error if the config lacks an axis.
  std::function<double(const Problem& problem, const Values& config, double us)> value;
};

/// The structs of which an array consists. Its dtype is u8: to all others it is bytes.
struct UserRecord {
  std::string type;
  StructLayout layout;
  /// The contents of each member in checks, as Argument::usual and Argument::contents.
  std::vector<std::optional<Contents>> usual;
  std::vector<std::vector<Contents>> contents;
};

struct UserKernel {
  Op op;        ///< without Op::reference: the reference is a kernel
  Files files;  ///< the texts of its body and of the files that every body may include
  KernelFile file;
  Template reference;              ///< it has the space of the op's template and runs with the base config
  bool reference_is_base = false;  ///< true: there is no separate reference kernel
  /// Set if the reference is a host function, on every target: a C++ text with that function and extern "C"
  /// void tunesmith_call(void* const* values), which takes an array or the address of a number for each
  /// argument of `reference`'s launch. Empty: the reference is a kernel.
  std::string reference_text;
  double relative_tolerance = -1, absolute_tolerance = -1;  ///< below 0: the dtype's default
  bool blocks_in_order = false;    ///< true: a block may wait for blocks with lower numbers
  std::string compared;            ///< a sentence on what results are compared with
  std::vector<std::string> notes;  ///< sentences on lines that were left out
  /// A sentence on headers that were left out because they are not there, for a compiler's message on a name
  /// that it does not know; empty: there are none.
  std::string absent;
  std::vector<UserMetric> metrics = {};
  std::map<std::string, UserRecord> records = {};  ///< by argument
  /// Returns how many times the usual error a config is permitted, because it rounds arrays to shorter types.
  /// Null: once.
  std::function<double(const Problem& problem, const Values& config)> permitted_times = nullptr;
  /// Returns a sentence on an expression that cannot be computed for some config that no rule excludes; empty
  /// if none is found. It tries many configs.
  std::function<std::string(const Problem&)> mistake = nullptr;
};

/// The structs of an argument of the op; null if its elements are numbers.
const UserRecord* record_of(const Op& op, const Argument& argument);

/// The relative error that is permitted if a description names none: for sums of some thousand products 128
/// units of rounding, and 8 of the short types, which are mostly summed in f32.
double default_tolerance(DType dtype);

/// Keeps the kernel for the rest of the process; if one with the same texts exists, returns that. Throws
/// UsageError if another kernel has its name. Thread-safe. (add.h makes a kernel from a file.)
const UserKernel& keep_user_kernel(std::unique_ptr<const UserKernel> kernel);

/// Used by find_op.h and add.h. Returns null if there is none of that name. Thread-safe.
const UserKernel* find_user_kernel(std::string_view name);

}  // namespace tunesmith

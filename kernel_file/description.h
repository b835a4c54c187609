// SPDX-License-Identifier: Apache-2.0
// The description of a user's own kernel: TOML, read into plain data. docs/your_own_kernel.md explains the
// fields; described_op.h makes an op of it.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "generator/argument.h"
#include "generator/dtype.h"
#include "generator/parameter.h"
#include "kernel_file/expression.h"
#include "kernel_file/kernel_source.h"
#include "kernel_file/metric.h"
#include "kernel_file/struct_layout.h"
#include "kernel_file/user_kernel.h"

namespace tunesmith {

struct DescribedRule {
  IntegerExpression holds;
  std::string why;
};

/// The largest size of a whole number in an array's values, which are made as doubles.
constexpr std::int64_t most_exact_value = std::int64_t{1} << 53;

struct DescribedValues {
  Contents contents;  ///< without bounds
  std::optional<IntegerExpression>
      least = std::nullopt,
      most = std::nullopt;  ///< bounds from the problem; if empty, those of `contents`
};

struct DescribedArray {
  std::string name;
  Role role = Role::input;
  std::vector<IntegerExpression> extents;
  std::string dtype;  ///< empty: the dtype of the problem
  /// The axis of types by whose value the kernels take it; empty: they take it as it is. A workspace has that
  /// type; of another array the kernels get a copy.
  std::string type_axis = {};
  int lanes = 1;              ///< above 1: the described extents count vectors of so many elements
  bool is_workspace = false;  ///< it lies in the work's workspace, and its extents may name axes
  bool is_zeroed = false;     ///< an output or a workspace that is set to zero before the launches
  /// Its contents in checks: the first on the problem, all on small problems. Empty: the usual numbers.
  std::vector<DescribedValues> values = {};
  /// For an array of structs, whose dtype is u8: the struct as the kernel spells it, its layout, and `values`
  /// of each member instead of its own.
  std::string record_type = {};
  StructLayout record = {};
  std::vector<std::vector<DescribedValues>> member_values = {};

  bool is_of_structs() const { return !record.members.empty(); }
};

/// A variable of the text into which an array is copied before each launch.
struct DescribedSymbol {
  std::string name;
  std::optional<std::size_t> array = std::nullopt;  ///< empty: the variable is set to zero
};

struct DescribedAxis {
  std::string name, what;
  std::vector<std::int64_t> values;     ///< of types their numbers from 0 on
  std::vector<std::string> types = {};  ///< the dtypes that are the values; empty: they are whole numbers
};

/// A number that a kernel takes. A whole one is an expression, so that it keeps all its digits.
struct DescribedNumber {
  std::optional<IntegerExpression> expression = std::nullopt;
  double real = 0;  ///< used if there is no expression
};

/// A number in a struct that a kernel takes by value.
struct DescribedMember {
  std::string name;
  std::int64_t offset = 0;  ///< bytes
  DType dtype = DType::i32;
  DescribedNumber number = {};
};

/// One of a kernel's parameters: an array, an expression, a number, or a struct of numbers.
struct DescribedArgument {
  enum class Type { array, int32, int64, f32, f64, dtype, type_axis, record };
  Type type = Type::array;
  std::size_t array = 0;
  std::string type_axis = {};  ///< the axis that gives the type of the number or of the array's elements
  DescribedNumber number = {};
  /// The limits of an int32 or int64: other integers are given as these too.
  std::int64_t least = std::numeric_limits<std::int32_t>::min(),
               most = std::numeric_limits<std::int32_t>::max();
  std::string record_type = {};  ///< of a struct, as the kernel spells it
  StructLayout layout = {};
  std::vector<DescribedMember> members = {};  ///< elements of arrays one by one
};

/// The least and the most that a kernel may be given for an integer. What a u64 holds beyond an i64 cannot be
/// given.
std::pair<std::int64_t, std::int64_t> limits_of(DType dtype);

/// Arrays that change places between repetitions of launches. Each repetition reads what the one before wrote
/// (the first one `from`) and writes `to` or `spare` in turn, so that the last one writes `to`.
struct DescribedSwap {
  std::size_t from = 0, to = 0, spare = 0;
};

struct DescribedLaunch {
  std::string kernel;
  /// Expressions of the problem, the axes and, if the launch is repeated, `step`, like all below.
  std::vector<IntegerExpression> grid, block;
  std::optional<IntegerExpression> shared_bytes = std::nullopt;
  std::vector<DescribedArgument> arguments;
  /// How often it runs, without `step`; empty: once, or as often as the launch before if it `is_together`.
  std::optional<IntegerExpression> repeat = std::nullopt;
  bool is_together = false;     ///< each repetition of the launch before is followed by one of this
  bool uses_step = false;       ///< an expression names `step`
  bool is_cooperative = false;  ///< its kernel waits for the whole grid
  std::optional<DescribedSwap> swap = std::nullopt;  ///< also of the launches that are together with it
};

/// A number of [compile]: a constant, or the value of an axis; in `defines` also the words of a type.
struct CompileSetting {
  std::int64_t value = 0;
  std::optional<std::size_t> axis = std::nullopt;
  std::string words = {};
};

/// How variants are compiled.
struct DescribedCompilation {
  std::optional<CompileSetting> fast_math = std::nullopt, registers = std::nullopt;
  std::int64_t standard = 20;
  std::vector<std::pair<std::string, CompileSetting>> defines = {};
};

struct DescribedMetric {
  std::string name;
  MetricExpression expression;  ///< of the names that expressions may use, and then `time`, in seconds
  bool larger_is_better = false;
};

struct Description {
  std::string name, what, type;       ///< `type`: the text's name for the dtype; empty: it has none
  std::vector<Parameter> parameters;  ///< the last one is dtype
  std::vector<DescribedArray> arrays;
  std::vector<DescribedSymbol> symbols;
  std::vector<DescribedAxis> axes;
  std::vector<DescribedRule> allowed;  ///< problems
  std::vector<DescribedRule> must, worth;
  std::vector<std::string> compiled_in;
  std::vector<Instantiation> instantiations;  ///< of the kernels and of the reference
  DescribedCompilation compilation;
  std::vector<DescribedLaunch> launches;
  DescribedLaunch reference;
  bool has_reference = false;
  std::optional<HostFunction> reference_function =
      std::nullopt;  ///< set: the reference is this function and no kernel
  std::optional<IntegerExpression> flops = std::nullopt, alignment_bytes = std::nullopt;
  std::int64_t pointer_alignment = 1;  ///< the least alignment that the types of the kernel's pointers need
  /// The integer parameters with which the work of a thread may grow, because a loop's end depends on them.
  std::set<std::string> of_loops;
  bool blocks_in_order = false;  ///< true: a block may wait for blocks with lower numbers
  int compute_capability = 0;
  double relative_tolerance = -1, absolute_tolerance = -1;  ///< below 0: not given
  std::vector<std::string> examples, companions;
  std::vector<DescribedMetric> metrics;
  /// The parts of the description that decide whether a result is right, as a text that does not depend on
  /// layout.
  std::string checks;

  /// The names that expressions may use: the parameters, dtype_bytes, and then the axes.
  std::vector<ExpressionName> names() const;
  /// The same and `step`, which counts the repetitions of a launch from 0 on.
  std::vector<ExpressionName> names_with_step() const;
};

/// True for a folder that [compile] include may name: a relative path.
bool is_include_folder(const std::string& words);

/// Returns the folders of [compile] include, relative to the file's own. None if the description cannot be
/// read, for which read_description() has a sentence.
std::vector<std::string> include_folders(const KernelFile& text);

/// Returns the text with the comment "/* tunesmith … */" as an ordinary one.
std::string without_description(std::string cu);

/// Throws UsageError with a sentence that names file, line, value and what is allowed.
Description read_description(const KernelFile& text);

}  // namespace tunesmith

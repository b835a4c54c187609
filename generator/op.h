// What an op is: its parameters, arguments, reference and templates, as plain data and pure functions.
// An op folder's op.cpp returns one `Op`; everything else (CLI, tests, tuner, dispatch) works from it.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "generator/space.h"
#include "generator/values.h"

namespace tunesmith {

/// b8 to b128: so many bits, whatever they mean; for ops that only move elements. Their arguments are checked
/// as arrays of another dtype (Argument::dtype).
enum class DType { f32, f64, f16, bf16, u8, i32, i64, b8, b16, b32, b64, b128 };

std::string_view name(DType dtype);       ///< "f32"
std::string_view cuda_type(DType dtype);  ///< "float"
std::int64_t bytes(DType dtype);          ///< of one element
DType dtype_of(const Problem& problem);   ///< of the parameter `dtype`

/// A dim or a choice of a problem: an integer in [minimum, maximum]; with `words`, one of them; with
/// `refuses_text`, any text that it lets pass, of which `words` are the known ones.
struct Parameter {
  std::string name;  ///< lower_case, the same word in kernel, database and CLI
  std::string what;  ///< half a sentence for people, with the unit
  std::vector<std::string> words = {};
  std::int64_t minimum = 1;
  std::int64_t maximum = std::int64_t{1} << 31;
  std::optional<Value> initial = std::nullopt;  ///< taken when a problem does not name it
  /// Why a text that is none of the words is not allowed, as a sentence; empty if it is.
  std::function<std::string(const std::string&)> refuses_text = nullptr;

  bool is_integer() const { return words.empty() && !refuses_text; }
};

enum class Role { input, output, inout };

/// An array's extents, outermost first: the parameters that they are, or a function where they follow from
/// more.
class Extents {
 public:
  Extents(std::initializer_list<const char*> parameters);
  template <typename Function>
  requires std::is_invocable_r_v < std::vector<std::int64_t>,
  const Function&, const Problem& > Extents(Function function) : function_(std::move(function)) {}
  std::vector<std::int64_t> operator()(const Problem& problem) const { return function_(problem); }

 private:
  std::function<std::vector<std::int64_t>(const Problem&)> function_;
};

/// A device array, row-major and contiguous.
struct Argument {
  std::string name;
  Role role;
  Extents extents;
  std::function<DType(const Problem&)> dtype = dtype_of;
  bool finite = false;  ///< the contract promises nothing for NaN and infinity in it
  /// Whether an output may be this very array. Null: no; any other overlap with an output is refused anyway.
  std::function<bool(const Problem&)> in_place = nullptr;
};

std::int64_t elements(const Argument& argument, const Problem& problem);

/// As elements(), where that may be too large for an integer.
double size_bytes(const Argument& argument, const Problem& problem);

struct Extent {
  std::int64_t x = 1;
  std::int64_t y = 1;
  std::int64_t z = 1;
};

/// Rounded up, for values from 0 on: the blocks that so many elements need.
constexpr std::int64_t ceil_divide(std::int64_t value, std::int64_t divisor) {
  return (value + divisor - 1) / divisor;
}
constexpr std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return ceil_divide(value, multiple) * multiple;
}

/// A number that a kernel takes as int.
constexpr std::int32_t int32(std::int64_t value) { return static_cast<std::int32_t>(value); }

/// CUDA's limit for a grid's y and z; kernels walk what is beyond it in strides.
inline constexpr std::int64_t grid_limit = 65535;

struct ArgumentPointer {
  int argument = 0;  ///< position in Op::arguments
};
struct WorkspacePointer {
  std::int64_t offset_bytes = 0;
};
/// What a kernel parameter is filled with. The alternative fixes the kernel parameter's C type:
/// pointer, pointer, int, long long, float, double.
using KernelArgument =
    std::variant<ArgumentPointer, WorkspacePointer, std::int32_t, std::int64_t, float, double>;

struct Launch {
  std::string kernel;  ///< as in ENTRY(kernel)
  Extent grid = {};
  Extent block = {};
  std::int64_t dynamic_shared_bytes = 0;
  std::vector<KernelArgument> arguments = {};
  /// Programmatic dependent launch: the kernel may start before its predecessor in the stream has ended, and
  /// waits for it itself (griddepcontrol.wait) before it touches memory. Needs compute capability 9.0;
  /// ignored elsewhere.
  bool overlaps_previous = false;
};

/// Copies an argument into a `__constant__` symbol of the module. A work with such a step keeps state in its
/// module, so two streams must not run it at once; the tuner measures it, dispatch does not choose it.
struct ConstantCopy {
  std::string symbol;  ///< as in ENTRY(symbol)
  int argument = 0;
  std::int64_t bytes = 0;
};

/// Sets the first `bytes` of an argument, or of the workspace from an offset on, to zero.
struct Zero {
  std::variant<ArgumentPointer, WorkspacePointer> what;
  std::int64_t bytes = 0;
};

using Step = std::variant<Launch, ConstantCopy, Zero>;

/// A work without steps has nothing to do: an array of no elements.
struct Work {
  std::vector<Step> steps;
  std::int64_t workspace_bytes = 0;
  /// The workspace's first so many bytes are zero before the work, and the work leaves them so; what follows
  /// them may hold anything.
  std::int64_t zeroed_bytes = 0;
};

bool reentrant(const Work& work);  ///< no step keeps state in the module

/// What a device allows and is; the model facts that a database row carries. Never an ordinal.
struct DeviceFacts {
  std::string kind;            ///< "cuda" or "host"
  std::string name;            ///< as the driver or /proc/cpuinfo spells it
  std::string target;          ///< "sm_90a", "host"
  int compute_capability = 0;  ///< 90 for 9.0; 0 on the host
  int multiprocessors = 0;     ///< on the host: processors online
  std::int64_t memory_bytes = 0;
  // Not in a database row; 0: not known.
  std::int64_t l2_bytes = 0;
  std::int64_t shared_bytes_per_multiprocessor = 0;
  int max_threads_per_multiprocessor = 0;
  std::int64_t max_threads_per_block = 1024;
  std::int64_t max_shared_bytes_per_block = std::int64_t{48} * 1024;  ///< static + dynamic, after opting in
  Extent max_block = {1024, 1024, 64};
  Extent max_grid = {2147483647, 65535, 65535};
};

/// What grids and tiles scale with: a CUDA device's multiprocessors. Where none are known, and on the host,
/// which emulates a GPU, an H200's 132.
int multiprocessors_to_fill(const DeviceFacts& device);

/// A function of a problem (and a config) for a device. A template whose function does not read the device
/// may leave that argument out; who calls it may not, or gets what holds for a device that nothing is known
/// of.
template <typename Result, typename... Arguments>
class OnDevice {
 public:
  OnDevice() = default;
  template <typename Function>
  requires std::is_invocable_r_v<Result, const Function&, const Arguments&..., const DeviceFacts&> OnDevice(
      Function function)
      : function_(std::move(function)) {}
  template <typename Function>
  requires(std::is_invocable_r_v<Result, const Function&, const Arguments&...> &&
           !std::is_same_v<Function, OnDevice>) OnDevice(Function function)
      : function_([function = std::move(function)](const Arguments&... arguments, const DeviceFacts&) {
          return function(arguments...);
        }) {}

  Result operator()(const Arguments&... arguments, const DeviceFacts& device = {}) const {
    return function_(arguments..., device);
  }
  explicit operator bool() const { return function_ != nullptr; }

 private:
  std::function<Result(const Arguments&..., const DeviceFacts&)> function_;
};

/// Which limit of the device the work breaks, as a sentence, or nothing. `static_shared_bytes` comes from the
/// binary.
std::optional<std::string> exceeds(const Work& work, const DeviceFacts& device,
                                   std::int64_t static_shared_bytes = 0);

struct Template {
  std::string name;                  ///< "tiled"; the kernel body is templates/<op>/<name>.cu
  std::string what;                  ///< a sentence for people
  std::vector<std::string> kernels;  ///< as in ENTRY(kernel), in the order of the body
  std::vector<std::string> compiled_in = {
      "dtype"};  ///< the problem's parameters that are constants in the text
  /// Further integer constants of the text, which follow from the problem (a rank, say). Null: none.
  std::function<Values(const Problem&)> constants = nullptr;
  int minimum_compute_capability = 0;  ///< 80 for 8.0; above 0 there is no host twin
  bool later_too = true;               ///< false: its instructions exist on no later one (those of sm_90a)
  /// Why the template cannot serve the problem, as a sentence; empty if it can. Null: serves all.
  std::function<std::string(const Problem&)> refuses = nullptr;
  OnDevice<Space, Problem> space;
  OnDevice<Work, Problem, Config> work;
  /// What the address of each argument of at least so many bytes must be a multiple of; shorter arrays need
  /// no more than their elements do. Null: the dtype's size.
  std::function<std::int64_t(const Problem&, const Config&)> alignment_bytes = nullptr;
};

/// Reference in double precision of elements [begin, end) of the argument `output`, with the absolute error
/// that the contract permits for each, infinity where it says nothing of the element (so 0, not a bound
/// that grew to infinity, where the value is infinite): the op states its accuracy here. `arguments` holds
/// every argument's initial contents in the order of Op::arguments (outputs empty). Called from several
/// threads on different ranges.
using Reference = std::function<void(const Problem&, std::span<const std::vector<double>> arguments,
                                     int output, std::int64_t begin, std::int64_t end,
                                     std::span<double> value, std::span<double> permitted_error)>;

/// Small problems (odd sizes, sizes of 1, masks larger than the image) on which a variant rendered for a
/// problem must be right too: texts such as "height=1 width=67" over that problem, or a function of it where
/// they follow from it. They agree with the problem in everything that any template compiles in.
class Companions {
 public:
  Companions() = default;
  Companions(std::initializer_list<const char*> texts);
  template <typename Function>
  requires std::is_invocable_r_v < std::vector<Problem>,
  const Function&, const Problem& > Companions(Function function) : function_(std::move(function)) {}
  std::vector<Problem> operator()(const Problem& problem) const {
    return function_ ? function_(problem) : std::vector<Problem>();
  }

 private:
  std::function<std::vector<Problem>(const Problem&)> function_;
};

struct Op {
  std::string name;
  std::string what;  ///< a sentence with the mathematics
  std::vector<Parameter> parameters;
  /// Why values that are allowed one by one are not allowed together, as a sentence; empty if they are.
  /// Null: all are.
  std::function<std::string(const Problem&)> check = nullptr;
  std::vector<Argument> arguments;
  /// The first is the base's: it serves every problem and compiles in dtype and other words at most.
  std::vector<Template> templates;
  /// Text between the constants and the body, for code that is generated; a function of what every template
  /// compiles in. Null: none.
  std::function<std::string(const Problem&)> preamble = nullptr;
  Reference reference;
  std::function<double(const Problem&)> flops;  ///< operations that must be done
  /// Null: each argument's bytes, those of an inout twice (bytes_moved()).
  std::function<double(const Problem&)> bytes_moved = nullptr;
  Companions companions = {};
  /// The integers by which two problems are near or far. Null: the integer parameters.
  std::function<Values(const Problem&)> sizes = nullptr;
  /// Problems as text that, between them, reach every template and every corner of the contract; tests run
  /// them beside random ones.
  std::vector<std::string> examples = {};
  /// Problems with an array of more than 2^31 elements; run on a GPU, compared in samples.
  std::vector<std::string> large_examples = {};
};

/// The problem with every parameter present, in the op's order. Throws UsageError naming the parameter, the
/// value and what is allowed.
Problem complete_problem(const Op& op, const Values& given);

/// What must be moved: each input read once, each output written once.
double bytes_moved(const Op& op, const Problem& problem);

/// Throws UsageError naming the op's templates.
const Template& find_template(const Op& op, std::string_view name);

/// Why the template cannot run this problem on this device, or nothing.
std::optional<std::string> why_not(const Template& candidate, const Problem& problem,
                                   const DeviceFacts& device);

/// The part of `problem` that the template compiles in, in the op's order, and the template's constants.
Values compiled_in(const Op& op, const Template& tmpl, const Problem& problem);

std::int64_t alignment_bytes(const Template& tmpl, const Problem& problem, const Config& config);

/// What every pointer to an argument's elements is a multiple of anyway.
std::int64_t element_alignment(const Op& op, const Problem& problem);

/// The root of the sum of the squared difference of the log2 of each integer parameter (values below 1 count
/// as 1), plus 1 for each word that differs.
double distance(const Op& op, const Problem& a, const Problem& b);

/// First legal config of the first template.
Config base_config(const Op& op, const Problem& problem, const DeviceFacts& device = {});

}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/kernel_reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string_view>

#include "generator/error.h"
#include "generator/number_text.h"
#include "generator/ops.h"
#include "generator/random.h"
#include "kernel_file/add.h"
#include "kernel_file/kernel_source.h"
#include "kernel_file/user_kernel.h"
#include "runtime/cache.h"
#include "runtime/toolchain.h"
#include "tuner/device/device.h"
#include "tuner/device/device_memory.h"
#include "tuner/device/fields.h"
#include "tuner/device/reference_program.h"

namespace tunesmith {
namespace {

constexpr unsigned char unwritten = 0xff;  // as in outputs before a variant's launch (checker.cpp)

// The reference is compiled with the whole file, so a mistake anywhere in the file is found here: "my.cu, in
// the kernel softmax,".
std::string file_at_fault(const UserKernel& own, const std::string& log) {
  const std::string opening = own.file.path + ":";
  int line = 0;
  for (std::size_t at = 0; line == 0 && (at = log.find(opening, at)) != std::string::npos;) {
    at += opening.size();
    std::string_view rest = std::string_view(log).substr(at);
    line = take_number<int>(rest).value_or(0);
  }
  std::string name;
  for (const DeclaredKernel& kernel : kernels_of(own.file.cu))
    if (kernel.line <= line) name = kernel.name;
  return own.file.path + (name.empty() ? "" : ", in or behind the kernel " + name + ",");
}

class Runner {
 public:
  explicit Runner(const std::string& device)
      : device_(make_device(choose_device(DeviceId::parse(device)))),
        toolchain_(make_toolchain(device_->facts().target)) {}

  std::string run(const UserKernel& own, const Problem& problem, std::span<const std::vector<double>> inputs,
                  int output) {
    const Op& op = own.op;
    const bool is_function = !own.reference_text.empty();
    const std::string who = std::string("The reference, the ") +
                            (is_function ? "host function " : "kernel ") + own.reference.kernels.front() +
                            " of " + own.file.path + ",";
    const Config config = base_config(op, problem, device_->facts());
    const Work work = own.reference.work(problem, config, device_->facts());
    std::unique_ptr<Executable> executable;
    if (!is_function) executable = loaded(own, problem, config, work, who);
    std::vector<DeviceMemory> arrays;
    std::vector<void*> pointers;
    for (std::size_t i = 0; i < op.arguments.size(); ++i) {
      const Argument& argument = op.arguments[i];
      const DType dtype = argument.dtype(problem);
      const std::int64_t size = elements(argument, problem) * bytes(dtype);
      DeviceMemory& array = arrays.emplace_back(*device_, size);
      if (argument.role == Role::output) {
        device_->fill(array.get(), unwritten, size);
      } else {
        const std::string packed = pack(dtype, inputs[i]);
        device_->upload(array.get(), packed.data(), size);
      }
      pointers.push_back(array.get());
    }
    if (is_function) {
      call(own, problem, work, pointers, who);
    } else if (const int error = executable->launch(pointers.data(), nullptr, nullptr); error != 0) {
      throw Error(
          who + " failed on " + problem.text() + ": " +
          (error == host_fault ? what_was_accessed(op, problem, arrays) : executable->describe(error)) + ".");
    }
    device_->synchronize();
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      if (!device_->guards_intact(arrays[i].get()))
        throw Error(who + " wrote beyond the end or before the start of " + op.arguments[i].name + " on " +
                    problem.text() + ".");
    }
    const DeviceMemory& made = arrays[static_cast<std::size_t>(output)];
    std::string result(static_cast<std::size_t>(made.bytes()), '\0');
    device_->download(result.data(), made.get(), made.bytes());
    const Argument& argument = op.arguments[static_cast<std::size_t>(output)];
    const std::vector<ArrayField> fields = fields_of(op, argument, problem);
    const bool has_reals = std::any_of(fields.begin(), fields.end(),
                                       [](const ArrayField& field) { return !is_whole(field.dtype()); });
    const bool is_unwritten = !result.empty() && argument.role == Role::output && has_reals &&
                              result.find_first_not_of(static_cast<char>(unwritten)) == std::string::npos;
    if (is_unwritten)
      throw Error(
          who + " wrote nothing to " + argument.name + " on " + problem.text() +
          ": look at its grid, block and arguments." +
          (own.file.cu.find("atomic") == std::string::npos
               ? ""
               : " A kernel that adds to what " + argument.name +
                     " holds, as atomicAdd() does, needs it with role = \"inout\" and values = [0, 0]."));
    return result;
  }

 private:
  // Names the array at the address where a kernel on the host accessed memory that does not exist.
  std::string what_was_accessed(const Op& op, const Problem& problem,
                                const std::vector<DeviceMemory>& arrays) const {
    const void* const address = host_fault_address();
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      if (!device_->guards(arrays[i].get(), address)) continue;
      const UserRecord* const record = record_of(op, op.arguments[i]);
      const std::int64_t element =
          record != nullptr ? record->layout.bytes : bytes(op.arguments[i].dtype(problem));
      const std::int64_t at = static_cast<const char*>(address) - static_cast<const char*>(arrays[i].get());
      return "it accessed element " + std::to_string((at - (at < 0 ? element - 1 : 0)) / element) + " of " +
             op.arguments[i].name + ", which has " + std::to_string(arrays[i].bytes() / element);
    }
    return std::string(host_fault_words);
  }

  std::unique_ptr<Executable> loaded(const UserKernel& own, const Problem& problem, const Config& config,
                                     const Work& work, const std::string& who) {
    if (const auto why = why_not(own.reference, problem, device_->facts()))
      throw Error(who + " cannot run: " + *why);
    const Source source = render(own.op, own.reference, problem, config, device_->facts().target);
    try {
      return device_->load(binary_of(own, source, who), source.suffix, work);
    } catch (const LoadError& error) {
      throw Error(who + " cannot be launched for " + problem.text() + ": " + error.what());
    }
  }

  void call(const UserKernel& own, const Problem& problem, const Work& work, const std::vector<void*>& arrays,
            const std::string& who) {
    for (const Argument& argument : own.op.arguments) {
      const DType dtype = argument.dtype(problem);
      if (dtype == DType::f16 || dtype == DType::bf16)
        throw Error(who + " cannot be given " + argument.name + " of " + std::string(name(dtype)) +
                    ", a type that C++ does not have; take a kernel as reference.");
    }
    const Source source{.text = own.op.preamble(problem) + own.reference_text,
                        .hash = own.op.preamble(problem) + own.op.name,
                        .suffix = "",
                        .kernels = {own.reference.kernels.front()},
                        .target = "host"};
    using Call = void (*)(void* const*);
    Call& function = functions_[source.hash];
    if (function == nullptr)
      function = reinterpret_cast<Call>(load_symbol(binary_of(own, source, who), "tunesmith_call"));
    std::vector<const void*> values;
    for (const KernelArgument& argument : std::get<Launch>(work.steps.front()).arguments) {
      if (const auto* array = std::get_if<ArgumentPointer>(&argument)) {
        values.push_back(arrays[static_cast<std::size_t>(array->argument)]);
      } else {
        values.push_back(scalar_of(argument, -1, nullptr));
      }
    }
    try {
      function(const_cast<void* const*>(values.data()));
    } catch (const std::exception& error) {
      throw Error(who + " threw on " + problem.text() + ": " + error.what());
    }
  }

  const std::string& binary_of(const UserKernel& own, const Source& source, const std::string& who) {
    std::string& binary = binaries_[source.hash + source.kernels.front()];
    if (!binary.empty()) return binary;
    Compilation compiled = toolchain_->compile(source, {});
    if (!compiled.ok) {
      const bool is_kernel = !source.suffix.empty();
      const std::string log = is_kernel ? located(compiled.log, source.text) : compiled.log;
      throw Error(
          (is_kernel ? file_at_fault(own, log) : who) + " does not compile for " + source.target + ": " +
          log +
          (source.target == "host" && is_kernel
               ? "\ndocs/kernel_language.md lists what the host emulates. On a CUDA device the kernel can "
                 "still be tuned."
               : ""));
    }
    return binary = std::move(compiled.bytes);
  }

  std::unique_ptr<Device> device_;
  std::unique_ptr<Toolchain> toolchain_;
  std::map<std::string, std::string> binaries_;
  std::map<std::string, void (*)(void* const*)> functions_;
};

std::string& chosen_device() {
  static std::string device = "host";
  return device;
}

std::string& chosen_program() {
  static std::string program;
  return program;
}

std::string& chosen_inputs() {
  static std::string program;
  return program;
}

// The output of the reference as a device holds it.
std::string made_by_reference(const UserKernel& own, const Problem& problem,
                              std::span<const std::vector<double>> inputs, int output) {
  if (const std::string& words = chosen_program(); !words.empty()) {
    static std::unique_ptr<ReferenceProgram> program;
    if (!program) program = std::make_unique<ReferenceProgram>(words);
    return program->ask(own.op, problem, inputs, output);
  }
  static std::map<std::string, std::unique_ptr<Runner>> runners;
  const std::string device = own.reference_text.empty() ? chosen_device() : "host";
  std::unique_ptr<Runner>& runner = runners[device];
  if (!runner) runner = std::make_unique<Runner>(device);
  return runner->run(own, problem, inputs, output);
}

// The relative motion of inputs that shows how large the terms are that an output is made of. If an input's
// motion makes an element jump (by a comparison, a bin), the element gets no more than 1/32 of that jump; and
// each input moves by at least 64 units of its rounding.
double motion_of(const Op& op, const Problem& problem, double rounding) {
  constexpr double most = 0.125;
  double motion = 32 * rounding;
  for (const Argument& argument : op.arguments) {
    if (argument.role == Role::output) continue;
    for (const ArrayField& field : fields_of(op, argument, problem)) {
      const DType dtype = field.dtype();
      const double unit = dtype == DType::f64    ? 0x1p-52
                          : dtype == DType::f16  ? 0x1p-10
                          : dtype == DType::bf16 ? 0x1p-7
                                                 : 0x1p-23;
      if (!is_whole(dtype)) motion = std::max(motion, 64 * unit);
    }
  }
  return std::min(motion, most);
}

// Moves each floating-point number of the inputs by that share of itself: all numbers up (`seed` 0), which
// adds the terms of a sum as if none were negative, or up and down at random. No number leaves the range of
// its array, because a kernel may rely on that. Nothing if there is nothing to move.
std::optional<std::vector<std::vector<double>>> moved(const Op& op, const Problem& problem,
                                                      std::span<const std::vector<double>> inputs,
                                                      double motion, std::uint64_t seed) {
  std::vector<std::vector<double>> made(inputs.begin(), inputs.end());
  bool any = false;
  Random random(seed);
  const auto move = [&](DType dtype, std::vector<double>& values) {
    double least = std::numeric_limits<double>::infinity(), most = -least;
    for (const double value : values) {
      if (!std::isfinite(value)) continue;
      least = std::min(least, value);
      most = std::max(most, value);
    }
    for (double& value : values) {
      const bool up = seed == 0 || random.uniform() < 0;
      if (!std::isfinite(value)) continue;
      const double to =
          round_to(dtype, std::clamp(value + (up ? motion : -motion) * std::abs(value), least, most));
      any |= to != value;
      value = to;
    }
  };
  for (std::size_t i = 0; i < made.size(); ++i) {
    const Argument& argument = op.arguments[i];
    const DType dtype = argument.dtype(problem);
    if (argument.role == Role::output) continue;
    if (record_of(op, argument) == nullptr) {
      if (!is_whole(dtype)) move(dtype, made[i]);
      continue;
    }
    std::string array = pack(dtype, made[i]);
    for (const ArrayField& field : fields_of(op, argument, problem)) {
      if (is_whole(field.dtype())) continue;
      std::vector<double> values = unpack(field, array);
      move(field.dtype(), values);
      pack(field, values, array.data());
    }
    made[i] = unpack(dtype, array);
  }
  if (!any) return std::nullopt;
  return made;
}

// The numbers of the fields of an output, one after the other.
std::vector<double> numbers_in(std::span<const ArrayField> fields, std::string_view array) {
  std::vector<double> made;
  for (const ArrayField& field : fields) {
    const std::vector<double> numbers = unpack(field, array);
    made.insert(made.end(), numbers.begin(), numbers.end());
  }
  return made;
}

// For each number of the output, the size of the terms that it is made of, found by its motion with the
// inputs. A result alone does not tell: a sum of large terms may be near 0. Empty if it would take long and
// the other elements say enough.
std::vector<double> terms_of(const UserKernel& own, const Problem& problem,
                             std::span<const std::vector<double>> inputs, int output,
                             std::span<const ArrayField> fields, const std::vector<double>& result,
                             double rounding) {
  constexpr double cheap = 1 << 21;  // bytes, and operations
  constexpr std::size_t few_elements = 1024;
  const Op& op = own.op;
  const bool is_cheap = std::max(bytes_moved(op, problem), op.flops(problem)) <= cheap;
  if (!is_cheap && result.size() > few_elements) return {};
  const double motion = motion_of(op, problem, rounding);
  std::vector<double> terms(result.size(), 0.0);
  for (std::uint64_t seed = 0; seed < (is_cheap ? 3 : 2); ++seed) {
    const auto others = moved(op, problem, inputs, motion, seed);
    if (!others) continue;
    std::vector<double> values;
    try {
      values = numbers_in(fields, made_by_reference(own, problem, *others, output));
    } catch (const Error&) {
      return {};  // the reference fails on inputs that it is not meant for
    }
    for (std::size_t i = 0; i < terms.size(); ++i) {
      const double distance = std::abs(values[i] - result[i]) / motion;
      if (std::isfinite(distance)) terms[i] = std::max(terms[i], distance);
    }
  }
  return terms;
}

}  // namespace

void run_references_on(const std::string& device) { chosen_device() = device; }
void ask_for_references(const std::string& program) { chosen_program() = program; }
void ask_for_inputs(const std::string& program) { chosen_inputs() = program; }

void take_inputs(const Op& op, const Problem& problem, std::uint64_t seed,
                 std::vector<std::vector<double>>& inputs) {
  static std::unique_ptr<ReferenceProgram> program;
  if (chosen_inputs().empty() || op.user_kernel == nullptr) return;
  if (!program) program = std::make_unique<ReferenceProgram>(chosen_inputs());
  program->take_inputs(op, problem, seed, inputs);
}

std::vector<ExpectedOutput> kernel_reference_of(const Op& op, const Problem& problem,
                                                std::span<const std::vector<double>> inputs, int output) {
  const UserKernel* own = op.user_kernel;
  if (own == nullptr) throw Error("The op " + op.name + " has no reference.");
  const Argument& argument = op.arguments[static_cast<std::size_t>(output)];
  const std::vector<ArrayField> fields = fields_of(op, argument, problem);
  std::string made = made_by_reference(*own, problem, inputs, output);
  const std::vector<double> result = numbers_in(fields, made);
  const auto relative_of = [&](DType dtype) {
    return own->relative_tolerance >= 0 ? own->relative_tolerance : default_tolerance(dtype);
  };
  // Rounding of the least exact field: inputs are moved by more than that.
  double rounding = 0;
  for (const ArrayField& field : fields)
    if (!is_whole(field.dtype()))
      rounding = std::max(rounding, std::min(relative_of(field.dtype()), default_tolerance(field.dtype())));
  std::vector<double> terms;
  if (own->absolute_tolerance < 0 && rounding > 0)
    terms = terms_of(*own, problem, inputs, output, fields, result, rounding);
  std::vector<ExpectedOutput> all;
  for (const ArrayField& field : fields) {
    ExpectedOutput& expected = all.emplace_back();
    const auto begin = result.begin() + field.first;
    expected.value.assign(begin, begin + field.numbers);
    if (is_exact(op, field.dtype())) {
      for (std::int64_t n = 0; n < field.numbers; ++n)
        expected.exact.append(made, static_cast<std::size_t>(field.offset_of(n)), 8);
    }
    double largest = 0;
    for (const double value : expected.value)
      if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
    const double relative = relative_of(field.dtype());
    const double absolute = own->absolute_tolerance >= 0 ? own->absolute_tolerance : relative * largest;
    expected.permitted_error.reserve(expected.value.size());
    for (const double value : expected.value)
      expected.permitted_error.push_back(std::isfinite(value) ? relative * std::abs(value) + absolute : 0);
    if (terms.empty() || relative <= 0 || is_whole(field.dtype())) continue;
    const double of_term = std::min(relative, default_tolerance(field.dtype()));
    for (std::int64_t n = 0; n < field.numbers; ++n)
      expected.error_of_terms.push_back(of_term * terms[static_cast<std::size_t>(field.first + n)]);
  }
  return all;
}

}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
// The typed functions of tunesmith/conv1d.h: they make problems and launch plans of the dispatcher.
#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "dispatch/arguments.h"
#include "generator/error.h"
#include "templates/image/launch.h"
#include "tunesmith/conv1d.h"

namespace tunesmith {
inline namespace TUNESMITH_ABI {
namespace {

// The names are in the order of Conv1dFunction and Conv1dMode.
constexpr std::array<std::string_view, 2> functions = {"convolve", "correlate"};
constexpr std::array<std::string_view, 3> modes = {"full", "same", "valid"};

template <typename T>
constexpr std::string_view dtype = ElementName(element_type<T>).text;

// The type of a signal that goes with a kernel of float.
std::string_view beside_float(ElementName type) {
  if (type.text != "f64") return type.text;
  throw UsageError("A signal of f64 has a kernel and an output of double; call conv1d() with these.");
}

Plan plan_of(Dispatcher& dispatcher, const Conv1dShape& shape, Conv1dMode mode, Conv1dFunction function,
             std::string_view type, const ValueText& value) {
  const Field problem[] = {{"batch", shape.batch},
                           {"length", shape.length},
                           {"taps", shape.taps},
                           {"function", functions.at(static_cast<std::size_t>(function))},
                           {"mode", modes.at(static_cast<std::size_t>(mode))},
                           {"dtype", type},
                           {"boundary", name_of(shape.boundary)},
                           {"origin", shape.origin},
                           {"value", value.get()}};
  return dispatcher.plan("conv1d", problem);
}

Status run(Dispatcher& dispatcher, std::span<void* const> arguments, const Conv1dShape& shape,
           Conv1dMode mode, Conv1dFunction function, std::string_view type, void* stream) {
  return launch_with_value(plan_of(dispatcher, shape, mode, function, type, {}), shape, arguments, stream);
}

}  // namespace

std::int64_t conv1d_output_length(const Conv1dShape& shape, Conv1dMode mode) noexcept {
  const auto [shorter, longer] = std::minmax(shape.length, shape.taps);
  switch (mode) {
    case Conv1dMode::full:
      return longer + shorter - 1;
    case Conv1dMode::same:
      return shape.boundary == Boundary::zero ? longer : shape.length;
    case Conv1dMode::valid:
      break;
  }
  return longer - shorter + 1;
}

template <typename T>
Plan conv1d_plan(Dispatcher& dispatcher, const Conv1dShape& shape, Conv1dMode mode, Conv1dFunction function) {
  return plan_of(dispatcher, shape, mode, function, dtype<T>, ValueText(shape));
}
template Plan conv1d_plan<float>(Dispatcher&, const Conv1dShape&, Conv1dMode, Conv1dFunction);
template Plan conv1d_plan<double>(Dispatcher&, const Conv1dShape&, Conv1dMode, Conv1dFunction);

Plan conv1d_plan(Dispatcher& dispatcher, ElementName type, const Conv1dShape& shape, Conv1dMode mode,
                 Conv1dFunction function) {
  return plan_of(dispatcher, shape, mode, function, type.text, ValueText(shape));
}

Status conv1d(Dispatcher& dispatcher, const float* signal, const float* kernel, float* output,
              const Conv1dShape& shape, Conv1dMode mode, Conv1dFunction function, void* stream) {
  return run(dispatcher, launch_arguments(signal, kernel, output), shape, mode, function, dtype<float>,
             stream);
}

Status conv1d(Dispatcher& dispatcher, const double* signal, const double* kernel, double* output,
              const Conv1dShape& shape, Conv1dMode mode, Conv1dFunction function, void* stream) {
  return run(dispatcher, launch_arguments(signal, kernel, output), shape, mode, function, dtype<double>,
             stream);
}

Status conv1d(Dispatcher& dispatcher, ElementName type, const void* signal, const float* kernel,
              float* output, const Conv1dShape& shape, Conv1dMode mode, Conv1dFunction function,
              void* stream) {
  return run(dispatcher, launch_arguments(signal, kernel, output), shape, mode, function, beside_float(type),
             stream);
}

}  // namespace TUNESMITH_ABI
}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <type_traits>

#include "dispatch/arguments.h"
#include "templates/image/launch.h"
#include "tunesmith/conv1d.h"

namespace tunesmith {
inline namespace TUNESMITH_ABI {
namespace {

// In the order of Conv1dFunction, Conv1dMode and Conv1dSignal.
constexpr std::array<std::string_view, 2> functions = {"convolve", "correlate"};
constexpr std::array<std::string_view, 3> modes = {"full", "same", "valid"};
constexpr std::array<std::string_view, 5> types = {"f16", "bf16", "u8", "u16", "i16"};

template <typename T>
constexpr std::string_view dtype = std::is_same_v<T, double> ? "f64" : "f32";

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

Plan conv1d_plan(Dispatcher& dispatcher, Conv1dSignal type, const Conv1dShape& shape, Conv1dMode mode,
                 Conv1dFunction function) {
  return plan_of(dispatcher, shape, mode, function, types.at(static_cast<std::size_t>(type)),
                 ValueText(shape));
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

Status conv1d(Dispatcher& dispatcher, Conv1dSignal type, const void* signal, const float* kernel,
              float* output, const Conv1dShape& shape, Conv1dMode mode, Conv1dFunction function,
              void* stream) {
  return run(dispatcher, launch_arguments(signal, kernel, output), shape, mode, function,
             types.at(static_cast<std::size_t>(type)), stream);
}

}  // namespace TUNESMITH_ABI
}  // namespace tunesmith

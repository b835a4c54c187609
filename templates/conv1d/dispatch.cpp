#include <algorithm>
#include <array>
#include <string_view>
#include <type_traits>

#include "dispatch/arguments.h"
#include "tunesmith/conv1d.h"

namespace tunesmith {
inline namespace TUNESMITH_ABI {
namespace {

// In the order of Conv1dFunction and Conv1dMode.
constexpr std::array<std::string_view, 2> functions = {"convolve", "correlate"};
constexpr std::array<std::string_view, 3> modes = {"full", "same", "valid"};

template <typename T>
Status run(Dispatcher& dispatcher, const T* signal, const T* kernel, T* output, const Conv1dShape& shape,
           Conv1dMode mode, Conv1dFunction function, void* stream) {
  return conv1d_plan<T>(dispatcher, shape, mode, function)
      .launch(launch_arguments(signal, kernel, output), stream);
}

}  // namespace

std::int64_t conv1d_output_length(const Conv1dShape& shape, Conv1dMode mode) noexcept {
  const auto [shorter, longer] = std::minmax(shape.length, shape.taps);
  switch (mode) {
    case Conv1dMode::full:
      return longer + shorter - 1;
    case Conv1dMode::same:
      return longer;
    case Conv1dMode::valid:
      break;
  }
  return longer - shorter + 1;
}

template <typename T>
Plan conv1d_plan(Dispatcher& dispatcher, const Conv1dShape& shape, Conv1dMode mode, Conv1dFunction function) {
  const Field problem[] = {{"batch", shape.batch},
                           {"length", shape.length},
                           {"taps", shape.taps},
                           {"function", functions.at(static_cast<std::size_t>(function))},
                           {"mode", modes.at(static_cast<std::size_t>(mode))},
                           {"dtype", std::is_same_v<T, double> ? "f64" : "f32"}};
  return dispatcher.plan("conv1d", problem);
}
template Plan conv1d_plan<float>(Dispatcher&, const Conv1dShape&, Conv1dMode, Conv1dFunction);
template Plan conv1d_plan<double>(Dispatcher&, const Conv1dShape&, Conv1dMode, Conv1dFunction);

Status conv1d(Dispatcher& dispatcher, const float* signal, const float* kernel, float* output,
              const Conv1dShape& shape, Conv1dMode mode, Conv1dFunction function, void* stream) {
  return run(dispatcher, signal, kernel, output, shape, mode, function, stream);
}

Status conv1d(Dispatcher& dispatcher, const double* signal, const double* kernel, double* output,
              const Conv1dShape& shape, Conv1dMode mode, Conv1dFunction function, void* stream) {
  return run(dispatcher, signal, kernel, output, shape, mode, function, stream);
}

}  // namespace TUNESMITH_ABI
}  // namespace tunesmith

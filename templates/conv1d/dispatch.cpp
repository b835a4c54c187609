#include <algorithm>
#include <array>
#include <type_traits>

#include "dispatch/arguments.h"
#include "tunesmith/conv1d.h"

namespace tunesmith {
namespace {

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

// The order is that of the op's parameters and of their words in op.cpp; a test holds both together.
template <typename T>
Plan conv1d_plan(Dispatcher& dispatcher, const Conv1dShape& shape, Conv1dMode mode, Conv1dFunction function) {
  const std::array<std::int64_t, 6> problem = {shape.batch,
                                               shape.length,
                                               shape.taps,
                                               static_cast<std::int64_t>(function),
                                               static_cast<std::int64_t>(mode),
                                               std::is_same_v<T, double> ? 1 : 0};
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

}  // namespace tunesmith

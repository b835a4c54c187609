#include <array>
#include <type_traits>

#include "dispatch/arguments.h"
#include "tunesmith/conv2d.h"

namespace tunesmith {
namespace {

template <typename T>
Status run(Dispatcher& dispatcher, const T* image, const T* mask, T* output, const Conv2dShape& shape,
           Conv2dMode mode, void* stream) {
  return conv2d_plan<T>(dispatcher, shape, mode).launch(launch_arguments(image, mask, output), stream);
}

}  // namespace

// The order is that of the op's parameters and of their words in op.cpp; a test holds both together.
template <typename T>
Plan conv2d_plan(Dispatcher& dispatcher, const Conv2dShape& shape, Conv2dMode mode) {
  const std::array<std::int64_t, 8> problem = {shape.batch,
                                               shape.height,
                                               shape.width,
                                               shape.mask_height,
                                               shape.mask_width,
                                               mode == Conv2dMode::convolution ? 1 : 0,
                                               0,  // boundary=zero
                                               std::is_same_v<T, double> ? 1 : 0};
  return dispatcher.plan("conv2d", problem);
}
template Plan conv2d_plan<float>(Dispatcher&, const Conv2dShape&, Conv2dMode);
template Plan conv2d_plan<double>(Dispatcher&, const Conv2dShape&, Conv2dMode);

Status conv2d(Dispatcher& dispatcher, const float* image, const float* mask, float* output,
              const Conv2dShape& shape, Conv2dMode mode, void* stream) {
  return run(dispatcher, image, mask, output, shape, mode, stream);
}

Status conv2d(Dispatcher& dispatcher, const double* image, const double* mask, double* output,
              const Conv2dShape& shape, Conv2dMode mode, void* stream) {
  return run(dispatcher, image, mask, output, shape, mode, stream);
}

}  // namespace tunesmith

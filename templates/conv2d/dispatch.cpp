#include <type_traits>

#include "dispatch/arguments.h"
#include "tunesmith/conv2d.h"

namespace tunesmith {
inline namespace TUNESMITH_ABI {
namespace {

template <typename T>
Status run(Dispatcher& dispatcher, const T* image, const T* mask, T* output, const Conv2dShape& shape,
           Conv2dMode mode, void* stream) {
  return conv2d_plan<T>(dispatcher, shape, mode).launch(launch_arguments(image, mask, output), stream);
}

}  // namespace

template <typename T>
Plan conv2d_plan(Dispatcher& dispatcher, const Conv2dShape& shape, Conv2dMode mode) {
  const Field problem[] = {{"batch", shape.batch},
                           {"height", shape.height},
                           {"width", shape.width},
                           {"mask_height", shape.mask_height},
                           {"mask_width", shape.mask_width},
                           {"mode", mode == Conv2dMode::convolution ? "convolution" : "correlation"},
                           {"dtype", std::is_same_v<T, double> ? "f64" : "f32"}};
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

}  // namespace TUNESMITH_ABI
}  // namespace tunesmith

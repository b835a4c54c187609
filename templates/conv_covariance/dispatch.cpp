// SPDX-License-Identifier: Apache-2.0
// The typed functions of tunesmith/conv_covariance.h: they make problems and launch plans of the dispatcher.
#include <type_traits>

#include "dispatch/arguments.h"
#include "tunesmith/conv_covariance.h"

namespace tunesmith {
inline namespace TUNESMITH_ABI {
namespace {

template <typename T>
Status run(Dispatcher& dispatcher, T* input, const T* gamma, const T* mu, const T* c,
           const ConvCovarianceShape& shape, void* stream) {
  return conv_covariance_plan<T>(dispatcher, shape).launch(launch_arguments(input, gamma, mu, c), stream);
}

}  // namespace

template <typename T>
Plan conv_covariance_plan(Dispatcher& dispatcher, const ConvCovarianceShape& shape) {
  constexpr const char* dtype = std::is_same_v<T, float> ? "f32" : std::is_same_v<T, double> ? "f64" : "f16";
  const Field problem[] = {{"batch", shape.batch},
                           {"channels_out", shape.channels_out},
                           {"channels_in", shape.channels_in},
                           {"height", shape.height},
                           {"width", shape.width},
                           {"mask_height", shape.mask_height},
                           {"mask_width", shape.mask_width},
                           {"dtype", dtype}};
  return dispatcher.plan("conv_covariance", problem);
}
template Plan conv_covariance_plan<float>(Dispatcher&, const ConvCovarianceShape&);
template Plan conv_covariance_plan<double>(Dispatcher&, const ConvCovarianceShape&);
template Plan conv_covariance_plan<std::uint16_t>(Dispatcher&, const ConvCovarianceShape&);

Status conv_covariance(Dispatcher& dispatcher, float* input, const float* gamma, const float* mu,
                       const float* c, const ConvCovarianceShape& shape, void* stream) {
  return run(dispatcher, input, gamma, mu, c, shape, stream);
}

Status conv_covariance(Dispatcher& dispatcher, double* input, const double* gamma, const double* mu,
                       const double* c, const ConvCovarianceShape& shape, void* stream) {
  return run(dispatcher, input, gamma, mu, c, shape, stream);
}

Status conv_covariance(Dispatcher& dispatcher, std::uint16_t* input, const std::uint16_t* gamma,
                       const std::uint16_t* mu, const std::uint16_t* c, const ConvCovarianceShape& shape,
                       void* stream) {
  return run(dispatcher, input, gamma, mu, c, shape, stream);
}

}  // namespace TUNESMITH_ABI
}  // namespace tunesmith

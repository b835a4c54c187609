// SPDX-License-Identifier: Apache-2.0
// The typed functions of tunesmith/conv2d.h: they make problems and launch plans of the dispatcher.
#include <array>
#include <cstdlib>
#include <span>
#include <string_view>

#include "dispatch/arguments.h"
#include "generator/error.h"
#include "templates/image/launch.h"
#include "tunesmith/conv2d.h"

namespace tunesmith {
inline namespace TUNESMITH_ABI {
namespace {

// The names are in the order of Conv2dSize.
constexpr std::array<std::string_view, 3> sizes = {"same", "full", "valid"};

template <typename T>
constexpr std::string_view dtype = ElementName(element_type<T>).text;

// The type of an image that goes with a mask of float.
std::string_view beside_float(ElementName type) {
  if (type.text != "f64") return type.text;
  throw UsageError("An image of f64 has a mask and an output of double; call conv2d() with these.");
}

std::int64_t outputs(Conv2dSize size, std::int64_t samples, std::int64_t weights) {
  if (samples == 0 || size == Conv2dSize::same) return samples;
  return size == Conv2dSize::full ? samples + weights - 1 : std::abs(samples - weights) + 1;
}

Plan plan_of(Dispatcher& dispatcher, const Conv2dShape& shape, Conv2dMode mode, std::string_view type,
             const ValueText& value) {
  const Field problem[] = {{"batch", shape.batch},
                           {"height", shape.height},
                           {"width", shape.width},
                           {"mask_height", shape.mask_height},
                           {"mask_width", shape.mask_width},
                           {"mode", mode == Conv2dMode::convolution ? "convolution" : "correlation"},
                           {"boundary", name_of(shape.boundary)},
                           {"dtype", type},
                           {"size", sizes.at(static_cast<std::size_t>(shape.size))},
                           {"origin_y", shape.origin_y},
                           {"origin_x", shape.origin_x},
                           {"value", value.get()}};
  return dispatcher.plan("conv2d", problem);
}

Status run(Dispatcher& dispatcher, std::span<void* const> arguments, const Conv2dShape& shape,
           Conv2dMode mode, std::string_view type, void* stream) {
  return launch_with_value(plan_of(dispatcher, shape, mode, type, {}), shape, arguments, stream);
}

}  // namespace

std::int64_t conv2d_output_height(const Conv2dShape& shape) noexcept {
  return outputs(shape.size, shape.height, shape.mask_height);
}
std::int64_t conv2d_output_width(const Conv2dShape& shape) noexcept {
  return outputs(shape.size, shape.width, shape.mask_width);
}

template <typename T>
Plan conv2d_plan(Dispatcher& dispatcher, const Conv2dShape& shape, Conv2dMode mode) {
  return plan_of(dispatcher, shape, mode, dtype<T>, ValueText(shape));
}
template Plan conv2d_plan<float>(Dispatcher&, const Conv2dShape&, Conv2dMode);
template Plan conv2d_plan<double>(Dispatcher&, const Conv2dShape&, Conv2dMode);

Plan conv2d_plan(Dispatcher& dispatcher, ElementName type, const Conv2dShape& shape, Conv2dMode mode) {
  return plan_of(dispatcher, shape, mode, type.text, ValueText(shape));
}

Status conv2d(Dispatcher& dispatcher, const float* image, const float* mask, float* output,
              const Conv2dShape& shape, Conv2dMode mode, void* stream) {
  return run(dispatcher, launch_arguments(image, mask, output), shape, mode, dtype<float>, stream);
}

Status conv2d(Dispatcher& dispatcher, const double* image, const double* mask, double* output,
              const Conv2dShape& shape, Conv2dMode mode, void* stream) {
  return run(dispatcher, launch_arguments(image, mask, output), shape, mode, dtype<double>, stream);
}

Status conv2d(Dispatcher& dispatcher, ElementName type, const void* image, const float* mask, float* output,
              const Conv2dShape& shape, Conv2dMode mode, void* stream) {
  return run(dispatcher, launch_arguments(image, mask, output), shape, mode, beside_float(type), stream);
}

}  // namespace TUNESMITH_ABI
}  // namespace tunesmith

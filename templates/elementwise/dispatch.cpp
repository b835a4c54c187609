#include <array>
#include <string_view>
#include <type_traits>

#include "generator/error.h"
#include "generator/values.h"
#include "templates/elementwise/expression.h"
#include "tunesmith/elementwise.h"

namespace tunesmith {
namespace {

using elementwise_op::input_names;

constexpr std::array<const char*, 6> type_names = {"f32", "f64", "i32", "i64", "f16", "bf16"};

std::string joined(const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (const std::int64_t number : numbers) text += (text.empty() ? "" : "x") + std::to_string(number);
  return text;
}

std::string text_of(const ElementwiseLayout& layout) {
  if (layout.extents.empty() && layout.strides.empty()) return "dense";
  return joined(layout.extents) + (layout.strides.empty() ? "" : ":" + joined(layout.strides));
}

template <typename T>
constexpr ElementType type_of = std::is_same_v<T, float>          ? ElementType::f32
                                : std::is_same_v<T, double>       ? ElementType::f64
                                : std::is_same_v<T, std::int32_t> ? ElementType::i32
                                                                  : ElementType::i64;

// A named function of arrays of n elements; those in `scalars` have one.
template <typename T>
Status named(Dispatcher& dispatcher, const char* function, std::vector<const T*> inputs, T* out,
             std::int64_t n, void* stream, std::initializer_list<std::size_t> scalars = {}) {
  std::vector<ElementwiseLayout> layouts(inputs.size());
  for (const std::size_t k : scalars) layouts[k].extents = {1};
  std::array<void*, elementwise_op::most_inputs + 1> arguments = {};
  // Inputs are only read; a list of pointers of both kinds has to be one of void*.
  for (std::size_t k = 0; k < inputs.size(); ++k) arguments[k] = const_cast<T*>(inputs[k]);
  arguments.back() = out;
  return elementwise_plan(dispatcher, function, type_of<T>, {n}, layouts).launch(arguments, stream);
}

}  // namespace

Plan elementwise_plan(Dispatcher& dispatcher, const std::string& function, ElementType type,
                      const std::vector<std::int64_t>& shape, const std::vector<ElementwiseLayout>& inputs) {
  if (inputs.size() > input_names.size()) {
    throw UsageError("elementwise was given " + std::to_string(inputs.size()) + " inputs; at most " +
                     std::to_string(input_names.size()) + " are allowed.");
  }
  Values problem = {{"function", function},
                    {"dtype", std::string(type_names.at(static_cast<std::size_t>(type)))},
                    {"shape", shape.empty() ? std::string("1") : joined(shape)}};
  for (std::size_t k = 0; k < inputs.size(); ++k) problem.set(input_names[k], text_of(inputs[k]));
  return dispatcher.plan("elementwise", problem);
}

Status elementwise(Dispatcher& dispatcher, const std::string& function, ElementType type,
                   const std::vector<std::int64_t>& shape, const std::vector<ElementwiseInput>& inputs,
                   void* out, void* stream) {
  std::vector<ElementwiseLayout> layouts;
  layouts.reserve(inputs.size());
  for (const ElementwiseInput& input : inputs) layouts.push_back(input.layout);
  const Plan plan = elementwise_plan(dispatcher, function, type, shape, layouts);
  const auto wanted = static_cast<std::size_t>(elementwise_op::parse(function).expression.inputs);
  if (inputs.size() != wanted) {
    throw UsageError("The function " + function + " has " + std::to_string(wanted) +
                     " inputs; elementwise was given " + std::to_string(inputs.size()) + ".");
  }
  std::array<void*, elementwise_op::most_inputs + 1> arguments = {};
  for (std::size_t k = 0; k < inputs.size(); ++k) arguments[k] = const_cast<void*>(inputs[k].data);
  arguments.back() = out;
  return plan.launch(arguments, stream);
}

template <typename T>
Status add(Dispatcher& dispatcher, const T* a, const T* b, T* out, std::int64_t n, void* stream) {
  return named<T>(dispatcher, "add", {a, b}, out, n, stream);
}
template <typename T>
Status hypot(Dispatcher& dispatcher, const T* a, const T* b, T* out, std::int64_t n, void* stream) {
  return named<T>(dispatcher, "hypot", {a, b}, out, n, stream);
}
template <typename T>
Status gaussian_pdf(Dispatcher& dispatcher, const T* x, const T* mean, const T* sigma, T* out, std::int64_t n,
                    void* stream) {
  return named<T>(dispatcher, "gaussian_pdf", {x, mean, sigma}, out, n, stream, {1, 2});
}
template <typename T>
Status polar_distance(Dispatcher& dispatcher, const T* rho1, const T* theta1, const T* rho2, const T* theta2,
                      T* out, std::int64_t n, void* stream) {
  return named<T>(dispatcher, "polar_distance", {rho1, theta1, rho2, theta2}, out, n, stream);
}

template Status add(Dispatcher&, const float*, const float*, float*, std::int64_t, void*);
template Status add(Dispatcher&, const double*, const double*, double*, std::int64_t, void*);
template Status add(Dispatcher&, const std::int32_t*, const std::int32_t*, std::int32_t*, std::int64_t,
                    void*);
template Status add(Dispatcher&, const std::int64_t*, const std::int64_t*, std::int64_t*, std::int64_t,
                    void*);
template Status hypot(Dispatcher&, const float*, const float*, float*, std::int64_t, void*);
template Status hypot(Dispatcher&, const double*, const double*, double*, std::int64_t, void*);
template Status gaussian_pdf(Dispatcher&, const float*, const float*, const float*, float*, std::int64_t,
                             void*);
template Status gaussian_pdf(Dispatcher&, const double*, const double*, const double*, double*, std::int64_t,
                             void*);
template Status polar_distance(Dispatcher&, const float*, const float*, const float*, const float*, float*,
                               std::int64_t, void*);
template Status polar_distance(Dispatcher&, const double*, const double*, const double*, const double*,
                               double*, std::int64_t, void*);

}  // namespace tunesmith

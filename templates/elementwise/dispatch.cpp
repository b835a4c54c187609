// SPDX-License-Identifier: Apache-2.0
// The typed functions of tunesmith/elementwise.h: they make problems and launch plans of the dispatcher.
#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <string_view>
#include <type_traits>

#include "generator/error.h"
#include "language/expression.h"
#include "tunesmith/elementwise.h"

namespace tunesmith {
inline namespace TUNESMITH_ABI {
namespace {

using Numbers = std::span<const std::int64_t>;

// A problem that holds its texts in a member array, so that a look-up allocates nothing.
class ProblemFields {
 public:
  ProblemFields(std::string_view function, ElementName type, Numbers shape, std::size_t inputs) {
    if (inputs > elementwise_op::most_inputs) {
      throw UsageError("elementwise was given " + std::to_string(inputs) + " inputs; at most " +
                       std::to_string(elementwise_op::most_inputs) + " are allowed.");
    }
    fields_[0].value = function;
    fields_[1].value = type.text;
    fields_[2].value = shape.empty() ? "1" : text(shape, {});
  }

  void add_input(Numbers extents, Numbers strides) {
    fields_[count_++].value = extents.empty() && strides.empty() ? "dense" : text(extents, strides);
  }

  std::span<const Field> problem() const { return {fields_.data(), count_}; }

 private:
  std::string_view text(Numbers extents, Numbers strides) {
    char* const begin = end_;
    append(extents, '\0');
    append(strides, ':');
    return {begin, static_cast<std::size_t>(end_ - begin)};
  }

  // Appends numbers such as "2x3", after the character `first`.
  void append(Numbers numbers, char first) {
    for (const std::int64_t number : numbers) {
      constexpr std::ptrdiff_t longest = 21;
      if (texts_.data() + texts_.size() - end_ < longest) {
        throw UsageError("elementwise was given a shape and layouts of more than " +
                         std::to_string(texts_.size() / longest) + " numbers; use fewer dimensions.");
      }
      if (first != '\0') *end_++ = first;
      end_ = std::to_chars(end_, end_ + longest - 1, number).ptr;
      first = 'x';
    }
  }

  std::array<char, 4096> texts_;  // NOLINT: read as far as it is written
  char* end_ = texts_.data();
  std::array<Field, 3 + elementwise_op::most_inputs> fields_ = {Field{"function", ""},
                                                                {"dtype", ""},
                                                                {"shape", ""},
                                                                {"a", ""},
                                                                {"b", ""},
                                                                {"c", ""},
                                                                {"d", ""},
                                                                {"e", ""},
                                                                {"f", ""}};
  std::size_t count_ = 3;
};

// Launches a named function of arrays of n elements. The inputs in `scalars` have one element.
template <typename T>
Status named(Dispatcher& dispatcher, std::string_view function, std::initializer_list<const T*> inputs,
             T* out, std::int64_t n, void* stream, std::initializer_list<std::size_t> scalars = {}) {
  static constexpr std::int64_t one = 1;
  ProblemFields asked(function, element_type<T>, {&n, 1}, inputs.size());
  std::array<void*, elementwise_op::most_inputs + 1> arguments = {};
  std::size_t k = 0;
  for (const T* input : inputs) {
    const bool is_scalar = std::find(scalars.begin(), scalars.end(), k) != scalars.end();
    asked.add_input(is_scalar ? Numbers(&one, 1) : Numbers(), {});
    // Inputs are only read. They are cast because a list of inputs and output has to be one of void*.
    arguments[k++] = const_cast<T*>(input);
  }
  arguments.back() = out;
  return dispatcher.plan("elementwise", asked.problem()).launch(arguments, stream);
}

// Throws an error that says so if a function was given too few or too many inputs.
void require_inputs(const std::string& function, std::size_t given) {
  const auto wanted = static_cast<std::size_t>(elementwise_op::parse(function).expression.inputs);
  if (given == wanted) return;
  throw UsageError("The function " + function + " has " + std::to_string(wanted) +
                   " inputs; elementwise was given " + std::to_string(given) + ".");
}

}  // namespace

Plan elementwise_plan(Dispatcher& dispatcher, const std::string& function, ElementName type,
                      const std::vector<std::int64_t>& shape, const std::vector<ElementwiseLayout>& inputs) {
  ProblemFields asked(function, type, shape, inputs.size());
  for (const ElementwiseLayout& input : inputs) asked.add_input(input.extents, input.strides);
  return dispatcher.plan("elementwise", asked.problem());
}

Status elementwise(Dispatcher& dispatcher, const std::string& function, ElementName type,
                   const std::vector<std::int64_t>& shape, const std::vector<ElementwiseInput>& inputs,
                   void* out, void* stream) {
  ProblemFields asked(function, type, shape, inputs.size());
  std::array<void*, elementwise_op::most_inputs + 1> arguments = {};
  std::size_t k = 0;
  for (const ElementwiseInput& input : inputs) {
    asked.add_input(input.layout.extents, input.layout.strides);
    arguments[k++] = const_cast<void*>(input.data);
  }
  arguments.back() = out;
  const Plan plan = dispatcher.plan("elementwise", asked.problem());
  for (k = 0; k < elementwise_op::most_inputs; ++k)
    if ((plan.argument_bytes(k) > 0) != (k < inputs.size())) require_inputs(function, inputs.size());
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

}  // namespace TUNESMITH_ABI
}  // namespace tunesmith

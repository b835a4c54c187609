// reduce's reference, summed in twice the digits of double, and the error that the contract permits.

#include <algorithm>
#include <cmath>

#include "templates/reduce/op.h"

namespace tunesmith::reduce_op {
namespace {

// A sum in twice the digits of double (Knuth's TwoSum), and the sum of magnitudes.
struct Sum {
  void add(double x) {
    const double sum = high + x;
    const double part = sum - high;
    low += (high - (sum - part)) + (x - part);
    high = sum;
    size += std::abs(x);
  }
  double value() const { return std::isfinite(high) ? high + low : high; }
  double high = 0, low = 0, size = 0;
};

// The error of a floating-point sum: a tile's tree of at most 64 elements, 6 roundings; one for the result
// and, for a mean of i64, one for the element: 8 u sum|x| at most, u the unit roundoff. Beyond the tile it is
// summed in twice the digits: over n elements that adds n 2^-53 sum|x| for f32 and (n 2^-53)^2 sum|x| for
// f64, both far less for what fits in memory. Each atomic addition rounds once more.
double permitted(const Problem& problem, double size, double value) {
  const DType dtype = dtype_of(problem);
  const auto length = static_cast<double>(problem.integer("length"));
  const bool mean = function_of(problem) == Function::mean;
  if (!std::isfinite(value)) return 0;
  if (is_integer(dtype) && !mean) return 0;
  const double divisor = mean ? length : 1;
  if (dtype == DType::i32) return 2 * 0x1p-53 * std::abs(value);  // the sum is exact
  const double additions = is_atomic(problem) ? static_cast<double>(most_atomic_additions) : 0;
  const double unit = dtype == DType::f32 ? 0x1p-24 : 0x1p-53;
  const double beyond = dtype == DType::f32 ? length * 0x1p-53 : std::pow(length * 0x1p-53, 2);
  return ((8 + additions) * unit + beyond) * size / divisor;
}

}  // namespace

void reference(const Problem& problem, std::span<const std::vector<double>> arguments, int /*output*/,
               std::int64_t begin, std::int64_t end, std::span<double> value,
               std::span<double> permitted_error) {
  const Dims d(problem);
  const Function function = function_of(problem);
  const double* x = arguments[0].data();
  std::vector<Sum> sums;
  for (std::int64_t at = begin; at < end;) {
    // Up to the end of a row of outputs, so that the inner loop runs along the elements.
    const std::int64_t column = at % d.inner;
    const std::int64_t count = std::min({end - at, d.inner - column, std::int64_t{4096}});
    const double* from = x + at / d.inner * d.outer_stride + column;
    double* values = value.data() + (at - begin);
    double* errors = permitted_error.data() + (at - begin);
    if (is_extreme(function)) {
      std::copy_n(from, count, values);
      std::fill_n(errors, count, 0.0);
      for (std::int64_t l = 1; l < d.length; ++l) {
        for (std::int64_t i = 0; i < count; ++i) {
          const double element = from[l * d.stride + i];
          const bool takes = function == Function::min ? element < values[i] : element > values[i];
          if (takes || std::isnan(element)) values[i] = element;
        }
      }
    } else {
      sums.assign(static_cast<std::size_t>(count), Sum());
      for (std::int64_t l = 0; l < d.length; ++l) {
        for (std::int64_t i = 0; i < count; ++i)
          sums[static_cast<std::size_t>(i)].add(from[l * d.stride + i]);
      }
      for (std::int64_t i = 0; i < count; ++i) {
        const Sum& sum = sums[static_cast<std::size_t>(i)];
        values[i] = function == Function::sum ? sum.value() : sum.value() / static_cast<double>(d.length);
        errors[i] = permitted(problem, sum.size, values[i]);
      }
    }
    at += count;
  }
}

}  // namespace tunesmith::reduce_op

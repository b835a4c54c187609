// SPDX-License-Identifier: Apache-2.0
// reduce's reference, summed in twice the digits of double, and the error that the contract permits.

#include <algorithm>
#include <cmath>
#include <limits>

#include "templates/reduce/op.h"

namespace tunesmith::reduce_op {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

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

struct Result {
  double value, permitted;
};

// A line: element l is at(l).
template <typename At>
struct Line {
  std::int64_t length;
  At at;
};

// The unit roundoff of the arithmetic: that of f32 only if results are f32 or narrower.
bool is_single(const Problem& problem) {
  const DType dtype = output_dtype(problem);
  return dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16;
}
double unit_of(const Problem& problem) { return is_single(problem) ? 0x1p-24 : 0x1p-53; }

// The error of a floating-point sum. A tile's tree of at most 64 elements has 6 roundings; the result has one
// and, for a mean of i64, the element has one: together 8 u sum|x| at most, u the unit roundoff. Beyond the
// tile it is summed in twice the digits: over n elements that adds n 2^-53 sum|x| for f32 and (n 2^-53)^2
// sum|x| for f64, both far less for arrays that fit in memory. Each atomic addition rounds once more.
double permitted_of_sum(const Problem& problem, double size, double value) {
  const DType dtype = number_dtype(problem);
  const auto length = static_cast<double>(problem.integer("length"));
  const bool mean = function_of(problem) == Function::mean;
  if (!std::isfinite(value)) return 0;
  if (is_whole(output_dtype(problem))) return 0;
  const double divisor = mean ? length : 1;
  if (dtype == DType::i32) return 2 * 0x1p-53 * std::abs(value);  // the sum is exact
  const double additions = is_atomic(problem) ? static_cast<double>(most_atomic_additions) : 0;
  const double unit = unit_of(problem);
  const double beyond = unit == 0x1p-24 ? length * 0x1p-53 : std::pow(length * 0x1p-53, 2);
  return ((8 + additions) * unit + beyond) * size / divisor;
}

template <typename At>
Result extreme(Function function, const Line<At>& line) {
  double value = line.at(0);
  for (std::int64_t l = 1; l < line.length; ++l) {
    const double x = line.at(l);
    if (!std::isnan(value) && ((function == Function::min ? x < value : x > value) || std::isnan(x)))
      value = x;
  }
  return {value, 0};
}

template <typename At>
Result place(Function function, const Line<At>& line) {
  std::int64_t found = 0;
  for (std::int64_t l = 1; l < line.length; ++l) {
    const double best = line.at(found), x = line.at(l);
    if (std::isnan(best)) break;
    if ((function == Function::argmin ? x < best : x > best) || std::isnan(x)) found = l;
  }
  return {static_cast<double>(found), 0};
}

// The mean, and the variance about it. In a tile of at most 64 elements, the squares of the differences from
// its mean have at most 9 roundings, and the tiles' means, from the remainders, 7: together 16 u of all
// squares. The error of the tile's own mean counts in second order. Tiles are added as differences from the
// first element in twice the digits, of which n additions and the square's cancellation are off.
struct Spread {
  Result mean, variance;
};
template <typename At>
Spread spread_of(const Problem& problem, const Line<At>& line) {
  const auto n = static_cast<double>(line.length);
  Sum sum;
  for (std::int64_t l = 0; l < line.length; ++l) sum.add(line.at(l));
  const double mean = sum.value() / n;
  // The rest of the mean, in the digits that the sum has beyond a double.
  const double rest = std::isfinite(mean) ? (std::fma(-mean, n, sum.high) + sum.low) / n : 0;
  const double first = line.length > 0 && std::isfinite(line.at(0)) ? line.at(0) : 0;
  Sum squares, above, elements;
  for (std::int64_t l = 0; l < line.length; ++l) {
    const double x = line.at(l);
    const double off = (x - mean) - rest;
    squares.add(off * off);
    above.add((x - first) * (x - first));
    elements.add(x * x);
  }
  const auto ddof = static_cast<double>(problem.integer("ddof"));
  const double divisor = std::max(n - ddof, 0.0);
  const double unit = unit_of(problem);
  const double fine = unit == 0x1p-24 ? 0x1p-52 * (n + 64) : 0x1p-102 * (n + 64) * (n + 64);
  // An integer that f64 does not hold is rounded once.
  const double roundings = dtype_of(problem) == DType::i64 ? 32 : 16;
  const double off =
      roundings * unit * squares.value() + roundings * roundings * unit * unit * elements.value() +
      fine * above.value() +
      (dtype_of(problem) == DType::i64 ? 2 * unit * std::sqrt(squares.value() * elements.value()) : 0) +
      n * (unit == 0x1p-24 ? 0x1p-148 : 0x1p-1070);
  const double variance = squares.value() / divisor;
  const double size = line.length > 0 ? sum.size / n : 0;
  const double mean_off = (2 * unit * std::abs(mean)) + 8 * unit * std::sqrt(squares.value() / n) +
                          8 * unit * unit * size + fine * std::sqrt(above.value() / n) +
                          (dtype_of(problem) == DType::i64 ? unit * size : 0);
  return {{mean, std::isfinite(mean) ? mean_off : 0},
          {variance, std::isfinite(variance) ? off / divisor + 2 * unit * variance : 0}};
}

Result root(const Result& of, double unit) {
  const double value = std::sqrt(of.value);
  if (!std::isfinite(value)) return {value, 0};
  const double up = std::sqrt(of.value + of.permitted) - value;
  const double down = value - std::sqrt(std::max(0.0, of.value - of.permitted));
  return {value, std::max(up, down) + 2 * unit * value};
}

// Computes a product as a fraction and an exponent, so that only the result may leave the type's range.
template <typename At>
Result product(const Problem& problem, const Line<At>& line) {
  if (is_whole(output_dtype(problem))) {
    std::uint64_t all = 1;
    for (std::int64_t l = 0; l < line.length; ++l)
      all *= static_cast<std::uint64_t>(static_cast<std::int64_t>(line.at(l)));
    return {static_cast<double>(static_cast<std::int64_t>(all)), 0};
  }
  long double fraction = 1;
  std::int64_t exponent = 0;
  for (std::int64_t l = 0; l < line.length; ++l) {
    int own = 0;
    fraction = std::frexp(fraction * static_cast<long double>(line.at(l)), &own);
    if (fraction != 0 && std::isfinite(fraction)) exponent += own;
  }
  const auto value = static_cast<double>(
      std::ldexp(fraction, static_cast<int>(std::clamp<std::int64_t>(exponent, -8192, 8192))));
  const auto n = static_cast<double>(line.length);
  const bool is_f32 = is_single(problem);
  const double relative = (n + 4) * 0x1p-53 + (is_f32 ? 0x1p-24 : 0x1p-53);
  const double most =
      is_f32 ? static_cast<double>(std::numeric_limits<float>::max()) : std::numeric_limits<double>::max();
  if (!std::isfinite(value) && std::isfinite(fraction)) {
    // At the end of the range either outcome is right.
    return {value, exponent > (is_f32 ? 130 : 1030) ? 0 : infinity};
  }
  if (!std::isfinite(value)) return {value, 0};
  if (std::abs(value) > most * (1 - 2 * relative)) {
    if (std::abs(value) > most * (1 + 2 * relative)) return {std::copysign(infinity, value), 0};
    return {value, infinity};
  }
  return {value, relative * std::abs(value) + (is_f32 ? 0x1p-149 : 0x1p-1074)};
}

template <typename At>
Result norm(const Problem& problem, Function function, const Line<At>& line) {
  const double unit = unit_of(problem);
  if (function == Function::norminf) {
    double largest = 0;
    for (std::int64_t l = 0; l < line.length; ++l) {
      const double x = std::abs(line.at(l));
      if (!std::isnan(largest) && (x > largest || std::isnan(x))) largest = x;
    }
    return {largest, 0};
  }
  Sum sum;
  for (std::int64_t l = 0; l < line.length; ++l) {
    const double x = line.at(l);
    sum.add(function == Function::norm1 ? std::abs(x) : x * x);
  }
  const double value = sum.value();
  const auto n = static_cast<double>(line.length);
  // A sum of terms that are rounded once, a square of i64 twice.
  const double beyond = unit == 0x1p-24 ? n * 0x1p-53 : 0x1p-53;
  Result all = {value, std::isfinite(value) ? (11 * unit + beyond) * value : 0};
  if (function == Function::norm1) return all;
  if (std::isfinite(value)) all.permitted += n * (unit == 0x1p-24 ? 0x1p-149 : 0x1p-1074);
  return root(all, unit);
}

// The lowest bits as an integer of the type.
double wrapped(DType dtype, std::uint64_t bits) {
  switch (dtype) {
    case DType::i8:
      return static_cast<double>(static_cast<std::int8_t>(bits));
    case DType::u8:
      return static_cast<double>(static_cast<std::uint8_t>(bits));
    case DType::i16:
      return static_cast<double>(static_cast<std::int16_t>(bits));
    case DType::u16:
      return static_cast<double>(static_cast<std::uint16_t>(bits));
    case DType::i32:
      return static_cast<double>(static_cast<std::int32_t>(bits));
    default:
      return static_cast<double>(static_cast<std::int64_t>(bits));
  }
}

// A result of f32 that is written as a number of 16 bits, with one more rounding; beyond the largest one,
// from half of the next step on, it is an infinity.
Result rounded_to_16_bits(const Result& result, DType dtype) {
  if (!std::isfinite(result.value)) return result;
  const bool is_half = dtype == DType::f16;
  const double unit = is_half ? 0x1p-11 : 0x1p-8, smallest = is_half ? 0x1p-25 : 0x1p-134;
  const double beyond = is_half ? 65520 : 0x1.FFp127, size = std::abs(result.value);
  const double in_f32 = result.permitted + 0x1p-24 * size;
  if (size - in_f32 >= beyond) return {std::copysign(infinity, result.value), 0};
  if (size + in_f32 >= beyond) return {result.value, infinity};
  return {result.value, in_f32 + unit * (size + in_f32) + smallest};
}

template <typename At>
Result one_result(const Problem& problem, const Line<At>& line, std::int64_t which) {
  switch (const Function function = function_of(problem)) {
    case Function::min:
    case Function::max:
      return extreme(function, line);
    case Function::argmin:
    case Function::argmax:
      return place(function, line);
    case Function::var:
      return spread_of(problem, line).variance;
    case Function::std:
      return root(spread_of(problem, line).variance, unit_of(problem));
    case Function::mean_var: {
      const Spread spread = spread_of(problem, line);
      return which == 0 ? spread.mean : spread.variance;
    }
    case Function::prod:
      return product(problem, line);
    case Function::any:
    case Function::all:
    case Function::count_nonzero: {
      std::int64_t count = 0;
      for (std::int64_t l = 0; l < line.length; ++l) count += line.at(l) != 0 ? 1 : 0;
      if (function == Function::count_nonzero) return {static_cast<double>(count), 0};
      return {(function == Function::any ? count > 0 : count == line.length) ? 1.0 : 0.0, 0};
    }
    case Function::min_max:
      return extreme(which == 0 ? Function::min : Function::max, line);
    case Function::ptp: {
      const double least = extreme(Function::min, line).value, most = extreme(Function::max, line).value;
      const double range = most - least;
      const DType dtype = dtype_of(problem);
      if (!is_whole(dtype)) {
        const double rounded =
            number_dtype(problem) == DType::f32 ? static_cast<double>(static_cast<float>(range)) : range;
        return {rounded, 0};
      }
      const auto wide = static_cast<std::uint64_t>(static_cast<std::int64_t>(most)) -
                        static_cast<std::uint64_t>(static_cast<std::int64_t>(least));
      return {wrapped(dtype, wide), 0};
    }
    case Function::norm1:
    case Function::norm2:
    case Function::norminf:
      return norm(problem, function, line);
    default: {
      Sum sum;
      for (std::int64_t l = 0; l < line.length; ++l) sum.add(line.at(l));
      const double value =
          function == Function::sum ? sum.value() : sum.value() / static_cast<double>(line.length);
      return {value, permitted_of_sum(problem, sum.size, value)};
    }
  }
}

}  // namespace

void reference(const Problem& problem, std::span<const std::vector<double>> arguments, int /*output*/,
               std::int64_t begin, std::int64_t end, std::span<double> value,
               std::span<double> permitted_error) {
  const Dims d(problem);
  const std::int64_t each = results(function_of(problem));
  const DType written = output_dtype(problem);
  const Function function = function_of(problem);
  const bool is_one_of_them =
      is_extreme(function) || function == Function::min_max || function == Function::norminf;
  const bool is_rounded = (written == DType::f16 || written == DType::bf16) && !is_one_of_them;
  std::vector<double> columns;
  std::int64_t gathered = -1;  // the first output of those whose elements are in `columns`
  // Neighbouring columns are read together: read one by one, each element would need another line of the
  // cache.
  constexpr std::int64_t together = 16;
  for (std::int64_t at = begin; at < end; ++at) {
    const std::int64_t output = at / each;
    const std::int64_t first = output / d.inner * d.inner + output % d.inner / together * together;
    const double* from = arguments[0].data() + first / d.inner * d.outer_stride + first % d.inner;
    const std::int64_t wide = std::min(together, d.inner - first % d.inner);
    std::int64_t step = d.stride;
    if (wide > 1) {
      if (gathered != first) {
        columns.resize(static_cast<std::size_t>(d.length * wide));
        for (std::int64_t l = 0; l < d.length; ++l)
          for (std::int64_t k = 0; k < wide; ++k)
            columns[static_cast<std::size_t>(k * d.length + l)] = from[l * d.stride + k];
        gathered = first;
      }
      from = columns.data() + (output - first) * d.length;
      step = 1;
    }
    const auto element = [&](std::int64_t l) { return from[l * step]; };
    Result result = one_result(problem, Line<decltype(element)>{d.length, element}, at % each);
    if (is_rounded) result = rounded_to_16_bits(result, written);
    value[static_cast<std::size_t>(at - begin)] = result.value;
    permitted_error[static_cast<std::size_t>(at - begin)] = result.permitted;
  }
}

}  // namespace tunesmith::reduce_op

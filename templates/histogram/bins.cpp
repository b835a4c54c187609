// SPDX-License-Identifier: Apache-2.0
// The bins of a histogram problem: their edges as in NumPy, and the estimate by which the kernels find an
// element's bin, with its error bound.

#include <algorithm>
#include <cmath>
#include <limits>

#include "generator/number_text.h"
#include "templates/histogram/op.h"

namespace tunesmith::histogram_op {
namespace {

// NumPy compares floats with edges rounded to float, integers with edges in double.
double round_edge(DType dtype, double edge) {
  return dtype == DType::f32 ? static_cast<double>(static_cast<float>(edge)) : edge;
}

}  // namespace

double number(const std::string& text) {
  return parsed_number<double>(text).value_or(std::numeric_limits<double>::quiet_NaN());
}

std::string text(double number) { return ShortestText(number).string(); }

double spacing(DType dtype, double size) {
  const bool single = dtype == DType::f32;
  const int least = single ? -149 : -1074;
  if (size == 0) return std::ldexp(1.0, least);
  return std::ldexp(1.0, std::max(std::ilogb(size) - (single ? 23 : 52), least));
}

Range::Range(const Problem& problem)
    : Range(dtype_of(problem), problem.integer("bins"), number(problem.string("lo")),
            number(problem.string("hi"))) {}

Range::Range(DType its_dtype, std::int64_t its_bins, double its_lo, double its_hi)
    : dtype(its_dtype),
      bins(its_bins),
      lo(its_lo),
      hi(its_hi),
      step((hi - lo) / static_cast<double>(bins)),
      size(std::max(std::abs(lo), std::abs(hi))) {}

double Range::edge(std::int64_t i) const {
  if (i == bins) return round_edge(dtype, hi);
  const double product = static_cast<double>(i) * step;
  return round_edge(dtype, product + lo);
}

std::string refuses_range(const Range& range, const std::string& op, const std::string& axis) {
  const auto limits = [&] {
    return "lo" + axis + "=" + text(range.lo) + " and hi" + axis + "=" + text(range.hi);
  };
  if (!(range.lo < range.hi))
    return "The " + op + " problem has " + limits() + "; lo" + axis + " must be less than hi" + axis + ".";
  const bool single = range.dtype == DType::f32;
  const double widest = single ? static_cast<double>(std::numeric_limits<float>::max()) : 1e300;
  if (range.size > widest || range.hi - range.lo > widest || range.hi - range.lo < 1e-290) {
    return "The " + op + " problem's " + limits() + " must be at least 1e-290 and at most " +
           (single ? "3.4e38 (f32)" : "1e300") + " apart, and no larger than that themselves.";
  }
  // If bins are at least two spacings wide, the edges differ, as NumPy requires, and an estimate is off by
  // less than a bin. Integers have more room in double, so their bins must be wider.
  const double least = spacing(range.dtype, range.size) * (single ? 2 : 4096);
  if (range.step < least) {
    const auto most = static_cast<std::int64_t>((range.hi - range.lo) / least);
    return "Between " + limits() + " there are too few " + (single ? "floats" : "doubles") + " for " +
           std::to_string(range.bins) + " bins; " +
           (most >= 1 ? "at most " + std::to_string(most) + " are allowed there."
                      : "the limits must be further apart.");
  }
  return "";
}

Estimate estimate(const Range& range) {
  constexpr double base = 0x1p20;
  constexpr double unit = 0x1p-32;
  Estimate found;
  found.inverse = static_cast<double>(range.bins) / (range.hi - range.lo);
  const double shift = range.lo * found.inverse;
  const double spread = spacing(range.dtype, range.size);
  const auto is_multiple = [](double value, double unit) { return std::fmod(value, unit) == 0; };

  // If a bin's width is a power of two and the edge type holds every edge, everything is exact, including the
  // rounding down: x lies below an edge if and only if t does.
  int exponent = 0;
  const bool whole = is_multiple(range.lo, spread) && is_multiple(range.step, spread) &&
                     range.lo + range.step * static_cast<double>(range.bins) == range.hi;
  if (whole && std::frexp(range.step, &exponent) == 0.5 && std::abs(shift) < base &&
      is_multiple(shift, 0x1p-32)) {
    found.addend = base - shift;
    return found;
  }

  // Otherwise t is off by at most `error`. Its parts are the rounding of an edge (half a spacing; in double
  // up to three, for the step, the product and the sum), the roundings of inverse, shift and addend (each at
  // most 2^-51 of size / step), and that of the result (one unit). With a bias of this size, t is never too
  // small, and too large only within twice the error above an edge.
  const double edges = range.dtype == DType::f32 ? 0.51 * spread : 0;
  const double ratio = range.size / range.step;
  const double error = edges / range.step + (ratio + base) * 0x1p-49 + 2 * unit;
  const double bias = std::ceil(error / unit);
  found.addend = base - shift + bias * unit;
  found.window = static_cast<std::int64_t>(2 * bias) + 2;

  // If the edges are multiples of 1/2, integers that are not at an edge are at least 1/2 away from it.
  const bool integers = range.dtype != DType::f32 && range.dtype != DType::f64;
  if (integers && whole && is_multiple(range.lo, 0.5) && is_multiple(range.step, 0.5) &&
      0.5 / range.step > static_cast<double>(found.window) * unit)
    found.window = 0;
  return found;
}

}  // namespace tunesmith::histogram_op

// SPDX-License-Identifier: Apache-2.0
#include "language/bounded.h"

#include <algorithm>
#include <cmath>

namespace tunesmith::elementwise_op {
namespace {

bool may_be_zero(const BoundedValue& x) { return std::abs(x.value) <= x.error; }

// Bounds the distance of f from f(x.value) for an argument within the error of x; f is a function of one real
// number.
double carried(Operation operation, const BoundedValue& x, double result, bool non_negative) {
  const double v = x.value;
  const double e = x.error;
  if (e == 0) return 0;
  const double size = std::abs(v);
  switch (operation) {
    case Operation::abs:
    case Operation::sin:
    case Operation::cos:
    case Operation::atan:
    case Operation::tanh:
      return e;
    case Operation::sqrt:
      if (v - e < 0 && !non_negative) return infinity;
      return v > e ? e / (std::sqrt(v) + std::sqrt(v - e)) : std::sqrt(2 * e);
    case Operation::rsqrt:
      return v > e ? e / (2 * std::pow(v - e, 1.5)) : infinity;
    case Operation::cbrt:
      return size > 2 * e ? e / std::pow(size - e, 2.0 / 3) : std::cbrt(4 * e);
    case Operation::exp:
      return result * std::expm1(e);
    case Operation::exp2:
      return result * std::expm1(e * std::log(2.0));
    case Operation::expm1:
      return (result + 1) * std::expm1(e);
    case Operation::log:
      return v > e ? -std::log1p(-e / v) : infinity;
    case Operation::log2:
      return v > e ? -std::log1p(-e / v) / std::log(2.0) : infinity;
    case Operation::log10:
      return v > e ? -std::log1p(-e / v) / std::log(10.0) : infinity;
    case Operation::log1p:
      return 1 + v > e ? -std::log1p(-e / (1 + v)) : infinity;
    case Operation::tan: {
      // tan(v + e) - tan(v) = tan(e) (1 + tan(v)^2) / (1 - tan(v) tan(e))
      const double t = std::tan(std::min(e, 1.5));
      return e < 1.5 && std::abs(result) * t < 0.5 ? 2 * t * (1 + result * result) : infinity;
    }
    case Operation::asin:
    case Operation::acos:
      return size + e < 1 ? e / std::sqrt((1 - size - e) * (1 + size + e)) : infinity;
    case Operation::sinh:
    case Operation::cosh:
      return e * std::cosh(size + e);
    case Operation::erf:
    case Operation::erfc: {
      const double nearest = std::max(size - e, 0.0);
      return e * 1.1284 * std::exp(-nearest * nearest);
    }
    case Operation::floor:
      return std::floor(v + e) - std::floor(v - e);
    case Operation::ceil:
      return std::ceil(v + e) - std::ceil(v - e);
    case Operation::trunc:
      return std::trunc(v + e) - std::trunc(v - e);
    case Operation::rint:
      return std::rint(v + e) - std::rint(v - e);
    default:
      return infinity;
  }
}

double value_of(Operation operation, double x) {
  switch (operation) {
    case Operation::abs:
      return std::abs(x);
    case Operation::sqrt:
      return std::sqrt(x);
    case Operation::rsqrt:
      return 1 / std::sqrt(x);
    case Operation::cbrt:
      return std::cbrt(x);
    case Operation::exp:
      return std::exp(x);
    case Operation::exp2:
      return std::exp2(x);
    case Operation::expm1:
      return std::expm1(x);
    case Operation::log:
      return std::log(x);
    case Operation::log2:
      return std::log2(x);
    case Operation::log10:
      return std::log10(x);
    case Operation::log1p:
      return std::log1p(x);
    case Operation::sin:
      return std::sin(x);
    case Operation::cos:
      return std::cos(x);
    case Operation::tan:
      return std::tan(x);
    case Operation::asin:
      return std::asin(x);
    case Operation::acos:
      return std::acos(x);
    case Operation::atan:
      return std::atan(x);
    case Operation::sinh:
      return std::sinh(x);
    case Operation::cosh:
      return std::cosh(x);
    case Operation::tanh:
      return std::tanh(x);
    case Operation::erf:
      return std::erf(x);
    case Operation::erfc:
      return std::erfc(x);
    case Operation::floor:
      return std::floor(x);
    case Operation::ceil:
      return std::ceil(x);
    case Operation::trunc:
      return std::trunc(x);
    case Operation::rint:
      return std::rint(x);
    default:
      return std::numeric_limits<double>::quiet_NaN();
  }
}

// Returns 1 or 0; if the bound leaves it open, the error permits both.
BoundedValue truth(bool value, bool sure) { return {value ? 1.0 : 0.0, sure ? 0.0 : 1.0}; }

// True if x and y certainly compare as their values do.
bool apart(const BoundedValue& x, const BoundedValue& y) {
  const double gap = std::abs(x.value - y.value);
  return (certain(x) && certain(y)) || !(gap <= x.error + y.error);
}

double least_of(double x, double y) { return x != x || x < y ? x : y; }
double greatest_of(double x, double y) { return x != x || x > y ? x : y; }

}  // namespace

BoundedValue apply(Operation operation, const BoundedValue& x, const BoundedValue& y, const BoundedValue& z,
                   bool non_negative) {
  switch (operation) {
    case Operation::negate:
      return {-x.value, x.error};
    case Operation::add:
      return {x.value + y.value, x.error + y.error};
    case Operation::subtract:
      return {x.value - y.value, x.error + y.error};
    case Operation::multiply: {
      const double value = x.value * y.value;
      // There is no bound for zero times infinity, nor for a value near zero times infinity.
      if ((std::isinf(x.value) && !certain(y) && may_be_zero(y)) ||
          (std::isinf(y.value) && !certain(x) && may_be_zero(x)))
        return {value, infinity};
      if (!std::isfinite(value)) return {value, 0};
      return {value, std::abs(x.value) * y.error + std::abs(y.value) * x.error + x.error * y.error};
    }
    case Operation::divide: {
      const double value = x.value / y.value;
      if (!certain(y) && may_be_zero(y)) return {value, infinity};
      if (y.value == 0 && !certain(x) && may_be_zero(x)) return {value, infinity};
      if (!std::isfinite(value) || std::isinf(y.value)) return {value, 0};
      const double divisor = std::abs(y.value) - y.error;
      return {value, (x.error + std::abs(value) * y.error) / divisor};
    }
    case Operation::remainder: {
      const double value = std::fmod(x.value, y.value);
      if (certain(x) && certain(y)) return {value, 0};
      if (std::isinf(y.value) || !std::isfinite(value)) {
        if (may_be_zero(y)) return {value, infinity};
        return {value, x.error};
      }
      const double quotient = x.value / y.value;
      const double spread = (x.error + std::abs(quotient) * y.error) / (std::abs(y.value) - y.error);
      if (may_be_zero(y) || std::trunc(quotient - spread) != std::trunc(quotient + spread))
        return {value, infinity};
      return {value, x.error + std::abs(quotient) * y.error};
    }
    case Operation::less:
      return truth(x.value < y.value, apart(x, y));
    case Operation::less_equal:
      return truth(x.value <= y.value, apart(x, y));
    case Operation::greater:
      return truth(x.value > y.value, apart(x, y));
    case Operation::greater_equal:
      return truth(x.value >= y.value, apart(x, y));
    case Operation::equal:
      return truth(x.value == y.value, apart(x, y));
    case Operation::not_equal:
      return truth(x.value != y.value, apart(x, y));
    case Operation::logical_not:
      return truth(x.value == 0, certain(x) || !may_be_zero(x));
    case Operation::logical_and:
      return truth(x.value != 0 && y.value != 0,
                   (certain(x) || !may_be_zero(x)) && (certain(y) || !may_be_zero(y)));
    case Operation::logical_or:
      return truth(x.value != 0 || y.value != 0,
                   (certain(x) || !may_be_zero(x)) && (certain(y) || !may_be_zero(y)));
    case Operation::choose: {
      const BoundedValue& chosen = x.value != 0 ? y : z;
      if (certain(x) || !may_be_zero(x)) return chosen;
      if (y.value == z.value) return {y.value, std::max(y.error, z.error)};  // this holds for infinities too
      return {chosen.value, std::abs(y.value - z.value) + std::max(y.error, z.error)};
    }
    case Operation::min:
    case Operation::max: {
      const double value =
          operation == Operation::min ? least_of(x.value, y.value) : greatest_of(x.value, y.value);
      return {value, std::isfinite(value) ? std::max(x.error, y.error) : 0};
    }
    case Operation::pow: {
      const double value = std::pow(x.value, y.value);
      if (certain(x) && certain(y)) return {value, 0};
      if (!std::isfinite(x.value) || !std::isfinite(y.value) || x.value <= x.error) return {value, infinity};
      const double logarithm = std::abs(std::log(x.value));
      const double spread = -std::log1p(-x.error / x.value);
      const double exponent = std::abs(y.value) * spread + y.error * (logarithm + spread);
      return {value, value * std::expm1(exponent)};
    }
    case Operation::atan2: {
      const double value = std::atan2(x.value, y.value);
      if (certain(x) && certain(y)) return {value, 0};
      if (!std::isfinite(x.value) || !std::isfinite(y.value)) return {value, infinity};
      const double radius = std::hypot(x.value, y.value);
      if (2 * (x.error + y.error) >= radius || (y.value <= y.error && may_be_zero(x)))
        return {value, infinity};
      return {value, 2 * (x.error + y.error) / radius};
    }
    case Operation::hypot: {
      // Each operand's error counts at most once. The result is NaN if either operand is, even if the other
      // is infinite.
      const double value =
          x.value != x.value || y.value != y.value ? x.value + y.value : std::hypot(x.value, y.value);
      return {value, std::isfinite(value) ? x.error + y.error : 0};
    }
    default: {
      const double value = value_of(operation, x.value);
      // The value is infinite at an infinity, or beyond double's range and so beyond f32's; the caller
      // decides for f64.
      const bool grows = operation == Operation::exp || operation == Operation::exp2 ||
                         operation == Operation::expm1 || operation == Operation::sinh ||
                         operation == Operation::cosh;
      if (!std::isfinite(x.value) || (grows && std::isinf(value))) return {value, 0};
      return {value, carried(operation, x, value, non_negative)};
    }
  }
}

}  // namespace tunesmith::elementwise_op

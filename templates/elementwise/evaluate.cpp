// The reference of `elementwise`: an expression in double precision, every value with a bound of the error
// that evaluating it operation by operation in the dtype may have made (running error analysis: Higham,
// Accuracy and Stability of Numerical Algorithms, section 3.3, with bounds instead of estimates for the
// functions).
#include <algorithm>
#include <cmath>
#include <limits>

#include "templates/elementwise/expression.h"

namespace tunesmith::elementwise_op {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Bounded {
  double value = 0;
  double error = 0;  ///< at most; infinity: not known
};

struct Format {
  int digits;      ///< of the significand, in bits
  double unit;     ///< roundoff: half a unit of the last place of 1
  double least;    ///< half the least number, what rounding a tiny value may lose
  double largest;  ///< what is larger by half a unit of its last place is infinite
};

// Twice for f64, since the reference itself computes in double; f32 has 2^-29 of its unit to spare.
constexpr Format f32_format = {24, 0x1p-24 * (1 + 0x1p-20), 0x1p-150, 0x1.fffffep127};
constexpr Format f64_format = {53, 0x1p-52, 0x1p-1074, std::numeric_limits<double>::max()};
constexpr Format f16_format = {11, 0x1p-11, 0x1p-25, 65504};
constexpr Format bf16_format = {8, 0x1p-8, 0x1p-134, 0x1.fep127};

// Whether the format has the number itself.
bool holds(const Format& format, double value) {
  if (!std::isfinite(value) || value == 0) return true;
  const double quantum = std::max(std::ldexp(1.0, std::ilogb(value) + 1 - format.digits), 2 * format.least);
  return std::abs(value) <= format.largest && std::fmod(value, quantum) == 0;
}

bool certain(const Bounded& x) { return x.error == 0; }
bool may_be_zero(const Bounded& x) { return std::abs(x.value) <= x.error; }

// `value` and the error that came with the operands; `ulps` more are made by the operation.
// `fusable`: an infinite product may have been kept finite by a fused multiply-add.
Bounded rounded(double value, double carried, double ulps, const Format& format, bool tiny, bool fusable) {
  if (std::isnan(carried) || carried == infinity) return {value, infinity};
  if (!std::isfinite(value)) return {value, 0};
  double error = carried;
  if (ulps > 0) error += 2 * ulps * (format.unit * (std::abs(value) + carried) + (tiny ? format.least : 0));
  const double past = format.largest * (1 + format.unit / 2);
  if (std::abs(value) + error < format.largest) return {value, error};
  if (std::abs(value) - error <= past || fusable) return {value, infinity};
  return {std::copysign(infinity, value), 0};
}

// How far f may lie from f(x.value) for an argument within the error: of the functions of one real number.
double carried(Operation operation, const Bounded& x, double result, bool non_negative) {
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

// 1 or 0; where the bound does not tell which, both are permitted.
Bounded truth(bool value, bool sure) { return {value ? 1.0 : 0.0, sure ? 0.0 : 1.0}; }

// Whether x and y surely stand to each other as their values do.
bool apart(const Bounded& x, const Bounded& y) {
  const double gap = std::abs(x.value - y.value);
  return (certain(x) && certain(y)) || !(gap <= x.error + y.error);
}

double least_of(double x, double y) { return x != x || x < y ? x : y; }
double greatest_of(double x, double y) { return x != x || x > y ? x : y; }

// What an operation does to real numbers, before its own rounding.
Bounded apply(const Node& node, const Bounded& x, const Bounded& y, const Bounded& z, bool non_negative) {
  switch (node.operation) {
    case Operation::negate:
      return {-x.value, x.error};
    case Operation::add:
      return {x.value + y.value, x.error + y.error};
    case Operation::subtract:
      return {x.value - y.value, x.error + y.error};
    case Operation::multiply: {
      const double value = x.value * y.value;
      // Of zero times infinity and its neighbours the bound says nothing.
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
      const Bounded& chosen = x.value != 0 ? y : z;
      if (certain(x) || !may_be_zero(x)) return chosen;
      if (y.value == z.value) return {y.value, std::max(y.error, z.error)};  // infinities too
      return {chosen.value, std::abs(y.value - z.value) + std::max(y.error, z.error)};
    }
    case Operation::min:
    case Operation::max: {
      const double value =
          node.operation == Operation::min ? least_of(x.value, y.value) : greatest_of(x.value, y.value);
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
    default: {
      const double value = value_of(node.operation, x.value);
      // Infinite at an infinity, or beyond double's range and so beyond f32's; f64 is the caller's matter.
      const bool grows = node.operation == Operation::exp || node.operation == Operation::exp2 ||
                         node.operation == Operation::expm1 || node.operation == Operation::sinh ||
                         node.operation == Operation::cosh;
      if (!std::isfinite(x.value) || (grows && std::isinf(value))) return {value, 0};
      return {value, carried(node.operation, x, value, non_negative)};
    }
  }
}

bool is_product(const Expression& expression, int place) {
  const Node& node = expression.nodes[static_cast<std::size_t>(place)];
  return node.operation == Operation::multiply ||
         (node.operation == Operation::negate && is_product(expression, node.operands[0]));
}

constexpr std::size_t block = 256;  // elements that pass through the expression together

void evaluate_real(const Expression& expression, DType dtype, std::span<const std::vector<double>> inputs,
                   std::size_t count, double* value, double* permitted) {
  const std::vector<Node>& nodes = expression.nodes;
  const DType compute = compute_dtype(dtype);
  const Format& format = compute == DType::f64 ? f64_format : f32_format;
  std::vector<char> fusable(nodes.size(), 0);
  for (const Node& node : nodes) {
    if (node.operation != Operation::add && node.operation != Operation::subtract) continue;
    for (int n = 0; n < 2; ++n) {
      for (int at = node.operands[static_cast<std::size_t>(n)]; is_product(expression, at);
           at = nodes[static_cast<std::size_t>(at)].operands[0]) {
        fusable[static_cast<std::size_t>(at)] = 1;
        if (nodes[static_cast<std::size_t>(at)].operation == Operation::multiply) break;
      }
    }
  }
  std::vector<Bounded> all(nodes.size() * block);
  const std::vector<Bounded> none(block);
  for (std::size_t begin = 0; begin < count; begin += block) {
    const std::size_t size = std::min(block, count - begin);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const Node& node = nodes[i];
      Bounded* to = all.data() + i * block;
      if (node.operation == Operation::input) {
        const double* from = inputs[static_cast<std::size_t>(node.input)].data() + begin;
        for (std::size_t e = 0; e < size; ++e) to[e] = {from[e], 0};
        continue;
      }
      if (node.operation == Operation::number) {
        const double number =
            compute == DType::f32 ? static_cast<double>(static_cast<float>(node.number)) : node.number;
        std::fill_n(to, size, Bounded{number, 0});
        continue;
      }
      const OperationFacts& known = facts(node.operation);
      const double ulps = compute == DType::f64 ? known.f64_ulps : known.f32_ulps;
      const bool tiny = node.operation != Operation::add && node.operation != Operation::subtract;
      const auto operand = [&](int n) {
        const int place = node.operands[static_cast<std::size_t>(n)];
        return place < 0 ? none.data() : all.data() + static_cast<std::size_t>(place) * block;
      };
      const Bounded* x = operand(0);
      const Bounded* y = operand(1);
      const Bounded* z = operand(2);
      const bool non_negative = nodes[static_cast<std::size_t>(node.operands[0])].non_negative;
      const bool chooses = node.operation == Operation::choose;
      for (std::size_t e = 0; e < size; ++e) {
        const Bounded result = apply(node, x[e], y[e], z[e], non_negative);
        const bool overflown =
            std::isinf(result.value) && std::isfinite(x[e].value) && std::isfinite(y[e].value) && !chooses &&
            (fusable[i] != 0 || (compute == DType::f64 && !(certain(x[e]) && certain(y[e]))));
        const bool unknown = overflown || x[e].error == infinity || (!chooses && y[e].error == infinity);
        // An exact zero: a function's result in double may have been lost instead, in f32 only where zero is
        // right.
        const bool zero = result.value == 0 && result.error == 0 &&
                          (compute == DType::f32 || !known.real || x[e].value == 0);
        to[e] = unknown ? Bounded{result.value, infinity}
                : zero  ? result
                        : rounded(result.value, result.error, ulps, format, tiny, fusable[i] != 0);
      }
    }
    const Bounded* result = all.data() + (nodes.size() - 1) * block;
    for (std::size_t e = 0; e < size; ++e) {
      Bounded last = result[e];
      if (dtype != compute && last.error != infinity) {
        const Format& stored = dtype == DType::f16 ? f16_format : bf16_format;
        if (!certain(last) || !holds(stored, last.value))
          last = rounded(last.value, last.error, 0.5, stored, true, false);
      }
      value[begin + e] = last.value;
      permitted[begin + e] = last.error;
    }
  }
}

// Integers wrap, as the kernels' do.
template <typename Whole, typename Bits>
Whole apply_whole(Operation operation, Whole x, Whole y, Whole z) {
  const auto wrapped = [](Bits bits) { return static_cast<Whole>(bits); };
  const auto bx = static_cast<Bits>(x);
  const auto by = static_cast<Bits>(y);
  switch (operation) {
    case Operation::negate:
      return wrapped(Bits{0} - bx);
    case Operation::add:
      return wrapped(bx + by);
    case Operation::subtract:
      return wrapped(bx - by);
    case Operation::multiply:
      return wrapped(bx * by);
    case Operation::divide:
      return y == 0 ? Whole{0} : (y == -1 ? wrapped(Bits{0} - bx) : x / y);
    case Operation::remainder:
      return y == 0 || y == -1 ? Whole{0} : x % y;
    case Operation::less:
      return x < y;
    case Operation::less_equal:
      return x <= y;
    case Operation::greater:
      return x > y;
    case Operation::greater_equal:
      return x >= y;
    case Operation::equal:
      return x == y;
    case Operation::not_equal:
      return x != y;
    case Operation::logical_not:
      return x == 0;
    case Operation::logical_and:
      return x != 0 && y != 0;
    case Operation::logical_or:
      return x != 0 || y != 0;
    case Operation::choose:
      return x != 0 ? y : z;
    case Operation::abs:
      return x < 0 ? wrapped(Bits{0} - bx) : x;
    case Operation::min:
      return std::min(x, y);
    case Operation::max:
      return std::max(x, y);
    default:
      return 0;
  }
}

template <typename Whole, typename Bits>
void evaluate_whole(const Expression& expression, std::span<const std::vector<double>> inputs,
                    std::size_t count, double* value, double* permitted) {
  std::vector<Whole> all(expression.nodes.size());
  for (std::size_t e = 0; e < count; ++e) {
    for (std::size_t i = 0; i < expression.nodes.size(); ++i) {
      const Node& node = expression.nodes[i];
      const auto operand = [&](std::size_t n) {
        return node.operands[n] < 0 ? Whole{0} : all[static_cast<std::size_t>(node.operands[n])];
      };
      if (node.operation == Operation::input) {
        all[i] = static_cast<Whole>(inputs[static_cast<std::size_t>(node.input)][e]);
      } else if (node.operation == Operation::number) {
        all[i] = static_cast<Whole>(node.whole.value());
      } else {
        all[i] = apply_whole<Whole, Bits>(node.operation, operand(0), operand(1), operand(2));
      }
    }
    value[e] = static_cast<double>(all.back());
    permitted[e] = 0;
  }
}

}  // namespace

void evaluate(const Expression& expression, DType dtype, std::span<const std::vector<double>> inputs,
              std::size_t count, double* value, double* permitted) {
  if (dtype == DType::i32) {
    evaluate_whole<std::int32_t, std::uint32_t>(expression, inputs, count, value, permitted);
  } else if (dtype == DType::i64) {
    evaluate_whole<std::int64_t, std::uint64_t>(expression, inputs, count, value, permitted);
  } else {
    evaluate_real(expression, dtype, inputs, count, value, permitted);
  }
}

}  // namespace tunesmith::elementwise_op

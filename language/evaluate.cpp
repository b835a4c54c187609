// SPDX-License-Identifier: Apache-2.0
// The reference of `elementwise`: an expression in double precision, every value with a bound of the error
// that evaluating it operation by operation in the dtype may have made (running error analysis: Higham,
// Accuracy and Stability of Numerical Algorithms, section 3.3, with bounds instead of estimates for the
// functions).
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "language/bounded.h"

namespace tunesmith::elementwise_op {
namespace {

// A floating-point type.
struct Format {
  int digits;      ///< bits of the significand
  double unit;     ///< roundoff: half a unit of the last place of 1
  double least;    ///< half the least number: the loss from rounding a tiny value
  double largest;  ///< a value larger by half a unit of its last place is infinite
};

// `unit` and `least` of f64 are doubled, because the reference itself computes in double; f32 has 2^-29 of
// its unit to spare.
constexpr Format f32_format = {24, 0x1p-24 * (1 + 0x1p-20), 0x1p-150, 0x1.fffffep127};
constexpr Format f64_format = {53, 0x1p-52, 0x1p-1074, std::numeric_limits<double>::max()};
constexpr Format f16_format = {11, 0x1p-11, 0x1p-25, 65504};
constexpr Format bf16_format = {8, 0x1p-8, 0x1p-134, 0x1.fep127};

// True if the format has the number.
bool holds(const Format& format, double value) {
  if (!std::isfinite(value) || value == 0) return true;
  const double quantum = std::max(std::ldexp(1.0, std::ilogb(value) + 1 - format.digits), 2 * format.least);
  return std::abs(value) <= format.largest && std::fmod(value, quantum) == 0;
}

// Returns a result with the error `carried` from its operands and the error of the operation itself, `ulps`
// units in the last place. `tiny`: it may be too small for the format's full precision. `fusable`: a fused
// multiply-add may have kept an infinite product finite.
BoundedValue rounded(double value, double carried, double ulps, const Format& format, bool tiny,
                     bool fusable) {
  if (std::isnan(carried) || carried == infinity) return {value, infinity};
  if (!std::isfinite(value)) return {value, 0};
  double error = carried;
  if (ulps > 0) error += 2 * ulps * (format.unit * (std::abs(value) + carried) + (tiny ? format.least : 0));
  const double past = format.largest * (1 + format.unit / 2);
  if (std::abs(value) + error < format.largest) return {value, error};
  if (std::abs(value) - error <= past || fusable) return {value, infinity};
  return {std::copysign(infinity, value), 0};
}

bool is_product(std::span<const Node> nodes, int place) {
  const Node& node = nodes[static_cast<std::size_t>(place)];
  return node.operation == Operation::multiply ||
         (node.operation == Operation::negate && is_product(nodes, node.operands[0]));
}

constexpr std::size_t block = 256;  // the number of elements that are evaluated together

const Format& format_of(DType compute) { return compute == DType::f64 ? f64_format : f32_format; }

void evaluate_real(const Expression& expression, DType dtype, std::span<const std::vector<double>> inputs,
                   std::size_t count, double* value, double* permitted) {
  const std::vector<Node>& nodes = expression.nodes;
  const BoundedNodes bounded(nodes, dtype);
  std::vector<BoundedValue> all(nodes.size() * block);
  const std::vector<BoundedValue> none(block);
  for (std::size_t begin = 0; begin < count; begin += block) {
    const std::size_t size = std::min(block, count - begin);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const Node& node = nodes[i];
      BoundedValue* to = all.data() + i * block;
      if (node.operation == Operation::input) {
        const double* from = inputs[static_cast<std::size_t>(node.input)].data() + begin;
        for (std::size_t e = 0; e < size; ++e) to[e] = {from[e], 0};
        continue;
      }
      const auto operand = [&](int n) {
        const int place = node.operands[static_cast<std::size_t>(n)];
        return place < 0 ? none.data() : all.data() + static_cast<std::size_t>(place) * block;
      };
      bounded.evaluate(i, operand(0), operand(1), operand(2), size, to);
    }
    const BoundedValue* result = all.data() + (nodes.size() - 1) * block;
    for (std::size_t e = 0; e < size; ++e) {
      const BoundedValue last = bounded.stored(result[e]);
      value[begin + e] = last.value;
      permitted[begin + e] = last.error;
    }
  }
}

// Integers wrap around, as in the kernels.
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

// Evaluates one element; `all` has room for the nodes' values.
template <typename Whole, typename Bits>
Whole whole_result(const Expression& expression, std::span<const std::int64_t> inputs,
                   std::vector<Whole>& all) {
  for (std::size_t i = 0; i < expression.nodes.size(); ++i) {
    const Node& node = expression.nodes[i];
    const auto operand = [&](std::size_t n) {
      return node.operands[n] < 0 ? Whole{0} : all[static_cast<std::size_t>(node.operands[n])];
    };
    if (node.operation == Operation::input) {
      all[i] = static_cast<Whole>(inputs[static_cast<std::size_t>(node.input)]);
    } else if (node.operation == Operation::number) {
      all[i] = static_cast<Whole>(node.whole.value());
    } else {
      all[i] = apply_whole<Whole, Bits>(node.operation, operand(0), operand(1), operand(2));
    }
  }
  return all.back();
}

template <typename Whole, typename Bits>
void evaluate_whole(const Expression& expression, std::span<const std::vector<double>> inputs,
                    std::size_t count, double* value, double* permitted) {
  std::vector<Whole> all(expression.nodes.size());
  std::array<std::int64_t, most_inputs> element = {};
  for (std::size_t e = 0; e < count; ++e) {
    for (std::size_t k = 0; k < inputs.size(); ++k) element[k] = static_cast<std::int64_t>(inputs[k][e]);
    value[e] = static_cast<double>(whole_result<Whole, Bits>(expression, element, all));
    permitted[e] = 0;
  }
}

}  // namespace

BoundedNodes::BoundedNodes(std::span<const Node> nodes, DType dtype)
    : nodes_(nodes), dtype_(dtype), compute_(compute_dtype(dtype)), fusable_(nodes.size(), 0) {
  for (const Node& node : nodes_) {
    if (node.operation != Operation::add && node.operation != Operation::subtract) continue;
    for (std::size_t n = 0; n < 2; ++n) is_added(node.operands[n]);
  }
}

void BoundedNodes::is_added(int place) {
  for (; is_product(nodes_, place); place = nodes_[static_cast<std::size_t>(place)].operands[0]) {
    fusable_[static_cast<std::size_t>(place)] = 1;
    if (nodes_[static_cast<std::size_t>(place)].operation == Operation::multiply) break;
  }
}

BoundedValue BoundedNodes::rounded(const BoundedValue& x, double ulps) const {
  return elementwise_op::rounded(x.value, x.error, ulps, format_of(compute_), true, false);
}

BoundedValue BoundedNodes::stored(const BoundedValue& x) const {
  if (dtype_ == compute_ || x.error == infinity) return x;
  const Format& format = dtype_ == DType::f16 ? f16_format : bf16_format;
  if (certain(x) && holds(format, x.value)) return x;
  return elementwise_op::rounded(x.value, x.error, 0.5, format, true, false);
}

void BoundedNodes::evaluate(std::size_t i, const BoundedValue* x, const BoundedValue* y,
                            const BoundedValue* z, std::size_t size, BoundedValue* to) const {
  const Node& node = nodes_[i];
  if (node.operation == Operation::number) {
    const double number =
        compute_ == DType::f32 ? static_cast<double>(static_cast<float>(node.number)) : node.number;
    std::fill_n(to, size, BoundedValue{number, 0});
    return;
  }
  const Format& format = format_of(compute_);
  const OperationFacts& known = facts(node.operation);
  const double ulps = compute_ == DType::f64 ? known.f64_ulps : known.f32_ulps;
  const bool tiny = node.operation != Operation::add && node.operation != Operation::subtract;
  const bool non_negative = nodes_[static_cast<std::size_t>(node.operands[0])].non_negative;
  const bool chooses = node.operation == Operation::choose;
  for (std::size_t e = 0; e < size; ++e) {
    const BoundedValue result = apply(node.operation, x[e], y[e], z[e], non_negative);
    const bool overflown =
        std::isinf(result.value) && std::isfinite(x[e].value) && std::isfinite(y[e].value) && !chooses &&
        (fusable_[i] != 0 || (compute_ == DType::f64 && !(certain(x[e]) && certain(y[e]))));
    const bool unknown = overflown || x[e].error == infinity || (!chooses && y[e].error == infinity);
    // An exact zero. A function's result in double may have underflowed to zero; in f32 the zero is then
    // right.
    const bool zero =
        result.value == 0 && result.error == 0 && (compute_ == DType::f32 || !known.real || x[e].value == 0);
    to[e] = unknown ? BoundedValue{result.value, infinity}
            : zero
                ? result
                : elementwise_op::rounded(result.value, result.error, ulps, format, tiny, fusable_[i] != 0);
  }
}

std::int64_t evaluate_whole(const Expression& expression, DType dtype, std::span<const std::int64_t> inputs) {
  if (dtype == DType::i32) {
    std::vector<std::int32_t> all(expression.nodes.size());
    return whole_result<std::int32_t, std::uint32_t>(expression, inputs, all);
  }
  std::vector<std::int64_t> all(expression.nodes.size());
  return whole_result<std::int64_t, std::uint64_t>(expression, inputs, all);
}

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

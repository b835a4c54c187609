// SPDX-License-Identifier: Apache-2.0
// scan's expressions: the checks of what is allowed, their C++, and their reference.

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "generator/element.h"
#include "generator/number_text.h"
#include "language/bounded.h"
#include "templates/scan/op.h"

namespace tunesmith::scan_op {
namespace {

using language::BoundedNodes;
using language::BoundedValue;
using language::Expression;
using language::Node;
using language::Operation;

// The distance of two numbers; infinity if only one of them is a number.
double apart(double x, double y) {
  if (x == y || (std::isnan(x) && std::isnan(y))) return 0;
  return std::isnan(x - y) ? language::infinity : std::abs(x - y);
}

// Applies the expression to pairs of numbers. The error of its own roundings is elementwise's. The effect of
// the errors of a and b is found by applying it to numbers that are off by these errors. (Following the
// errors through the operations would count them once for each time that a and b occur.)
class Pairs {
 public:
  Pairs(const Expression& expression, DType dtype)
      : nodes_(expression.nodes), bounded_(nodes_, dtype), values_(nodes_.size()) {}

  /// a[k] becomes expression(a[k], b[k]).
  void combine(std::span<BoundedValue> a, std::span<const BoundedValue> b) {
    for (std::size_t begin = 0; begin < a.size(); begin += at_once) {
      const std::size_t size = std::min(at_once, a.size() - begin);
      combine_some(a.subspan(begin, size), b.subspan(begin, size));
    }
  }

  BoundedValue stored(const BoundedValue& x) const { return bounded_.stored(x); }

 private:
  static constexpr std::size_t at_once = 256;

  void combine_some(std::span<BoundedValue> a, std::span<const BoundedValue> b) {
    const std::vector<BoundedValue> made = applied(a, 0, b, 0);
    std::vector<double> errors(a.size(), 0.0);
    for (const bool of_a : {true, false}) {
      const std::span<const BoundedValue> of = of_a ? std::span<const BoundedValue>(a) : b;
      if (std::none_of(of.begin(), of.end(), [](const BoundedValue& x) { return x.error > 0; })) continue;
      const std::vector<BoundedValue> above = applied(a, of_a ? 1 : 0, b, of_a ? 0 : 1);
      const std::vector<BoundedValue> below = applied(a, of_a ? -1 : 0, b, of_a ? 0 : -1);
      for (std::size_t k = 0; k < a.size(); ++k) {
        if (of[k].error == 0) continue;
        errors[k] += std::max(apart(above[k].value, made[k].value), apart(below[k].value, made[k].value));
      }
    }
    for (std::size_t k = 0; k < a.size(); ++k) a[k] = {made[k].value, made[k].error + errors[k]};
  }

  // Applies the expression to numbers that are off by `a_off` and `b_off` times their errors.
  std::vector<BoundedValue> applied(std::span<const BoundedValue> a, int a_off,
                                    std::span<const BoundedValue> b, int b_off) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      values_[i].resize(a.size());
      if (nodes_[i].operation == Operation::input) {
        const bool is_a = nodes_[i].input == 0;
        const int off = is_a ? a_off : b_off;
        for (std::size_t k = 0; k < a.size(); ++k) {
          const BoundedValue& from = is_a ? a[k] : b[k];
          values_[i][k] = {off == 0 ? from.value : from.value + off * from.error, 0};
        }
        continue;
      }
      const auto operand = [&](std::size_t n) {
        const int place = nodes_[i].operands[n];
        return place < 0 ? values_[i].data() : values_[static_cast<std::size_t>(place)].data();
      };
      bounded_.evaluate(i, operand(0), operand(1), operand(2), a.size(), values_[i].data());
    }
    return values_.back();
  }

  const std::vector<Node>& nodes_;
  BoundedNodes bounded_;
  std::vector<std::vector<BoundedValue>> values_;
};

// Scans runs, one element after the other, then in the same way the totals before each run.
void scan(std::vector<BoundedValue>& line, Pairs& pairs) {
  constexpr std::size_t run = 32;
  const std::size_t runs = (line.size() + run - 1) / run;
  std::vector<BoundedValue> before(runs), own(runs);
  for (std::size_t k = 0; k < run; ++k) {
    const std::size_t there = line.size() > k ? (line.size() - k + run - 1) / run : 0;  // runs so long
    before.resize(there);
    own.resize(there);
    for (std::size_t r = 0; r < there; ++r) own[r] = line[r * run + k];
    if (k > 0) {
      pairs.combine(before, own);
      for (std::size_t r = 0; r < there; ++r) line[r * run + k] = before[r];
    } else {
      before = own;
    }
  }
  if (runs == 1) return;
  std::vector<BoundedValue> totals(runs - 1);
  for (std::size_t r = 0; r + 1 < runs; ++r) totals[r] = line[r * run + run - 1];
  scan(totals, pairs);
  std::vector<BoundedValue> carried(line.size() - run);
  for (std::size_t k = 0; k < carried.size(); ++k) carried[k] = totals[k / run];
  pairs.combine(carried, std::span(line).subspan(run));
  std::copy(carried.begin(), carried.end(), line.begin() + run);
}

// Other orders of combining may be off by this many times the error of the order above.
constexpr double slack = 16;

// Numbers that every type has; some of them cancel.
const std::array<double, 7>& numbers_of(DType dtype) {
  static constexpr std::array<double, 7> reals = {-4, -0.75, 0.25, 0.5, 1.25, 3, 10};
  static constexpr std::array<double, 7> wholes = {-5, -1, 0, 2, 3, 7, 12};
  return is_whole(dtype) ? wholes : reals;
}

std::string text_of(double value) { return printed("%.6g", value); }

std::vector<double> applied(const Expression& expression, DType dtype, const std::vector<double>& a,
                            const std::vector<double>& b) {
  std::vector<double> value(a.size()), ignored(a.size());
  const std::array inputs = {a, b};
  language::evaluate(expression, is_whole(dtype) ? dtype : DType::f64, inputs, a.size(), value.data(),
                     ignored.data());
  return value;
}

// Says for which numbers a, b, c combining (a, b) first differs from combining (b, c) first; empty if for
// none. Each pair is combined once.
std::string refuses_association(const Expression& expression, DType dtype) {
  const bool whole = is_whole(dtype);
  const auto& numbers = numbers_of(dtype);
  constexpr std::size_t n = std::tuple_size_v<std::remove_cvref_t<decltype(numbers)>>, triples = n * n * n;
  std::vector<double> x, y;
  for (const double a : numbers)
    for (const double b : numbers) {
      x.push_back(a);
      y.push_back(b);
    }
  const std::vector<double> pairs = applied(expression, dtype, x, y);
  x.resize(2 * triples);  // first (a, b) and c, then a and (b, c)
  y.resize(2 * triples);
  for (std::size_t k = 0; k < triples; ++k) {
    x[k] = pairs[k / n];
    y[k] = numbers[k % n];
    x[triples + k] = numbers[k / (n * n)];
    y[triples + k] = pairs[k % (n * n)];
  }
  const std::vector<double> both = applied(expression, dtype, x, y);
  for (std::size_t k = 0; k < triples; ++k) {
    const double left = both[k], right = both[triples + k];
    // A result that is no number, or has lost its digits on the way, says nothing.
    const double size =
        std::max({std::abs(left), std::abs(right), std::abs(pairs[k / n]), std::abs(pairs[k % (n * n)])});
    if (!std::isfinite(size) || (whole && size > 0x1p53)) continue;
    if (std::abs(left - right) <= (whole ? 0 : 1e-6 * std::max(1.0, size))) continue;
    return "It is not associative: of " + text_of(numbers[k / (n * n)]) + ", " + text_of(numbers[k / n % n]) +
           " and " + text_of(numbers[k % n]) + " the first two combined, and then the third, come to " +
           text_of(left) + "; the first, and the last two combined, to " + text_of(right) +
           ". A scan needs an expression for which these are the same.";
  }
  return "";
}

std::string refuses_function(const Expression& expression, DType dtype) {
  if (is_narrow_integer(dtype))
    return "An expression of " + std::string(name(dtype)) + " is not there; convert to i32.";
  if (std::string why = language::refuses(expression, dtype); !why.empty()) return why;
  if (expression.inputs == 2) return refuses_association(expression, dtype);
  return "It has " + std::to_string(expression.inputs) + " inputs; allowed are 2, a and b.";
}

// Says which number the identity changes: it must not change a number behind it.
std::string refuses_identity(const Expression& expression, DType dtype, double identity) {
  const auto& numbers = numbers_of(dtype);
  const std::vector<double> own(numbers.begin(), numbers.end());
  const std::vector<double> made = applied(expression, dtype, std::vector<double>(own.size(), identity), own);
  for (std::size_t k = 0; k < own.size(); ++k)
    if (!(std::abs(made[k] - own[k]) <= 1e-6 * std::abs(own[k])))
      return "combined with " + text_of(own[k]) + " comes to " + text_of(made[k]) +
             "; it has to change nothing.";
  return "";
}

}  // namespace

const Expression& expression_of(const Problem& problem) {
  return problem.derived(
      +[](const Problem& its) { return language::parse(its.string("expression")).expression; });
}

std::string identity_as_stored(const std::string& text) {
  if (const auto whole = parsed_number<std::int64_t>(text); whole && !(*whole == 0 && text.starts_with('-')))
    return std::to_string(*whole);
  const auto number = parsed_number<double>(text);
  return number ? ShortestText(*number).string() : text;  // "none", or a text that is refused
}

double identity_of(const Problem& problem) {
  return round_to(dtype_of(problem), parsed_number<double>(problem.string("identity")).value_or(0));
}

std::string refuses_expression(const Problem& problem) {
  const std::string &text = problem.string("expression"), &identity = problem.string("identity");
  const bool needs_identity = function_of(problem) == own_expression && is_exclusive(problem);
  if (needs_identity != (identity != "none")) {
    return "identity=" + identity + " with expression=" + text + " and kind=" + problem.string("kind") +
           (needs_identity ? " does not say what the first result is; give the number that changes nothing."
                           : " is not used; leave it at none.");
  }
  if (function_of(problem) != own_expression) return "";
  if (problem.string("function") != "sum" || is_wide(problem))
    return "function=" + problem.string("function") + " and sum_dtype=" + problem.string("sum_dtype") +
           " are not for an expression, which stands in their place; leave them at sum and same.";
  const DType dtype = dtype_of(problem);
  const std::string& refusal = problem.derived(
      +[](const Problem& its) { return refuses_function(expression_of(its), dtype_of(its)); });
  if (!refusal.empty()) return "The expression is " + text + ". " + refusal;
  if (!needs_identity) return "";
  const auto whole = parsed_number<std::int64_t>(identity);
  const std::int64_t end = std::int64_t{1} << 31;
  if (is_whole(dtype) && (!whole || (dtype == DType::i32 && (*whole < -end || *whole >= end)))) {
    return "identity=" + identity +
           " is not a whole number in the range of dtype=" + problem.string("dtype") + ".";
  }
  const std::string why = refuses_identity(expression_of(problem), dtype, identity_of(problem));
  return why.empty() ? "" : "identity=" + identity + " with expression=" + text + ": it " + why;
}

std::string preamble(const Problem& problem) {
  if (function_of(problem) != own_expression) return "constexpr bool has_expression = false;\n";
  const DType dtype = dtype_of(problem), compute = language::compute_dtype(dtype);
  std::string first = "0";
  if (is_exclusive(problem)) {
    Node identity{.number = identity_of(problem)};
    identity.whole = parsed_number<std::int64_t>(problem.string("identity"));
    const auto bits = [](const char* of) {
      return "static_cast<Compute>(__longlong_as_double(" + std::string(of) + "))";
    };
    first = std::isnan(identity.number) ? bits("0x7ff8000000000000ll")
            : std::isinf(identity.number)
                ? bits(identity.number < 0 ? "0xfff0000000000000ll" : "0x7ff0000000000000ll")
                : language::literal(identity, compute);
  }
  return language::code(expression_of(problem), dtype) +
         "constexpr bool has_expression = true;\n"
         "template <>\n"
         "struct Expression<Compute> {\n"
         "  static __device__ __forceinline__ Compute combine(Compute a, Compute b) {\n"
         "    const Compute input[2] = {a, b};\n"
         "    return apply(input);\n"
         "  }\n"
         "  static __device__ __forceinline__ Compute first() { return " +
         first + "; }\n};\n";
}

void scan_expression(const Problem& problem, std::span<const double> line, std::span<double> value,
                     std::span<double> permitted_error) {
  const Expression& expression = expression_of(problem);
  const DType dtype = dtype_of(problem);
  if (is_whole(dtype)) {
    std::array<std::int64_t, 2> both = {};
    for (std::size_t k = 0; k < line.size(); ++k) {
      both[1] = static_cast<std::int64_t>(line[k]);
      both[0] = k == 0 ? both[1] : language::evaluate_whole(expression, dtype, both);
      value[k] = static_cast<double>(both[0]);
      permitted_error[k] = 0;
    }
    return;
  }
  Pairs pairs(expression, dtype);
  std::vector<BoundedValue> bounded(line.size());
  for (std::size_t k = 0; k < line.size(); ++k) bounded[k].value = line[k];
  if (!line.empty()) scan(bounded, pairs);
  for (std::size_t k = 0; k < line.size(); ++k) {
    const BoundedValue last = pairs.stored({bounded[k].value, slack * bounded[k].error});
    value[k] = last.value;
    permitted_error[k] = last.error;
  }
}

}  // namespace tunesmith::scan_op

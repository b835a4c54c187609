// SPDX-License-Identifier: Apache-2.0
// The reference of `rows`: the expression in double precision, every value with a bound of the error that
// evaluating it in the dtype may have made, through its reductions too.

#include <algorithm>
#include <cmath>

#include "language/bounded.h"
#include "templates/rows/op.h"

namespace tunesmith::rows_op {
namespace {

using elementwise_op::BoundedNodes;
using elementwise_op::BoundedValue;
using elementwise_op::infinity;

// The total of a row's terms, with the error that is permitted.
class Total {
 public:
  explicit Total(Function function) : function_(function) {}

  void add(const BoundedValue& x) {
    ++count_;
    unknown_ = unknown_ || x.error == infinity || std::isnan(x.error);
    if (function_ == Function::max || function_ == Function::min) {
      extend(x);
      return;
    }
    sum_ += static_cast<long double>(x.value);
    size_ += std::abs(x.value);
    error_ += x.error;
    if (function_ != Function::prod) return;
    product_ *= static_cast<long double>(x.value);
    most_ *= static_cast<long double>(std::abs(x.value) + x.error);
    if (!std::isfinite(x.value)) return;
    rise_ += std::log2(std::max(1.0, std::abs(x.value) + x.error));
    if (x.value != 0) fall_ += std::log2(std::min(1.0, std::abs(x.value)));
  }

  BoundedValue result(const BoundedNodes& bounded, bool is_double) const {
    switch (function_) {
      case Function::sum:
        return sum(bounded);
      case Function::mean: {
        const BoundedValue total = sum(bounded);
        const double n = count_;
        if (total.error == infinity || !std::isfinite(total.value)) return {total.value / n, total.error};
        return bounded.rounded({total.value / n, total.error / n}, 1);
      }
      case Function::prod: {
        const auto value = static_cast<double>(product_);
        // Products of any of the terms must be in range, since terms may be multiplied in any order.
        const double range = is_double ? 1020 : 125;
        if (unknown_ || rise_ > range || fall_ < -range) return {value, infinity};
        if (!std::isfinite(value)) return {value, 0};
        const auto most = static_cast<double>(most_);
        return {value, most - std::abs(value) + error_of(bounded.rounded({most, 0}, (count_ + 2) / 2))};
      }
      default:
        if (unknown_) return {value_, infinity};
        if (!std::isfinite(value_) || count_ == 0) return {value_, 0};
        return {value_, std::max(upper_ - value_, value_ - lower_)};
    }
  }

 private:
  // Nothing is promised where the sizes leave the range.
  static double error_of(const BoundedValue& sizes) {
    return std::isfinite(sizes.value) ? sizes.error : infinity;
  }

  BoundedValue sum(const BoundedNodes& bounded) const {
    const auto value = static_cast<double>(sum_);
    if (unknown_) return {value, infinity};
    if (!std::isfinite(value)) return {value, 0};
    // Each rounding is of at most the sum of the sizes, which must be in range.
    return {value, error_of(bounded.rounded({size_, error_}, roundings(count_) / 2))};
  }

  void extend(const BoundedValue& x) {
    const double sign = function_ == Function::max ? 1 : -1;
    const auto larger = [&](double a, double b) {
      return std::isnan(a) || std::isnan(b) ? a + b : sign * std::max(sign * a, sign * b);
    };
    if (count_ == 1) {
      value_ = x.value, upper_ = x.value + x.error, lower_ = x.value - x.error;
      return;
    }
    value_ = larger(value_, x.value);
    upper_ = larger(upper_, x.value + x.error);
    lower_ = larger(lower_, x.value - x.error);
  }

  Function function_;
  double count_ = 0, size_ = 0, error_ = 0;
  long double sum_ = 0, product_ = 1, most_ = 1;
  double rise_ = 0, fall_ = 0;  // exponents of the largest and the smallest product of any of the terms
  double value_ = 0, upper_ = 0, lower_ = 0;
  bool unknown_ = false;
};

constexpr std::int64_t block = 256;  // columns that pass through the expression together

class RowEvaluator {
 public:
  RowEvaluator(const Problem& problem, std::span<const std::vector<double>> arguments)
      : shape_(problem),
        e_(shape_.expression),
        is_double_(dtype_of(problem) == DType::f64),
        arguments_(arguments),
        bounded_(e_.nodes, dtype_of(problem)),
        values_(e_.nodes.size() * static_cast<std::size_t>(block)),
        none_(static_cast<std::size_t>(block)) {
    for (const Reduction& reduction : e_.reductions)
      if (reduction.function == Function::sum || reduction.function == Function::mean)
        bounded_.is_added(reduction.argument);
    for (int pass = 0; pass < shape_.passes; ++pass) {
      reductions_.push_back(shape_.reductions_of(pass));
      std::vector<int> roots;
      for (const int r : reductions_.back()) roots.push_back(e_.reductions[at(r)].argument);
      needed_.push_back(shape_.needed(roots));
    }
  }

  const Shape& shape() const { return shape_; }

  /// Computes all reductions of a row, and the values that follow from them.
  void reduce(std::int64_t row) {
    row_values(row, 0);
    for (int pass = 0; pass < shape_.passes; ++pass) {
      std::vector<Total> totals;
      for (const int r : reductions_[at(pass)]) totals.emplace_back(e_.reductions[at(r)].function);
      for (std::int64_t begin = 0; begin < shape_.columns; begin += block) {
        const std::int64_t size = std::min(block, shape_.columns - begin);
        evaluate(needed_[at(pass)], row, begin, size);
        for (std::size_t n = 0; n < totals.size(); ++n) {
          const BoundedValue* const terms = place(e_.reductions[at(reductions_[at(pass)][n])].argument);
          for (std::int64_t c = 0; c < size; ++c) totals[n].add(terms[c]);
        }
      }
      for (std::size_t n = 0; n < totals.size(); ++n)
        fill(e_.reductions[at(reductions_[at(pass)][n])].result, totals[n].result(bounded_, is_double_));
      row_values(row, pass + 1);
    }
  }

  /// Evaluates those of the nodes that vary along the row, for `size` columns from `begin` on.
  void evaluate(const std::vector<int>& nodes, std::int64_t row, std::int64_t begin, std::int64_t size) {
    for (const int i : nodes) {
      if (!shape_.varies_along_row(i)) continue;
      const Node& node = e_.nodes[at(i)];
      if (node.operation != Operation::input) {
        compute(i, static_cast<std::size_t>(size));
        continue;
      }
      const InputLayout& input = shape_.inputs[at(node.input)];
      const double* const from = arguments_[at(node.input)].data() +
                                 (input.kind == InputKind::matrix ? row * input.stride : 0) + begin;
      for (std::int64_t c = 0; c < size; ++c) place(i)[c] = {from[c], 0};
    }
  }

  BoundedValue stored(int node, std::int64_t column) { return bounded_.stored(place(node)[column]); }

 private:
  static std::size_t at(int index) { return static_cast<std::size_t>(index); }
  BoundedValue* place(int node) { return values_.data() + at(node) * static_cast<std::size_t>(block); }
  void fill(int node, const BoundedValue& value) { std::fill_n(place(node), block, value); }

  void compute(int i, std::size_t size) {
    const Node& node = e_.nodes[at(i)];
    const auto operand = [&](std::size_t n) {
      return node.operands[n] < 0 ? none_.data() : place(node.operands[n]);
    };
    bounded_.evaluate(at(i), operand(0), operand(1), operand(2), size, place(i));
    if (!shape_.divides_by_row_value(node)) return;
    for (std::size_t c = 0; c < size; ++c) {  // the rounding of the inverse
      BoundedValue& value = place(i)[c];
      if (value.error != infinity && std::isfinite(value.value)) value = bounded_.rounded(value, 0.5);
    }
  }

  // Computes the row's values that can be computed after `passes` passes, but for the reductions.
  void row_values(std::int64_t row, int passes) {
    for (int i = 0; i < static_cast<int>(e_.nodes.size()); ++i) {
      const Node& node = e_.nodes[at(i)];
      if (shape_.varies_along_row(i) || shape_.passes_before[at(i)] != passes) continue;
      if (is_array(node)) {
        const bool is_per_row = shape_.inputs[at(node.input)].kind == InputKind::per_row;
        fill(i, {arguments_[at(node.input)][static_cast<std::size_t>(is_per_row ? row : 0)], 0});
      } else if (node.operation != Operation::input) {
        compute(i, static_cast<std::size_t>(block));
      }
    }
  }

  Shape shape_;
  const Expression& e_;
  bool is_double_;
  std::span<const std::vector<double>> arguments_;
  BoundedNodes bounded_;
  std::vector<BoundedValue> values_, none_;
  std::vector<std::vector<int>> reductions_, needed_;  // by pass
};

}  // namespace

// A term passes the trees of a thread's vector, of a warp, of a block and of a cluster, and a thread's
// vectors one after the other. Where a thread walks along a row, there is one more rounding for every 256
// elements or more. Never more roundings than if terms were added one after the other.
double roundings(double terms) { return std::min(terms + 1, 40 + terms / 256); }

void reference(const Problem& problem, std::span<const std::vector<double>> arguments, int output,
               std::int64_t begin, std::int64_t end, std::span<double> value,
               std::span<double> permitted_error) {
  RowEvaluator evaluator(problem, arguments);
  const Shape& shape = evaluator.shape();
  const int node = shape.expression.outputs[static_cast<std::size_t>(output - most_inputs)].value;
  const bool is_wide = shape.varies_along_row(node);
  const std::int64_t width = is_wide ? shape.columns : 1;
  const std::vector<int> needed = shape.needed({node});
  std::size_t to = 0;
  for (std::int64_t at = begin; at < end;) {
    const std::int64_t row = at / width;
    const std::int64_t row_end = std::min(end, (row + 1) * width);
    evaluator.reduce(row);
    while (at < row_end) {
      const std::int64_t first = at % width, size = std::min(block, row_end - at);
      if (is_wide) evaluator.evaluate(needed, row, first, size);
      for (std::int64_t c = 0; c < size; ++c, ++to) {
        const BoundedValue result = evaluator.stored(node, c);
        value[to] = result.value;
        permitted_error[to] = result.error;
      }
      at += size;
    }
  }
}

}  // namespace tunesmith::rows_op

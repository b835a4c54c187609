// SPDX-License-Identifier: Apache-2.0
// scan's reference, summed in twice the digits of double, and the error that the contract permits.

#include <algorithm>
#include <cmath>
#include <limits>

#include "templates/scan/op.h"

namespace tunesmith::scan_op {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// A floating-point type: the roundings of its sums and of its elements, and its range as powers of two.
struct Format {
  double unit, element_unit, largest;
  double least_exponent, most_exponent;  // of the type that is computed in
  double smallest;                       // half of its smallest number
};
Format format_of(DType dtype) {
  if (dtype == DType::f64) return {0x1p-53, 0, std::numeric_limits<double>::max(), -1021, 1022, 0};
  if (dtype == DType::f16) return {0x1p-24, 0x1p-11, 65504, -125, 126, 0x1p-25};
  if (dtype == DType::bf16) return {0x1p-24, 0x1p-8, 0x1.FEp127, -125, 126, 0x1p-134};
  return {0x1p-24, 0, std::numeric_limits<float>::max(), -125, 126, 0x1p-150};
}

// The combination of a line's elements up to a position.
struct State {
  double value = 0;           // for a sum, its upper half
  long double product = 1;    // of doubles, so that its own roundings count for little
  double low = 0;             // for a sum, its lower half
  double size = 0;            // the sum of magnitudes
  double rise = 0, fall = 0;  // exponents of the largest and smallest products that end here
  bool leaves = false;        // a product of neighbours has left the type's range
  std::uint64_t whole = 0;
};

class Line {
 public:
  explicit Line(const Problem& problem)
      : function_(function_of(problem)), dtype_(dtype_of(problem)), is_whole_(is_whole(dtype_)) {
    if (!is_whole_) format_ = format_of(is_wide(problem) ? DType::f64 : dtype_);
    double least = -infinity, most = infinity;
    if (dtype_ == DType::i32) least = -0x1p31, most = 0x1p31 - 1;
    if (dtype_ == DType::i64) least = -0x1p63, most = 0x1p63;
    if (is_whole_ && bytes(dtype_) < 4) {
      const double values = std::ldexp(1.0, static_cast<int>(8 * bytes(dtype_)));
      least = is_unsigned(dtype_) ? 0 : -values / 2;
      most = least + values - 1;
    }
    const bool one = function_ == Function::product || function_ == Function::all;
    first_.value = function_ == Function::max ? least : function_ == Function::min ? most : one ? 1 : 0;
    first_.whole = one ? 1 : 0;
  }

  State first() const { return first_; }

  void add(State& state, double x) const {
    switch (function_) {
      case Function::any:
        if (x != 0) state.value = 1;
        break;
      case Function::all:
        if (x == 0) state.value = 0;
        break;
      case Function::max:
      case Function::min:
        if (std::isnan(state.value)) break;
        if ((function_ == Function::max ? x > state.value : x < state.value) || std::isnan(x))
          state.value = x;
        break;
      case Function::sum:
      case Function::product:
        if (is_whole_) {
          const auto whole = static_cast<std::uint64_t>(static_cast<std::int64_t>(x));
          state.whole = function_ == Function::sum ? state.whole + whole : state.whole * whole;
        } else if (function_ == Function::sum) {
          const double sum = state.value + x;  // Knuth's TwoSum
          const double part = sum - state.value;
          state.low += (state.value - (sum - part)) + (x - part);
          state.value = sum;
          state.size += std::abs(x);
        } else {
          multiply(state, x);
        }
        break;
    }
  }

  // The result of `count` elements, and the permitted error.
  void result(const State& state, std::int64_t count, double& value, double& permitted) const {
    permitted = 0;
    value = state.value;
    if (function_ != Function::sum && function_ != Function::product) return;
    if (is_whole_) {
      value = is_unsigned(dtype_) ? static_cast<double>(state.whole)
                                  : static_cast<double>(static_cast<std::int64_t>(state.whole));
      return;
    }
    const bool is_sum = function_ == Function::sum;
    if (is_sum && std::isfinite(state.value)) value = state.value + state.low;
    if (state.leaves) {
      permitted = infinity;
      return;
    }
    if (!std::isfinite(value)) return;
    // Each multiplication of a tree counts, but only those additions that are above an element.
    const auto terms = static_cast<double>(count);
    const double error =
        is_sum ? format_.unit * roundings(terms) * state.size : format_.unit * (terms + 1) * std::abs(value);
    permitted = error + format_.element_unit * (std::abs(value) + error);
    if (format_.element_unit > 0) permitted += format_.smallest;
    if (std::abs(value) + permitted > format_.largest) permitted = infinity;
  }

 private:
  void multiply(State& state, double x) const {
    state.product *= static_cast<long double>(x);
    state.value = static_cast<double>(state.product);
    if (!std::isfinite(x) || x == 0) return;
    const double exponent = std::log2(std::abs(x));
    state.rise = std::max(state.rise, 0.0) + exponent;
    state.fall = std::min(state.fall, 0.0) + exponent;
    if (state.rise > format_.most_exponent || state.fall < format_.least_exponent) state.leaves = true;
  }

  Function function_;
  DType dtype_;
  bool is_whole_;
  Format format_ = {};
  State first_;
};

}  // namespace

// An element passes the additions of a tile's tree, of the tiles before it and of their groups. Where a loop
// or a chain carries a sum on, there is one more for every 1024 elements or more. Never more than if elements
// were added one after the other, and one for the reference's own rounding.
double roundings(double elements) { return std::min(elements + 1, 256 + elements / 1024); }

std::string refuses_small_tiles(std::int64_t length, std::int64_t tile) {
  if (tile >= 1024 || length <= 128 * tile) return "";
  return "Tiles of " + std::to_string(tile) + " elements are too small for a length of " +
         std::to_string(length) + ".";
}

namespace {

// Computes one line after the other, each as far as it is asked for.
void expression_reference(const Problem& problem, const std::vector<double>& x, std::int64_t begin,
                          std::int64_t end, std::span<double> value, std::span<double> permitted_error) {
  const Dims d(problem);
  const bool exclusive = is_exclusive(problem), reverse = is_reverse(problem);
  const double first = exclusive ? identity_of(problem) : 0;
  const std::int64_t slab = d.length * d.inner;
  const auto length = static_cast<std::size_t>(d.length);
  std::vector<double> line(length), values(length), errors(length);
  for (std::int64_t o = begin / slab; o * slab < end; ++o) {
    for (std::int64_t i = 0; i < d.inner; ++i) {
      const auto in_memory = [&](std::int64_t l) { return reverse ? d.length - 1 - l : l; };
      for (std::int64_t l = 0; l < d.length; ++l)
        line[static_cast<std::size_t>(l)] =
            x[static_cast<std::size_t>(o * d.outer_stride + in_memory(l) * d.stride + i)];
      scan_expression(problem, line, values, errors);
      for (std::int64_t l = 0; l < d.length; ++l) {
        const std::int64_t at = o * slab + in_memory(l) * d.inner + i;
        if (at < begin || at >= end) continue;
        const auto to = static_cast<std::size_t>(at - begin);
        const auto from = static_cast<std::size_t>(exclusive ? l - 1 : l);
        const bool is_first = exclusive && l == 0;
        value[to] = is_first ? first : values[from];
        permitted_error[to] = is_first ? 0 : errors[from];
      }
    }
  }
}

}  // namespace

void reference(const Problem& problem, std::span<const std::vector<double>> arguments, int /*output*/,
               std::int64_t begin, std::int64_t end, std::span<double> value,
               std::span<double> permitted_error) {
  if (function_of(problem) == own_expression) {
    expression_reference(problem, arguments[0], begin, end, value, permitted_error);
    return;
  }
  const Dims d(problem);
  const Line line(problem);
  const bool exclusive = is_exclusive(problem), reverse = is_reverse(problem);
  const std::int64_t slab = d.length * d.inner;
  std::vector<State> states(static_cast<std::size_t>(d.inner));
  for (std::int64_t o = begin / slab; o * slab < end; ++o) {
    std::fill(states.begin(), states.end(), line.first());
    for (std::int64_t count = 0; count < d.length; ++count) {
      const std::int64_t l = reverse ? d.length - 1 - count : count;
      const double* const from = arguments[0].data() + o * d.outer_stride + l * d.stride;
      const std::int64_t row = o * slab + l * d.inner;
      if (reverse ? row + d.inner <= begin : row >= end) break;
      for (std::int64_t i = 0; i < d.inner; ++i) {
        State& state = states[static_cast<std::size_t>(i)];
        if (!exclusive) line.add(state, from[i]);
        const std::int64_t at = row + i;
        if (at >= begin && at < end) {
          const auto to = static_cast<std::size_t>(at - begin);
          line.result(state, exclusive ? count : count + 1, value[to], permitted_error[to]);
        }
        if (exclusive) line.add(state, from[i]);
      }
    }
  }
}

}  // namespace tunesmith::scan_op

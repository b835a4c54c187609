// SPDX-License-Identifier: Apache-2.0
// The reference of `tensor`: the loops themselves in double, and the error that a sum in the dtype may have
// made.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "language/bounded.h"
#include "language/builder.h"
#include "templates/choice.h"
#include "templates/tensor/contract/factors.h"
#include "templates/tensor/derive/forms.h"
#include "templates/tensor/op.h"

namespace tunesmith::tensor_op {
namespace {

using language::BoundedValue;
using language::infinity;

// If all elements together have more terms than this, only some elements are compared.
constexpr double most_terms_checked = 0x1p29;

// The offsets of the accesses and, behind them, the places along their bounds, while terms are stepped
// through.
class Walk {
 public:
  explicit Walk(const Nest& nest) : nest_(nest) {
    for (const View& view : nest.inputs) add(view.start, view.strides);
    for (const View& view : nest.inputs)
      for (const Bound& bound : view.bounds) add(bound.start, bound.strides);
  }

  // Goes to the first term of an element of the output; returns false where the output has a gap. `order`:
  // the free indices by falling stride of the output.
  bool begin(std::int64_t element, const std::vector<std::size_t>& order) {
    element -= nest_.output.start;
    if (element < 0) return false;
    offsets_ = starts_;
    at_.assign(nest_.rank(), 0);
    for (const std::size_t i : order) {
      const std::int64_t at = std::min(element / nest_.output.strides[i], nest_.extents[i] - 1);
      element -= at * nest_.output.strides[i];
      move(i, at);
    }
    return element == 0;
  }

  // Reads the next terms of all accesses; the last reduced index is the fastest.
  void read_next(std::span<const std::vector<double>> arguments, std::int64_t count,
                 std::vector<std::vector<double>>& values) {
    for (std::int64_t done = 0; done < count;) {
      const bool is_single = nest_.rank() == nest_.free;
      const std::size_t last = nest_.rank() - 1;
      const std::int64_t run = is_single ? 1 : std::min(count - done, nest_.extents[last] - at_[last]);
      for (std::size_t k = 0, place = nest_.inputs.size(); k < values.size(); ++k) {
        const double* const from = arguments[static_cast<std::size_t>(nest_.inputs[k].array)].data();
        double* const to = values[k].data() + done;
        const std::int64_t stride = is_single ? 0 : nest_.inputs[k].strides[last];
        for (std::int64_t n = 0; n < run; ++n) to[n] = 0;
        std::int64_t first = 0, end = run;  // the terms within all bounds
        for (const Bound& bound : nest_.inputs[k].bounds) {
          const std::int64_t at = offsets_[place++], step = is_single ? 0 : bound.strides[last];
          const auto is_inside = [&](std::int64_t n) {
            return at + n * step >= 0 && at + n * step < bound.extent;
          };
          while (first < end && !is_inside(first)) ++first;
          while (first < end && !is_inside(end - 1)) --end;
        }
        for (std::int64_t n = first; n < end; ++n) to[n] = from[offsets_[k] + n * stride];
      }
      done += run;
      if (!is_single) advance(run);
    }
  }

  double read(std::span<const std::vector<double>> arguments, std::size_t access) const {
    std::size_t place = nest_.inputs.size();
    for (std::size_t k = 0; k < access; ++k) place += nest_.inputs[k].bounds.size();
    for (const Bound& bound : nest_.inputs[access].bounds) {
      const std::int64_t at = offsets_[place++];
      if (at < 0 || at >= bound.extent) return 0;
    }
    return arguments[static_cast<std::size_t>(nest_.inputs[access].array)]
                    [static_cast<std::size_t>(offsets_[access])];
  }

 private:
  void add(std::int64_t start, const std::vector<std::int64_t>& strides) {
    starts_.push_back(start);
    strides_.push_back(&strides);
  }
  // `steps` of the last index, which do not lead beyond its end.
  void advance(std::int64_t steps) {
    for (std::size_t i = nest_.rank(); i-- > nest_.free; steps = 1) {
      move(i, steps);
      if ((at_[i] += steps) < nest_.extents[i]) return;
      move(i, -nest_.extents[i]);
      at_[i] = 0;
    }
  }
  void move(std::size_t index, std::int64_t steps) {
    for (std::size_t k = 0; k < offsets_.size(); ++k) offsets_[k] += (*strides_[k])[index] * steps;
  }

  const Nest& nest_;
  std::vector<std::int64_t> starts_, offsets_, at_;
  std::vector<const std::vector<std::int64_t>*> strides_;
};

struct Result {
  double value = 0;
  double size = 0;          // the sum of magnitudes
  double error = 0;         // the sum of the terms' errors
  bool is_unknown = false;  // a term has no bound, or overflowed
};

void add(Result& result, Reduction reduction, bool is_first, double value, double error) {
  if (reduction == Reduction::sum) {
    result.value += value;
    result.size += std::abs(value);
    result.error += error;
    return;
  }
  const bool takes = reduction == Reduction::max ? value > result.value : value < result.value;
  if (is_first || takes || std::isnan(value)) result.value = value;
  result.error = std::max(result.error, error);
  result.size = std::max(result.size, std::abs(value));
}

// The products of the factors' first `count` values.
void multiply(const std::vector<std::vector<double>>& values, const std::vector<int>& factors,
              std::size_t count, std::vector<double>& products) {
  std::fill_n(products.begin(), count, 1.0);
  for (const int factor : factors)
    for (std::size_t n = 0; n < count; ++n) products[n] *= values[static_cast<std::size_t>(factor)][n];
}

// True if a product of finite factors is not finite.
bool has_overflowed(const std::vector<std::vector<double>>& values, const std::vector<int>& factors,
                    std::size_t count, const std::vector<double>& products) {
  for (std::size_t n = 0; n < count; ++n)
    if (!std::isfinite(products[n]) && std::all_of(factors.begin(), factors.end(), [&](int factor) {
          return std::isfinite(values[static_cast<std::size_t>(factor)][n]);
        }))
      return true;
  return false;
}

// `unit`: the error of a product, in units of its magnitude.
void add_products(Result& result, Reduction reduction, bool are_first, std::span<const double> products,
                  double unit) {
  if (reduction != Reduction::sum) {
    for (std::size_t n = 0; n < products.size(); ++n)
      add(result, reduction, are_first && n == 0, products[n], unit * std::abs(products[n]));
    return;
  }
  const double size = std::transform_reduce(products.begin(), products.end(), 0.0, std::plus<>(),
                                            [](double product) { return std::abs(product); });
  result.value += std::reduce(products.begin(), products.end());
  result.size += size;
  result.error += unit * size;
}

// Integers wrap, as the kernels' do.
template <typename Whole, typename Bits>
double wrapped_sum(double a, double b) {
  return static_cast<double>(static_cast<Whole>(static_cast<Bits>(static_cast<Whole>(a)) +
                                                static_cast<Bits>(static_cast<Whole>(b))));
}

// The function with magnitudes for what is added, subtracted and multiplied: no way of distributing products
// over sums, or of taking common factors out of them, adds up more than this.
int add_magnitude(language::Builder& builder, const language::Expression& function, int place) {
  using language::Operation;
  const language::Node& node = function.nodes[static_cast<std::size_t>(place)];
  const auto of = [&](int operand) {
    return add_magnitude(builder, function, node.operands[static_cast<std::size_t>(operand)]);
  };
  switch (node.operation) {
    case Operation::negate:
      return of(0);
    case Operation::add:
    case Operation::subtract:
      return builder.add(Operation::add, 0, {of(0), of(1), -1});
    case Operation::multiply:
      return builder.add(Operation::multiply, 0, {of(0), of(1), -1});
    default: {
      std::vector<int> inputs(static_cast<std::size_t>(function.inputs));
      for (std::size_t k = 0; k < inputs.size(); ++k)
        inputs[k] = builder.add({.operation = Operation::input, .input = static_cast<int>(k)});
      language::Expression below = function;
      below.nodes.resize(static_cast<std::size_t>(place) + 1);
      return builder.add(Operation::abs, 0, {builder.insert(below, inputs, 0), -1, -1});
    }
  }
}
language::Expression magnitude_of(const language::Expression& function) {
  language::Builder builder;
  const int root = add_magnitude(builder, function, static_cast<int>(function.nodes.size()) - 1);
  return builder.finish(root, function.inputs);
}

double largest_of(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return std::numeric_limits<double>::max();
    case DType::f16:
      return 65504;
    default:
      return 0x1.fep127;
  }
}

// The unit roundoff; for f64 twice that, since the reference itself computes in double.
double unit_of(DType compute) { return compute == DType::f64 ? 0x1p-52 : 0x1p-24; }

// Half the least number.
double least_of(DType dtype) {
  return dtype == DType::f16 ? 0x1p-25 : dtype == DType::f64 ? 0x1p-1074 : 0x1p-149;
}

// The value as an element. Integers are cut to fewer bits.
BoundedValue stored(BoundedValue x, DType compute, DType out) {
  if (is_whole(out)) {
    const auto bits = static_cast<std::int64_t>(x.value);
    if (out == DType::u8) return {static_cast<double>(static_cast<std::uint8_t>(bits)), 0};
    if (out == DType::i8) return {static_cast<double>(static_cast<std::int8_t>(bits)), 0};
    if (out == DType::i32) return {static_cast<double>(static_cast<std::int32_t>(bits)), 0};
    return x;
  }
  if (out == compute || out == DType::f64 || !std::isfinite(x.value)) return x;
  const double unit = (out == DType::f16    ? 0x1p-11
                       : out == DType::bf16 ? 0x1p-8
                                            : 0) +
                      (compute == DType::f32 ? 0 : 0x1p-24);  // by way of f32
  x.error += unit * (std::abs(x.value) + x.error) * (1 + unit) + least_of(out);
  if (!(std::abs(x.value) + x.error < largest_of(out))) x.error = infinity;
  return x;
}

// The finish of real numbers; the first one may have an error.
BoundedValue finished(const language::Expression& function, DType compute,
                      const std::vector<BoundedValue>& inputs) {
  const language::BoundedNodes bounded(function.nodes, compute);
  std::vector<BoundedValue> all(function.nodes.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const language::Node& node = function.nodes[i];
    if (node.operation == language::Operation::input) {
      all[i] = inputs[static_cast<std::size_t>(node.input)];
      continue;
    }
    std::array<BoundedValue, 3> of = {};
    for (std::size_t n = 0; n < of.size(); ++n)
      if (node.operands[n] >= 0) of[n] = all[static_cast<std::size_t>(node.operands[n])];
    bounded.evaluate(i, &of[0], &of[1], &of[2], 1, &all[i]);
  }
  return all.back();
}

}  // namespace

void reference(const Problem& problem, std::span<const std::vector<double>> arguments, int /*output*/,
               std::int64_t begin, std::int64_t end, std::span<double> value,
               std::span<double> permitted_error) {
  const Expression e = expression_of(problem);
  const Nest nest = fused(nest_of(problem));
  const DType compute = compute_dtype(problem), out = out_dtype(problem);
  const bool whole = is_whole(compute);
  const std::int64_t terms = nest.terms();
  const std::vector<int> product = whole ? std::vector<int>() : product_of(e.function);
  const bool distributes =
      choice<May>(problem, "may") == May::distribute && !whole && e.reduction == Reduction::sum;
  const std::optional<Factors>& factors = factors_of(problem);
  const bool in_tensor_cores =
      e.reduction == Reduction::sum &&
      (factors ? bytes(factors->dtype) == 2 : product.size() == 2 && bytes(dtype_of(problem)) == 2);
  const bool rounds_factors = may_round_factors(problem);
  const language::Expression magnitude = distributes ? magnitude_of(e.function) : language::Expression();
  const std::vector<std::size_t> order =
      sorted_by(nest.free, [&](std::size_t i) { return -nest.output.strides[i]; });
  const double unit = unit_of(compute);
  const double all_terms = static_cast<double>(terms) * static_cast<double>(nest.outputs());
  const auto stride = static_cast<std::uint64_t>(std::max(1.0, std::ceil(all_terms / most_terms_checked)));

  constexpr std::int64_t block = 256;
  Walk walk(nest);
  std::vector<std::vector<double>> values(nest.inputs.size(), std::vector<double>(block));
  std::vector<double> results(block), errors(block);
  for (std::int64_t element = begin; element < end; ++element) {
    const auto to = static_cast<std::size_t>(element - begin);
    value[to] = 0;
    permitted_error[to] = infinity;
    // One of each block of `stride` elements is compared, at another place in each block.
    const auto number = static_cast<std::uint64_t>(element);
    if (stride > 1 && number % stride != (number / stride * 0x9e3779b97f4a7c15u >> 20) % stride) continue;
    if (!walk.begin(element, order)) continue;
    std::vector<double> read_by_finish;
    for (const int access : e.finish.accesses)
      read_by_finish.push_back(walk.read(arguments, static_cast<std::size_t>(access)));
    Result result;
    double magnitudes = 0;
    for (std::int64_t done = 0; done < terms; done += block) {
      const std::int64_t count = std::min(block, terms - done);
      walk.read_next(arguments, count, values);
      if (distributes) {
        language::evaluate(magnitude, DType::f64, values, static_cast<std::size_t>(count), results.data(),
                           errors.data());
        magnitudes = std::accumulate(results.begin(), results.begin() + count, magnitudes);
      }
      if (!product.empty()) {
        multiply(values, product, static_cast<std::size_t>(count), results);
        if (has_overflowed(values, product, static_cast<std::size_t>(count), results))
          result.is_unknown = true;
        add_products(result, e.reduction, done == 0, {results.data(), static_cast<std::size_t>(count)},
                     static_cast<double>(product.size() - 1) * unit);
        continue;
      }
      language::evaluate(e.function, compute, values, static_cast<std::size_t>(count), results.data(),
                         errors.data());
      for (std::size_t n = 0; n < static_cast<std::size_t>(count); ++n) {
        if (errors[n] == infinity) result.is_unknown = true;
        if (whole && e.reduction == Reduction::sum) {
          result.value = compute == DType::i32
                             ? wrapped_sum<std::int32_t, std::uint32_t>(result.value, results[n])
                             : wrapped_sum<std::int64_t, std::uint64_t>(result.value, results[n]);
        } else {
          add(result, e.reduction, done == 0 && n == 0, results[n], errors[n]);
        }
      }
    }
    if (whole) {
      BoundedValue last = {result.value, 0};
      if (e.finish.is_there()) {
        std::vector<std::vector<double>> inputs = {{result.value}};
        for (const double each : read_by_finish) inputs.push_back({each});
        language::evaluate(e.finish.function, compute, inputs, 1, &last.value, &last.error);
      }
      last = stored(last, compute, out);
      value[to] = last.value;
      permitted_error[to] = last.error;
      continue;
    }
    // Adding n terms, one by one or in any tree, rounds n - 1 partial sums; each of them is at most the sum
    // of magnitudes.
    double additions = e.reduction == Reduction::sum ? static_cast<double>(terms) - 1 : 0;
    if (distributes) {  // and what a term is made of may be rounded anew in each step
      additions += 1 + 2 * static_cast<double>(e.function.nodes.size());
      result.size = magnitudes;
      result.is_unknown = true;  // 0 * (infinity - infinity) and such
    }
    // Tensor cores cut: of each eight exact products and the sum before them all but the largest by one unit
    // at most, and the result by two.
    if (in_tensor_cores || rounds_factors) additions += 1 + static_cast<double>(terms) / 4;
    double error = result.error + additions * unit * (result.size + result.error);
    if (rounds_factors) error += error_of_rounded_factors * (result.size + result.error);
    error += (static_cast<double>(terms) * static_cast<double>(product.size())) * least_of(compute) *
             (product.size() > 1 ? 1 : 0);
    // An infinity or a NaN of the inputs must come out as such; a result that may overflow on the way may be
    // anything.
    const bool is_known =
        std::isfinite(result.value) ? result.size + error < largest_of(compute) : !result.is_unknown;
    BoundedValue last = {result.value, !is_known ? infinity : std::isfinite(result.value) ? error : 0};
    if (e.finish.is_there()) {
      std::vector<BoundedValue> inputs = {last};
      for (const double each : read_by_finish) inputs.push_back({each, 0});
      last = finished(e.finish.function, compute, inputs);
    }
    last = stored(last, compute, out);
    value[to] = last.value;
    permitted_error[to] = last.error;
  }
}

}  // namespace tunesmith::tensor_op

// SPDX-License-Identifier: Apache-2.0
// scan: sums, products, maxima, minima or logical ors and ands of all elements up to each one, along an axis
// of an array. An array is seen as outer x length x inner, with strides for the first two; the scan is along
// `length`.

#include "templates/scan/op.h"

#include <algorithm>

#include "generator/number_text.h"
#include "generator/sample.h"
#include "templates/strided.h"

namespace tunesmith {
namespace scan_op {

const std::vector<std::string>& function_categories() {
  static const std::vector<std::string> categories = {"sum", "product", "max", "min", "any", "all"};
  return categories;
}

Function function_of(const Problem& problem) {
  if (problem.string("expression") != "none") return Function::expression;
  const std::vector<std::string>& categories = function_categories();
  return static_cast<Function>(std::find(categories.begin(), categories.end(), problem.string("function")) -
                               categories.begin());
}

bool is_exclusive(const Problem& problem) { return problem.string("kind") == "exclusive"; }

bool is_reverse(const Problem& problem) { return problem.string("direction") == "reverse"; }

bool is_wide(const Problem& problem) { return problem.string("sum_dtype") == "f64"; }

Dims::Dims(const Problem& problem)
    : outer(problem.integer("outer")),
      length(problem.integer("length")),
      inner(problem.integer("inner")),
      stride(problem.integer("stride") == 0 ? inner : problem.integer("stride")),
      outer_stride(problem.integer("outer_stride") == 0 ? length * stride : problem.integer("outer_stride")) {
}

std::int64_t Dims::span() const {
  return empty() ? 0 : (outer - 1) * outer_stride + (length - 1) * stride + inner;
}

DType output_dtype(const Problem& problem) {
  const DType dtype = dtype_of(problem);
  const Function function = function_of(problem);
  if (is_wide(problem)) return DType::f64;
  if (function == Function::any || function == Function::all) return DType::boolean;
  if (function != Function::sum && function != Function::product) return dtype;
  if (!is_whole(dtype)) return dtype;
  return is_unsigned(dtype) ? DType::u64 : DType::i64;
}

std::int64_t item_bytes(const Problem& problem) {
  return std::max<std::int64_t>(4, bytes(output_dtype(problem)));
}

}  // namespace scan_op

namespace {

using namespace scan_op;

// Of the arrays together, and of each dim: far beyond any memory, and far from an overflow of 64 bits.
constexpr std::int64_t most_elements = std::int64_t{1} << 40;

std::string check(const Problem& problem) {
  const auto real = [&](const char* name) { return static_cast<double>(problem.integer(name)); };
  const double stride = problem.integer("stride") == 0 ? real("inner") : real("stride");
  const double outer_stride =
      problem.integer("outer_stride") == 0 ? real("length") * stride : real("outer_stride");
  const double last = std::max(real("outer") - 1, 0.0) * outer_stride +
                      std::max(real("length") - 1, 0.0) * stride + real("inner");
  const double outputs = real("outer") * real("length") * real("inner");
  if (std::max({last, outputs, real("outer") * real("inner")}) > static_cast<double>(most_elements)) {
    return "The arrays of outer=" + std::to_string(problem.integer("outer")) +
           " length=" + std::to_string(problem.integer("length")) +
           " inner=" + std::to_string(problem.integer("inner")) +
           " stride=" + std::to_string(problem.integer("stride")) +
           " outer_stride=" + std::to_string(problem.integer("outer_stride")) +
           " reach beyond the 2^40 elements that are allowed.";
  }
  if (std::string why = refuses_expression(problem); !why.empty()) return why;
  const Function function = function_of(problem);
  if (is_wide(problem) &&
      ((function != Function::sum && function != Function::product) || dtype_of(problem) != DType::f32)) {
    return "sum_dtype=f64 with function=" + problem.string("function") +
           " and dtype=" + problem.string("dtype") +
           " is not there: it is for sum and product of f32; leave it at same.";
  }
  return "";
}

std::vector<Parameter> parameters() {
  const auto dim = [](const char* name, const char* what, std::optional<Value> initial,
                      std::optional<UsualSizes> usual = std::nullopt) {
    return Parameter{.name = name,
                     .what = what,
                     .minimum = 0,
                     .maximum = most_elements,
                     .initial = std::move(initial),
                     .usual = usual};
  };
  return {
      dim("outer", "positions before the scanned axis", Value(1), UsualSizes{2, 1'000'000}),
      dim("length", "elements of the scanned axis", std::nullopt, UsualSizes{8, std::int64_t{1} << 27}),
      dim("inner", "positions after the scanned axis, contiguous", Value(1), UsualSizes{2, 100'000}),
      dim("outer_stride", "elements from one outer position to the next; 0: length * stride", Value(0)),
      dim("stride", "elements from one position of the axis to the next; 0: inner", Value(0)),
      {.name = "function", .what = "what is computed", .categories = function_categories(), .initial = "sum"},
      {.name = "kind",
       .what = "whether an element counts in its own result",
       .categories = {"inclusive", "exclusive"},
       .initial = "inclusive"},
      {.name = "dtype",
       .what = "element type of x",
       .categories = {"f32", "f64", "i32", "i64", "u8", "f16", "bf16"},
       .initial = "f32"},
      {.name = "sum_dtype",
       .what = "type in which sums and products are computed and written; same: the function's own",
       .categories = {"same", "f64"},
       .initial = "same"},
      {.name = "direction",
       .what = "reverse: from the last element on",
       .categories = {"forward", "reverse"},
       .initial = "forward"},
      {.name = "expression",
       .what = "in place of the function: an associative one of a, what is before, and b, in C's operators "
               "and functions, such as \"max(a, b)\"",
       .categories = {"none"},
       .initial = "none",
       .refuses_text = [](const std::string& text) { return elementwise_op::parse(text).error; },
       .is_computation = true},
      {.name = "identity",
       .what = "the first result of an exclusive scan of an expression, which changes nothing",
       .categories = {"none"},
       .initial = "none",
       .refuses_text = [](const std::string& text) -> std::string {
         double number = 0;
         if (reads_as_double(text, number)) return "";
         return "'" + text + "' is not a decimal number, such as -1, 0.25, 1e-3 or inf.";
       }}};
}

std::vector<std::int64_t> input_extents(const Problem& problem) { return {Dims(problem).span()}; }

double elements_of(const Problem& problem) {
  const Dims d(problem);
  return static_cast<double>(d.lines()) * static_cast<double>(d.length);
}

// Of the elements that are scanned: strides skip some, and windows overlap.
double moved(const Problem& problem) {
  return elements_of(problem) * static_cast<double>(bytes(dtype_of(problem)) + bytes(output_dtype(problem)));
}

// Three numbers whose sums grow, so that one that is left out is seen; a product of many elements stays a
// number only near 1, and one of odd integers is never 0.
std::pair<double, double> usual_bounds(const Problem& problem) {
  const DType dtype = dtype_of(problem);
  const Function function = function_of(problem);
  if (function == Function::sum) return {0, 1};
  if (function == Function::expression) return is_whole(dtype) ? std::pair(1.0, 5.0) : std::pair(0.96, 1.04);
  if (function != Function::product) return {-1, 1};
  if (!is_whole(dtype)) return {0.96, 1.04};
  return is_unsigned(dtype) ? std::pair(1.0, 5.0) : std::pair(-1.0, 3.0);
}

// Sums of another type, rows with gaps, and windows of a larger array, are rare.
void usual_arrays(Random& random, Problem& problem) {
  if (!draw_chance(random, 40)) problem.set("sum_dtype", std::string("same"));
  if (!draw_chance(random, 15)) problem.set("direction", std::string("forward"));
  if (draw_chance(random, 6)) {
    const std::vector<std::pair<std::string, std::string>> expressions = {
        {"max(a, b)", "-inf"}, {"a * b", "1"}, {"b == b ? b : a", "0"}, {"a + b - a * b", "0"}};
    const auto& [expression, identity] = draw(random, expressions);
    problem.set("function", std::string("sum"));
    problem.set("expression", expression);
    if (is_exclusive(problem)) problem.set("identity", identity);
    if (problem.string("dtype") == "u8") problem.set("dtype", std::string("i32"));
    problem.set("sum_dtype", std::string("same"));
    if (is_exclusive(problem)) problem.set("identity", std::string("1"));
  }
  if (!draw_chance(random, 8)) return;
  const Dims d(problem);
  problem.set("stride", draw_chance(random, 50) ? round_up(d.inner, 32) : d.inner + 1);
  if (draw_chance(random, 50)) problem.set("outer_stride", Dims(problem).outer_stride + 16);
}

// Beside the extents how far apart what is scanned lies: 1 where it is dense.
Values sizes(const Problem& problem) {
  const std::int64_t inner = problem.integer("inner");
  const std::int64_t stride = problem.integer("stride");
  return {
      {"outer", problem.integer("outer")},
      {"length", problem.integer("length")},
      {"inner", inner},
      {"spacing", stride == 0 ? 1 : std::max<std::int64_t>(1, stride / std::max<std::int64_t>(1, inner))}};
}

}  // namespace

Op ops_scan() {
  return {
      .name = "scan",
      .what =
          "y[o, l, i] = the sum, product, maximum, minimum, or logical or and and, over k <= l of x[o * "
          "outer_stride + k * stride + i], for o < outer, l < length, i < inner; of an exclusive scan over k "
          "< l, of a reverse one over k >= l (k > l).",
      .parameters = parameters(),
      .rewritten = with_least_strides,
      .check = check,
      .arguments = {{.name = "x",
                     .role = Role::input,
                     .extents = input_extents,
                     .usual =
                         Contents{.spread = Contents::few, .bounds = usual_bounds, .what = "few numbers"},
                     .contents = {{Contents::uniform, -100, 100},
                                  {Contents::uniform, 0.5, 1.5},
                                  {Contents::ascending, -1000, 1000},
                                  {Contents::ascending, 1000, -1000},
                                  {Contents::uniform, -1, 1}}},
                    {.name = "y",
                     .role = Role::output,
                     .extents = {"outer", "length", "inner"},
                     .dtype = output_dtype}},
      .templates = {base(), lookback(), rows(), columns(), narrow()},
      .preamble = preamble,
      .reference = reference,
      .reference_unit =
          [](const Problem& problem) {
            const Dims d(problem);
            return std::max<std::int64_t>(1, d.length * d.inner);
          },
      .flops = elements_of,
      .bytes_moved = moved,
      // One element, rows of an odd size, rows with a gap, windows that overlap, columns that vectors need,
      // columns with a gap, many tiles, nothing.
      .companions = {"outer=1 length=1 inner=1 outer_stride=0 stride=0",
                     "outer=67 length=129 inner=1 outer_stride=0 stride=0",
                     "outer=3 length=1028 inner=1 outer_stride=1032 stride=0",
                     "outer=40 length=64 inner=1 outer_stride=4 stride=1",
                     "outer=2 length=37 inner=36 outer_stride=0 stride=0",
                     "outer=1 length=130 inner=5 outer_stride=0 stride=11",
                     "outer=3 length=70 inner=1 outer_stride=144 stride=2",
                     "outer=1 length=20001 inner=1 outer_stride=0 stride=0",
                     "outer=1 length=17001 inner=3 outer_stride=0 stride=0",
                     "outer=0 length=7 inner=3 outer_stride=0 stride=0"},
      .sizes = sizes,
      .examples = {"length=30011",
                   "length=20001 function=max dtype=i32",
                   "outer=37 length=1000 function=product dtype=f64",
                   "outer=130 length=129 outer_stride=140 dtype=i32",
                   "length=5000 kind=exclusive dtype=f64",
                   "outer=5 length=333 inner=64 function=min dtype=bf16",
                   "outer=3 length=1090 inner=260",
                   "length=6011 inner=7 kind=exclusive",
                   "outer=2 length=140 inner=52 function=any dtype=i64",
                   "outer=900 length=100 function=all dtype=u8",
                   "length=5001 inner=3 stride=4 dtype=f16",
                   "outer=3 length=1500 inner=9 sum_dtype=f64",
                   "length=20001 sum_dtype=f64",
                   "outer=70 length=130 function=product sum_dtype=f64",
                   "length=5001 direction=reverse dtype=f64",
                   "outer=2 length=1003 kind=exclusive direction=reverse dtype=u8",
                   "outer=3 length=530 inner=36 direction=reverse function=max",
                   "outer=2 length=1999 inner=5 direction=reverse dtype=i32",
                   "length=3003 expression=\"b == b ? b : a\" dtype=f16",
                   "outer=5 length=144 expression=\"a * b\" dtype=i32 direction=reverse",
                   "outer=2 length=300 inner=20 expression=\"max(a, b) + log1p(exp(-abs(a - b)))\"",
                   "length=700 inner=3 expression=\"a + b\" dtype=f64 kind=exclusive identity=0",
                   "length=0"},
      // 8.6 GB of i32, and 8.6 GB of columns.
      .large_examples = {"outer=33 length=65075333 function=max dtype=i32",
                         "outer=65 length=1009 inner=32770 dtype=f32"},
      .sample = usual_arrays,
  };
}

}  // namespace tunesmith

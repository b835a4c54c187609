// SPDX-License-Identifier: Apache-2.0
// The op `scan`: sums, products, maxima, minima or logical ors and ands of all elements up to each one, along
// an axis of an array. An array is seen as outer x length x inner, with strides for the first two; the scan
// is along `length`.

#include "templates/scan/op.h"

#include <algorithm>

#include "generator/number_text.h"
#include "generator/sample.h"
#include "generator/word.h"

namespace tunesmith {
namespace scan_op {

Function function_of(const Problem& problem) {
  return problem.string("expression") != "none" ? own_expression : choice<Function>(problem, "function");
}

bool is_exclusive(const Problem& problem) { return choice<ScanKind>(problem, "kind") == ScanKind::exclusive; }

bool is_reverse(const Problem& problem) { return problem.string("direction") == "reverse"; }

bool is_narrow_integer(DType dtype) { return is_whole(dtype) && bytes(dtype) < 4; }
bool is_wide(const Problem& problem) { return problem.string("sum_dtype") == "f64"; }

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

Problem rewritten(const Problem& given) {
  Problem stored = with_least_strides(given);
  if (const Value* identity = given.find("identity"))
    stored.set("identity", identity_as_stored(word_of(*identity)));
  return stored;
}

std::string check(const Problem& problem) {
  if (std::string why = refuses_reach(problem, true); !why.empty()) return why;
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
  return axis_parameters(
      "scanned", {.outer = {2, 1'000'000}, .length = {8, std::int64_t{1} << 27}, .inner = {2, 100'000}},
      {{.name = "function", .what = "what is computed", .categories = choices<Function>(), .initial = "sum"},
       {.name = "kind",
        .what = "whether an element counts in its own result",
        .categories = choices<ScanKind>(),
        .initial = "inclusive"},
       {.name = "dtype",
        .what = "element type of x",
        .categories = {"f32", "f64", "i32", "i64", "u8", "f16", "bf16", "i8", "i16", "u16"},
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
        .refuses_text = [](const std::string& text) { return language::parse(text).error; },
        .is_computation = true},
       {.name = "identity",
        .what = "the first result of an exclusive scan of an expression, which changes nothing",
        .categories = {"none"},
        .initial = "none",
        .refuses_text = [](const std::string& text) -> std::string {
          if (parsed_number<double>(text)) return "";
          return "'" + text + "' is not a decimal number, such as -1, 0.25, 1e-3 or inf.";
        }}});
}

std::vector<std::int64_t> input_extents(const Problem& problem) { return {Dims(problem).span()}; }

// The bytes of the elements that are scanned: strides skip some elements, and windows overlap.
double moved(const Problem& problem) {
  return axis_elements(problem) *
         static_cast<double>(bytes(dtype_of(problem)) + bytes(output_dtype(problem)));
}

// The bounds of three numbers whose sums grow, so that a left-out one is seen. A product of many elements
// stays a number only near 1, and a product of odd integers is never 0.
std::pair<double, double> usual_bounds(const Problem& problem) {
  const DType dtype = dtype_of(problem);
  const Function function = function_of(problem);
  if (function == Function::sum) return {0, 1};
  if (function == own_expression) return is_whole(dtype) ? std::pair(1.0, 5.0) : std::pair(0.96, 1.04);
  if (function != Function::product) return {-1, 1};
  if (!is_whole(dtype)) return {0.96, 1.04};
  return is_unsigned(dtype) ? std::pair(1.0, 5.0) : std::pair(-1.0, 3.0);
}

// Sums of another type are rare.
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
    if (is_narrow_integer(dtype_of(problem))) problem.set("dtype", std::string("i32"));
    problem.set("sum_dtype", std::string("same"));
    if (is_exclusive(problem)) problem.set("identity", std::string("1"));
  }
  draw_strides(random, problem);
}

// Besides the extents the operations of a step, of which the caller's own function may have many.
Values sizes(const Problem& problem) {
  Values all = axis_sizes(problem);
  all.set("operations", function_of(problem) == own_expression ? std::ssize(expression_of(problem).nodes)
                                                               : std::int64_t{1});
  return all;
}

// Sums, products, maxima and minima of one type are of one kind, because a step of each is one instruction
// and moves the same bytes.
std::string kind(const Problem& problem) {
  return std::string(name(dtype_of(problem))) + " to " + std::string(name(output_dtype(problem))) +
         (function_of(problem) == own_expression ? ", own function" : "");
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
      .rewritten = rewritten,
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
      .flops = axis_elements,
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
      .kind = kind,
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
                   "outer=3 length=1003 kind=exclusive function=max dtype=i8",
                   "length=3000 inner=6 dtype=u16",
                   "outer=40 length=150 function=min dtype=u16",
                   "length=20003 function=product dtype=i16",
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

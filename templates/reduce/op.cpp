// SPDX-License-Identifier: Apache-2.0
// The op `reduce`: sum, minimum, maximum, mean, the place of an extreme, moments, products, norms, logical
// functions and pairs of them over all elements of an array, or over one of its axes. An array is seen as
// outer x length x inner, with strides for the first two; the reduction is over `length`.

#include "templates/reduce/op.h"

#include <algorithm>

#include "generator/sample.h"
#include "templates/array_limits.h"

namespace tunesmith {
namespace reduce_op {

Function function_of(const Problem& problem) { return choice<Function>(problem, "function"); }

bool is_extreme(Function function) { return function == Function::min || function == Function::max; }
bool has_moments(Function function) {
  return function == Function::var || function == Function::std || function == Function::mean_var;
}
bool is_atomic(const Problem& problem) {
  return choice<ReduceOrder>(problem, "order") == ReduceOrder::atomic;
}
DType number_dtype(const Problem& problem) {
  const DType dtype = dtype_of(problem);
  if (bytes(dtype) >= 4) return dtype;
  return is_whole(dtype) ? DType::i32 : DType::f32;
}

bool is_wide(const Problem& problem) { return problem.string("sum_dtype") == "f64"; }

// The preamble of the tuned templates: parameters that only moments need are left out of other kernels
// (chosen.inl).
std::string tuned_preamble(const Problem& problem) {
  return std::string("#define ONLY_FOR_MOMENTS(...)") +
         (has_moments(function_of(problem)) ? " __VA_ARGS__\n" : "\n") +
         "constexpr bool wide = " + (is_wide(problem) ? "true" : "false") + ";\n";
}

void add_ratios(std::vector<KernelArgument>& arguments, const Problem& problem) {
  const std::int64_t length = problem.integer("length"), ddof = problem.integer("ddof");
  arguments.emplace_back(1 / static_cast<double>(length));
  arguments.emplace_back(1 / static_cast<double>(std::max<std::int64_t>(length - ddof, 0)));
}

std::int64_t results(Function function) {
  return function == Function::min_max || function == Function::mean_var ? 2 : 1;
}

DType output_dtype(const Problem& problem) {
  const DType dtype = dtype_of(problem);
  if (is_wide(problem)) return DType::f64;
  switch (function_of(problem)) {
    case Function::argmin:
    case Function::argmax:
    case Function::count_nonzero:
      return DType::i64;
    case Function::any:
    case Function::all:
      return DType::boolean;
    case Function::sum:
    case Function::prod:
      return is_whole(dtype) ? DType::i64 : dtype;
    case Function::min:
    case Function::max:
    case Function::ptp:
    case Function::min_max:
      return dtype;
    default:
      return is_whole(dtype) ? DType::f64 : dtype;
  }
}

bool has_short_places(const Problem& problem) {
  constexpr std::int64_t most = (std::int64_t{1} << 32) - 2;
  const Function function = function_of(problem);
  return (function == Function::argmin || function == Function::argmax) &&
         bytes(number_dtype(problem)) == 4 && problem.integer("length") <= most;
}

Values tuned_constants(const Problem& problem) {
  return {{"SHORT_PLACES", std::int64_t{has_short_places(problem)}}};
}

std::int64_t partial_bytes(const Problem& problem, bool of_base) {
  const DType dtype = number_dtype(problem);
  const std::int64_t of_sum = dtype == DType::f64 || dtype == DType::i64 || is_wide(problem) ? 16 : 8;
  switch (function_of(problem)) {
    case Function::min:
    case Function::max:
      return bytes(dtype);
    case Function::sum:
      return dtype == DType::i64 && !is_wide(problem) ? 8 : of_sum;
    case Function::argmin:
    case Function::argmax:
      return has_short_places(problem) && !of_base ? 8 : 16;
    case Function::var:
    case Function::std:
    case Function::mean_var:
      return dtype == DType::f32 && !is_wide(problem) ? 16 : 32;
    case Function::prod:
      return is_whole(dtype) && !is_wide(problem) ? 8 : 16;
    case Function::any:
    case Function::all:
      return 4;
    case Function::count_nonzero:
      return 8;
    case Function::ptp:
    case Function::min_max:
      return 2 * bytes(dtype);
    case Function::norm1:
    case Function::norm2:
      return dtype == DType::f32 ? 8 : 16;
    case Function::norminf:
      return is_whole(dtype) ? 8 : bytes(dtype);
    default:
      return of_sum;
  }
}

}  // namespace reduce_op

namespace {

using namespace reduce_op;

constexpr std::int64_t most_ddof = most_elements;  // no length is beyond it
// A sum of this many i32 stays within 64 bits; a mean must not wrap.
constexpr std::int64_t most_i32_of_a_mean = std::int64_t{1} << 32;

std::string check(const Problem& problem) {
  const Function function = function_of(problem);
  const std::int64_t length = problem.integer("length");
  const bool needs_one = is_extreme(function) || function == Function::argmin ||
                         function == Function::argmax || function == Function::ptp ||
                         function == Function::norminf || function == Function::min_max;
  if (needs_one && length == 0) {
    return "A length of 0 has no " + problem.string("function") + "; function=" + problem.string("function") +
           " needs a length of at least 1.";
  }
  if (problem.integer("ddof") != 0 && !has_moments(function)) {
    return "ddof=" + std::to_string(problem.integer("ddof")) +
           " is for function=var, std and mean_var, not for function=" + problem.string("function") +
           "; leave it at 0.";
  }
  if (const DType dtype = number_dtype(problem); is_wide(problem)) {
    const bool sums = function == Function::sum || function == Function::prod;
    const bool serves = dtype == DType::f32 ? sums || function == Function::mean || has_moments(function)
                                            : is_whole(dtype) && sums;
    if (!serves) {
      return "sum_dtype=f64 with function=" + problem.string("function") +
             " and dtype=" + problem.string("dtype") +
             " is not there: it is for sum and prod of all types but f64, and for mean, var, std and "
             "mean_var of f32, f16 and bf16; leave it at same.";
    }
  }
  if (is_atomic(problem) && function != Function::sum) {
    return "order=atomic is for function=sum, not for function=" + problem.string("function") +
           "; leave it at order=deterministic.";
  }
  if (is_atomic(problem) && bytes(dtype_of(problem)) == 2 && !is_whole(dtype_of(problem))) {
    return "order=atomic is not for dtype=" + problem.string("dtype") +
           ", whose every addition would be rounded to 16 bits; leave it at order=deterministic.";
  }
  if (is_atomic(problem) && is_wide(problem)) {
    return "order=atomic is for sums of the array's own type, not with sum_dtype=f64; leave it at "
           "order=deterministic.";
  }
  if (function == Function::mean && number_dtype(problem) == DType::i32 && length > most_i32_of_a_mean) {
    return "A length of " + std::to_string(length) + " is beyond the " + std::to_string(most_i32_of_a_mean) +
           " whose sum stays within 64 bits; a mean of " + problem.string("dtype") + " takes no more.";
  }
  return refuses_reach(problem, false);
}

// Says why the text is no type of sums. The parameter is no category, which kernels would be told: those that
// were there before have kept their texts.
std::string refuses_sum_dtype(const std::string& text) {
  return "It is " + text + "; allowed are same and f64.";
}

std::vector<Parameter> parameters() {
  return axis_parameters(
      "reduced", {.outer = {2, 10'000'000}, .length = {8, std::int64_t{1} << 28}, .inner = {2, 1'000'000}},
      {{.name = "function", .what = "what is computed", .categories = choices<Function>(), .initial = "sum"},
       {.name = "order",
        .what = "order of a sum: the same in every run, or as blocks end",
        .categories = choices<ReduceOrder>(),
        .initial = "deterministic"},
       {.name = "dtype",
        .what = "element type of x",
        .categories = {"f32", "f64", "i32", "i64", "f16", "bf16", "i8", "u8", "i16", "u16"},
        .initial = "f32"},
       {.name = "ddof",
        .what =
            "of var, std and mean_var: what is subtracted from the number of elements, by which is divided",
        .minimum = -most_ddof,
        .maximum = most_ddof,
        .initial = Value(0)},
       {.name = "sum_dtype",
        .what = "type in which sums and products are computed and written; same: the function's own",
        .categories = {"same", "f64"},
        .initial = "same",
        .refuses_text = refuses_sum_dtype}});
}

std::vector<std::int64_t> input_extents(const Problem& problem) { return {Dims(problem).span()}; }
std::vector<std::int64_t> output_extents(const Problem& problem) {
  const Dims d(problem);
  const std::int64_t each = results(function_of(problem));
  return each == 1 ? std::vector{d.outer, d.inner} : std::vector{d.outer, d.inner, each};
}

// The bytes of the elements that are reduced and of the results: strides skip some elements, and windows
// overlap.
double moved(const Problem& problem) {
  const Dims d(problem);
  return static_cast<double>(d.lines()) *
         (static_cast<double>(d.length) * static_cast<double>(bytes(dtype_of(problem))) +
          static_cast<double>(results(function_of(problem)) * bytes(output_dtype(problem))));
}

void usual_arrays(Random& random, Problem& problem) {
  // There are more narrow types than others, which are more usual.
  static const std::vector<std::string> usual = {"f32", "f64", "i32", "i64"};
  if (bytes(dtype_of(problem)) < 4 && draw_chance(random, 75)) problem.set("dtype", draw(random, usual));
  if (!draw_chance(random, 12)) problem.set("sum_dtype", std::string("same"));
  draw_strides(random, problem);
}

// Problems with one element, rows of an odd size, rows with a gap, windows that overlap, columns that vectors
// need, columns with a gap, few columns without one, no outputs. Those whose places have another width than
// the problem's are left out, as they would have other kernels.
std::vector<Problem> companions(const Problem& problem) {
  static const Companions small = {"outer=1 length=1 inner=1 outer_stride=0 stride=0",
                                   "outer=67 length=129 inner=1 outer_stride=0 stride=0",
                                   "outer=3 length=1028 inner=1 outer_stride=1032 stride=0",
                                   "outer=40 length=64 inner=1 outer_stride=4 stride=1",
                                   "outer=2 length=37 inner=36 outer_stride=0 stride=0",
                                   "outer=1 length=130 inner=5 outer_stride=0 stride=11",
                                   "outer=1 length=259 inner=7 outer_stride=0 stride=0",
                                   "outer=0 length=7 inner=3 outer_stride=0 stride=0"};
  std::vector<Problem> found = small(problem);
  std::erase_if(found,
                [&](const Problem& other) { return has_short_places(other) != has_short_places(problem); });
  return found;
}

}  // namespace

Op ops_reduce() {
  return {
      .name = "reduce",
      .what =
          "y[o, i] = the sum, minimum, maximum or mean over l of x[o * outer_stride + l * stride + i], for "
          "o < outer, l < length, i < inner.",
      .parameters = parameters(),
      .rewritten = with_least_strides,
      .check = check,
      .arguments = {{.name = "x",
                     .role = Role::input,
                     .extents = input_extents,
                     .contents = {{Contents::uniform, -100, 100},
                                  {Contents::few, -1, 1},
                                  {Contents::ascending, -1000, 1000},
                                  {Contents::ascending, 1000, -1000},
                                  {Contents::uniform, -100, -50},
                                  {Contents::uniform, 50, 100}}},
                    {.name = "y", .role = Role::output, .extents = output_extents, .dtype = output_dtype}},
      .templates = {base(), all(), staged(), rows(), flat(), columns()},
      .reference = reference,
      .flops = axis_elements,
      .bytes_moved = moved,
      .companions = companions,
      .sizes = axis_sizes,
      .examples = {"length=100003",
                   "length=70001 function=max",
                   "outer=37 length=1000 function=mean dtype=f64",
                   "outer=130 length=129 outer_stride=140 dtype=i32",
                   "length=20000 order=atomic dtype=f64",
                   "outer=5 length=333 inner=64 function=mean",
                   "outer=2 length=40 inner=52 function=min dtype=i64",
                   "outer=3 length=90 inner=260",
                   "length=0",
                   "outer=3 length=9001 function=argmax",
                   "length=700 inner=33 function=argmin dtype=i64",
                   "length=3001 inner=7 function=max",
                   "outer=1003 length=13 function=argmax",
                   "outer=5 length=4003 function=std ddof=1 dtype=f64",
                   "length=20003 function=mean_var",
                   "outer=2 length=90 inner=60 function=var",
                   "outer=40 length=129 function=var dtype=i32",
                   "outer=3 length=1025 function=any dtype=i32",
                   "outer=2 length=300 inner=20 function=norm1",
                   "length=5000 function=norminf dtype=i64",
                   "outer=9 length=300 function=count_nonzero",
                   "outer=4 length=999 function=mean_var sum_dtype=f64",
                   "length=9000 inner=3 function=sum sum_dtype=f64",
                   "outer=70 length=50 function=prod",
                   "outer=40 length=1001 dtype=f16",
                   "length=100003 function=mean dtype=bf16",
                   "length=3000 inner=24 function=max dtype=bf16",
                   "length=50001 dtype=u8",
                   "outer=9 length=700 function=argmin dtype=i8",
                   "length=4000 inner=12 function=ptp dtype=i16",
                   "outer=300 length=20 function=mean dtype=u16",
                   "outer=7 length=900 function=mean_var dtype=f16"},
      // 8.6 GB of i32, and 8.6 GB of columns.
      .large_examples = {"length=2147495993 function=max dtype=i32", "length=65539 inner=32770 dtype=f32"},
      .sample = usual_arrays,
  };
}

}  // namespace tunesmith

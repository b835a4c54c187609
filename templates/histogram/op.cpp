// SPDX-License-Identifier: Apache-2.0
// histogram: counts the elements in each of `bins` bins of equal width over [lo, hi], as numpy.histogram
// does, or the elements that are 0, 1, ... bins - 1, as numpy.bincount does.

#include "templates/histogram/op.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "generator/sample.h"
#include "templates/along_axis/strided_axis.h"
#include "templates/array_limits.h"

namespace tunesmith {
namespace {

using namespace histogram_op;

constexpr std::int64_t most_bins = 65536;

std::string refuses_limit(const std::string& text) {
  if (std::isfinite(number(text))) return "";
  return "'" + text + "' is not a finite decimal number, such as -1, 0.25 or 1e-3.";
}

std::string check(const Problem& problem) {
  if (problem.string("function") == "histogram") return refuses_range(Range(problem), "histogram", "");
  const DType dtype = dtype_of(problem);
  if (is_whole(dtype) && bytes(dtype) <= 4) return "";
  return "bincount counts integers of up to 32 bits, but dtype is " + problem.string("dtype") +
         "; allowed are u8, u16, i16 and i32.";
}

MakeNumbers limits_at_launch(const Problem& problem) {
  if (problem.string("function") != "histogram") return nullptr;
  return [dtype = dtype_of(problem), bins = problem.integer("bins")](std::span<const double> given,
                                                                     LaunchNumbers& made) {
    const Range range(dtype, bins, given[0], given[1]);
    std::string why = refuses_range(range, "histogram", "");
    if (why.empty()) made = numbers_of(range);
    return why;
  };
}

std::vector<std::int64_t> values_extents(const Problem& problem) {
  const Dims d(problem);
  return {d.length == 0 ? 0 : (d.length - 1) * d.stride + 1};
}

std::vector<Problem> companions(const Problem& problem) {
  // Each has length, bins, lo, hi. There are no elements, one element, one bin, edges that are no floats,
  // negative limits, and a range without any element.
  struct Small {
    std::int64_t length, bins;
    const char* lo;
    const char* hi;
  };
  static constexpr Small all[] = {{0, 5, "0", "1"},      {1, 1, "-100", "100"},       {1003, 7, "0.1", "0.7"},
                                  {777, 1, "0", "1"},    {2051, 100, "-0.5", "99.5"}, {513, 13, "-1", "-0.3"},
                                  {301, 3, "1e6", "2e6"}};
  std::vector<Problem> found;
  for (const Small& small : all) {
    Problem other = problem;
    other.set("length", small.length);
    other.set("bins", std::min(small.bins, problem.integer("bins")));
    other.set("lo", small.lo);
    other.set("hi", small.hi);
    found.push_back(std::move(other));
  }
  return found;
}

std::vector<Parameter> parameters() {
  return {{.name = "function",
           .what = "what is counted",
           .categories = {"histogram", "bincount"},
           .initial = "histogram"},
          {.name = "length",
           .what = "values",
           .minimum = 0,
           .maximum = most_elements,
           .usual = UsualSizes{100, std::int64_t{1} << 29}},
          {.name = "bins", .what = "bins", .maximum = most_bins, .usual = UsualSizes{2, most_bins}},
          {.name = "stride",
           .what = "elements from one value to the next in memory",
           .maximum = std::int64_t{1} << 20,
           .initial = Value(1)},
          {.name = "lo",
           .what = "lower edge of the first bin, a decimal number; histogram only",
           .initial = "0",
           .refuses_text = refuses_limit,
           .at_launch = true},
          {.name = "hi",
           .what = "upper edge of the last bin, a decimal number; histogram only",
           .initial = "1",
           .refuses_text = refuses_limit,
           .at_launch = true},
          {.name = "dtype",
           .what = "type of the values",
           .categories = {"f32", "i32", "u8", "f64", "i64", "u16", "i16"},
           .initial = "f32"}};
}

// Draws limits around the data, which lie in [-1, 1) for a check, or limits as for an image; mostly few bins.
void usual_limits(Random& random, Problem& problem) {
  using Limits = std::array<const char*, 2>;
  static const std::vector<Limits> of_floats = {{"-1", "1"},     {"-1", "1"},     {"0", "1"},
                                                {"-0.5", "0.5"}, {"-3.5", "3.5"}, {"0", "255"}};
  static const std::vector<Limits> of_integers = {
      {"-100", "101"}, {"-100", "100"}, {"0", "256"}, {"-1000", "1000"}};
  static const std::vector<Limits> of_bytes = {{"0", "256"}, {"0", "256"}, {"0", "255"}, {"32", "200"}};
  static const std::vector<std::int64_t> usual_bins = {10,  16,  32,  50,  64,   100, 128,
                                                       200, 256, 256, 512, 1000, 1024};
  const bool counts = problem.string("function") == "bincount";
  if (bytes(dtype_of(problem)) == 2 && draw_chance(random, 50))
    problem.set("dtype", std::string(counts ? "i32" : "f32"));
  const DType dtype = dtype_of(problem);
  if (draw_chance(random, 50)) problem.set("bins", draw(random, usual_bins));
  if (dtype == DType::u8 && (counts || draw_chance(random, 80)))
    problem.set("bins", std::min<std::int64_t>(problem.integer("bins"), 256));
  if (draw_chance(random, 5)) problem.set("stride", draw_size(random, 2, 8));
  if (counts) return;
  const bool real = dtype == DType::f32 || dtype == DType::f64;
  const auto& [lo, hi] = draw(random, real ? of_floats : dtype == DType::u8 ? of_bytes : of_integers);
  problem.set("lo", lo);
  problem.set("hi", hi);
}

double flops(const Problem& problem) { return static_cast<double>(problem.integer("length")); }

// Bytes of the values that are counted and of the counts. The stride skips other elements.
double moved(const Problem& problem) {
  const Dims d(problem);
  return static_cast<double>(d.length * bytes(dtype_of(problem)) + d.bins * 8);
}

}  // namespace

Op ops_histogram() {
  return {
      .name = "histogram",
      .what =
          "counts[i] = how many values lie in bin i of `bins` equal bins over [lo, hi] (histogram; the last "
          "bin holds hi), or are equal to i (bincount).",
      .parameters = parameters(),
      .rewritten = with_least_stride,
      .check = check,
      .arguments = {{.name = "values",
                     .role = Role::input,
                     .extents = values_extents,
                     .contents = {{Contents::uniform, -100, 100},
                                  {Contents::few, -1, 1},
                                  {Contents::uniform, 0.5, 0.5},
                                  {Contents::ascending, -1, 100}}},
                    {.name = "counts",
                     .role = Role::output,
                     .extents = {"bins"},
                     .dtype = [](const Problem&) { return DType::i64; }}},
      .templates = {base(), shared(), direct(), gathered(), wide(), arrivals()},
      .reference = reference,
      .flops = flops,
      .bytes_moved = moved,
      .companions = companions,
      .launch_numbers = limits_at_launch,
      .examples = {"length=20011 bins=256 lo=-1 hi=1", "length=10000 bins=100 lo=-0.7 hi=0.9 stride=3",
                   "length=50021 bins=40000 lo=-1 hi=1", "length=5003 bins=31 lo=-77.5 hi=80 dtype=i32",
                   "length=30011 bins=101 dtype=i32 function=bincount",
                   "length=70017 bins=256 lo=0 hi=256 dtype=u8",
                   "length=4099 bins=150 dtype=u8 function=bincount", "length=0 bins=3",
                   "length=30011 bins=100 lo=0 hi=65536 dtype=u16",
                   "length=20003 bins=300 lo=-150 hi=150 dtype=i16 stride=2",
                   "length=9001 bins=101 dtype=u16 function=bincount",
                   "length=9001 bins=77 lo=-0.9 hi=0.7 dtype=f64",
                   "length=7001 bins=41 lo=-60 hi=70 dtype=i64"},
      .large_examples = {"length=2147483999 bins=256 lo=0 hi=256 dtype=u8",
                         "length=2147485703 bins=100 dtype=u8 function=bincount"},
      .sample = usual_limits,
  };
}

}  // namespace tunesmith

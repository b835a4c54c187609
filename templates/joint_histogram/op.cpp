// SPDX-License-Identifier: Apache-2.0
// joint_histogram: counts the values, or pairs of values, in each bin of a grid, or sums their weights, as
// numpy.histogram and histogram2d do with their `weights`.

#include "templates/joint_histogram/op.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "generator/sample.h"
#include "templates/along_axis/strided_axis.h"
#include "templates/array_limits.h"

namespace tunesmith {
namespace {

using namespace joint_histogram_op;
using histogram_op::Range;

constexpr std::int64_t most_bins = 65536;
constexpr std::int64_t most_cells = std::int64_t{1} << 28;

std::string refuses_limit(const std::string& text) {
  if (std::isfinite(histogram_op::number(text))) return "";
  return "'" + text + "' is not a finite decimal number, such as -1, 0.25 or 1e-3.";
}

std::string refuses(const Problem& problem, const std::array<Range, 2>& ranges) {
  std::string why = histogram_op::refuses_range(ranges[0], "joint_histogram", "_x");
  if (why.empty() && has_pairs(problem))
    why = histogram_op::refuses_range(ranges[1], "joint_histogram", "_y");
  return why;
}

std::string check(const Problem& problem) {
  const Dims d(problem);
  if (d.cells() > most_cells) {
    return "A grid of bins_x=" + std::to_string(d.bins_x) + " by bins_y=" + std::to_string(d.bins_y) +
           " bins is too large; at most 2^28 (268435456) bins are allowed.";
  }
  if (!has_pairs(problem) && d.bins_y != 1)
    return "values=single has no second value, but bins_y is " + std::to_string(d.bins_y) +
           "; leave it at 1.";
  if (has_own_edges(problem)) return "";
  return refuses(problem, {range_of(problem, 0), range_of(problem, 1)});
}

MakeNumbers limits_at_launch(const Problem& problem) {
  if (has_own_edges(problem)) return nullptr;
  return [problem](std::span<const double> given, LaunchNumbers& made) {
    const std::array ranges = {range_of(problem, 0, given[0], given[1]),
                               range_of(problem, 1, given[2], given[3])};
    std::string why = refuses(problem, ranges);
    if (why.empty()) made = numbers_of(ranges);
    return why;
  };
}

std::vector<Parameter> parameters() {
  const auto limit = [](const char* name, const char* what, const char* initial) {
    return Parameter{
        .name = name, .what = what, .initial = initial, .refuses_text = refuses_limit, .at_launch = true};
  };
  return {{.name = "values",
           .what = "what is counted: pairs (x, y), or x alone",
           .categories = {"pairs", "single"},
           .initial = "pairs"},
          {.name = "weights",
           .what = "type of the weights that are added; none: pairs are counted",
           .categories = {"none", "f32", "f64"},
           .initial = "none"},
          {.name = "edges",
           .what = "bins of equal width, or between edges that are given as arrays",
           .categories = {"uniform", "given"},
           .initial = "uniform"},
          {.name = "length",
           .what = "pairs",
           .minimum = 0,
           .maximum = most_elements,
           .usual = UsualSizes{100, std::int64_t{1} << 28}},
          {.name = "bins_x", .what = "bins of x", .maximum = most_bins, .usual = UsualSizes{2, 1024}},
          {.name = "bins_y",
           .what = "bins of y",
           .maximum = most_bins,
           .initial = Value(1),
           .usual = UsualSizes{2, 1024}},
          {.name = "stride",
           .what = "elements from one x, and from one y, to the next in memory",
           .maximum = std::int64_t{1} << 20,
           .initial = Value(1)},
          limit("lo_x", "lower edge of the first bin of x, a decimal number; edges=uniform only", "0"),
          limit("hi_x", "upper edge of the last bin of x; edges=uniform only", "1"),
          limit("lo_y", "lower edge of the first bin of y; edges=uniform only", "0"),
          limit("hi_y", "upper edge of the last bin of y; edges=uniform only", "1"),
          {.name = "dtype",
           .what = "type of x and y",
           .categories = {"f32", "i32", "u8", "f64", "i64"},
           .initial = "f32"}};
}

std::vector<std::int64_t> values_extents(const Problem& problem) {
  const Dims d(problem);
  return {d.length == 0 ? 0 : (d.length - 1) * d.stride + 1};
}
std::vector<std::int64_t> second_extents(const Problem& problem) {
  return has_pairs(problem) ? values_extents(problem) : std::vector<std::int64_t>{0};
}
std::vector<std::int64_t> weights_extents(const Problem& problem) {
  return {has_weights(problem) ? problem.integer("length") : 0};
}

Values sizes(const Problem& problem) {
  const Dims d(problem);
  return {{"length", d.length},
          {"bins_x", d.bins_x},
          {"bins_y", d.bins_y},
          {"cells", d.cells()},
          {"stride", d.stride}};
}

std::string kind(const Problem& problem) {
  return problem.string("dtype") + ", " + problem.string("values") + ", weights " + problem.string("weights");
}

DType double_type(const Problem& /*problem*/) { return DType::f64; }
DType weights_type(const Problem& problem) {
  return problem.string("weights") == "f32" ? DType::f32 : DType::f64;
}

// The range of the values of a check.
std::pair<double, double> within_values(const Problem& problem) {
  const DType dtype = dtype_of(problem);
  if (dtype == DType::u8) return {20, 200};
  return dtype == DType::f32 || dtype == DType::f64 ? std::pair(-0.9, 0.8) : std::pair(-90.0, 80.0);
}

Argument edges_argument(const char* name, bool second) {
  const Contents ascending = {
      .spread = Contents::ascending, .bounds = within_values, .what = "ascending edges"};
  const Contents equal = {.spread = Contents::uniform, .least = 0.5, .most = 0.5};
  return {.name = name,
          .role = Role::input,
          .extents =
              [second](const Problem& problem) {
                const Dims d(problem);
                const bool is_there = has_own_edges(problem) && (!second || has_pairs(problem));
                return std::vector<std::int64_t>{is_there ? (second ? d.bins_y : d.bins_x) + 1 : 0};
              },
          .dtype = double_type,
          .finite = true,
          .usual = ascending,
          .contents = {ascending, equal}};
}

std::vector<Problem> companions(const Problem& problem) {
  struct Small {
    std::int64_t length, bins_x, bins_y;
    std::array<const char*, 4> limits;
  };
  // No pairs, one pair, one bin, edges that are no floats, a range without any value, many cells.
  static constexpr Small all[] = {{0, 5, 3, {"0", "1", "0", "1"}},
                                  {1, 1, 1, {"-100", "100", "-100", "100"}},
                                  {1003, 7, 4, {"0.1", "0.7", "-0.3", "0.9"}},
                                  {777, 1, 9, {"0", "1", "-1", "1"}},
                                  {2051, 20, 15, {"-0.5", "99.5", "-50", "100"}},
                                  {301, 3, 2, {"1e6", "2e6", "0", "1"}}};
  std::vector<Problem> found;
  for (const Small& small : all) {
    Problem other = problem;
    other.set("length", small.length);
    other.set("bins_x", std::min(small.bins_x, problem.integer("bins_x")));
    other.set("bins_y", std::min(small.bins_y, problem.integer("bins_y")));
    other.set("lo_x", small.limits[0]);
    other.set("hi_x", small.limits[1]);
    other.set("lo_y", small.limits[2]);
    other.set("hi_y", small.limits[3]);
    found.push_back(std::move(other));
  }
  return found;
}

// Draws limits around the data, which lie in [-1, 1) for a check, or limits as for an image; mostly few bins,
// and the same number on both axes.
void usual_grids(Random& random, Problem& problem) {
  static const std::vector<std::int64_t> usual_bins = {10, 16, 20, 32, 50, 64, 100, 128, 200, 256, 512};
  static const std::vector<std::array<const char*, 2>> of_floats = {{"-1", "1"}, {"0", "1"}, {"-0.5", "0.5"}};
  static const std::vector<std::array<const char*, 2>> of_integers = {{"-100", "101"}, {"0", "100"}};
  static const std::vector<std::array<const char*, 2>> of_bytes = {{"0", "256"}, {"0", "255"}};
  if (!draw_chance(random, 30)) problem.set("edges", std::string("uniform"));
  if (draw_chance(random, 60)) problem.set("weights", std::string("none"));
  problem.set("stride", draw_chance(random, 10) ? 2 : 1);
  if (draw_chance(random, 60)) problem.set("bins_x", draw(random, usual_bins));
  if (!has_pairs(problem))
    problem.set("bins_y", 1);
  else if (draw_chance(random, 70))
    problem.set("bins_y", problem.integer("bins_x"));
  // Rates stay constant from some millions of pairs on, and the reference searches for the bin of each.
  constexpr std::int64_t most_usual = std::int64_t{1} << 25;
  if (problem.integer("length") > most_usual) problem.set("length", draw_size(random, 100, most_usual));
  const DType dtype = dtype_of(problem);
  const bool real = dtype == DType::f32 || dtype == DType::f64;
  for (const auto& [lo, hi] : {std::pair("lo_x", "hi_x"), std::pair("lo_y", "hi_y")}) {
    const auto& limits = draw(random, real ? of_floats : dtype == DType::u8 ? of_bytes : of_integers);
    problem.set(lo, limits[0]);
    problem.set(hi, limits[1]);
  }
}

double flops(const Problem& problem) { return static_cast<double>(problem.integer("length")); }

// Bytes of the values that are counted and of the sums. The stride skips other elements.
double moved(const Problem& problem) {
  const Dims d(problem);
  const auto each = bytes(dtype_of(problem)) * (has_pairs(problem) ? 2 : 1) + weight_bytes(problem);
  return static_cast<double>(d.length) * static_cast<double>(each) + static_cast<double>(d.cells()) * 8;
}

// ---- the reference

// The edges of an axis, as in NumPy.
std::vector<double> edges_of(const Problem& problem, int axis,
                             std::span<const std::vector<double>> arguments) {
  if (has_own_edges(problem)) return arguments[axis == 0 ? edges_x : edges_y];
  const Range range = range_of(problem, axis);
  std::vector<double> edges;
  for (std::int64_t i = 0; i <= range.bins; ++i) edges.push_back(range.edge(i));
  return edges;
}

std::int64_t bin_of(double value, const std::vector<double>& edges) {
  if (!(value >= edges.front() && value <= edges.back())) return -1;
  const auto above = std::upper_bound(edges.begin(), edges.end() - 1, value);
  return std::max<std::int64_t>(0, above - edges.begin() - 1);
}

// The permitted error: a sum of n numbers in any order is off by at most (n - 1) 2^-53 of the sum of their
// magnitudes.
void reference(const Problem& problem, std::span<const std::vector<double>> arguments, int /*output*/,
               std::int64_t begin, std::int64_t end, std::span<double> value,
               std::span<double> permitted_error) {
  const Dims d(problem);
  struct Cell {
    long double sum = 0, size = 0;
    std::int64_t count = 0;
  };
  std::vector<Cell> cells(static_cast<std::size_t>(end - begin));
  const bool pairs = has_pairs(problem);
  const std::vector<double> rows = edges_of(problem, 0, arguments);
  const std::vector<double> columns = pairs ? edges_of(problem, 1, arguments) : std::vector<double>();
  for (std::int64_t i = 0; i < d.length; ++i) {
    const auto at = static_cast<std::size_t>(i * d.stride);
    const std::int64_t row = bin_of(arguments[x][at], rows);
    const std::int64_t column = pairs ? bin_of(arguments[y][at], columns) : 0;
    const std::int64_t cell = row * d.bins_y + column;
    if (row < 0 || column < 0 || cell < begin || cell >= end) continue;
    Cell& own = cells[static_cast<std::size_t>(cell - begin)];
    const double weight = has_weights(problem) ? arguments[weights][static_cast<std::size_t>(i)] : 1;
    own.sum += weight;
    own.size += std::abs(weight);
    ++own.count;
  }
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Cell& own = cells[i];
    value[i] = static_cast<double>(own.sum);
    const auto size = static_cast<double>(own.size);
    const bool exact = !has_weights(problem) || !std::isfinite(value[i]);
    permitted_error[i] = exact ? 0 : static_cast<double>(own.count) * 0x1p-53 * size;
    // A partial sum may be infinite even if the whole sum is finite.
    if (has_weights(problem) && std::isfinite(value[i]) && !std::isfinite(size))
      permitted_error[i] = std::numeric_limits<double>::infinity();
  }
}

}  // namespace

Op ops_joint_histogram() {
  return {
      .name = "joint_histogram",
      .what =
          "sums[i, j] = how many pairs (x, y) lie in bin (i, j), or the sum of their weights; of "
          "values=single how many x lie in bin i.",
      .parameters = parameters(),
      .rewritten = with_least_stride,
      .check = check,
      .arguments =
          {{.name = "x",
            .role = Role::input,
            .extents = values_extents,
            .contents = {{Contents::uniform, -100, 100},
                         {Contents::few, -1, 1},
                         {Contents::uniform, 0.5, 0.5}}},
           {.name = "y",
            .role = Role::input,
            .extents = second_extents,
            .contents = {{Contents::uniform, -100, 100},
                         {Contents::ascending, -1, 100},
                         {Contents::uniform, 0.5, 0.5}}},
           {.name = "weights",
            .role = Role::input,
            .extents = weights_extents,
            .dtype = weights_type,
            .contents = {{Contents::uniform, -100, 100}, {Contents::few, -1, 1}}},
           edges_argument("edges_x", false),
           edges_argument("edges_y", true),
           {.name = "sums", .role = Role::output, .extents = {"bins_x", "bins_y"}, .dtype = double_type}},
      .templates = {base(), shared(), direct()},
      .reference = reference,
      .flops = flops,
      .bytes_moved = moved,
      .companions = companions,
      .launch_numbers = limits_at_launch,
      .sizes = sizes,
      .kind = kind,
      .examples = {"length=20011 bins_x=16 bins_y=24 lo_x=-1 hi_x=1 lo_y=-0.7 hi_y=0.9",
                   "length=5003 bins_x=31 bins_y=9 lo_x=-77.5 hi_x=80 lo_y=-100 hi_y=100 dtype=i32",
                   "length=30011 bins_x=256 bins_y=20 lo_x=0 hi_x=256 lo_y=3 hi_y=200 dtype=u8",
                   "length=7001 bins_x=13 bins_y=41 lo_x=-0.9 hi_x=0.7 lo_y=-1 hi_y=1 dtype=f64 stride=2",
                   "length=4001 bins_x=10 bins_y=10 lo_x=-60 hi_x=70 lo_y=-100 hi_y=100 dtype=i64",
                   "length=9001 bins_x=300 bins_y=250 lo_x=-1 hi_x=1 lo_y=-1 hi_y=1",
                   "length=9001 bins_x=12 bins_y=7 edges=given",
                   "length=5001 bins_x=40 edges=given bins_y=3 dtype=u8",
                   "length=9001 bins_x=12 bins_y=7 weights=f32 lo_x=-1 hi_x=1 lo_y=-1 hi_y=1",
                   "length=6001 bins_x=100 bins_y=70 weights=f64 dtype=f64 edges=given",
                   "length=8001 bins_x=50 values=single weights=f32 lo_x=-0.7 hi_x=0.9",
                   "length=8001 bins_x=77 values=single edges=given dtype=i32", "length=0 bins_x=3 bins_y=2"},
      .large_examples = {"length=2147483999 bins_x=256 bins_y=256 lo_x=0 hi_x=256 lo_y=0 hi_y=256 dtype=u8"},
      .sample = usual_grids,
  };
}

}  // namespace tunesmith

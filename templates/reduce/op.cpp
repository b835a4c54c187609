// reduce: sum, minimum, maximum or mean over all elements of an array, or over one of its axes. An array is
// seen as outer x length x inner, with strides for the first two; the reduction is over `length`.

#include "generator/op.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tunesmith {
namespace {

constexpr IntegerAxis AHEAD("AHEAD");
constexpr IntegerAxis BLOCK("BLOCK");
constexpr IntegerAxis BLOCKS("BLOCKS");
constexpr IntegerAxis BLOCK_X("BLOCK_X");
constexpr IntegerAxis BLOCK_Y("BLOCK_Y");
constexpr WordAxis FINISH("FINISH");
constexpr IntegerAxis ITEMS("ITEMS");
constexpr WordAxis LOAD("LOAD");
constexpr IntegerAxis SPLIT("SPLIT");
constexpr WordAxis START("START");
constexpr IntegerAxis TEAM("TEAM");
constexpr WordAxis TREE("TREE");
constexpr IntegerAxis VECTOR("VECTOR");
constexpr WordAxis WALK("WALK");

// As in the kernels (reduction.cuh).
enum class Function : std::int32_t { sum, min, max, mean };
const std::vector<std::string> functions = {"sum", "min", "max", "mean"};

Function function_of(const Problem& problem) {
  const auto at = std::find(functions.begin(), functions.end(), problem.word("function"));
  return static_cast<Function>(at - functions.begin());
}

bool is_extreme(Function function) { return function == Function::min || function == Function::max; }
bool is_atomic(const Problem& problem) { return problem.word("order") == "atomic"; }
bool is_integer(DType dtype) { return dtype == DType::i32 || dtype == DType::i64; }

struct Dims {
  explicit Dims(const Problem& problem)
      : outer(problem.integer("outer")),
        length(problem.integer("length")),
        inner(problem.integer("inner")),
        stride(problem.integer("stride") == 0 ? inner : problem.integer("stride")),
        outer_stride(problem.integer("outer_stride") == 0 ? length * stride
                                                          : problem.integer("outer_stride")) {}

  bool empty() const { return outer == 0 || length == 0 || inner == 0; }
  std::int64_t outputs() const { return outer * inner; }
  /// Elements of x, those that the strides skip included.
  std::int64_t span() const {
    return empty() ? 0 : (outer - 1) * outer_stride + (length - 1) * stride + inner;
  }

  std::int64_t outer, length, inner;
  std::int64_t stride, outer_stride;  // elements
};

DType output_dtype(const Problem& problem) {
  const DType dtype = dtype_of(problem);
  const Function function = function_of(problem);
  if (!is_integer(dtype) || is_extreme(function)) return dtype;
  return function == Function::sum ? DType::i64 : DType::f64;
}

// Bytes of what a block leaves to others: a type with twice the digits, for a sum of floating-point numbers.
std::int64_t partial_bytes(const Problem& problem) {
  const DType dtype = dtype_of(problem);
  const Function function = function_of(problem);
  if (is_extreme(function)) return bytes(dtype);
  if (dtype == DType::f64 || (dtype == DType::i64 && function == Function::mean)) return 16;
  return 8;
}

// Of the arrays together, and of each dim: far beyond any memory, and far from an overflow of 64 bits.
constexpr std::int64_t most_elements = std::int64_t{1} << 40;
// A sum of i32 stays within 64 bits for so many; a mean must not wrap.
constexpr std::int64_t most_i32_of_a_mean = std::int64_t{1} << 32;
// An atomic sum adds at most so many partial sums to an output, each in the output's precision.
constexpr std::int64_t most_atomic_additions = 2048;

std::string check(const Problem& problem) {
  const auto real = [&](const char* name) { return static_cast<double>(problem.integer(name)); };
  const Function function = function_of(problem);
  const std::int64_t length = problem.integer("length");
  if (is_extreme(function) && length == 0) {
    return "A length of 0 has no " + problem.word("function") + "; function=" + problem.word("function") +
           " needs a length of at least 1.";
  }
  if (is_atomic(problem) && function != Function::sum) {
    return "order=atomic is for function=sum, not for function=" + problem.word("function") +
           "; leave it at order=deterministic.";
  }
  if (function == Function::mean && dtype_of(problem) == DType::i32 && length > most_i32_of_a_mean) {
    return "A length of " + std::to_string(length) + " is beyond the " + std::to_string(most_i32_of_a_mean) +
           " whose sum stays within 64 bits; a mean of i32 takes no more.";
  }
  const double stride = problem.integer("stride") == 0 ? real("inner") : real("stride");
  const double outer_stride =
      problem.integer("outer_stride") == 0 ? real("length") * stride : real("outer_stride");
  const double most = static_cast<double>(most_elements);
  const double last = std::max(real("outer") - 1, 0.0) * outer_stride +
                      std::max(real("length") - 1, 0.0) * stride + real("inner");
  if (std::max(last, real("outer") * real("inner")) > most) {
    return "The arrays of outer=" + std::to_string(problem.integer("outer")) +
           " length=" + std::to_string(length) + " inner=" + std::to_string(problem.integer("inner")) +
           " stride=" + std::to_string(problem.integer("stride")) +
           " outer_stride=" + std::to_string(problem.integer("outer_stride")) +
           " reach beyond the 2^40 elements that are allowed.";
  }
  return "";
}

// A sum in twice the digits of double (Knuth's TwoSum), and the sum of magnitudes.
struct Sum {
  void add(double x) {
    const double sum = high + x;
    const double part = sum - high;
    low += (high - (sum - part)) + (x - part);
    high = sum;
    size += std::abs(x);
  }
  double value() const { return std::isfinite(high) ? high + low : high; }
  double high = 0, low = 0, size = 0;
};

// The error of a floating-point sum: a tile's tree of at most 64 elements, 6 roundings; one for the result
// and, for a mean of i64, one for the element: 8 u sum|x| at most, u the unit roundoff. Beyond the tile it is
// summed in twice the digits: over n elements that adds n 2^-53 sum|x| for f32 and (n 2^-53)^2 sum|x| for
// f64, both far less for what fits in memory. Each atomic addition rounds once more.
double permitted(const Problem& problem, double size, double value) {
  const DType dtype = dtype_of(problem);
  const auto length = static_cast<double>(problem.integer("length"));
  const bool mean = function_of(problem) == Function::mean;
  if (!std::isfinite(value)) return 0;
  if (is_integer(dtype) && !mean) return 0;
  const double divisor = mean ? length : 1;
  if (dtype == DType::i32) return 2 * 0x1p-53 * std::abs(value);  // the sum is exact
  const double additions = is_atomic(problem) ? static_cast<double>(most_atomic_additions) : 0;
  const double unit = dtype == DType::f32 ? 0x1p-24 : 0x1p-53;
  const double beyond = dtype == DType::f32 ? length * 0x1p-53 : std::pow(length * 0x1p-53, 2);
  return ((8 + additions) * unit + beyond) * size / divisor;
}

void reference(const Problem& problem, std::span<const std::vector<double>> arguments, int /*output*/,
               std::int64_t begin, std::int64_t end, std::span<double> value,
               std::span<double> permitted_error) {
  const Dims d(problem);
  const Function function = function_of(problem);
  const double* x = arguments[0].data();
  std::vector<Sum> sums;
  for (std::int64_t at = begin; at < end;) {
    // Up to the end of a row of outputs, so that the inner loop runs along the elements.
    const std::int64_t column = at % d.inner;
    const std::int64_t count = std::min({end - at, d.inner - column, std::int64_t{4096}});
    const double* from = x + at / d.inner * d.outer_stride + column;
    double* values = value.data() + (at - begin);
    double* errors = permitted_error.data() + (at - begin);
    if (is_extreme(function)) {
      std::copy_n(from, count, values);
      std::fill_n(errors, count, 0.0);
      for (std::int64_t l = 1; l < d.length; ++l) {
        for (std::int64_t i = 0; i < count; ++i) {
          const double element = from[l * d.stride + i];
          const bool takes = function == Function::min ? element < values[i] : element > values[i];
          if (takes || std::isnan(element)) values[i] = element;
        }
      }
    } else {
      sums.assign(static_cast<std::size_t>(count), Sum());
      for (std::int64_t l = 0; l < d.length; ++l) {
        for (std::int64_t i = 0; i < count; ++i)
          sums[static_cast<std::size_t>(i)].add(from[l * d.stride + i]);
      }
      for (std::int64_t i = 0; i < count; ++i) {
        const Sum& sum = sums[static_cast<std::size_t>(i)];
        values[i] = function == Function::sum ? sum.value() : sum.value() / static_cast<double>(d.length);
        errors[i] = permitted(problem, sum.size, values[i]);
      }
    }
    at += count;
  }
}

std::vector<Problem> companions(const Problem& problem) {
  // outer, length, inner, outer_stride, stride: one element, rows of an odd size, rows with a gap, windows
  // that overlap, columns that vectors need, columns with a gap, no outputs.
  static constexpr std::int64_t sizes[][5] = {{1, 1, 1, 0, 0},   {67, 129, 1, 0, 0}, {3, 1028, 1, 1032, 0},
                                              {40, 64, 1, 4, 1}, {2, 37, 36, 0, 0},  {1, 130, 5, 0, 11},
                                              {0, 7, 3, 0, 0}};
  std::vector<Problem> found;
  for (const auto& [outer, length, inner, outer_stride, stride] : sizes) {
    Problem other = problem;
    other.set("outer", outer);
    other.set("length", length);
    other.set("inner", inner);
    other.set("outer_stride", outer_stride);
    other.set("stride", stride);
    found.push_back(std::move(other));
  }
  return found;
}

// ---- base

Template base() {
  return {.name = "base",
          .what = "A thread or a block an output, several blocks for an atomic sum; serves every problem.",
          .kernels = {"reduce_base", "reduce_base_each", "reduce_base_atomic"},
          .space =
              [](const Problem&) {
                return Space({{BLOCK, {256, 128, 512, 1024}, "threads a block"}}, {});
              },
          .work =
              [](const Problem& problem, const Config& config) {
                const Dims d(problem);
                Work work;
                if (d.outputs() == 0) return work;
                const std::int64_t block = config[BLOCK];
                Launch launch{.kernel = "reduce_base",
                              .block = {block},
                              .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, d.outputs(), d.length,
                                            d.inner, d.outer_stride, d.stride}};
                const std::int64_t blocks = std::min(ceil_divide(d.length, 8 * block), std::int64_t{1024});
                if (is_atomic(problem) && blocks > 1) {
                  launch.kernel = "reduce_base_atomic";
                  launch.grid = {blocks, std::min(d.outputs(), std::int64_t{65535})};
                  launch.dynamic_shared_bytes = block * partial_bytes(problem);
                  work.steps.push_back(Zero{ArgumentPointer{1}, d.outputs() * bytes(output_dtype(problem))});
                } else {
                  launch.arguments.push_back(static_cast<std::int32_t>(function_of(problem)));
                  if (d.length <= 4 * d.outputs()) {
                    launch.kernel = "reduce_base_each";
                    launch.grid = {std::min(ceil_divide(d.outputs(), block), std::int64_t{1} << 20)};
                  } else {
                    launch.grid = {std::min(d.outputs(), std::int64_t{2147483647})};  // walked in strides
                    launch.dynamic_shared_bytes = block * partial_bytes(problem);
                  }
                }
                work.steps.push_back(std::move(launch));
                return work;
              }};
}

// ---- what the tuned templates share

std::string refuses_empty(const Dims& d) {
  if (!d.empty()) return "";
  return "An array of " + std::to_string(d.outer) + " x " + std::to_string(d.length) + " x " +
         std::to_string(d.inner) + " has nothing to reduce; take the base template.";
}

std::string refuses_apart(const Dims& d) {
  if (d.inner == 1 && (d.stride == 1 || d.length == 1)) return "";
  return "This template walks along contiguous elements; an inner of " + std::to_string(d.inner) +
         " with a stride of " + std::to_string(d.stride) + " is for the columns template.";
}

Axis load_axis() {
  return {LOAD, words({"plain", "streaming", "bypass", "wide"}),
          "hint of the loads: none, leaves the caches first, past the first cache, the same by 256 bytes"};
}
Axis start_axis() {
  return {START, words({"plain", "overlapped"}), "whether a kernel may start while the one before it runs"};
}
Axis items_axis() { return {ITEMS, {4, 1, 2, 8, 16}, "loads of a thread before it adds"}; }

// Accesses of `all` and `rows` are of 16 bytes, or of an element for rows and pointers of any alignment.
Axis vector_axis(const Problem& problem) {
  return {VECTOR, {16 / bytes(dtype_of(problem)), 1}, "elements of a load"};
}
Rule vector_rule(const Dims& d) {
  return {"VECTOR must divide outer_stride where there are several rows.",
          [d](const Config& c) { return d.outer == 1 || d.outer_stride % c[VECTOR] == 0; }};
}
Rule flight_rule(const Problem& problem) {
  const std::int64_t element_bytes = bytes(dtype_of(problem));
  return {"A thread has 16 to 256 bytes under way.", [element_bytes](const Config& c) {
            const std::int64_t flight = c[ITEMS] * c[VECTOR] * element_bytes;
            return flight >= 16 && flight <= 256;
          }};
}
Rule register_rule(const Problem& problem) {
  const std::int64_t element_bytes = bytes(dtype_of(problem));
  return {"A block of 1024 threads leaves registers for 128 bytes under way a thread.",
          [element_bytes](const Config& c) {
            return c[BLOCK] < 1024 || c[ITEMS] * c[VECTOR] * element_bytes <= 128;
          }};
}
Rule hint_rule() {
  return {"Hints are for loads of 16 bytes.",
          [](const Config& c) { return c[VECTOR] > 1 || c[LOAD] == "plain"; }};
}

// The loads past the first cache are those of data that nobody writes while the kernel runs.
Rule early_rule() {
  return {
      "A kernel that starts early reads what the one before it may still write: not past the first cache.",
      [](const Config& c) { return c[START] == "plain" || c[LOAD] == "plain" || c[LOAD] == "streaming"; }};
}
Rule finish_rule(bool atomic) {
  return {"With order=atomic sums meet by atomic additions, else never.",
          [atomic](const Config& c) { return c[FINISH].starts_with("atomic") == atomic; }};
}

std::int64_t vector_bytes(const Problem& problem, const Config& config) {
  return config[VECTOR] * bytes(dtype_of(problem));
}

// ---- all

Space all_space(const Problem& problem) {
  const Dims d(problem);
  const bool atomic = is_atomic(problem);
  return Space(
      {{BLOCK, {512, 128, 256, 1024}, "threads a block"},
       items_axis(),
       vector_axis(problem),
       {BLOCKS, {264, 1056, 528, 132, 64, 32, 16, 8, 4, 2, 1}, "blocks an output, at most"},
       {WALK, words({"strided", "chunked"}), "a block's tiles: every so many, or one stretch"},
       {FINISH, words({"last", "launch", "mail", "atomic", "atomic_last"}),
        "who adds the blocks' partials: the last to end; a second launch; the last to start, which waits for "
        "them; "
        "nobody, atomic additions to the output, zeroed before, or to the workspace, until the last block "
        "writes"},
       {TREE, words({"shuffle", "shared"}), "how a block's threads meet"},
       {AHEAD, {0, 1}, "tiles loaded before the one that is added"},
       load_axis(),
       start_axis()},
      {vector_rule(d),
       flight_rule(problem),
       register_rule(problem),
       hint_rule(),
       early_rule(),
       {"Tiles are loaded ahead by up to 128 bytes a thread, in blocks of up to 512.",
        [n = bytes(dtype_of(problem))](const Config& c) {
          return c[AHEAD] == 0 || (c[BLOCK] <= 512 && c[ITEMS] * c[VECTOR] * n <= 128);
        }},
       {"Single elements are loaded in strides, not ahead, and meet by shuffles.",
        [](const Config& c) {
          return c[VECTOR] > 1 || (c[WALK] == "strided" && c[TREE] == "shuffle" && c[AHEAD] == 0);
        }},
       {"One stretch a block and tiles loaded ahead are for long sums: at least 132 blocks, by shuffles.",
        [](const Config& c) {
          return (c[WALK] == "strided" && c[AHEAD] == 0) || (c[BLOCKS] >= 132 && c[TREE] == "shuffle");
        }},
       {"A tree in shared memory is tried with up to 256 threads, whose barriers are cheap.",
        [](const Config& c) { return c[TREE] == "shuffle" || c[BLOCK] <= 256; }},
       {"Starting early is for sums of a few microseconds: tiles in strides, none ahead.",
        [](const Config& c) { return c[START] == "plain" || (c[WALK] == "strided" && c[AHEAD] == 0); }},
       finish_rule(atomic),
       {"A block alone has nobody to meet: FINISH is the first choice.",
        [](const Config& c) { return c[BLOCKS] > 1 || c[FINISH] == "last" || c[FINISH] == "atomic"; }},
       {"Hints are for what does not stay in the caches: at least 132 blocks, a block's sums by shuffles.",
        [](const Config& c) { return c[LOAD] == "plain" || (c[BLOCKS] >= 132 && c[TREE] == "shuffle"); }},
       {"The wide hint is for tiles that lie in one stretch, or that are loaded ahead.",
        [](const Config& c) { return c[LOAD] != "wide" || c[WALK] == "chunked" || c[AHEAD] == 1; }},
       // With more outputs, blocks that wait could fill a small device.
       {"The last block waits only where there are at most 8 outputs.",
        [d](const Config& c) { return c[FINISH] != "mail" || d.outer <= 8; }}});
}

Work all_work(const Problem& problem, const Config& config) {
  const Dims d(problem);
  const std::int64_t block = config[BLOCK];
  const std::int64_t tile = block * config[ITEMS] * config[VECTOR];
  const std::int64_t tiles = ceil_divide(d.length, tile);
  const bool chunked = config[WALK] == "chunked";
  std::int64_t blocks = std::min(config[BLOCKS], tiles);
  const std::int64_t chunk = ceil_divide(tiles, blocks);
  if (chunked) blocks = ceil_divide(tiles, chunk);

  const std::string finish = blocks == 1 ? "" : config[FINISH];
  const std::int64_t one = partial_bytes(problem);
  const bool overlaps = config[START] == "overlapped";
  Work work;
  std::int64_t kept_at = 0;
  if (finish == "last" || finish == "atomic_last") {
    kept_at = round_up(4 * d.outer, 256);
    work.zeroed_bytes = finish == "last" ? 4 * d.outer : kept_at + 8 * d.outer;
    work.workspace_bytes = finish == "last" ? kept_at + d.outer * blocks * one : work.zeroed_bytes;
  } else if (finish == "launch") {
    work.workspace_bytes = d.outer * blocks * one;
  } else if (finish == "mail") {
    work.workspace_bytes = work.zeroed_bytes = d.outer * blocks * one * 2;
  } else if (finish == "atomic") {
    work.steps.push_back(Zero{ArgumentPointer{1}, d.outer * bytes(output_dtype(problem))});
  }
  work.steps.push_back(Launch{.kernel = "reduce_all",
                              .grid = {blocks, d.outer},
                              .block = {block},
                              .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, WorkspacePointer{0},
                                            WorkspacePointer{kept_at}, d.length, d.outer_stride, chunk},
                              .overlaps_previous = overlaps});
  if (finish == "launch") {
    work.steps.push_back(Launch{
        .kernel = "reduce_all_kept",
        .grid = {d.outer},
        .block = {block},
        .arguments = {ArgumentPointer{1}, WorkspacePointer{0}, d.length, static_cast<std::int32_t>(blocks)},
        .overlaps_previous = overlaps});
  }
  return work;
}

Template all() {
  return {.name = "all",
          .what = "Several blocks an output, along contiguous elements: few, long reductions.",
          .kernels = {"reduce_all", "reduce_all_kept"},
          .compiled_in = {"dtype", "function", "order"},
          .refuses = [](const Problem& problem) -> std::string {
            const Dims d(problem);
            if (d.outer > 65535) {
              return "An outer of " + std::to_string(d.outer) +
                     " is beyond the 65535 outputs of this template; take rows.";
            }
            const std::string empty = refuses_empty(d);
            return empty.empty() ? refuses_apart(d) : empty;
          },
          .space = all_space,
          .work = all_work,
          .alignment_bytes = vector_bytes};
}

// ---- rows

Template rows() {
  return {
      .name = "rows",
      .what = "A team of threads an output, along contiguous elements: many rows; needs no workspace.",
      .kernels = {"reduce_rows"},
      .compiled_in = {"dtype", "function"},
      .refuses = [](const Problem& problem) -> std::string {
        const Dims d(problem);
        if (is_atomic(problem)) {
          return "order=atomic asks for sums that blocks share; the rows template gives a row to one team.";
        }
        const std::string empty = refuses_empty(d);
        return empty.empty() ? refuses_apart(d) : empty;
      },
      .space =
          [](const Problem& problem) {
            return Space(
                {{BLOCK, {256, 128, 512, 1024}, "threads a block"},
                 {TEAM, {32, 1, 2, 4, 8, 16, 64, 128, 256, 512, 1024}, "threads a row"},
                 items_axis(),
                 vector_axis(problem),
                 load_axis(),
                 start_axis()},
                {vector_rule(Dims(problem)),
                 flight_rule(problem),
                 register_rule(problem),
                 hint_rule(),
                 early_rule(),
                 {"A team is at most a block.", [](const Config& c) { return c[TEAM] <= c[BLOCK]; }}});
          },
      .work =
          [](const Problem& problem, const Config& config) {
            const Dims d(problem);
            const std::int64_t block = config[BLOCK];
            return Work{.steps = {Launch{.kernel = "reduce_rows",
                                         .grid = {ceil_divide(d.outer, block / config[TEAM])},
                                         .block = {block},
                                         .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, d.outer,
                                                       d.length, d.outer_stride},
                                         .overlaps_previous = config[START] == "overlapped"}}};
          },
      .alignment_bytes = vector_bytes};
}

// ---- columns

Space columns_space(const Problem& problem) {
  const Dims d(problem);
  const std::int64_t element_bytes = bytes(dtype_of(problem));
  const std::int64_t kept_bytes = partial_bytes(problem);
  const bool atomic = is_atomic(problem);
  return Space(
      {{BLOCK_X, {32, 64, 128, 16, 8, 4}, "threads of a block along the columns"},
       {BLOCK_Y, {8, 1, 2, 4, 16, 32}, "threads of a block along the length"},
       {VECTOR, element_bytes == 8 ? std::vector<Value>{1, 2} : std::vector<Value>{1, 2, 4},
        "columns of a thread, and elements of a load"},
       {ITEMS, {8, 4, 2, 16, 1}, "rows that a thread loads before it adds"},
       {SPLIT, {1, 2, 4, 8, 16, 32, 64, 128}, "blocks that share a length, at most"},
       {FINISH, words({"last", "launch", "atomic"}),
        "who adds the blocks' partials: the last to end; a second launch; nobody, atomic additions to the "
        "output, "
        "zeroed before"},
       load_axis(),
       start_axis()},
      {{"A block has 64 to 512 threads.",
        [](const Config& c) {
          const std::int64_t threads = c[BLOCK_X] * c[BLOCK_Y];
          return threads >= 64 && threads <= 512;
        }},
       {"VECTOR must divide inner, and the strides where they are used.",
        [d](const Config& c) {
          const std::int64_t vector = c[VECTOR];
          return d.inner % vector == 0 && (d.length == 1 || d.stride % vector == 0) &&
                 (d.outer == 1 || d.outer_stride % vector == 0);
        }},
       {"A thread has 16 to 128 bytes under way.",
        [=](const Config& c) {
          const std::int64_t flight = c[VECTOR] * c[ITEMS] * element_bytes;
          return flight >= 16 && flight <= 128;
        }},
       {"A block's partials fit in 48 KiB of shared memory.",
        [=](const Config& c) {
          return c[BLOCK_Y] == 1 ||
                 c[BLOCK_X] * c[BLOCK_Y] * c[VECTOR] * kept_bytes <= std::int64_t{48} * 1024;
        }},
       {"Narrow blocks, for few columns, are deep.",
        [](const Config& c) { return c[BLOCK_X] >= 32 || c[BLOCK_Y] >= 8; }},
       finish_rule(atomic),
       {"A block alone on a length has nobody to meet: FINISH is the first choice.",
        [](const Config& c) { return c[SPLIT] > 1 || c[FINISH] != "launch"; }},
       {"Starting early is for reductions of a few microseconds, with plain loads.",
        [](const Config& c) { return c[START] == "plain" || c[LOAD] == "plain"; }},
       {"Few columns are reduced by narrow blocks with loads without hints.",
        [](const Config& c) { return c[BLOCK_X] >= 32 || c[LOAD] == "plain"; }},
       {"Hints are for loads of 16 bytes, at least four of them under way.", [=](const Config& c) {
          return c[LOAD] == "plain" || (c[VECTOR] * element_bytes == 16 && c[ITEMS] >= 4);
        }}});
}

// Tiles of columns of all outer positions: the grid's x.
std::int64_t column_tiles(const Dims& d, const Config& config) {
  return ceil_divide(d.inner, config[BLOCK_X] * config[VECTOR]);
}

Work columns_work(const Problem& problem, const Config& config) {
  const Dims d(problem);
  const std::int64_t depth = config[BLOCK_Y] * config[ITEMS];
  std::int64_t splits = std::min(config[SPLIT], ceil_divide(d.length, depth));
  const std::int64_t rows = round_up(ceil_divide(d.length, splits), depth);
  splits = ceil_divide(d.length, rows);

  const std::int64_t tiles = column_tiles(d, config);
  const auto tiles32 = static_cast<std::int32_t>(tiles);
  const Extent block = {config[BLOCK_X], config[BLOCK_Y]};
  const std::string finish = splits == 1 ? "" : config[FINISH];
  const bool overlaps = config[START] == "overlapped";
  Work work;
  std::int64_t kept_at = 0;
  if (finish == "atomic") {
    work.steps.push_back(Zero{ArgumentPointer{1}, d.outputs() * bytes(output_dtype(problem))});
  } else if (!finish.empty()) {
    work.zeroed_bytes = finish == "last" ? 4 * d.outer * tiles : 0;
    kept_at = round_up(work.zeroed_bytes, 256);
    work.workspace_bytes = kept_at + d.outputs() * splits * partial_bytes(problem);
  }
  work.steps.push_back(Launch{
      .kernel = "reduce_columns",
      .grid = {d.outer * tiles, splits},
      .block = block,
      .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, WorkspacePointer{0}, WorkspacePointer{kept_at},
                    tiles32, d.length, d.inner, d.outer_stride, d.stride, rows},
      .overlaps_previous = overlaps});
  if (finish == "launch") {
    work.steps.push_back(Launch{.kernel = "reduce_columns_kept",
                                .grid = {d.outer * tiles},
                                .block = block,
                                .arguments = {ArgumentPointer{1}, WorkspacePointer{kept_at}, tiles32,
                                              d.length, d.inner, static_cast<std::int32_t>(splits)},
                                .overlaps_previous = overlaps});
  }
  return work;
}

Template columns() {
  return {
      .name = "columns",
      .what = "Threads side by side along inner, blocks that share the length: an outer axis, or strides.",
      .kernels = {"reduce_columns", "reduce_columns_kept"},
      .compiled_in = {"dtype", "function", "order"},
      .refuses = [](const Problem& problem) -> std::string {
        const Dims d(problem);
        if (d.inner == 1 && d.stride == 1) {
          return "Contiguous elements, an inner and a stride of 1, are for the templates all and rows; this "
                 "one "
                 "has a thread a column.";
        }
        return refuses_empty(d);
      },
      .space = columns_space,
      .work = columns_work,
      .alignment_bytes = vector_bytes};
}

std::vector<std::int64_t> input_extents(const Problem& problem) { return {Dims(problem).span()}; }
std::vector<std::int64_t> output_extents(const Problem& problem) {
  const Dims d(problem);
  return {d.outer, d.inner};
}

}  // namespace

Op ops_reduce() {
  const auto dim = [](const char* name, const char* what, std::int64_t minimum,
                      std::optional<Value> initial) {
    return Parameter{.name = name,
                     .what = what,
                     .minimum = minimum,
                     .maximum = most_elements,
                     .initial = std::move(initial)};
  };
  return {
      .name = "reduce",
      .what =
          "y[o, i] = the sum, minimum, maximum or mean over l of x[o * outer_stride + l * stride + i], for o "
          "< "
          "outer, l < length, i < inner.",
      .parameters = {dim("outer", "positions before the reduced axis", 0, Value(1)),
                     dim("length", "elements of the reduced axis", 0, std::nullopt),
                     dim("inner", "positions after the reduced axis, contiguous", 0, Value(1)),
                     dim("outer_stride", "elements from one outer position to the next; 0: length * stride",
                         0, Value(0)),
                     dim("stride", "elements from one position of the axis to the next; 0: inner", 0,
                         Value(0)),
                     {.name = "function", .what = "what is computed", .words = functions, .initial = "sum"},
                     {.name = "order",
                      .what = "order of a sum: one for all runs, or as blocks end",
                      .words = {"deterministic", "atomic"},
                      .initial = "deterministic"},
                     {.name = "dtype",
                      .what = "element type of x",
                      .words = {"f32", "f64", "i32", "i64"},
                      .initial = "f32"}},
      .check = check,
      .arguments = {{.name = "x", .role = Role::input, .extents = input_extents},
                    {.name = "y", .role = Role::output, .extents = output_extents, .dtype = output_dtype}},
      .templates = {base(), all(), rows(), columns()},
      .reference = reference,
      .flops =
          [](const Problem& problem) {
            const Dims d(problem);
            return static_cast<double>(d.outputs()) * static_cast<double>(d.length);
          },
      .bytes_moved =
          [](const Problem& problem) {
            const Dims d(problem);
            return static_cast<double>(d.outputs()) *
                   (static_cast<double>(d.length) * static_cast<double>(bytes(dtype_of(problem))) +
                    static_cast<double>(bytes(output_dtype(problem))));
          },
      .companions = companions,
      .sizes =
          [](const Problem& problem) {
            return Values{{"outer", problem.integer("outer")},
                          {"length", problem.integer("length")},
                          {"inner", problem.integer("inner")}};
          },
      .examples = {"length=100003", "length=70001 function=max",
                   "outer=37 length=1000 function=mean dtype=f64",
                   "outer=130 length=129 outer_stride=140 dtype=i32", "length=20000 order=atomic dtype=f64",
                   "outer=5 length=333 inner=64 function=mean",
                   "outer=2 length=40 inner=52 function=min dtype=i64", "length=0"},
      // 8.6 GB of i32, and 8.6 GB of columns.
      .large_examples = {"length=2147495993 function=max dtype=i32", "length=65539 inner=32770 dtype=f32"},
  };
}

}  // namespace tunesmith

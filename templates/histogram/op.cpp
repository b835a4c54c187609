// histogram: how many elements fall into each of `bins` bins of equal width over [lo, hi] as numpy.histogram
// has them, or how many elements are 0, 1, ... bins - 1 as numpy.bincount has them.

#include "generator/op.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <thread>

namespace tunesmith {
namespace {

constexpr IntegerAxis AHEAD("AHEAD");
constexpr IntegerAxis BLOCK("BLOCK");
constexpr IntegerAxis BLOCKS("BLOCKS");
constexpr IntegerAxis COPIES("COPIES");
constexpr IntegerAxis COUNTER_BITS("COUNTER_BITS");
constexpr WordAxis INCREMENT("INCREMENT");
constexpr IntegerAxis ITEMS("ITEMS");
constexpr WordAxis LOAD("LOAD");
constexpr WordAxis MERGE("MERGE");
constexpr WordAxis OWNER("OWNER");
constexpr WordAxis START("START");
constexpr IntegerAxis VECTOR("VECTOR");

constexpr std::int64_t most_bins = 65536;

struct Dims {
  explicit Dims(const Problem& problem)
      : length(problem.integer("length")), bins(problem.integer("bins")), stride(problem.integer("stride")) {}

  std::int64_t length, bins, stride;
};

// NaN if the text is no number.
double number(const std::string& text) {
  double value = std::numeric_limits<double>::quiet_NaN();
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end ? value : std::numeric_limits<double>::quiet_NaN();
}

std::string refuses_limit(const std::string& text) {
  if (std::isfinite(number(text))) return "";
  return "'" + text + "' is not a finite decimal number, such as -1, 0.25 or 1e-3.";
}

// ---- the bins

// NumPy compares floats with edges rounded to float, integers with edges in double.
double round_edge(DType dtype, double edge) {
  return dtype == DType::f32 ? static_cast<double>(static_cast<float>(edge)) : edge;
}

// Distance of the edge type's numbers next to `size`, the larger limit's magnitude.
double spacing(DType dtype, double size) {
  const bool single = dtype == DType::f32;
  const int least = single ? -149 : -1074;
  if (size == 0) return std::ldexp(1.0, least);
  return std::ldexp(1.0, std::max(std::ilogb(size) - (single ? 23 : 52), least));
}

struct Range {
  explicit Range(const Problem& problem)
      : dtype(dtype_of(problem)),
        bins(problem.integer("bins")),
        lo(number(problem.word("lo"))),
        hi(number(problem.word("hi"))),
        step((hi - lo) / static_cast<double>(bins)),
        size(std::max(std::abs(lo), std::abs(hi))) {}

  // As numpy.linspace computes it.
  double edge(std::int64_t i) const {
    if (i == bins) return round_edge(dtype, hi);
    const double product = static_cast<double>(i) * step;
    return round_edge(dtype, product + lo);
  }

  DType dtype;
  std::int64_t bins;
  double lo, hi, step, size;
};

std::string check(const Problem& problem) {
  const DType dtype = dtype_of(problem);
  if (problem.word("function") == "bincount") {
    return dtype == DType::f32 ? "bincount counts integers, but dtype is f32; allowed are u8 and i32." : "";
  }
  const Range range(problem);
  const std::string limits = "lo=" + problem.word("lo") + " and hi=" + problem.word("hi");
  if (!(range.lo < range.hi)) return "The histogram problem has " + limits + "; lo must be less than hi.";
  const bool single = dtype == DType::f32;
  const double widest = single ? static_cast<double>(std::numeric_limits<float>::max()) : 1e300;
  if (range.size > widest || range.hi - range.lo > widest || range.hi - range.lo < 1e-290) {
    return "The histogram problem's " + limits + " must be at least 1e-290 and at most " +
           (single ? "3.4e38 (f32)" : "1e300") + " apart, and no larger than that themselves.";
  }
  // With bins of two spacings and more the edges differ, as NumPy asks, and an estimate is off by less than a
  // bin. Integers have so much room in double that more is asked for.
  const double least = spacing(dtype, range.size) * (single ? 2 : 4096);
  if (range.step < least) {
    const auto most = static_cast<std::int64_t>((range.hi - range.lo) / least);
    return "Between " + limits + " there are too few " + (single ? "floats" : "doubles") + " for " +
           std::to_string(range.bins) + " bins; " +
           (most >= 1 ? "at most " + std::to_string(most) + " are allowed there."
                      : "the limits must be further apart.");
  }
  return "";
}

// What the kernels find a bin with (histogram/bins.cuh): t = inverse * x + addend - 2^20, rounded down to a
// multiple of 2^-32, is how many bins x lies above lo, plus a bias.
struct Estimate {
  double inverse = 0;
  double addend = 0;
  std::int64_t window = 0;  // in units of 2^-32
};

Estimate estimate(const Range& range) {
  constexpr double base = 0x1p20;
  constexpr double unit = 0x1p-32;
  Estimate found;
  found.inverse = static_cast<double>(range.bins) / (range.hi - range.lo);
  const double shift = range.lo * found.inverse;
  const double spread = spacing(range.dtype, range.size);
  const auto is_multiple = [](double value, double unit) { return std::fmod(value, unit) == 0; };

  // Where a bin's width is a power of two and every edge a number of the edge type, all is exact, the
  // rounding down included: x lies below an edge if and only if t does.
  int exponent = 0;
  const bool whole = is_multiple(range.lo, spread) && is_multiple(range.step, spread) &&
                     range.lo + range.step * static_cast<double>(range.bins) == range.hi;
  if (whole && std::frexp(range.step, &exponent) == 0.5 && std::abs(shift) < base &&
      is_multiple(shift, 0x1p-32)) {
    found.addend = base - shift;
    return found;
  }

  // Otherwise t is off by at most `error`: an edge was rounded (half a spacing; in double up to three, for
  // the step, the product and the sum); inverse, shift and addend were (each by at most 2^-51 of size /
  // step); the result is (one unit). Biased by that much, t is never too small, and too large only within
  // twice the error above an edge.
  const double edges = range.dtype == DType::f32 ? 0.51 * spread : 0;
  const double ratio = range.size / range.step;
  const double error = edges / range.step + (ratio + base) * 0x1p-49 + 2 * unit;
  const double bias = std::ceil(error / unit);
  found.addend = base - shift + bias * unit;
  found.window = static_cast<std::int64_t>(2 * bias) + 2;

  // Integers that are not at an edge keep away from it where the edges are multiples of 1/2.
  if (range.dtype != DType::f32 && whole && is_multiple(range.lo, 0.5) && is_multiple(range.step, 0.5) &&
      0.5 / range.step > static_cast<double>(found.window) * unit)
    found.window = 0;
  return found;
}

// ---- arguments and reference

std::vector<std::int64_t> values_extents(const Problem& problem) {
  const Dims d(problem);
  return {d.length == 0 ? 0 : (d.length - 1) * d.stride + 1};
}

std::vector<std::int64_t> counts_extents(const Problem& problem) { return {problem.integer("bins")}; }

// Counts `bin` of the elements [begin, end); what it gives outside [first, last) is not counted.
template <typename Bin>
void count(const std::vector<double>& values, std::int64_t stride, std::int64_t begin, std::int64_t end,
           std::int64_t first, std::span<double> counts, const Bin& bin) {
  std::vector<std::int64_t> found(counts.size());
  for (std::int64_t i = begin; i < end; ++i) {
    const auto at = static_cast<std::uint64_t>(bin(values[static_cast<std::size_t>(i * stride)]) - first);
    if (at < found.size()) ++found[at];
  }
  for (std::size_t at = 0; at < found.size(); ++at) counts[at] += static_cast<double>(found[at]);
}

void reference(const Problem& problem, std::span<const std::vector<double>> arguments, int /*output*/,
               std::int64_t begin, std::int64_t end, std::span<double> value,
               std::span<double> permitted_error) {
  const Dims d(problem);
  std::fill(permitted_error.begin(), permitted_error.end(), 0.0);
  std::fill(value.begin(), value.end(), 0.0);
  const auto part = [&](std::int64_t from, std::int64_t to, std::span<double> counts) {
    if (problem.word("function") == "bincount") {
      count(arguments[0], d.stride, from, to, begin, counts,
            [](double x) { return static_cast<std::int64_t>(x); });
      return;
    }
    const Range range(problem);
    std::vector<double> edges;
    edges.reserve(static_cast<std::size_t>(d.bins) + 1);
    for (std::int64_t i = 0; i <= d.bins; ++i) edges.push_back(range.edge(i));
    count(arguments[0], d.stride, from, to, begin, counts, [&, last = d.bins - 1](double x) -> std::int64_t {
      if (!(x >= edges.front() && x <= edges.back())) return -1;
      auto bin = static_cast<std::int64_t>((x - range.lo) / range.step);
      bin = std::clamp<std::int64_t>(bin, 0, last);
      while (x < edges[static_cast<std::size_t>(bin)]) --bin;
      while (bin < last && x >= edges[static_cast<std::size_t>(bin) + 1]) ++bin;
      return bin;
    });
  };
  // The input is read once for all outputs asked for, in parts by threads of its own where it is long and few
  // calls share the processors.
  const std::int64_t calls = std::max<std::int64_t>(1, d.bins / std::max<std::int64_t>(1, end - begin));
  const std::int64_t threads =
      std::clamp<std::int64_t>(std::thread::hardware_concurrency() / calls, 1, 1 + d.length / (1 << 22));
  std::vector<std::vector<double>> partial(static_cast<std::size_t>(threads),
                                           std::vector<double>(value.size()));
  {
    std::vector<std::jthread> helpers;
    for (std::int64_t t = 0; t < threads; ++t) {
      const auto work = [&, t] {
        part(d.length / threads * t, t + 1 == threads ? d.length : d.length / threads * (t + 1),
             partial[static_cast<std::size_t>(t)]);
      };
      if (t + 1 == threads) {
        work();
      } else {
        helpers.emplace_back(work);
      }
    }
  }
  for (const std::vector<double>& counts : partial) {
    for (std::size_t i = 0; i < value.size(); ++i) value[i] += counts[i];
  }
}

std::vector<Problem> companions(const Problem& problem) {
  // length, bins, lo, hi: nothing, one element, one bin, edges that are no floats, negative limits, and a
  // range that nothing lies in.
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

// ---- templates

std::vector<KernelArgument> kernel_arguments(const Problem& problem) {
  const Dims d(problem);
  std::vector<KernelArgument> arguments = {ArgumentPointer{0}, ArgumentPointer{1}, d.length, d.stride,
                                           int32(d.bins)};
  Estimate how;
  double lo = 0;
  double step = 0;
  double hi = 0;
  if (problem.word("function") == "histogram") {
    const Range range(problem);
    how = estimate(range);
    lo = range.lo;
    step = range.step;
    hi = range.edge(range.bins);
  }
  for (const double each : {lo, step, hi, how.inverse, how.addend}) arguments.emplace_back(each);
  // Unsigned in the kernel.
  arguments.emplace_back(static_cast<std::int32_t>(static_cast<std::uint32_t>(how.window)));
  return arguments;
}

Step zero_counts(const Problem& problem) {
  return Zero{.what = ArgumentPointer{1}, .bytes = problem.integer("bins") * 8};
}

Values contiguous(const Problem& problem) {
  return {{"CONTIGUOUS", std::int64_t{problem.integer("stride") == 1}}};
}

// 16 bytes first.
std::vector<Value> vectors(const Problem& problem) {
  if (problem.integer("stride") != 1) return {1};
  return dtype_of(problem) == DType::u8 ? std::vector<Value>{16, 1} : std::vector<Value>{4, 1};
}

std::int64_t vector_bytes(const Problem& problem, const Config& config) {
  return config[VECTOR] * bytes(dtype_of(problem));
}

std::int64_t tile(const Config& c) { return c[BLOCK] * c[VECTOR] * c[ITEMS]; }

Rule at_most_64_elements() {
  return {"A thread holds at most 64 elements.", [](const Config& c) { return c[VECTOR] * c[ITEMS] <= 64; }};
}

Template base() {
  return {
      .name = "base",
      .what = "One thread an element, added to a counter in global memory; serves every problem.",
      .kernels = {"histogram_base"},
      .compiled_in = {"function", "dtype"},
      .space =
          [](const Problem&) {
            return Space({{BLOCK, {256, 128, 512, 1024}, "threads a block"}}, {});
          },
      .work =
          [](const Problem& problem, const Config& config) {
            constexpr std::int64_t most_blocks = 1 << 20;
            const std::int64_t length = problem.integer("length");
            Work work{.steps = {zero_counts(problem)}};
            if (length == 0) return work;
            work.steps.push_back(Launch{.kernel = "histogram_base",
                                        .grid = {std::min(ceil_divide(length, config[BLOCK]), most_blocks)},
                                        .block = {config[BLOCK]},
                                        .arguments = kernel_arguments(problem)});
            return work;
          }};
}

Template direct() {
  return {
      .name = "direct",
      .what =
          "Counters in global memory, elements by vectors, equal ones counted together first: for few "
          "elements and for many bins.",
      .kernels = {"histogram_direct"},
      .compiled_in = {"function", "dtype"},
      .constants = contiguous,
      .space =
          [](const Problem& problem) {
            return Space(
                {{MERGE, words({"none", "run", "warp"}),
                  "which equal elements are counted together: none, a thread's neighbours, a warp's"},
                 {VECTOR, vectors(problem), "elements of a load"},
                 {ITEMS, {1, 2, 4}, "loads of a thread before it counts"},
                 {LOAD, words({"plain", "streaming"}), "the hint that elements are read with"},
                 {BLOCK, {256, 128, 512, 1024}, "threads a block"},
                 {BLOCKS, {1056, 132, 264, 4224}, "blocks at most"}},
                {{"Runs need several elements a thread.",
                  [](const Config& c) { return c[MERGE] != "run" || c[VECTOR] * c[ITEMS] > 1; }},
                 at_most_64_elements()});
          },
      .work =
          [](const Problem& problem, const Config& config) {
            const std::int64_t length = problem.integer("length");
            Work work{.steps = {zero_counts(problem)}};
            if (length == 0) return work;
            work.steps.push_back(Launch{.kernel = "histogram_direct",
                                        .grid = {std::min(ceil_divide(length, tile(config)), config[BLOCKS])},
                                        .block = {config[BLOCK]},
                                        .arguments = kernel_arguments(problem)});
            return work;
          },
      .alignment_bytes = vector_bytes};
}

std::int64_t shared_bytes(const Problem& problem, const Config& c) {
  const std::int64_t cells = dtype_of(problem) == DType::u8 ? 256 : problem.integer("bins");
  return 4 * c[COPIES] * (c[COUNTER_BITS] == 16 ? ceil_divide(cells, 2) : cells);
}

Space shared_space(const Problem& problem) {
  constexpr std::int64_t most_shared = std::int64_t{227} * 1024;  // of a block, on the largest devices
  std::vector<Axis> axes = {
      {COUNTER_BITS, {32, 16}, "bits of a counter in shared memory"},
      {OWNER, words({"lane", "warp"}),
       "whose a copy of the counters is: some lanes' of each warp, some warps'"},
      {COPIES, {8, 32, 16, 4, 2, 1}, "copies of the counters"},
      {MERGE, words({"none", "run", "warp"}),
       "which equal elements are counted together: none, a thread's neighbours, a warp's"},
      {VECTOR, vectors(problem), "elements of a load"},
      {INCREMENT, words({"constant", "value"}),
       "whether an element adds the constant 1, which the hardware counts over equal lanes, or a number"},
      {ITEMS, {4, 2, 1, 8}, "loads of a thread before it counts"},
      {AHEAD, {0, 1}, "tiles loaded before they are needed"},
      {LOAD, words({"plain", "streaming"}), "the hint that elements are read with"},
      {BLOCK, {256, 512, 1024}, "threads a block"},
      {BLOCKS, {528, 264, 132, 1056, 1}, "blocks at most"},
      {START, words({"plain", "overlapped"}), "whether the kernel may start while the one before it runs"},
  };
  std::vector<Rule> rules = {
      {"The counters fit in the 227 KiB that a block may have of the largest devices' shared memory.",
       [=](const Config& c) { return shared_bytes(problem, c) <= most_shared; }},
      {"Counters of 16 bits are for so many bins that a copy of 32 bits takes more than 32 KiB, and are not "
       "bytes'.",
       [=](const Config& c) {
         return c[COUNTER_BITS] == 32 || (dtype_of(problem) != DType::u8 && problem.integer("bins") > 8192);
       }},
      {"A counter of 16 bits must hold 2^15 and a block's tile.",
       [](const Config& c) { return c[COUNTER_BITS] == 32 || tile(c) < 32768; }},
      {"A warp's copies are no more than a block's warps; one copy is nobody's in particular.",
       [](const Config& c) {
         return c[OWNER] == "lane" ? true : c[COPIES] > 1 && c[COPIES] <= c[BLOCK] / 32;
       }},
      {"Runs need several elements a thread.",
       [](const Config& c) { return c[MERGE] != "run" || c[VECTOR] * c[ITEMS] > 1; }},
      {"A warp's equal elements are merged where its lanes share counters, at most four copies.",
       [](const Config& c) { return c[MERGE] != "warp" || c[OWNER] == "warp" || c[COPIES] <= 4; }},
      {"Runs are added by value, which lanes that share a counter do one after the other: counters of 32 "
       "bits "
       "need at least eight copies for them.",
       [](const Config& c) {
         return c[MERGE] != "run" || (c[OWNER] == "lane" && (c[COPIES] >= 8 || c[COUNTER_BITS] == 16));
       }},
      at_most_64_elements(),
      {"An increment by value is for lanes with 32 copies, of which no two meet in a counter.",
       [](const Config& c) {
         return c[INCREMENT] == "constant" || (c[OWNER] == "lane" && c[COPIES] == 32 && c[MERGE] == "none");
       }},
      {"Tiles are loaded ahead by vectors, at most four loads a thread if they are not bytes'.",
       [=](const Config& c) {
         return c[AHEAD] == 0 || (c[VECTOR] > 1 && (dtype_of(problem) == DType::u8 || c[ITEMS] <= 4));
       }},
      {"Only a single block sets the output to zero itself, and so can start early.",
       [](const Config& c) { return c[START] == "plain" || c[BLOCKS] == 1; }},
      {"A single block is for few elements.",
       [=](const Config& c) { return c[BLOCKS] > 1 || problem.integer("length") <= 1 << 18; }},
  };
  return Space(std::move(axes), std::move(rules));
}

Work shared_work(const Problem& problem, const Config& config) {
  constexpr std::int64_t most_of_a_block = std::int64_t{1} << 31;  // elements: its counters have 32 bits
  const std::int64_t length = problem.integer("length");
  Work work;
  if (length == 0) {
    work.steps.push_back(zero_counts(problem));
    return work;
  }
  const std::int64_t blocks = std::max(std::min(ceil_divide(length, tile(config)), config[BLOCKS]),
                                       ceil_divide(length, most_of_a_block - tile(config)));
  const bool alone = blocks == 1;
  if (!alone) work.steps.push_back(zero_counts(problem));
  Launch launch{.kernel = "histogram_shared",
                .grid = {blocks},
                .block = {config[BLOCK]},
                .dynamic_shared_bytes = shared_bytes(problem, config),
                .arguments = kernel_arguments(problem),
                .overlaps_previous = alone && config[START] == "overlapped"};
  launch.arguments.emplace_back(std::int32_t{alone});
  launch.arguments.emplace_back(std::int32_t{1});
  work.steps.push_back(std::move(launch));
  return work;
}

Template shared() {
  return {.name = "shared",
          .what =
              "Copies of the counters in each block's shared memory; bytes are counted by value and put into "
              "bins at the end.",
          .kernels = {"histogram_shared"},
          .compiled_in = {"function", "dtype"},
          .constants = contiguous,
          .space = shared_space,
          .work = shared_work,
          .alignment_bytes = vector_bytes};
}

}  // namespace

Op ops_histogram() {
  return {
      .name = "histogram",
      .what =
          "counts[i] = how many values lie in bin i of `bins` equal bins over [lo, hi] (histogram; the last "
          "bin "
          "holds hi), or are equal to i (bincount).",
      .parameters =
          {{.name = "function",
            .what = "what is counted",
            .words = {"histogram", "bincount"},
            .initial = "histogram"},
           {.name = "length", .what = "values", .minimum = 0, .maximum = std::int64_t{1} << 40},
           {.name = "bins", .what = "bins", .maximum = most_bins},
           {.name = "stride",
            .what = "elements from one value to the next in memory",
            .maximum = std::int64_t{1} << 20,
            .initial = Value(1)},
           {.name = "lo",
            .what = "lower edge of the first bin, a decimal number; histogram only",
            .initial = "0",
            .refuses_text = refuses_limit},
           {.name = "hi",
            .what = "upper edge of the last bin, a decimal number; histogram only",
            .initial = "1",
            .refuses_text = refuses_limit},
           {.name = "dtype", .what = "type of the values", .words = {"f32", "i32", "u8"}, .initial = "f32"}},
      .check = check,
      .arguments = {{.name = "values", .role = Role::input, .extents = values_extents},
                    {.name = "counts",
                     .role = Role::output,
                     .extents = counts_extents,
                     .dtype = [](const Problem&) { return DType::i64; }}},
      .templates = {base(), shared(), direct()},
      .reference = reference,
      .flops = [](const Problem& problem) { return static_cast<double>(problem.integer("length")); },
      .bytes_moved =
          [](const Problem& problem) {
            const Dims d(problem);
            return static_cast<double>(d.length * bytes(dtype_of(problem)) + d.bins * 8);
          },
      .companions = companions,
      .examples = {"length=20011 bins=256 lo=-1 hi=1", "length=10000 bins=100 lo=-0.7 hi=0.9 stride=3",
                   "length=50021 bins=40000 lo=-1 hi=1", "length=5003 bins=31 lo=-77.5 hi=80 dtype=i32",
                   "length=30011 bins=101 dtype=i32 function=bincount",
                   "length=70017 bins=256 lo=0 hi=256 dtype=u8",
                   "length=4099 bins=150 dtype=u8 function=bincount", "length=0 bins=3"},
      .large_examples = {"length=2147483999 bins=256 lo=0 hi=256 dtype=u8",
                         "length=2147485703 bins=100 dtype=u8 function=bincount"},
  };
}

}  // namespace tunesmith

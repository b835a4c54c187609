// conv1d: numpy.convolve and numpy.correlate of a batch of signals with one kernel, in all three modes;
// either may be the longer one.

#include "generator/op.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tunesmith {
namespace {

constexpr IntegerAxis BLOCK_X("BLOCK_X");
constexpr IntegerAxis BLOCK_Y("BLOCK_Y");
constexpr WordAxis COPY("COPY");
constexpr IntegerAxis HELD("HELD");
constexpr IntegerAxis ITEMS("ITEMS");
constexpr IntegerAxis OUT_X("OUT_X");
constexpr IntegerAxis PRODUCTS("PRODUCTS");
constexpr IntegerAxis RESIDENT_WARPS("RESIDENT_WARPS");
constexpr IntegerAxis SEGMENT("SEGMENT");
constexpr IntegerAxis SHARE("SHARE");
constexpr WordAxis SMEM_LAYOUT("SMEM_LAYOUT");
constexpr IntegerAxis SPLIT("SPLIT");
constexpr WordAxis START("START");
constexpr WordAxis STORE("STORE");
constexpr IntegerAxis STORE_VECTOR("STORE_VECTOR");
constexpr WordAxis TAPS_IN("TAPS_IN");
constexpr IntegerAxis UNROLL("UNROLL");
constexpr IntegerAxis VECTOR("VECTOR");
constexpr IntegerAxis WARPS("WARPS");

// Output i is the sum over j of taps[j] signal[i + j - left], taps the kernel or, for convolve, the kernel
// reversed. Every mode is a part of `full`, which has an output for each overlap of the two.
struct Dims {
  explicit Dims(const Problem& problem)
      : batch(problem.integer("batch")),
        length(problem.integer("length")),
        taps(problem.integer("taps")),
        turned(problem.word("function") == "convolve") {
    const std::string& mode = problem.word("mode");
    const std::int64_t shorter = std::min(length, taps);
    const std::int64_t longer = std::max(length, taps);
    const std::int64_t full = length + taps - 1;
    output_length = mode == "full" ? full : mode == "same" ? longer : longer - shorter + 1;
    // NumPy's correlate reverses its output if it has to swap its operands, so that the output of an even
    // number of samples begins one later.
    first = mode == "full"    ? 0
            : mode == "valid" ? shorter - 1
                              : (!turned && length < taps ? length / 2 : (shorter - 1) / 2);
    left = taps - 1 - first;
    const auto triangle = [](std::int64_t side) {
      return static_cast<double>(side) * static_cast<double>(side + 1) / 2;
    };
    products = static_cast<double>(batch) * (static_cast<double>(length) * static_cast<double>(taps) -
                                             triangle(first) - triangle(full - output_length - first));
  }

  std::int64_t batch, length, taps;
  bool turned;                 // the kernel is read backwards
  std::int64_t output_length;  // of one signal
  std::int64_t first;          // where the outputs begin among those of `full`
  std::int64_t left;           // samples before the output's own that its window covers
  double products;             // of a tap and a sample
};

// Of all signals, or of all outputs: what the base's blocks can count.
constexpr std::int64_t most_elements = std::int64_t{1} << 37;

// The error bound of summing n products one by one in the dtype: n u sum|w x|, u the unit roundoff (Higham,
// Accuracy and Stability of Numerical Algorithms, section 3.1), and one rounding more for the store. Where a
// tap that is not finite meets no sample, the sum of those that do is as good as one with a zero for it.
void reference(const Problem& problem, std::span<const std::vector<double>> arguments, int /*output*/,
               std::int64_t begin, std::int64_t end, std::span<double> value,
               std::span<double> permitted_error) {
  const Dims d(problem);
  std::vector<double> taps = arguments[1];
  if (d.turned) std::reverse(taps.begin(), taps.end());
  const auto special = [](double tap) { return !std::isfinite(tap); };
  const std::int64_t first_special = std::find_if(taps.begin(), taps.end(), special) - taps.begin();
  const std::int64_t last_special =
      d.taps - 1 - (std::find_if(taps.rbegin(), taps.rend(), special) - taps.rbegin());
  const double unit = dtype_of(problem) == DType::f64 ? 0x1p-53 : 0x1p-24;
  const double roundings = static_cast<double>(std::min(d.taps, d.length)) + 1;
  std::fill(value.begin(), value.end(), 0.0);
  std::fill(permitted_error.begin(), permitted_error.end(), 0.0);
  constexpr std::int64_t stretch = 2048;  // outputs at a time, so that they stay in a cache
  for (std::int64_t at = begin; at < end;) {
    const std::int64_t row = at / d.output_length;
    const std::int64_t i0 = at % d.output_length;
    const std::int64_t i1 = std::min({d.output_length, i0 + end - at, i0 + stretch});
    const double* samples = arguments[0].data() + row * d.length;
    double* sums = value.data() + (at - begin) - i0;
    double* sizes = permitted_error.data() + (at - begin) - i0;
    // Taps outside, so that the inner loop runs along the outputs.
    const std::int64_t last_tap = std::min(d.taps, d.length + d.left - i0);
    for (std::int64_t j = std::max<std::int64_t>(0, d.left - (i1 - 1)); j < last_tap; ++j) {
      const double tap = taps[static_cast<std::size_t>(j)];
      const std::int64_t shift = j - d.left;
      const std::int64_t first = std::max(i0, -shift);
      const std::int64_t last = std::min(i1, d.length - shift);
      for (std::int64_t i = first; i < last; ++i) {
        const double term = tap * samples[i + shift];
        sums[i] += term;
        sizes[i] += std::abs(term);
      }
    }
    for (std::int64_t i = i0; i < i1; ++i) {
      sizes[i] = std::isfinite(sizes[i]) ? sizes[i] * roundings * unit : 0;
      if (first_special < d.left - i || last_special >= d.length + d.left - i)
        sizes[i] = std::numeric_limits<double>::infinity();
    }
    at += i1 - i0;
  }
}

std::vector<Problem> companions(const Problem& problem) {
  const std::int64_t taps = problem.integer("taps");
  // Samples beyond those that the taps need, and signals: one window, odd sizes, several tiles, whole
  // vectors; the last three are shorter than most kernels.
  const std::int64_t sizes[][2] = {{taps, 1}, {taps + 62, 3}, {taps + 2221, 1}, {round_up(taps, 4) + 256, 2},
                                   {1, 2},    {4, 1},         {13, 3}};
  std::vector<Problem> found;
  for (const auto& [length, batch] : sizes) {
    if (std::max(length, taps) > most_elements / 8) continue;  // up to twice as many outputs, of 3 signals
    Problem other = problem;
    other.set("length", length);
    other.set("batch", batch);
    found.push_back(std::move(other));
  }
  return found;
}

Template base() {
  return {
      .name = "base",
      .what = "One thread an output, a loop over the taps in global memory; serves every problem.",
      .kernels = {"conv1d_base"},
      .space =
          [](const Problem&) {
            return Space({{BLOCK_X, {128, 32, 64, 256, 512, 1024}, "threads a block"}}, {});
          },
      .work =
          [](const Problem& problem, const Config& config) {
            const Dims d(problem);
            if (d.batch == 0) return Work{};
            return Work{
                .steps = {Launch{
                    .kernel = "conv1d_base",
                    .grid = {ceil_divide(d.output_length, config[BLOCK_X]), std::min(d.batch, grid_limit)},
                    .block = {config[BLOCK_X]},
                    .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, ArgumentPointer{2}, int32(d.batch),
                                  std::int32_t{d.turned}, d.length, d.taps, d.output_length, d.left}}}};
          }};
}

// Rows of a batch begin at a multiple of `vector` elements.
bool rows_aligned(const Dims& d, std::int64_t row_length, std::int64_t vector) {
  return d.batch <= 1 || row_length % vector == 0;
}

// Outputs of neighbouring threads that fill an even number of 16-byte units meet in the same banks.
bool rows_meet(std::int64_t out_x, std::int64_t lanes) {
  return out_x >= 2 * lanes && out_x / lanes % 2 == 0;
}

// ---- tiled

constexpr std::int64_t most_compiled_taps = 4096;

std::string too_many_taps(const Problem& problem) {
  const std::int64_t taps = problem.integer("taps");
  if (taps <= most_compiled_taps) return "";
  return "A kernel of " + std::to_string(taps) + " taps is longer than the " +
         std::to_string(most_compiled_taps) + " that this template takes; take another template.";
}

// What a config of `tiled` asks for; sizes as the body computes them.
struct Tiled {
  Tiled(const Problem& problem, const Config& config)
      : d(problem),
        element_bytes(bytes(dtype_of(problem))),
        lanes(16 / element_bytes),
        out_x(config[OUT_X]),
        tile(config[BLOCK_X] * out_x * config[ITEMS]),
        block_y(config[BLOCK_Y]) {}

  std::int64_t shared_bytes(const Config& config) const {
    std::int64_t total = config[TAPS_IN] == "shared" ? round_up(d.taps, lanes) : 0;
    if (config[SMEM_LAYOUT] != "none") {
      const std::int64_t vector = config[VECTOR];
      const std::int64_t phase = (4 - d.left % 4) % 4;
      const std::int64_t samples = round_up(round_up(phase % vector + tile + d.taps - 1, vector), lanes);
      const std::int64_t pad = config[SMEM_LAYOUT] == "padded" ? lanes : 0;
      total += block_y * round_up(samples + samples / out_x * pad + lanes, lanes);
      if (config[STORE_VECTOR] == 1 && out_x > 1)
        total += block_y * round_up(tile + tile / out_x * pad, lanes);
    }
    return total * element_bytes;
  }

  Dims d;
  std::int64_t element_bytes, lanes, out_x, tile, block_y;
};

// Few taps are bound by memory, more by arithmetic; the rules give each the choices that suit it. Of the
// lengths they know only what vectors divide, so that a config that is legal for one is so for nearly all.
Space tiled_space(const Problem& problem) {
  const Dims d(problem);
  const std::int64_t element_bytes = bytes(dtype_of(problem));
  const std::int64_t lanes = 16 / element_bytes;
  const bool few = d.taps * element_bytes <= 64;
  const bool wide = element_bytes == 4;
  const auto either = [few](std::vector<Value> for_few, std::vector<Value> otherwise) {
    return few ? std::move(for_few) : std::move(otherwise);
  };

  std::vector<Axis> axes = {
      {SMEM_LAYOUT, either(words({"none", "flat", "padded"}), words({"padded", "flat", "none"})),
       "the samples in shared memory: not there, as they come, spread over the banks"},
      {TAPS_IN,
       either(words({"registers", "shared", "constant", "global"}),
              words({"shared", "registers", "constant", "global"})),
       "where the taps are read from"},
      {COPY, words({"async", "sync"}), "the way into shared memory: past the registers or through them"},
      {SEGMENT, either({16}, {16, 8, 32}), "taps whose window is in registers at a time"},
      {UNROLL, either({0}, {1, 2, 4, 0}), "segments written out; 0: all"},
      {VECTOR, {4, 2, 1}, "elements of a global load"},
      {STORE_VECTOR, {4, 2, 1}, "elements of a global store"},
      {OUT_X,
       few ? (wide ? std::vector<Value>{4, 8, 2, 1} : std::vector<Value>{2, 4, 8, 1})
           : (wide ? std::vector<Value>{16, 8, 12, 20, 28, 32, 4} : std::vector<Value>{8, 4, 10, 14, 2, 6}),
       "neighbouring outputs of a thread"},
      {ITEMS, either({2, 1, 4, 8}, {1, 2}), "such rows of outputs of a thread, a block apart"},
      {BLOCK_X, either({128, 256, 64, 32, 512}, {128, 64, 256, 32}), "threads of a block along a signal"},
      {BLOCK_Y, {1, 4}, "signals of a block"},
      {STORE, words({"plain", "streaming"}), "the hint that outputs are written with"},
      {START, words({"plain", "overlapped"}), "whether the kernel may start while the one before it runs"},
      {RESIDENT_WARPS, either({16, 32}, {16, 24}),
       "warps that a multiprocessor must have room for; bounds a thread's registers"},
  };
  std::vector<Rule> rules = {
      {"Loads are vectors of samples only where the signals of a batch begin at one.",
       [=](const Config& c) { return rows_aligned(d, d.length, c[VECTOR]); }},
      {"Loads are as wide as alignment and OUT_X allow, or, for any alignment of the arrays, scalar.",
       [=](const Config& c) {
         const std::int64_t vector = c[VECTOR];
         const std::int64_t out_x = c[OUT_X];
         if (out_x % vector != 0) return false;
         if (vector == 1 && (few ? c[SMEM_LAYOUT] == "none" : c[SMEM_LAYOUT] != "none"))
           return c[SMEM_LAYOUT] == "none" || c[COPY] == "async";
         return vector == 4 || out_x % (2 * vector) != 0 || !rows_aligned(d, d.length, 2 * vector);
       }},
      {"Stores are as wide as loads, narrower only in a batch whose rows of outputs ask for it; or scalar, "
       "where "
       "the outputs can pass through shared memory.",
       [=](const Config& c) {
         const std::int64_t store = c[STORE_VECTOR];
         if (!rows_aligned(d, d.output_length, store) || c[OUT_X] % store != 0) return false;
         if (store == c[VECTOR]) return true;
         if (store == 1 && c[SMEM_LAYOUT] != "none") return c[COPY] == "async";
         return store < c[VECTOR] && d.batch > 1 &&
                (store == 1 || !rows_aligned(d, d.output_length, 2 * store));
       }},
      {"Samples are spread over the banks where threads would meet in one, and a loop over them steps by "
       "whole "
       "rows of outputs.",
       [=](const Config& c) {
         if (c[SMEM_LAYOUT] != "padded") return true;
         const std::int64_t out_x = c[OUT_X];
         if (!rows_meet(out_x, lanes)) return false;
         return c[UNROLL] == 0 || d.taps <= c[SEGMENT] || c[UNROLL] * c[SEGMENT] % out_x == 0;
       }},
      {"Only samples that are staged can be copied past the registers; with many taps they are.",
       [=](const Config& c) {
         return (c[SMEM_LAYOUT] == "none") == (c[COPY] == "sync") || (few && c[SMEM_LAYOUT] == "flat");
       }},
      {"Taps held in registers are at most 128 bytes, and all written out.",
       [=](const Config& c) {
         return c[TAPS_IN] != "registers" || (d.taps * element_bytes <= 128 && c[UNROLL] == 0);
       }},
      {"Taps in constant memory are operands only of code that is all written out; for few the copy costs "
       "more "
       "than it saves.",
       [=](const Config& c) { return c[TAPS_IN] != "constant" || (!few && c[UNROLL] == 0); }},
      {"Taps are read from global memory where the samples are.",
       [](const Config& c) { return c[TAPS_IN] != "global" || c[SMEM_LAYOUT] == "none"; }},
      {"Where nothing else is in shared memory, few taps are in registers.",
       [=](const Config& c) { return !few || c[TAPS_IN] == "registers" || c[SMEM_LAYOUT] != "none"; }},
      {"Without staging a loop over the taps is written out as a whole or not at all, for at most 8 outputs.",
       [=](const Config& c) { return few || c[SMEM_LAYOUT] != "none" || (c[UNROLL] <= 1 && c[OUT_X] <= 8); }},
      {"A segment is no longer than twice the taps, and no loop is written out further than its end.",
       [=](const Config& c) {
         if (few) return true;
         const std::int64_t segment = c[SEGMENT];
         if (segment > 8 && segment / 2 >= d.taps) return false;
         return c[UNROLL] <= 1 || c[UNROLL] < d.taps / segment;
       }},
      {"Written-out code stays below 6000 multiply-adds.",
       [=](const Config& c) {
         const std::int64_t unroll = c[UNROLL];
         const std::int64_t taps = unroll == 0 ? d.taps : std::min(d.taps, unroll * c[SEGMENT]);
         return taps * c[OUT_X] <= 6000;
       }},
      {"A thread has at most 32 outputs, in one row if it has 12 or more there.",
       [=](const Config& c) {
         const std::int64_t out_x = c[OUT_X];
         return out_x * c[ITEMS] <= 128 / element_bytes && (out_x < 12 || c[ITEMS] == 1);
       }},
      {"Signals share a block only in a batch, with 32 threads each.",
       [=](const Config& c) { return c[BLOCK_Y] == 1 || (d.batch > 1 && c[BLOCK_X] == 32); }},
      {"Streaming stores are for few taps, and for outputs that go straight to global memory.",
       [=](const Config& c) {
         const bool regrouped = c[STORE_VECTOR] == 1 && c[OUT_X] > 1 && c[SMEM_LAYOUT] != "none";
         return c[STORE] == "plain" || (few && !regrouped);
       }},
      {"The more outputs a thread has, the fewer warps are asked for; with few no bound is needed.",
       [=](const Config& c) {
         const std::int64_t outputs = c[OUT_X] * c[ITEMS] * element_bytes / 4;
         const std::int64_t warps = c[RESIDENT_WARPS];
         if (few) return warps == (outputs <= 16 ? 32 : 16);
         return warps * outputs <= 512 || warps == 16;
       }},
  };
  return Space(std::move(axes), std::move(rules));
}

Work tiled_work(const Problem& problem, const Config& config) {
  const Tiled tiled(problem, config);
  const Dims& d = tiled.d;
  Work work;
  if (d.batch == 0) return work;
  if (config[TAPS_IN] == "constant") {
    work.steps.push_back(
        ConstantCopy{.symbol = "taps_copy", .argument = 1, .bytes = d.taps * tiled.element_bytes});
  }
  work.steps.push_back(Launch{.kernel = "conv1d_tiled",
                              .grid = {ceil_divide(d.output_length, tiled.tile),
                                       std::min(ceil_divide(d.batch, tiled.block_y), grid_limit)},
                              .block = {config[BLOCK_X], tiled.block_y},
                              .dynamic_shared_bytes = tiled.shared_bytes(config),
                              .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, ArgumentPointer{2},
                                            int32(d.batch), d.length, d.output_length, d.left},
                              .overlaps_previous = config[START] == "overlapped"});
  return work;
}

std::int64_t vector_bytes(const Problem& problem, const Config& config) {
  return std::min<std::int64_t>(config[VECTOR] * bytes(dtype_of(problem)), 16);
}

Template tiled() {
  return {.name = "tiled",
          .what =
              "A row of outputs a thread in registers, fed from global memory or from a tile in shared "
              "memory; the number of taps is compiled in.",
          .kernels = {"conv1d_tiled"},
          .compiled_in = {"dtype", "function", "taps"},
          .constants =
              [](const Problem& problem) {
                return Values{{"PHASE", (4 - Dims(problem).left % 4) % 4}};
              },
          .refuses = too_many_taps,
          .space = tiled_space,
          .work = tiled_work,
          .alignment_bytes = vector_bytes};
}

// ---- chunked

// Bytes as the body of `chunked` uses them; its sums lie where the samples and taps were.
std::int64_t chunked_shared_bytes(const Problem& problem, const Config& config) {
  const std::int64_t element_bytes = bytes(dtype_of(problem));
  const std::int64_t lanes = 16 / element_bytes;
  const std::int64_t out_x = config[OUT_X];
  const std::int64_t split = config[SPLIT];
  const std::int64_t share = config[SHARE];
  const std::int64_t pad = config[SMEM_LAYOUT] == "padded" ? lanes : 0;
  const auto place_of = [=](std::int64_t position) { return position + position / out_x * pad; };
  const std::int64_t tile = config[BLOCK_X] * out_x;
  const std::int64_t staged = round_up(tile + split * share, config[VECTOR]);
  const std::int64_t samples = round_up(place_of(staged) + lanes, lanes);
  return std::max(samples + split * (share + lanes), split * round_up(place_of(tile), lanes)) * element_bytes;
}

Space chunked_space(const Problem& problem) {
  const Dims d(problem);
  const std::int64_t element_bytes = bytes(dtype_of(problem));
  const std::int64_t lanes = 16 / element_bytes;
  const bool wide = element_bytes == 4;
  std::vector<Axis> axes = {
      {SMEM_LAYOUT, words({"padded", "flat"}),
       "the samples in shared memory: spread over the banks, as they come"},
      {COPY, words({"async", "sync"}), "the way into shared memory: past the registers or through them"},
      {SEGMENT, {16, 8}, "taps whose window is in registers at a time"},
      {UNROLL, {2, 1, 4}, "segments written out"},
      {VECTOR, {4, 2, 1}, "elements of a global load"},
      {OUT_X, wide ? std::vector<Value>{8, 16, 4} : std::vector<Value>{4, 8, 2},
       "neighbouring outputs of a thread"},
      {BLOCK_X, {64, 128, 32, 16, 8}, "threads of a block along a signal"},
      {SPLIT, {2, 1, 4, 8, 16, 32}, "groups of threads that share a chunk's taps"},
      {SHARE, {128, 16, 32, 64, 256, 512}, "taps of a group in a chunk"},
      {START, words({"plain", "overlapped"}), "whether the kernel may start while the one before it runs"},
      {RESIDENT_WARPS,
       {16, 32},
       "warps that a multiprocessor must have room for; bounds a thread's registers"},
  };
  std::vector<Rule> rules = {
      {"A block has 64 to 512 threads.",
       [](const Config& c) {
         const std::int64_t threads = c[BLOCK_X] * c[SPLIT];
         return threads >= 64 && threads <= 512;
       }},
      {"A chunk has 128 to 4096 taps, but no more than twice those that there are.",
       [=](const Config& c) {
         const std::int64_t chunk = c[SPLIT] * c[SHARE];
         const std::int64_t most = std::max<std::int64_t>(128, std::min<std::int64_t>(4096, 2 * d.taps));
         return chunk >= 128 && chunk <= most;
       }},
      {"Loads are as wide as the signals of a batch allow, or scalar, for any alignment of the arrays.",
       [=](const Config& c) {
         const std::int64_t vector = c[VECTOR];
         const std::int64_t out_x = c[OUT_X];
         if (out_x % vector != 0 || !rows_aligned(d, d.length, vector)) return false;
         if (vector == 1 && c[COPY] == "async") return true;
         return vector == 4 || out_x % (2 * vector) != 0 || !rows_aligned(d, d.length, 2 * vector);
       }},
      {"Samples are spread over the banks where threads would meet in one, and a loop over them steps by "
       "whole "
       "rows of outputs; as they come they are for the smaller of such rows.",
       [=](const Config& c) {
         const std::int64_t out_x = c[OUT_X];
         if (!rows_meet(out_x, lanes)) return c[SMEM_LAYOUT] == "flat";
         return c[SMEM_LAYOUT] == "flat" ? out_x == 2 * lanes : c[SEGMENT] % out_x == 0;
       }},
      {"Samples pass through the registers only as they come, for short outputs of a thread.",
       [=](const Config& c) {
         return c[COPY] == "async" || (c[SMEM_LAYOUT] == "flat" && c[OUT_X] == lanes);
       }},
      {"A loop over a share is written out to a quarter of it at most.",
       [](const Config& c) { return c[UNROLL] == 1 || 4 * c[UNROLL] * c[SEGMENT] <= c[SHARE]; }},
      {"The more outputs a thread has, the fewer warps are asked for.",
       [=](const Config& c) { return c[RESIDENT_WARPS] * c[OUT_X] * element_bytes / 4 <= 256; }},
      {"Starting early is for kernels of a few microseconds, whose taps are split.",
       [](const Config& c) { return c[START] == "plain" || c[SPLIT] > 2; }},
  };
  return Space(std::move(axes), std::move(rules));
}

Template chunked() {
  return {.name = "chunked",
          .what =
              "Any number of taps in chunks through shared memory, shared out among groups of threads "
              "that add up at the end.",
          .kernels = {"conv1d_chunked"},
          .compiled_in = {"dtype", "function"},
          .space = chunked_space,
          .work =
              [](const Problem& problem, const Config& config) {
                const Dims d(problem);
                if (d.batch == 0) return Work{};
                return Work{
                    .steps = {Launch{.kernel = "conv1d_chunked",
                                     .grid = {ceil_divide(d.output_length, config[BLOCK_X] * config[OUT_X]),
                                              std::min(d.batch, grid_limit)},
                                     .block = {config[BLOCK_X], config[SPLIT]},
                                     .dynamic_shared_bytes = chunked_shared_bytes(problem, config),
                                     .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, ArgumentPointer{2},
                                                   int32(d.batch), d.length, d.taps, d.output_length, d.left},
                                     .overlaps_previous = config[START] == "overlapped"}}};
              },
          .alignment_bytes = vector_bytes};
}

// ---- tensor

// Products of the shortest sum whose permitted error covers that of the split (the body derives it).
constexpr std::int64_t fewest_terms = 32;

// What a config of `tensor` asks for; sizes as the body computes them.
struct Tensor {
  Tensor(const Problem& problem, const Config& config)
      : warps(config[WARPS]),
        tile(warps * 128 * config[PRODUCTS]),
        steps(ceil_divide(problem.integer("taps") + 10, 16)),
        units(tile / 8 + 2 * steps - 1),
        rounds(ceil_divide(2 * units, 32 * warps)) {}

  std::int64_t warps, tile, steps, units;
  std::int64_t rounds;  // vectors of samples that a thread stages

  // Pairs of taps, high and middle samples.
  std::int64_t shared_bytes() const { return 4 * (2 * round_up(16 * steps + 10, 4) + 8 * units); }
};

// Of a thread: sums, taps, matrices and about 20 more.
std::int64_t tensor_registers(const Config& config) {
  return 8 * config[PRODUCTS] + 4 * config[HELD] + 8 + 20;
}

Space tensor_space(const Problem& problem) {
  const std::int64_t steps = ceil_divide(problem.integer("taps") + 10, 16);
  return Space(
      {{WARPS, {4, 2, 8}, "warps of a block"},
       {PRODUCTS, {6, 8, 4}, "products of 128 outputs of a warp"},
       {HELD, {5, 4, 3, 2, 1}, "steps of 16 taps whose taps are in registers at a time"},
       {START, words({"plain", "overlapped"}), "whether the kernel may start while the one before it runs"},
       {RESIDENT_WARPS,
        {16, 20, 24, 12},
        "warps that a multiprocessor must have room for; bounds a thread's registers"}},
      {{"A thread stages at most 10 vectors of samples.",
        [=](const Config& c) { return Tensor(problem, c).rounds <= 10; }},
       {"Blocks of 8 warps are for many taps, whose samples the tiles have in common.",
        [=](const Config& c) { return c[WARPS] < 8 || steps > 32; }},
       {"The taps of 3 to 5 steps are held, or of all if there are fewer.",
        [=](const Config& c) {
          const std::int64_t most = ceil_divide(steps, 4);
          return c[HELD] <= most && c[HELD] >= std::min<std::int64_t>(3, most);
        }},
       {"The registers that so many warps leave a thread suffice, and are not far more than it needs.",
        [=](const Config& c) {
          const std::int64_t needed = tensor_registers(c);
          const std::int64_t there = 65536 / 32 / c[RESIDENT_WARPS];
          return needed <= there && 17 * needed > 10 * there;
        }}});
}

Template tensor() {
  return {.name = "tensor",
          .what =
              "f32 with many taps as Toeplitz matrix products on tensor cores, each number split into two "
              "halves; within the error bound of a plain f32 sum.",
          .kernels = {"conv1d_tensor"},
          .compiled_in = {"dtype", "function", "taps"},
          .minimum_compute_capability = 80,
          .refuses = [](const Problem& problem) -> std::string {
            if (dtype_of(problem) != DType::f32)
              return "The tensor template splits f32 only; take another template.";
            const std::int64_t taps = problem.integer("taps");
            const std::int64_t terms = std::min(taps, problem.integer("length"));
            if (terms < fewest_terms) {
              return "A sum of at most " + std::to_string(terms) +
                     " products, of taps=" + std::to_string(taps) +
                     " and length=" + std::to_string(problem.integer("length")) +
                     ", permits fewer roundings than the tensor template's split needs, which takes " +
                     std::to_string(fewest_terms) + " or more; take another template.";
            }
            return too_many_taps(problem);
          },
          .space = tensor_space,
          .work =
              [](const Problem& problem, const Config& config) {
                const Dims d(problem);
                if (d.batch == 0) return Work{};
                const Tensor tensor(problem, config);
                return Work{
                    .steps = {Launch{
                        .kernel = "conv1d_tensor",
                        .grid = {ceil_divide(d.output_length, tensor.tile), std::min(d.batch, grid_limit)},
                        .block = {32 * tensor.warps},
                        .dynamic_shared_bytes = tensor.shared_bytes(),
                        .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, ArgumentPointer{2},
                                      int32(d.batch), d.length, d.output_length, d.left},
                        .overlaps_previous = config[START] == "overlapped"}}};
              }};
}

}  // namespace

Op ops_conv1d() {
  return {
      .name = "conv1d",
      .what =
          "output[b, i] = sum over j of kernel[j] signal[b, i + j] (correlate) or kernel[j] signal[b, i - "
          "j] (convolve) over the samples that there are; numpy.correlate and numpy.convolve of each row.",
      .parameters = {{.name = "batch",
                      .what = "signals",
                      .minimum = 0,
                      .maximum = (std::int64_t{1} << 31) - 1024,
                      .initial = Value(1)},
                     {.name = "length", .what = "samples of a signal", .maximum = most_elements},
                     {.name = "taps", .what = "elements of the kernel", .maximum = most_elements},
                     {.name = "function",
                      .what = "direction of the kernel",
                      .words = {"convolve", "correlate"},
                      .initial = "convolve"},
                     {.name = "mode",
                      .what = "outputs: for every overlap, as many as the longer operand has, or for every "
                              "whole overlap",
                      .words = {"full", "same", "valid"},
                      .initial = "full"},
                     {.name = "dtype",
                      .what = "element type of all three arrays",
                      .words = {"f32", "f64"},
                      .initial = "f32"}},
      .check = [=](const Problem& problem) -> std::string {
        const Dims d(problem);
        if (static_cast<double>(d.batch) * static_cast<double>(std::max(d.length, d.output_length)) <=
            static_cast<double>(most_elements))
          return "";
        return "The conv1d problem has batch=" + std::to_string(d.batch) + " signals of length " +
               std::to_string(d.length) + " and outputs of length " + std::to_string(d.output_length) +
               "; allowed are " + std::to_string(most_elements) + " elements an array.";
      },
      .arguments = {{.name = "signal",
                     .role = Role::input,
                     .extents =
                         [](const Problem& problem) {
                           const Dims d(problem);
                           return std::vector{d.batch, d.length};
                         }},
                    {.name = "kernel",
                     .role = Role::input,
                     .extents = [](const Problem& problem) { return std::vector{problem.integer("taps")}; }},
                    {.name = "output",
                     .role = Role::output,
                     .extents =
                         [](const Problem& problem) {
                           const Dims d(problem);
                           return std::vector{d.batch, d.output_length};
                         }}},
      .templates = {base(), tiled(), chunked(), tensor()},
      .reference = reference,
      .flops = [](const Problem& problem) { return 2 * Dims(problem).products; },
      .bytes_moved =
          [](const Problem& problem) {
            const Dims d(problem);
            return static_cast<double>(bytes(dtype_of(problem))) *
                   static_cast<double>(d.batch * (d.length + d.output_length) + d.taps);
          },
      .companions = companions,
      .examples = {"length=5000 taps=5 mode=valid",
                   "batch=3 length=1364 taps=63 function=correlate mode=same", "length=1500 taps=255",
                   "batch=2 length=300 taps=1023 function=correlate mode=same",
                   "length=77 taps=600 mode=valid dtype=f64", "length=1 taps=1"},
      .large_examples = {"length=2147484001 taps=3 mode=same"},
  };
}

}  // namespace tunesmith

// conv_covariance: what a two-dimensional convolution adds to the covariance of its output, for each output
// channel with itself, from the covariance gamma and the mean mu of its input. In place on the output's
// covariance.

#include "generator/op.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tunesmith {
namespace {

constexpr IntegerAxis AHEAD("AHEAD");
constexpr IntegerAxis BLOCK("BLOCK");
constexpr IntegerAxis BLOCK_D("BLOCK_D");
constexpr IntegerAxis BLOCK_J("BLOCK_J");
constexpr IntegerAxis BLOCK_X("BLOCK_X");
constexpr IntegerAxis BLOCK_Y("BLOCK_Y");
constexpr WordAxis BOX("BOX");
constexpr IntegerAxis FAN("FAN");
constexpr WordAxis FAN_OUT("FAN_OUT");
constexpr IntegerAxis GAMMA_VECTOR("GAMMA_VECTOR");
constexpr IntegerAxis INDEX_BITS("INDEX_BITS");
constexpr WordAxis INPUT("INPUT");
constexpr WordAxis LOOP_ORDER("LOOP_ORDER");
constexpr IntegerAxis MARCH("MARCH");
constexpr WordAxis MU_IN("MU_IN");
constexpr WordAxis MU_LAYOUT("MU_LAYOUT");
constexpr IntegerAxis OUT_J("OUT_J");
constexpr IntegerAxis RESIDENT_WARPS("RESIDENT_WARPS");
constexpr WordAxis STAGING("STAGING");
constexpr WordAxis START("START");
constexpr WordAxis STORE("STORE");
constexpr IntegerAxis UNROLL("UNROLL");
constexpr IntegerAxis VECTOR("VECTOR");

struct Dims {
  explicit Dims(const Problem& problem)
      : batch(problem.integer("batch")),
        channels_out(problem.integer("channels_out")),
        channels_in(problem.integer("channels_in")),
        height(problem.integer("height")),
        width(problem.integer("width")),
        mask_height(problem.integer("mask_height")),
        mask_width(problem.integer("mask_width")),
        rows(std::max<std::int64_t>(height - mask_height + 1, 0)),
        columns(std::max<std::int64_t>(width - mask_width + 1, 0)) {}

  std::int64_t pixels() const { return rows * columns; }                     // of an output channel
  std::int64_t input_pitch() const { return channels_out * pixels(); }       // a side of input's matrix
  std::int64_t gamma_pitch() const { return channels_in * height * width; }  // a side of gamma's matrix
  bool nothing_to_add() const { return batch == 0 || channels_out == 0 || channels_in == 0; }

  std::int64_t batch, channels_out, channels_in, height, width, mask_height, mask_width;
  std::int64_t rows, columns;  // of the output
};

// CUDA's limit for the grid's x; kernels walk what is beyond it in strides.
constexpr std::int64_t grid_limit_x = 2147483647;

std::string check(const Problem& problem) {
  const Dims d(problem);
  for (const char* side : {"height", "width"}) {
    const std::string mask = std::string("mask_") + side;
    if (problem.integer(mask) > problem.integer(side)) {
      return "The conv_covariance problem's " + mask + " is " + std::to_string(problem.integer(mask)) +
             ", but its " + side + " is " + std::to_string(problem.integer(side)) +
             "; a mask is at most as large as the image.";
    }
  }
  // Keeps every count and offset in bytes within 63 bits, and a side of a matrix within 31.
  constexpr double most = 0x1p59;
  const auto product = [](std::initializer_list<std::int64_t> factors) {
    double value = 1;
    for (const std::int64_t factor : factors) value *= static_cast<double>(std::max<std::int64_t>(factor, 1));
    return value;
  };
  const double gamma_side = product({d.channels_in, d.height, d.width});
  const double input_side = product({d.channels_out, d.rows, d.columns});
  const double largest = product({d.batch}) * std::pow(std::max(gamma_side, input_side), 2);
  if (largest > most) {
    return "The conv_covariance problem's " + std::string(gamma_side > input_side ? "gamma" : "input") +
           " would have more than 2^59 elements (batch=" + std::to_string(d.batch) + ", a side of " +
           std::to_string(static_cast<std::int64_t>(std::min(std::max(gamma_side, input_side), 0x1p62))) +
           "); choose a smaller batch, fewer channels or a smaller image.";
  }
  return "";
}

std::vector<std::int64_t> input_extents(const Problem& problem) {
  const Dims d(problem);
  return {d.batch, d.channels_out, d.rows, d.columns, d.channels_out, d.rows, d.columns};
}
std::vector<std::int64_t> gamma_extents(const Problem& problem) {
  const Dims d(problem);
  return {d.batch, d.channels_in, d.height, d.width, d.channels_in, d.height, d.width};
}
std::vector<std::int64_t> mu_extents(const Problem& problem) {
  const Dims d(problem);
  return {d.batch, d.channels_in, d.height, d.width};
}
std::vector<std::int64_t> c_extents(const Problem& problem) { return {problem.integer("channels_out")}; }

// Sums in any order of 2n summands, n = channels_in mask_height mask_width, half of them products: (2n + 2)
// roundings of c times the sum of their absolute values (Higham, Accuracy and Stability of Numerical
// Algorithms, sections 3.1 and 4.2) with the product with c, and one of the result. f16 computes in f32 and
// rounds once more, to half a unit in the last place, at least half of the smallest subnormal.
void reference(const Problem& problem, std::span<const std::vector<double>> arguments, int /*output*/,
               std::int64_t begin, std::int64_t end, std::span<double> value,
               std::span<double> permitted_error) {
  const Dims d(problem);
  const DType dtype = dtype_of(problem);
  const double* input = arguments[0].data();
  const double* gamma = arguments[1].data();
  const double* mu = arguments[2].data();
  const std::vector<double>& c = arguments[3];
  if (d.rows == 0 || d.columns == 0) return;  // check() lets no such problem pass
  const std::int64_t pixels = d.rows * d.columns;
  const double unit = dtype == DType::f64 ? 0x1p-53 : 0x1p-24;
  const double roundings = 2 * static_cast<double>(d.channels_in * d.mask_height * d.mask_width) + 2;
  constexpr double f16_overflow = 65520;  // halfway from the largest number to 2^16
  std::vector<double> sum;
  std::vector<double> size;
  for (std::int64_t at = begin; at < end;) {
    const std::int64_t second = at % pixels;
    std::int64_t rest = at / pixels;
    const std::int64_t c0p = rest % d.channels_out;
    rest /= d.channels_out;
    const std::int64_t first = rest % pixels;
    rest /= pixels;
    const std::int64_t c0 = rest % d.channels_out;
    const std::int64_t b = rest / d.channels_out;
    double* to = value.data() + (at - begin);
    double* permitted = permitted_error.data() + (at - begin);
    if (c0 != c0p || d.channels_in == 0) {
      const std::int64_t count = std::min(pixels - second, end - at);
      std::copy_n(input + at, count, to);
      std::fill_n(permitted, count, 0.0);
      at += count;
      continue;
    }
    // A stretch of one row of second pixels, so that the inner loop runs along it.
    const std::int64_t j0p = second % d.columns;
    const std::int64_t count = std::min(d.columns - j0p, end - at);
    sum.assign(static_cast<std::size_t>(count), 0.0);
    size.assign(static_cast<std::size_t>(count), 0.0);
    for (std::int64_t ci = 0; ci < d.channels_in; ++ci) {
      const std::int64_t plane = ci * d.height * d.width;
      for (std::int64_t ii = 0; ii < d.mask_height; ++ii) {
        for (std::int64_t ji = 0; ji < d.mask_width; ++ji) {
          const std::int64_t x = plane + (first / d.columns + ii) * d.width + first % d.columns + ji;
          const std::int64_t xp = plane + (second / d.columns + ii) * d.width + j0p + ji;
          const double left = mu[b * d.gamma_pitch() + x];
          const double* right = mu + b * d.gamma_pitch() + xp;
          const double* covariance = gamma + (b * d.gamma_pitch() + x) * d.gamma_pitch() + xp;
          for (std::int64_t k = 0; k < count; ++k) {
            const double product = left * right[k];
            sum[static_cast<std::size_t>(k)] += product + covariance[k];
            size[static_cast<std::size_t>(k)] += std::abs(product) + std::abs(covariance[k]);
          }
        }
      }
    }
    const double weight = c[static_cast<std::size_t>(c0)];
    for (std::int64_t k = 0; k < count; ++k) {
      to[k] = input[at + k] + weight * sum[static_cast<std::size_t>(k)];
      permitted[k] = 0;
      if (!std::isfinite(to[k])) continue;
      permitted[k] =
          unit * (roundings * std::abs(weight) * size[static_cast<std::size_t>(k)] + std::abs(to[k]));
      if (dtype != DType::f16) continue;
      permitted[k] += std::max(0x1p-11 * (std::abs(to[k]) + permitted[k]), 0x1p-25);
      if (std::abs(to[k]) + permitted[k] < f16_overflow) continue;
      const bool overflows = std::abs(to[k]) - permitted[k] >= f16_overflow;
      permitted[k] = overflows ? 0 : std::numeric_limits<double>::infinity();
      if (overflows) to[k] = std::copysign(std::numeric_limits<double>::infinity(), to[k]);
    }
    at += count;
  }
}

std::vector<Problem> companions(const Problem& problem) {
  // rows and columns of the output, batch, output channels: one pixel, one row, one column, what vectors
  // need.
  static constexpr std::int64_t sizes[][4] = {
      {1, 1, 1, 1}, {3, 2, 2, 3}, {1, 12, 1, 5}, {7, 1, 3, 2}, {4, 8, 1, 1}};
  constexpr std::int64_t most_covariances = std::int64_t{1} << 22;
  std::vector<Problem> found;
  for (const auto& [rows, columns, batch, channels_out] : sizes) {
    Problem other = problem;
    other.set("batch", batch);
    other.set("channels_out", channels_out);
    other.set("height", rows + problem.integer("mask_height") - 1);
    other.set("width", columns + problem.integer("mask_width") - 1);
    const double side = static_cast<double>(Dims(other).gamma_pitch());
    if (static_cast<double>(batch) * side * side <= static_cast<double>(most_covariances))
      found.push_back(std::move(other));
  }
  return found;
}

Template base() {
  return {.name = "base",
          .what = "One thread a pair of output pixels, the seed's loops; serves every problem.",
          .kernels = {"conv_covariance_base"},
          .space =
              [](const Problem&) {
                return Space({{BLOCK, {256, 128, 64, 512}, "threads a block"}}, {});
              },
          .work =
              [](const Problem& problem, const Config& config) {
                const Dims d(problem);
                if (d.nothing_to_add()) return Work{};
                const std::int64_t pairs = d.batch * d.pixels() * d.pixels();
                return Work{
                    .steps = {Launch{.kernel = "conv_covariance_base",
                                     .grid = {std::min(ceil_divide(pairs, config[BLOCK]), grid_limit_x)},
                                     .block = {config[BLOCK]},
                                     .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, ArgumentPointer{2},
                                                   ArgumentPointer{3}, d.batch, d.channels_out, d.channels_in,
                                                   d.height, d.width, d.mask_height, d.mask_width}}}};
              }};
}

const std::vector<std::string> constants = {"dtype", "channels_in", "mask_height", "mask_width"};

// Whether 32 bits reach every covariance of one image.
bool reach_32(const Dims& d) {
  constexpr std::int64_t side = 46340;  // its square is below 2^31
  return d.gamma_pitch() <= side && d.input_pitch() <= side;
}

std::int64_t compute_bytes(const Problem& problem) {
  return std::max<std::int64_t>(bytes(dtype_of(problem)), 4);  // f16 is computed in f32
}

// ---- direct

Space direct_space(const Problem& problem) {
  const Dims d(problem);
  std::vector<Axis> axes = {
      {LOOP_ORDER, words({"channels_outside", "channels_between", "channels_inside"}),
       "where the loop over the input channels stands to those over the mask's rows and columns"},
      {UNROLL, {3, 2, 1, 0}, "loops of a sum that are written out, from the innermost"},
      {FAN_OUT, words({"inside", "outside"}),
       "the loop over the output channels: after the sum, or around it, as threads of their own"},
      {FAN, {4, 2, 1}, "output channels loaded before the first is stored"},
      {MU_LAYOUT, words({"none", "flat", "padded"}),
       "the image's means in shared memory: not there, rows as they come, rows of an odd pitch"},
      {BLOCK_X, {32, 64, 128, 16}, "threads of a block along the second pixel"},
      {BLOCK_Y, {4, 2, 1, 8, 16}, "threads of a block along the first pixel"},
      {INDEX_BITS, {32, 64}, "the width of an offset within one image's covariances"},
      {START, words({"plain", "overlapped"}), "whether the kernel may start while the one before it runs"},
  };
  std::vector<Rule> rules = {
      {"A block has 32 to 256 threads.",
       [](const Config& c) {
         const std::int64_t threads = c[BLOCK_X] * c[BLOCK_Y];
         return threads >= 32 && threads <= 256;
       }},
      {"At most 128 terms of a sum are written out.",
       [=](const Config& c) {
         const std::string& order = c[LOOP_ORDER];
         const std::int64_t inner = order == "channels_inside" ? d.channels_in : d.mask_width;
         const std::int64_t middle = order == "channels_outside"   ? d.mask_height
                                     : order == "channels_between" ? d.channels_in
                                                                   : d.mask_width;
         const std::int64_t all = d.channels_in * d.mask_height * d.mask_width;
         const std::int64_t unroll = c[UNROLL];
         return unroll == 0 || (unroll == 1 ? inner : unroll == 2 ? inner * middle : all) <= 128;
       }},
      {"With all loops written out their order makes no difference.",
       [](const Config& c) { return c[UNROLL] < 3 || c[LOOP_ORDER] == "channels_outside"; }},
      {"With the output channels outside a thread has one of them.",
       [](const Config& c) { return c[FAN_OUT] == "inside" || c[FAN] == 1; }},
      {"Offsets of 32 bits need matrices with sides of at most 46340 in gamma and input.",
       [=](const Config& c) { return c[INDEX_BITS] == 64 || reach_32(d); }},
      {"Offsets of 64 bits are for matrices that 32 do not reach: a large problem, which has no use for an "
       "early "
       "start.",
       [](const Config& c) { return c[INDEX_BITS] == 32 || c[START] == "plain"; }},
  };
  return Space(std::move(axes), std::move(rules));
}

Work direct_work(const Problem& problem, const Config& config) {
  const Dims d(problem);
  if (d.nothing_to_add()) return {};
  const std::int64_t images = d.batch * (config[FAN_OUT] == "outside" ? d.channels_out : 1);
  const std::string& layout = config[MU_LAYOUT];
  const std::int64_t mu_pitch = layout == "padded" ? d.width | 1 : d.width;
  return Work{
      .steps = {
          Launch{.kernel = "conv_covariance_direct",
                 .grid = {ceil_divide(d.pixels(), config[BLOCK_X]),
                          std::min(ceil_divide(d.pixels(), config[BLOCK_Y]), grid_limit),
                          std::min(images, grid_limit)},
                 .block = {config[BLOCK_X], config[BLOCK_Y]},
                 .dynamic_shared_bytes =
                     layout == "none" ? 0 : d.channels_in * d.height * mu_pitch * compute_bytes(problem),
                 .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, ArgumentPointer{2}, ArgumentPointer{3},
                               int32(d.batch), int32(d.channels_out), int32(d.height), int32(d.width)},
                 .overlaps_previous = config[START] == "overlapped"}}};
}

Template direct() {
  return {.name = "direct",
          .what = "One thread a pair of output pixels, every term read where it lies, from the caches.",
          .kernels = {"conv_covariance_direct"},
          .compiled_in = constants,
          .space = direct_space,
          .work = direct_work};
}

// ---- factored

// What a config of `factored` asks for; sizes as the body computes them.
struct Factored {
  Factored(const Problem& problem, const Config& config)
      : d(problem),
        real_bytes(compute_bytes(problem)),
        vector(config[VECTOR]),
        gamma_vector(config[GAMMA_VECTOR]),
        block_d(config[BLOCK_D]),
        tile_columns(config[BLOCK_X] * vector),
        tile_rows(config[BLOCK_J] * config[OUT_J]),
        threads(config[BLOCK_X] * block_d * config[BLOCK_J]),
        staged_rows(tile_rows + d.mask_width - 1),
        staged_columns(round_up(tile_columns + d.mask_width - 1,
                                std::max(std::min(vector, 16 / real_bytes), gamma_vector))) {}

  std::int64_t thread_vectors() const {
    return ceil_divide(staged_rows * block_d * (staged_columns / gamma_vector), threads);
  }
  std::int64_t tile_bytes(const std::string& staging) const {
    if (staging == "none") return 0;
    const std::int64_t banks = 128 / real_bytes;
    const std::int64_t pad =
        staging == "padded" ? (tile_columns % banks - staged_columns % banks + banks) % banks : 0;
    return staged_rows * block_d * (staged_columns + pad) * real_bytes;
  }

  Dims d;
  std::int64_t real_bytes, vector, gamma_vector, block_d, tile_columns, tile_rows, threads;
  std::int64_t staged_rows, staged_columns;
};

// Registers of 32 bits for `count` sums.
std::int64_t words_of(const Problem& problem, std::int64_t count) {
  return count * compute_bytes(problem) / 4;
}

// Outputs of a thread in one row.
std::int64_t thread_tile(const Config& c) { return c[OUT_J] * c[VECTOR]; }

constexpr std::int64_t pending_words = 64;  // registers for outputs that are begun and not complete

// Marches of one or two rows are for small images, which are bound by latency; longer ones for large images,
// which are bound by memory. The rules give each the choices that can matter to it. Of the image's size they
// know only what vectors divide and what 32 bits reach, so that a config that is legal for one image is so
// for nearly all.
Space factored_space(const Problem& problem) {
  const Dims d(problem);
  const std::int64_t element_bytes = bytes(dtype_of(problem));
  const auto fits_window = [=](std::int64_t out_j, std::int64_t vector) {
    return d.mask_width == 1 ||
           words_of(problem, (out_j + d.mask_width - 1) * (vector + d.mask_width - 1)) <= 80;
  };
  const auto fits_fan = [=](const Config& c, std::int64_t fan) {
    return fan * c[OUT_J] * ceil_divide(c[VECTOR] * element_bytes, 4) <= 32;
  };
  const auto small = [](const Config& c) { return c[MARCH] <= 2; };
  std::vector<Axis> axes = {
      {MARCH, {8, 16, 32, 4, 2, 1}, "output rows that a thread goes down"},
      {STAGING, words({"none", "flat", "padded"}),
       "the sums over the input channels in shared memory: not there, rows as they come, rows spread over "
       "the "
       "banks"},
      {BLOCK_X, {32, 16, 8, 64}, "threads of a block along the second pixel's column"},
      {VECTOR, {1, 2, 4, 8}, "outputs of a thread along the second pixel's column, and of an access"},
      {BLOCK_D, {1, 2, 4}, "diagonals of a block, a thread each"},
      {BLOCK_J, {8, 4, 2, 1}, "threads of a block along the first pixel's column"},
      {OUT_J, {2, 4, 1, 8}, "outputs of a thread along the first pixel's column"},
      {BOX, words({"window", "taps"}), "a row of the box from a window in registers, or tap by tap"},
      {GAMMA_VECTOR, {1, 2, 4}, "covariances of an access on their way into shared memory"},
      {AHEAD, {0, 1}, "rows loaded before they are needed"},
      {START, words({"plain", "overlapped"}), "whether the kernel may start while the one before it runs"},
      {MU_IN, words({"global", "shared"}), "where the means are read from"},
      {UNROLL, {4, 1}, "input channels written out, at most"},
      {FAN, {4, 2}, "output channels loaded before the first is stored"},
      {INPUT, words({"early", "late"}), "whether those are loaded before the sum is computed"},
      {STORE, words({"plain", "streaming"}), "the hint that outputs are written with"},
      {INDEX_BITS, {32, 64}, "the width of an offset within one image's covariances"},
      {RESIDENT_WARPS,
       {16, 24, 8, 32},
       "warps that a multiprocessor must have room for; bounds a thread's registers"},
  };
  std::vector<Rule> rules = {
      {"A block has 64 or 128 threads for a short march, 128 or 256 for a longer one, 256 where they share "
       "tiles.",
       [=](const Config& c) {
         const std::int64_t threads = c[BLOCK_X] * c[BLOCK_D] * c[BLOCK_J];
         if (small(c)) return threads == 64 || threads == 128;
         return threads == 256 || (threads == 128 && c[STAGING] == "none");
       }},
      {"VECTOR must divide the output's columns and takes at most 16 bytes.",
       [=](const Config& c) {
         const std::int64_t vector = c[VECTOR];
         return d.columns % vector == 0 && vector * element_bytes <= 16;
       }},
      {"A block has 16 to 64 outputs along a row, and after a short march 8 to 32.",
       [=](const Config& c) {
         const std::int64_t columns = c[BLOCK_X] * c[VECTOR];
         return small(c) ? columns <= 32 : columns >= 16 && columns <= 64;
       }},
      {"A short march needs no shared memory, and a thread at most 2 x 2 outputs.",
       [=](const Config& c) {
         return !small(c) || (c[STAGING] == "none" && c[OUT_J] <= 2 && c[VECTOR] <= 2);
       }},
      {"Tiles in shared memory pay for their barriers on a march of at least 8 rows, with 4 outputs a "
       "thread.",
       [](const Config& c) { return c[STAGING] == "none" || (c[MARCH] >= 8 && thread_tile(c) >= 4); }},
      {"Rows are spread over the banks where they are shorter than a warp.",
       [](const Config& c) { return c[STAGING] != "padded" || c[BLOCK_X] < 32; }},
      {"Without shared memory, threads of a warp read neighbouring covariances: vectors of 4 or more only "
       "where "
       "8 threads make a row.",
       [](const Config& c) { return c[STAGING] != "none" || c[VECTOR] <= 2 || c[BLOCK_X] == 8; }},
      {"A thread's outputs in one row take at most 16 registers, and a block has at most 64 columns of first "
       "pixels.",
       [=](const Config& c) {
         return words_of(problem, thread_tile(c)) <= 16 && c[OUT_J] * c[BLOCK_J] <= 64;
       }},
      {"Outputs that are begun take at most 64 registers.",
       [=](const Config& c) {
         return words_of(problem, (d.mask_height - 1) * thread_tile(c)) <= pending_words;
       }},
      {"A window takes at most 80 registers; tap by tap is for masks of 5 columns or more.",
       [=](const Config& c) {
         return c[BOX] == "taps" ? d.mask_width >= 5 : fits_window(c[OUT_J], c[VECTOR]);
       }},
      {"GAMMA_VECTOR is for shared memory; it must divide the width and is as wide as 16 bytes allow, or 1 "
       "where "
       "VECTOR is, for any alignment of the arrays.",
       [=](const Config& c) {
         const std::int64_t vector = c[GAMMA_VECTOR];
         if (c[STAGING] == "none") return vector == 1;
         if (d.width % vector != 0 || vector * element_bytes > 16) return false;
         const bool widest = vector == 4 || d.width % (2 * vector) != 0 || 2 * vector * element_bytes > 16;
         return widest || (vector == 1 && c[VECTOR] == 1);
       }},
      {"Rows are loaded ahead into at most 48 registers, on their way into shared memory.",
       [=](const Config& c) {
         if (c[AHEAD] == 0) return true;
         if (c[STAGING] == "none") return false;
         const Factored factored(problem, c);
         return factored.thread_vectors() * d.channels_in *
                    ceil_divide(factored.gamma_vector * element_bytes, 4) <=
                48;
       }},
      {"Starting early is for kernels of a few microseconds: with a short march.",
       [=](const Config& c) { return c[START] == "plain" || small(c); }},
      {"One input channel at a time is for more than one, and not for rows loaded ahead.",
       [=](const Config& c) { return c[UNROLL] == 4 || (d.channels_in > 1 && c[AHEAD] == 0); }},
      {"The output channels that were loaded take at most 32 registers.",
       [=](const Config& c) { return fits_fan(c, c[FAN]); }},
      {"A streaming store takes at least 4 bytes, after a long march.",
       [=](const Config& c) { return c[STORE] == "plain" || (c[VECTOR] * element_bytes >= 4 && !small(c)); }},
      {"Offsets of 32 bits need matrices with sides of at most 46340 in gamma and input.",
       [=](const Config& c) { return c[INDEX_BITS] == 64 || reach_32(d); }},
      {"Only threads with few outputs leave room for more than 16 warps, and only those with many a use for "
       "the "
       "registers that 8 leave them.",
       [=](const Config& c) {
         const std::int64_t outputs = words_of(problem, thread_tile(c));
         const std::int64_t warps = c[RESIDENT_WARPS];
         return warps == 16 || (warps > 16 ? outputs <= 4 : outputs >= 4 && !small(c));
       }},
      {"Of BOX, MU_IN, UNROLL, FAN, INPUT, STORE, INDEX_BITS and RESIDENT_WARPS at most one differs from its "
       "first "
       "value, where that is possible: they matter less, and hardly to each other.",
       [=](const Config& c) {
         const bool window = fits_window(c[OUT_J], c[VECTOR]);
         const int differ = (c[BOX] == "taps" && window ? 1 : 0) + (c[MU_IN] == "shared" ? 1 : 0) +
                            (c[UNROLL] == 1 ? 1 : 0) + (c[FAN] == 2 && fits_fan(c, 4) ? 1 : 0) +
                            (c[INPUT] == "late" ? 1 : 0) + (c[STORE] == "streaming" ? 1 : 0) +
                            (c[INDEX_BITS] == 64 && reach_32(d) ? 1 : 0) + (c[RESIDENT_WARPS] != 16 ? 1 : 0);
         return differ <= 1;
       }},
  };
  return Space(std::move(axes), std::move(rules));
}

Work factored_work(const Problem& problem, const Config& config) {
  const Factored factored(problem, config);
  const Dims& d = factored.d;
  if (d.nothing_to_add()) return {};
  const std::int64_t march = config[MARCH];
  const std::int64_t strips = ceil_divide(d.rows, march);
  const std::int64_t mu_bytes = config[MU_IN] == "shared" ? d.gamma_pitch() * factored.real_bytes : 0;
  return Work{.steps = {Launch{.kernel = "conv_covariance_factored",
                               .grid = {ceil_divide(d.columns, factored.tile_columns) *
                                            ceil_divide(d.columns, factored.tile_rows) * strips * d.batch,
                                        ceil_divide(d.rows + march - 1, factored.block_d)},
                               .block = {config[BLOCK_X], factored.block_d, config[BLOCK_J]},
                               .dynamic_shared_bytes = 2 * factored.tile_bytes(config[STAGING]) + mu_bytes,
                               .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, ArgumentPointer{2},
                                             ArgumentPointer{3}, int32(d.channels_out), int32(d.height),
                                             int32(d.width), int32(strips)},
                               .overlaps_previous = config[START] == "overlapped"}}};
}

Template factored() {
  return {.name = "factored",
          .what =
              "Each sum once, as a box filter that goes down the shared diagonal, given to all output "
              "channels.",
          .kernels = {"conv_covariance_factored"},
          .compiled_in = constants,
          .refuses = [](const Problem& problem) -> std::string {
            const std::int64_t most = pending_words * 4 / compute_bytes(problem) + 1;
            const std::int64_t rows = problem.integer("mask_height");
            if (rows <= most) return "";
            return "A mask_height of " + std::to_string(rows) + " is beyond the " + std::to_string(most) +
                   " rows that the factored template holds in registers; take another template.";
          },
          .space = factored_space,
          .work = factored_work,
          .alignment_bytes =
              [](const Problem& problem, const Config& config) {
                return std::max(config[VECTOR], config[GAMMA_VECTOR]) * bytes(dtype_of(problem));
              }};
}

}  // namespace

Op ops_conv_covariance() {
  constexpr std::int64_t side = (std::int64_t{1} << 31) - 1024;  // counts are int in the kernels
  return {
      .name = "conv_covariance",
      .what =
          "input[b, c0, i, j, c0, i', j'] += c[c0] sum over (ci, k, l) of mu[b, ci, i + k, j + l] mu[b, ci, "
          "i' + k, j' + l] + gamma[b, ci, i + k, j + l, ci, i' + k, j' + l], in place: what a convolution "
          "adds to the covariance of its output; pairs of different output channels are left alone.",
      .parameters =
          {{.name = "batch", .what = "images", .minimum = 0, .maximum = side, .initial = Value(1)},
           {.name = "channels_out", .what = "channels of input", .minimum = 0, .maximum = side},
           {.name = "channels_in", .what = "channels of mu and gamma", .minimum = 0, .maximum = side},
           {.name = "height", .what = "rows of an image of mu and gamma", .maximum = side},
           {.name = "width", .what = "columns of an image of mu and gamma", .maximum = side},
           {.name = "mask_height", .what = "rows of the convolution's mask", .maximum = side},
           {.name = "mask_width", .what = "columns of the convolution's mask", .maximum = side},
           {.name = "dtype",
            .what = "element type of all four arrays; f16 is computed in f32",
            .words = {"f32", "f64", "f16"},
            .initial = "f32"}},
      .check = check,
      .arguments = {{.name = "input", .role = Role::inout, .extents = input_extents},
                    {.name = "gamma", .role = Role::input, .extents = gamma_extents},
                    {.name = "mu", .role = Role::input, .extents = mu_extents},
                    {.name = "c", .role = Role::input, .extents = c_extents}},
      .templates = {base(), direct(), factored()},
      .reference = reference,
      .flops =
          [](const Problem& problem) {
            const Dims d(problem);
            const double pairs = static_cast<double>(d.batch) * static_cast<double>(d.pixels()) *
                                 static_cast<double>(d.pixels());
            return pairs * (3.0 * static_cast<double>(d.channels_in) *
                                static_cast<double>(d.mask_height * d.mask_width) +
                            2.0 * static_cast<double>(d.channels_out));
          },
      .bytes_moved =
          [](const Problem& problem) {
            // Of both matrices only the blocks of a channel with itself.
            const Dims d(problem);
            const double image = static_cast<double>(d.height) * static_cast<double>(d.width);
            const double pixels = static_cast<double>(d.pixels());
            const double in = static_cast<double>(d.channels_in) * (image * image + image);
            const double out = 2.0 * static_cast<double>(d.channels_out) * pixels * pixels;
            return static_cast<double>(bytes(dtype_of(problem))) *
                   (static_cast<double>(d.batch) * (in + out) + static_cast<double>(d.channels_out));
          },
      .companions = companions,
      .examples =
          {"batch=2 channels_out=3 channels_in=3 height=9 width=9 mask_height=3 mask_width=3",
           "channels_out=5 channels_in=2 height=4 width=34 mask_height=3 mask_width=3",
           "channels_out=2 channels_in=1 height=36 width=6 mask_height=2 mask_width=3 dtype=f64",
           "batch=2 channels_out=3 channels_in=3 height=6 width=20 mask_height=5 mask_width=5 dtype=f16",
           "channels_out=4 channels_in=2 height=5 width=7 mask_height=5 mask_width=7",
           "channels_out=1 channels_in=1 height=6 width=8 mask_height=1 mask_width=1",
           "channels_out=2 channels_in=0 height=3 width=4 mask_height=2 mask_width=1"},
      // More than 2^31 elements in input, then in gamma.
      .large_examples =
          {"channels_out=46341 channels_in=2 height=3 width=3 mask_height=3 mask_width=3 dtype=f16",
           "channels_out=1 channels_in=1 height=216 width=215 mask_height=16 mask_width=215 "
           "dtype=f16"},
  };
}

}  // namespace tunesmith

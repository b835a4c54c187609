// conv2d: the 'same' convolution or correlation of a batch of images with one mask; samples outside an image
// count as zero. The centre of a mask of even size is that of scipy.ndimage.correlate and convolve
// (mode="constant").

#include "generator/op.h"

#include <algorithm>
#include <cmath>

namespace tunesmith {
namespace {

constexpr IntegerAxis AHEAD("AHEAD");
constexpr IntegerAxis BLOCK_X("BLOCK_X");
constexpr IntegerAxis BLOCK_Y("BLOCK_Y");
constexpr WordAxis COPY("COPY");
constexpr IntegerAxis GROUPS("GROUPS");
constexpr WordAxis LOOP_ORDER("LOOP_ORDER");
constexpr WordAxis MASK_IN("MASK_IN");
constexpr IntegerAxis OUT_X("OUT_X");
constexpr IntegerAxis OUT_Y("OUT_Y");
constexpr IntegerAxis RESIDENT_WARPS("RESIDENT_WARPS");
constexpr IntegerAxis ROWS("ROWS");
constexpr WordAxis SMEM_ALLOC("SMEM_ALLOC");
constexpr WordAxis SMEM_LAYOUT("SMEM_LAYOUT");
constexpr WordAxis START("START");
constexpr WordAxis STORE("STORE");
constexpr IntegerAxis TEAMS("TEAMS");
constexpr IntegerAxis TILES("TILES");
constexpr IntegerAxis UNROLL("UNROLL");
constexpr IntegerAxis VECTOR("VECTOR");
constexpr IntegerAxis WARPS("WARPS");

struct Dims {
  explicit Dims(const Problem& problem)
      : batch(problem.integer("batch")),
        height(problem.integer("height")),
        width(problem.integer("width")),
        mask_height(problem.integer("mask_height")),
        mask_width(problem.integer("mask_width")),
        turned(problem.word("mode") == "convolution"),
        top(turned ? mask_height - 1 - mask_height / 2 : mask_height / 2),
        left(turned ? mask_width - 1 - mask_width / 2 : mask_width / 2) {}

  std::int64_t batch, height, width, mask_height, mask_width;
  bool turned;             // the mask is read backwards
  std::int64_t top, left;  // rows above and columns before the output's own that the mask covers
};

std::vector<std::int64_t> image_extents(const Problem& problem) {
  const Dims d(problem);
  return {d.batch, d.height, d.width};
}

std::vector<std::int64_t> mask_extents(const Problem& problem) {
  const Dims d(problem);
  return {d.mask_height, d.mask_width};
}

// The error bound of summing n products one by one in the dtype: n u sum|w x|, u the unit roundoff (Higham,
// Accuracy and Stability of Numerical Algorithms, section 3.1), and one rounding more for the store.
void reference(const Problem& problem, std::span<const std::vector<double>> arguments, int /*output*/,
               std::int64_t begin, std::int64_t end, std::span<double> value,
               std::span<double> permitted_error) {
  const Dims d(problem);
  const std::vector<double>& image = arguments[0];
  const std::vector<double>& mask = arguments[1];
  const double unit = dtype_of(problem) == DType::f64 ? 0x1p-53 : 0x1p-24;
  const double terms = static_cast<double>(d.mask_height * d.mask_width) + 1;
  std::fill(value.begin(), value.end(), 0.0);
  std::fill(permitted_error.begin(), permitted_error.end(), 0.0);
  for (std::int64_t at = begin; at < end;) {
    // One stretch of an output row at a time, the mask outside, so that the inner loop runs along the row.
    const std::int64_t row = at / d.width;
    const std::int64_t x0 = at % d.width;
    const std::int64_t x1 = std::min(d.width, x0 + end - at);
    const std::int64_t y = row % d.height;
    double* sums = value.data() + (at - begin) - x0;
    double* sizes = permitted_error.data() + (at - begin) - x0;
    for (std::int64_t i = 0; i < d.mask_height; ++i) {
      const std::int64_t source_y = y + i - d.top;
      if (source_y < 0 || source_y >= d.height) continue;
      const double* source = image.data() + (row - y + source_y) * d.width;
      for (std::int64_t j = 0; j < d.mask_width; ++j) {
        const std::int64_t mask_at = i * d.mask_width + j;
        const double weight =
            mask[static_cast<std::size_t>(d.turned ? d.mask_height * d.mask_width - 1 - mask_at : mask_at)];
        const std::int64_t shift = j - d.left;
        const std::int64_t first = std::max(x0, -shift);
        const std::int64_t last = std::min(x1, d.width - shift);
        for (std::int64_t x = first; x < last; ++x) {
          const double term = weight * source[x + shift];
          sums[x] += term;
          sizes[x] += std::abs(term);
        }
      }
    }
    // An infinity comes out as it should, or as NaN: nothing is permitted there.
    for (std::int64_t x = x0; x < x1; ++x) sizes[x] = std::isfinite(sizes[x]) ? sizes[x] * terms * unit : 0;
    at += x1 - x0;
  }
}

std::vector<Problem> companions(const Problem& problem) {
  // height, width, batch: odd sizes, one pixel, one row, one column, widths that vectors need, several tiles.
  static constexpr std::int64_t sizes[][3] = {{37, 53, 2}, {1, 1, 1},  {70, 132, 1},
                                              {3, 4, 3},   {1, 67, 1}, {45, 1, 1}};
  std::vector<Problem> found;
  for (const auto& [height, width, batch] : sizes) {
    Problem other = problem;
    other.set("height", height);
    other.set("width", width);
    other.set("batch", batch);
    found.push_back(std::move(other));
  }
  return found;
}

Template base() {
  return {.name = "base",
          .what = "One thread an output, every sample read from global memory; serves every problem.",
          .kernels = {"conv2d_base"},
          .space =
              [](const Problem&) {
                return Space({{BLOCK_X, {32, 16, 64, 128}, "threads of a block along a row"},
                              {BLOCK_Y, {8, 4, 16, 2, 1}, "threads of a block across rows"}},
                             {{"A block has at most 1024 threads.",
                               [](const Config& c) { return c[BLOCK_X] * c[BLOCK_Y] <= 1024; }}});
              },
          .work =
              [](const Problem& problem, const Config& config) {
                const Dims d(problem);
                Launch launch{
                    .kernel = "conv2d_base",
                    .grid = {ceil_divide(d.width, config[BLOCK_X]),
                             std::min(ceil_divide(d.height, config[BLOCK_Y]), grid_limit),
                             std::min(d.batch, grid_limit)},
                    .block = {config[BLOCK_X], config[BLOCK_Y], 1},
                    .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, ArgumentPointer{2}, int32(d.batch),
                                  int32(d.height), int32(d.width), int32(d.mask_height), int32(d.mask_width),
                                  std::int32_t{d.turned}}};
                return Work{.steps = {launch}};
              }};
}

// ---- tiled

// What a config of `tiled` asks for; sizes as the body computes them.
struct Tiled {
  Tiled(const Problem& problem, const Config& config)
      : d(problem),
        element_bytes(bytes(dtype_of(problem))),
        block_x(config[BLOCK_X]),
        block_y(config[BLOCK_Y]),
        tile_width(block_x * config[OUT_X]),
        tile_height(block_y * config[OUT_Y]) {}

  std::int64_t mask_bytes(const std::string& mask_in) const {
    return mask_in == "shared" ? d.mask_height * round_up(d.mask_width, 16 / element_bytes) * element_bytes
                               : 0;
  }
  std::int64_t image_bytes(const std::string& layout, std::int64_t vector, std::int64_t out_x) const {
    if (layout == "none") return 0;
    const std::int64_t lanes = 16 / element_bytes;
    const std::int64_t columns = round_up(d.left, vector) - d.left + tile_width + d.mask_width - 1;
    const std::int64_t used = round_up(round_up(columns, vector), lanes);
    const std::int64_t pad =
        layout == "flat" ? 0 : (out_x > lanes ? ceil_divide(used, 8 * lanes) : 1) * lanes;
    return (tile_height + d.mask_height - 1) * (used + pad) * element_bytes;
  }

  Dims d;
  std::int64_t element_bytes, block_x, block_y, tile_width, tile_height;
};

std::int64_t shared_bytes(const Problem& problem, const Config& config) {
  const Tiled tiled(problem, config);
  return tiled.mask_bytes(config[MASK_IN]) +
         tiled.image_bytes(config[SMEM_LAYOUT], config[VECTOR], config[OUT_X]);
}

// Outputs of a thread.
std::int64_t thread_tile(const Config& c) { return c[OUT_X] * c[OUT_Y]; }

// Small tiles are for small images, which are bound by latency; a small mask is bound by memory; all else is
// bound by arithmetic. The rules give each the choices that measured well for it. Of the image's size they
// know only what vectors divide, so that a config that is legal for one image is so for nearly all.
constexpr std::int64_t small_tile = 4;

Space tiled_space(const Problem& problem) {
  const Dims d(problem);
  const std::int64_t element_bytes = bytes(dtype_of(problem));
  const std::int64_t taps = d.mask_height * d.mask_width;
  const bool small_mask = taps * element_bytes <= 256;  // then the body may hold it in registers
  const auto words = [](std::initializer_list<const char*> list) {
    return std::vector<Value>(list.begin(), list.end());
  };
  const auto either = [=](std::vector<Value> for_small_mask, std::vector<Value> otherwise) {
    return small_mask ? std::move(for_small_mask) : std::move(otherwise);
  };

  std::vector<Axis> axes = {
      {SMEM_LAYOUT, words({"none", "flat", "padded"}),
       "the image's tile in shared memory: not there, rows as they come, rows spread over the banks"},
      {MASK_IN, words({"global", "shared", "constant"}), "where the weights are read from"},
      {COPY, words({"sync", "async"}), "the way into shared memory: through registers or past them"},
      {SMEM_ALLOC, words({"dynamic", "static"}), "the kind of shared memory"},
      {LOOP_ORDER, words({"image", "mask"}), "whose rows the outer loop walks"},
      {UNROLL, either({0, 1}, {1, 2, 4, 0}), "steps of the outer loop written out; 0: all"},
      {VECTOR, {1, 2, 4}, "elements of a global access"},
      {OUT_X, either({4, 2, 1}, {4, 8, 12, 2}), "outputs of a thread along a row"},
      {OUT_Y, either({4, 8, 2, 1}, {4, 2, 8, 1}), "outputs of a thread across rows"},
      {BLOCK_X, either({32, 16, 64}, {16, 32, 8}), "threads of a block along a row"},
      {BLOCK_Y, either({4, 2, 8}, {8, 4, 16}), "threads of a block across rows"},
      {AHEAD, either({0, 2}, {0}), "image rows loaded before they are needed"},
      {STORE, words({"plain", "streaming"}), "the hint that outputs are written with"},
      {START, words({"plain", "overlapped"}), "whether the kernel may start while the one before it runs"},
      {RESIDENT_WARPS,
       {16, 24, 32},
       "warps that a multiprocessor must have room for; bounds a thread's registers"},
  };
  std::vector<Rule> rules = {
      {"A block has 64 to 256 threads; to 128 for a small mask, which gains nothing from more.",
       [=](const Config& c) {
         const std::int64_t threads = c[BLOCK_X] * c[BLOCK_Y];
         return threads >= 64 && threads <= (small_mask ? 128 : 256);
       }},
      {"VECTOR must divide the width and OUT_X.",
       [=](const Config& c) { return d.width % c[VECTOR] == 0 && c[OUT_X] % c[VECTOR] == 0; }},
      {"Accesses are as wide as the width and OUT_X allow; tiles staged past the registers also take "
       "scalars, for any "
       "alignment of the arrays, and a large mask's two at a time, which may fit its reach better.",
       [=](const Config& c) {
         const std::int64_t vector = c[VECTOR];
         if (vector == 4 || d.width % (2 * vector) != 0 || c[OUT_X] % (2 * vector) != 0) return true;
         return c[SMEM_LAYOUT] == "flat" && c[COPY] == "async" && (vector == 1 || !small_mask);
       }},
      {"Tiles much taller than wide use little of what they read twice.",
       [](const Config& c) { return c[OUT_Y] <= 2 * c[OUT_X]; }},
      {"Tiles are staged past the registers; through them only small ones, flat.",
       [=](const Config& c) {
         if (c[SMEM_LAYOUT] == "none") return c[COPY] == "sync";
         return c[COPY] == "async" || (c[SMEM_LAYOUT] == "flat" && thread_tile(c) <= small_tile);
       }},
      {"Static shared memory is for small tiles and holds at most 48 KiB.",
       [=](const Config& c) {
         return c[SMEM_ALLOC] == "dynamic" ||
                (c[SMEM_LAYOUT] == "flat" && c[COPY] == "async" && thread_tile(c) <= small_tile &&
                 shared_bytes(problem, c) <= std::int64_t{48} * 1024);
       }},
      {"Rows are spread over the banks where threads would meet in one: with 8 outputs a thread along a row, "
       "or rows "
       "of a block shorter than the banks.",
       [](const Config& c) {
         return c[SMEM_LAYOUT] != "padded" || c[OUT_X] == 8 || c[BLOCK_X] * c[OUT_X] < 32;
       }},
      {"A mask of more than 64 KiB does not fit in constant memory; for a small one the copy costs more than "
       "it "
       "saves.",
       [=](const Config& c) {
         return c[MASK_IN] != "constant" || (taps * element_bytes <= 65536 && !small_mask);
       }},
      {"Weights are read from global memory only where the mask fits in registers, or where nothing is "
       "staged.",
       [=](const Config& c) { return c[MASK_IN] != "global" || small_mask || c[SMEM_LAYOUT] == "none"; }},
      {"Weights in constant memory are operands only of unrolled code, for image rows outside.",
       [](const Config& c) {
         return c[MASK_IN] != "constant" || (c[UNROLL] == 0 && c[LOOP_ORDER] == "image");
       }},
      {"Unrolled code stays below 6000 multiply-adds.",
       [=](const Config& c) {
         const std::int64_t unroll = c[UNROLL];
         const std::int64_t row = thread_tile(c) * std::min<std::int64_t>(d.mask_width, 32);
         return unroll == 1 || (unroll == 0 ? d.mask_height : unroll) * row <= 6000;
       }},
      {"With mask rows outside the loop is rolled, or the tile small and all unrolled.",
       [](const Config& c) {
         return c[LOOP_ORDER] == "image" || c[UNROLL] == 1 ||
                (c[UNROLL] == 0 && thread_tile(c) <= small_tile);
       }},
      {"A small mask with image rows outside is unrolled; with its own outside it is read from shared "
       "memory.",
       [=](const Config& c) {
         if (!small_mask) return true;
         return c[LOOP_ORDER] == "image" ? c[UNROLL] == 0 : c[UNROLL] == 1 && c[MASK_IN] == "shared";
       }},
      {"Without staging, a large mask's loop is rolled, or unrolled as a whole.",
       [](const Config& c) { return c[SMEM_LAYOUT] != "none" || c[UNROLL] <= 1; }},
      {"Rows are loaded ahead only in unrolled code that reads global memory.",
       [](const Config& c) {
         return c[AHEAD] == 0 || (c[SMEM_LAYOUT] == "none" && c[LOOP_ORDER] == "image" && c[UNROLL] == 0);
       }},
      {"A thread has at most 48 outputs, and the more it has the fewer warps are asked for; small tiles need "
       "no bound.",
       [=](const Config& c) {
         const std::int64_t tile = thread_tile(c) * element_bytes / 4;
         if (thread_tile(c) <= small_tile) return c[RESIDENT_WARPS] == 16;
         return tile <= 48 && c[RESIDENT_WARPS] * tile <= 768;
       }},
      {"Streaming stores are for a small mask and a large image: with rows loaded ahead and no early start.",
       [=](const Config& c) {
         return c[STORE] == "plain" || (small_mask && c[AHEAD] == 2 && c[START] == "plain");
       }},
      {"Starting early is for kernels of a few microseconds: with small tiles, or with a small mask and rows "
       "loaded "
       "ahead.",
       [=](const Config& c) {
         return c[START] == "plain" || thread_tile(c) <= small_tile ||
                (thread_tile(c) <= 16 && c[AHEAD] == 2);
       }},
  };
  return Space(std::move(axes), std::move(rules));
}

Work tiled_work(const Problem& problem, const Config& config) {
  const Tiled tiled(problem, config);
  const Dims& d = tiled.d;
  Work work;
  if (config[MASK_IN] == "constant") {
    work.steps.push_back(ConstantCopy{
        .symbol = "mask_copy", .argument = 1, .bytes = d.mask_height * d.mask_width * tiled.element_bytes});
  }
  work.steps.push_back(Launch{
      .kernel = "conv2d_tiled",
      .grid = {ceil_divide(d.width, tiled.tile_width),
               std::min(ceil_divide(d.height, tiled.tile_height), grid_limit), std::min(d.batch, grid_limit)},
      .block = {tiled.block_x, tiled.block_y, 1},
      .dynamic_shared_bytes = config[SMEM_ALLOC] == "dynamic" ? shared_bytes(problem, config) : 0,
      .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, ArgumentPointer{2}, int32(d.batch),
                    int32(d.height), int32(d.width)},
      .overlaps_previous = config[START] == "overlapped"});
  return work;
}

std::int64_t vector_bytes(const Problem& problem, const Config& config) {
  return std::min<std::int64_t>(config[VECTOR] * bytes(dtype_of(problem)), 16);
}

// The bodies of `tiled` and `tensor` count the bytes of a row in 32 bits.
constexpr std::int64_t widest_row = std::int64_t{1} << 28;

std::string too_wide(const Problem& problem) {
  if (problem.integer("width") <= widest_row) return "";
  return "A width of " + std::to_string(problem.integer("width")) + " is beyond the " +
         std::to_string(widest_row) + " that this template counts in 32 bits; take another template.";
}

Template tiled() {
  return {
      .name = "tiled",
      .what =
          "A tile of outputs a thread in registers, fed from global memory or from a tile in shared memory.",
      .kernels = {"conv2d_tiled"},
      .compiled_in = {"dtype", "mode", "mask_height", "mask_width"},
      .refuses = too_wide,
      .space = tiled_space,
      .work = tiled_work,
      .alignment_bytes = vector_bytes};
}

// ---- tensor

// Columns of a matrix row in units of 8, as in the body.
std::int64_t tensor_steps(const Dims& d, std::int64_t vector) {
  return ceil_divide(round_up(d.left, vector) - d.left + 8 + d.mask_width - 1, 8);
}

// The a-priori error (the bodies derive it) in units of 2^-24 sum|w x|, the same as the contract's: the
// split, two for each step over 16 columns, and the small products.
std::int64_t tensor_error(const Dims& d) {
  return 12 + 2 * d.mask_height * ceil_divide(tensor_steps(d, 4), 2) + 2;
}

std::string tensor_refuses(const Problem& problem) {
  const Dims d(problem);
  if (dtype_of(problem) != DType::f32) {
    return "The templates on tensor cores split f32 only, not " + std::string(name(dtype_of(problem))) +
           "; take another template.";
  }
  if (tensor_steps(d, 4) > 10) {
    return "A mask_width of " + std::to_string(d.mask_width) +
           " is above the 70 that the templates on tensor cores unroll; take another template.";
  }
  if (tensor_error(d) > d.mask_height * d.mask_width) {
    return "For a mask of " + std::to_string(d.mask_height) + " x " + std::to_string(d.mask_width) +
           " the error bound of the products on tensor cores, " + std::to_string(tensor_error(d)) +
           " roundings, is above the " + std::to_string(d.mask_height * d.mask_width) +
           " of a plain f32 sum; take another template.";
  }
  return too_wide(problem);
}

struct Blocks {
  const char* kernel;
  std::int64_t threads, tile_width, tile_height;
  std::int64_t tiles;  // of a block, one below the other
};

Work tensor_work(const Dims& d, const Blocks& blocks, std::int64_t shared_words) {
  const std::int64_t tiles_y = ceil_divide(ceil_divide(d.height, blocks.tile_height), blocks.tiles);
  Launch launch{.kernel = blocks.kernel,
                .grid = {ceil_divide(d.width, blocks.tile_width), std::min(tiles_y, grid_limit),
                         std::min(d.batch, grid_limit)},
                .block = {blocks.threads, 1, 1},
                .dynamic_shared_bytes = 4 * shared_words,
                .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, ArgumentPointer{2}, int32(d.batch),
                              int32(d.height), int32(d.width)}};
  return Work{.steps = {launch}};
}

Rule vector_divides_width(std::int64_t width) {
  return {"VECTOR must divide the width.", [width](const Config& c) { return width % c[VECTOR] == 0; }};
}

Template tensor() {
  return {.name = "tensor",
          .what =
              "f32 masks from 5x5 on as Toeplitz matrix products on tensor cores, each number split into two "
              "halves; within the error bound of a plain f32 sum.",
          .kernels = {"conv2d_tensor"},
          .compiled_in = {"dtype", "mode", "mask_height", "mask_width"},
          .minimum_compute_capability = 80,
          .refuses = tensor_refuses,
          .space =
              [](const Problem& problem) {
                return Space(
                    {{VECTOR, {1, 4}, "elements of a global load"},
                     {WARPS, {4, 2, 6, 8}, "warps of a block, one below the other"},
                     {ROWS, {6, 4}, "output rows of a warp, 256 columns each"},
                     {RESIDENT_WARPS,
                      {12, 8, 16},
                      "warps that a multiprocessor must have room for; bounds a thread's registers"}},
                    {vector_divides_width(problem.integer("width"))});
              },
          .work =
              [](const Problem& problem, const Config& config) {
                const Dims d(problem);
                const std::int64_t steps = tensor_steps(d, config[VECTOR]);
                const Blocks blocks = {.kernel = "conv2d_tensor",
                                       .threads = 32 * config[WARPS],
                                       .tile_width = 256,
                                       .tile_height = config[WARPS] * config[ROWS],
                                       .tiles = 1};
                const std::int64_t row_units = blocks.tile_width / 8 + steps - 1;
                return tensor_work(d, blocks,
                                   2 * d.mask_height * (8 * steps + 8) +
                                       2 * (blocks.tile_height + d.mask_height - 1) * row_units * 4);
              },
          .alignment_bytes = vector_bytes};
}

Template warpgroup() {
  return {
      .name = "warpgroup",
      .what =
          "The products of `tensor` by whole warpgroups, which read both matrices from shared memory while "
          "others stage samples; Hopper only.",
      .kernels = {"conv2d_warpgroup"},
      .compiled_in = {"dtype", "mode", "mask_height", "mask_width"},
      .minimum_compute_capability = 90,
      .later_too = false,
      .refuses = tensor_refuses,
      .space =
          [](const Problem& problem) {
            const std::int64_t width = problem.integer("width");
            return Space(
                {{VECTOR, {1, 4}, "elements of a global load"},
                 {GROUPS, {1, 2}, "warpgroups of a team, 64 columns of outputs each"},
                 {TEAMS, {1, 2, 3, 4}, "teams of a block, which take turns at products"},
                 {ROWS, {8, 4}, "an eighth of a tile's rows; a thread's outputs are in two of them"},
                 {TILES, {1, 4, 8, 12, 16}, "tiles of a team"},
                 {AHEAD, {0, 1}, "tiles loaded while the one before is multiplied"},
                 {RESIDENT_WARPS,
                  {12, 8, 16, 20, 24},
                  "warps that a multiprocessor must have room for; bounds a thread's registers"}},
                {vector_divides_width(width),
                 {"Where vectors divide the width, scalars are only for arrays at odd addresses: with one "
                  "tile a team.",
                  [width](const Config& c) { return width % 4 != 0 || c[VECTOR] == 4 || c[TILES] == 1; }},
                 {"Teams, and loads ahead, are for several tiles.",
                  [](const Config& c) { return c[TILES] > 1 || (c[TEAMS] == 1 && c[AHEAD] == 0); }},
                 {"RESIDENT_WARPS are whole blocks.",
                  [](const Config& c) { return c[RESIDENT_WARPS] % (4 * c[GROUPS] * c[TEAMS]) == 0; }},
                 {"A thread with 8 * ROWS sums needs registers beside them.",
                  [](const Config& c) { return c[ROWS] * c[RESIDENT_WARPS] <= 160; }}});
          },
      .work =
          [](const Problem& problem, const Config& config) {
            const Dims d(problem);
            const std::int64_t steps = tensor_steps(d, config[VECTOR]);
            const std::int64_t rows = config[ROWS];
            const std::int64_t teams = config[TEAMS];
            const Blocks blocks = {.kernel = "conv2d_warpgroup",
                                   .threads = 128 * config[GROUPS] * teams,
                                   .tile_width = 64 * config[GROUPS],
                                   .tile_height = 8 * rows,
                                   .tiles = teams * config[TILES]};
            const std::int64_t row_units = blocks.tile_width / 8 + steps - 1;
            // A row of samples and one of weights for the last columns' pairs, where steps are odd.
            const std::int64_t extra = steps % 2 * ((rows + d.mask_height - 1) % 2);
            const std::int64_t weight_rows = d.mask_height + 2 * (rows - 1) + extra;
            const std::int64_t sample_rows = blocks.tile_height + d.mask_height - 1 + extra;
            return tensor_work(d, blocks,
                               2 * weight_rows * steps * 32 + teams * 2 * sample_rows * row_units * 4);
          },
      .alignment_bytes = vector_bytes};
}

}  // namespace

Op ops_conv2d() {
  constexpr std::int64_t side = (std::int64_t{1} << 31) - 1024;  // columns and rows are int in the kernels
  return {
      .name = "conv2d",
      .what =
          "output[b, y, x] = sum over (i, j) of mask[i, j] image[b, y + i - mask_height/2, x + j - "
          "mask_width/2] "
          "(correlation), or with the mask turned by half a turn (convolution); zero outside the image.",
      .parameters =
          {{.name = "batch", .what = "images", .maximum = side, .initial = Value(1)},
           {.name = "height", .what = "rows of an image", .maximum = side},
           {.name = "width", .what = "columns of an image", .maximum = side},
           {.name = "mask_height", .what = "rows of the mask", .maximum = 4096},
           {.name = "mask_width", .what = "columns of the mask", .maximum = 4096},
           {.name = "mode",
            .what = "direction of the mask",
            .words = {"correlation", "convolution"},
            .initial = "correlation"},
           {.name = "boundary", .what = "samples outside the image", .words = {"zero"}, .initial = "zero"},
           {.name = "dtype",
            .what = "element type of all three arrays",
            .words = {"f32", "f64"},
            .initial = "f32"}},
      .check = [](const Problem& problem) -> std::string {
        constexpr std::int64_t most = std::int64_t{1} << 40;
        const Dims d(problem);
        if (d.height <= most / d.width && d.batch <= most / (d.height * d.width)) return "";
        return "The conv2d problem's images, batch=" + std::to_string(d.batch) +
               " height=" + std::to_string(d.height) + " width=" + std::to_string(d.width) +
               ", have more than the 2^40 elements that are allowed.";
      },
      .arguments = {{.name = "image", .role = Role::input, .extents = image_extents},
                    {.name = "mask", .role = Role::input, .extents = mask_extents, .finite = true},
                    {.name = "output", .role = Role::output, .extents = image_extents}},
      .templates = {base(), tiled(), tensor(), warpgroup()},
      .reference = reference,
      .flops =
          [](const Problem& problem) {
            const Dims d(problem);
            return 2.0 * static_cast<double>(d.batch * d.height * d.width) *
                   static_cast<double>(d.mask_height * d.mask_width);
          },
      .bytes_moved =
          [](const Problem& problem) {
            const Dims d(problem);
            return static_cast<double>(bytes(dtype_of(problem))) *
                   static_cast<double>(2 * d.batch * d.height * d.width + d.mask_height * d.mask_width);
          },
      .companions = companions,
      .examples = {"height=200 width=200 mask_height=13 mask_width=13 mode=convolution",
                   "height=70 width=128 mask_height=31 mask_width=31",
                   "height=37 width=64 mask_height=24 mask_width=20 mode=convolution",
                   "height=66 width=44 batch=2 mask_height=17 mask_width=33",
                   "height=5 width=8 mask_height=13 mask_width=12",
                   "height=9 width=400 mask_height=1 mask_width=70 mode=convolution",
                   "height=300 width=4 mask_height=40 mask_width=1",
                   "height=64 width=36 mask_height=4 mask_width=6 mode=convolution batch=3",
                   "height=45 width=66 mask_height=7 mask_width=7 dtype=f64",
                   "height=33 width=40 mask_height=5 mask_width=5",
                   "height=150 width=260 mask_height=7 mask_width=7 batch=2",
                   "height=1 width=1 mask_height=1 mask_width=1"},
  };
}

}  // namespace tunesmith

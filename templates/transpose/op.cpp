// transpose: each matrix of a batch, out of place, element by element without a change of its bits. Rows may
// be a pitch apart; what lies between them is neither read nor written.

#include "generator/op.h"

#include <algorithm>
#include <limits>

namespace tunesmith {
namespace {

constexpr WordAxis BLOCK_ORDER("BLOCK_ORDER");
constexpr IntegerAxis BLOCK_X("BLOCK_X");
constexpr IntegerAxis BLOCK_Y("BLOCK_Y");
constexpr WordAxis LOAD("LOAD");
constexpr IntegerAxis RESIDENT_WARPS("RESIDENT_WARPS");
constexpr IntegerAxis ROWS("ROWS");
constexpr WordAxis SMEM_LAYOUT("SMEM_LAYOUT");
constexpr WordAxis START("START");
constexpr WordAxis STORE("STORE");
constexpr IntegerAxis TILES("TILES");
constexpr IntegerAxis TILE_X("TILE_X");
constexpr IntegerAxis TILE_Y("TILE_Y");
constexpr IntegerAxis TURN("TURN");
constexpr IntegerAxis VECTOR_IN("VECTOR_IN");
constexpr IntegerAxis VECTOR_OUT("VECTOR_OUT");
constexpr IntegerAxis WINDOW("WINDOW");

struct Dims {
  explicit Dims(const Problem& problem)
      : batch(problem.integer("batch")),
        height(problem.integer("height")),
        width(problem.integer("width")),
        input_pitch(problem.integer("input_pitch") == 0 ? width : problem.integer("input_pitch")),
        output_pitch(problem.integer("output_pitch") == 0 ? height : problem.integer("output_pitch")) {}

  bool empty() const { return batch == 0 || height == 0 || width == 0; }

  std::int64_t batch, height, width, input_pitch, output_pitch;
};

constexpr double most_bytes = 0x1p40;  // of an array; the tiles of one fit into a grid

std::string check(const Problem& problem) {
  const Dims d(problem);
  const auto too_short = [](const char* name, std::int64_t pitch, const char* row, std::int64_t length) {
    return std::string("The transpose problem's ") + name + " is " + std::to_string(pitch) +
           ", shorter than a row, whose " + row + " is " + std::to_string(length) +
           "; a pitch is at least that, or 0 for rows without gaps.";
  };
  if (d.input_pitch < d.width) return too_short("input_pitch", d.input_pitch, "width", d.width);
  if (d.output_pitch < d.height) return too_short("output_pitch", d.output_pitch, "height", d.height);
  const double rows = std::max(static_cast<double>(d.height) * static_cast<double>(d.input_pitch),
                               static_cast<double>(d.width) * static_cast<double>(d.output_pitch));
  if (rows * static_cast<double>(d.batch) * static_cast<double>(bytes(dtype_of(problem))) > most_bytes) {
    return "The transpose problem " + problem.text() +
           " has an array of more than 2^40 bytes; ask for smaller sizes.";
  }
  return "";
}

// What the arrays are checked as: types of many different values; sixteen bytes as two numbers.
DType checked_as(const Problem& problem) {
  switch (bytes(dtype_of(problem))) {
    case 1:
      return DType::u8;
    case 2:
      return DType::f16;
    case 4:
      return DType::f32;
    default:
      return DType::f64;
  }
}

std::int64_t parts(const Problem& problem) { return bytes(dtype_of(problem)) / bytes(checked_as(problem)); }

// Exact; the gaps between the output's rows are nobody's.
void reference(const Problem& problem, std::span<const std::vector<double>> arguments, int /*output*/,
               std::int64_t begin, std::int64_t end, std::span<double> value,
               std::span<double> permitted_error) {
  const Dims d(problem);
  const std::int64_t of_element = parts(problem);
  for (std::int64_t at = begin; at < end; ++at) {
    const std::int64_t element = at / of_element, row = element / d.output_pitch,
                       y = element % d.output_pitch;
    const std::int64_t b = row / d.width, x = row % d.width;
    const auto to = static_cast<std::size_t>(at - begin);
    const bool gap = y >= d.height;
    const std::int64_t from = ((b * d.height + y) * d.input_pitch + x) * of_element + at % of_element;
    value[to] = gap ? 0 : arguments[0][static_cast<std::size_t>(from)];
    permitted_error[to] = gap ? std::numeric_limits<double>::infinity() : 0;
  }
}

Template base() {
  return {
      .name = "base",
      .what = "One thread an element, straight from array to array; serves every problem.",
      .kernels = {"transpose_base"},
      .space =
          [](const Problem&) {
            return Space({{BLOCK_X, {32, 16, 8, 64}, "threads of a block along an input row"},
                          {BLOCK_Y, {8, 4, 16, 32}, "threads of a block across input rows"}},
                         {{"A block has at most 1024 threads.",
                           [](const Config& c) { return c[BLOCK_X] * c[BLOCK_Y] <= 1024; }}});
          },
      .work =
          [](const Problem& problem, const Config& config) {
            const Dims d(problem);
            if (d.empty()) return Work{};
            Launch launch{.kernel = "transpose_base",
                          .grid = {ceil_divide(d.width, config[BLOCK_X]),
                                   std::min(ceil_divide(d.height, config[BLOCK_Y]), grid_limit),
                                   std::min(d.batch, grid_limit)},
                          .block = {config[BLOCK_X], config[BLOCK_Y], 1},
                          .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, d.batch, d.height, d.width,
                                        d.input_pitch, d.output_pitch}};
            return Work{.steps = {launch}};
          },
      .alignment_bytes = [](const Problem& problem,
                            const Config&) { return std::min<std::int64_t>(bytes(dtype_of(problem)), 8); }};
}

// The elements of the widest vector that the size and the pitch of rows are multiples of.
std::int64_t widest_vector(std::int64_t element_bytes, std::int64_t length, std::int64_t pitch) {
  std::int64_t widest = 16 / element_bytes;
  while (length % widest != 0 || pitch % widest != 0) widest /= 2;
  return widest;
}

const char* const load_what = "no_allocate: loads pass by the first-level cache";
const char* const store_what = "streaming: what is stored may leave the caches first";

// ---- tiled

std::int64_t tiled_threads(const Config& c) {
  return c[TILE_X] * c[TILE_Y] / (c[VECTOR_IN] * c[TURN] * c[ROWS]);
}

Space tiled_space(const Problem& problem) {
  const Dims d(problem);
  const std::int64_t element = bytes(dtype_of(problem));
  std::vector<Value> vectors;  // widest first: the default is the best that the sizes allow
  for (std::int64_t vector = 16 / element; vector >= 1; vector /= 2) vectors.emplace_back(vector);
  // Cells of a whole vector first, but of 4 bytes where elements are small: more take many registers.
  std::vector<Value> turns = vectors;
  if (element <= 2) std::rotate(turns.begin(), turns.begin() + 2, turns.end());
  std::vector<Axis> axes = {
      {VECTOR_IN, vectors, "elements of a load"},
      {VECTOR_OUT, vectors, "elements of a store"},
      {TURN, turns, "input rows that a thread turns in registers"},
      {TILE_X, {64, 32, 128, 256}, "columns of a tile of the input"},
      {TILE_Y, {64, 32, 128, 256}, "rows of a tile of the input"},
      {ROWS, {1, 2, 4, 8, 16}, "groups of TURN rows that a thread moves"},
      {TILES, {1, 2, 4}, "tiles of a block, each loaded while the one before is stored"},
      {SMEM_LAYOUT, words({"padded", "swizzled", "flat"}), "how the tile avoids bank conflicts, or not"},
      {BLOCK_ORDER, words({"row", "column", "banded", "diagonal"}),
       "in which order blocks take the input's tiles; banded: 8 rows of tiles, column by column"},
      {LOAD, words({"plain", "no_allocate"}), load_what},
      {STORE, words({"plain", "streaming"}), store_what},
      {START, words({"plain", "overlapped"}), "whether the kernel may start while the one before it runs"},
      {RESIDENT_WARPS,
       {32, 48},
       "warps that a multiprocessor must have room for; bounds a thread's registers"},
  };
  std::vector<Rule> rules = {
      {"VECTOR_IN must divide the width and the input's pitch.",
       [=](const Config& c) { return d.width % c[VECTOR_IN] == 0 && d.input_pitch % c[VECTOR_IN] == 0; }},
      {"VECTOR_OUT must divide the height and the output's pitch.",
       [=](const Config& c) { return d.height % c[VECTOR_OUT] == 0 && d.output_pitch % c[VECTOR_OUT] == 0; }},
      {"Both sides move single elements, or each as many bytes as its sizes allow or half of that, but 4 at "
       "least if they can.",
       [=](const Config& c) {
         const std::int64_t in = c[VECTOR_IN], out = c[VECTOR_OUT];
         const auto wide = [&](std::int64_t vector, std::int64_t length, std::int64_t pitch) {
           const std::int64_t widest = widest_vector(element, length, pitch);
           return 2 * vector >= widest && (vector * element >= 4 || widest * element < 4 || vector == widest);
         };
         return (in == 1 && out == 1) ||
                (wide(in, d.width, d.input_pitch) && wide(out, d.height, d.output_pitch));
       }},
      {"What is turned goes into shared memory as a vector of the output or a part of it, of 4 bytes at "
       "least "
       "where the vector has them.",
       [=](const Config& c) {
         const std::int64_t out = c[VECTOR_OUT], turn = c[TURN];
         return turn == out || (turn < out && turn * element >= 4);
       }},
      {"A thread has at most 16 loads under way and holds 16 to 128 bytes, of elements of 1 and 2 bytes 64: "
       "with more it spills, with less too little is in flight.",
       [=](const Config& c) {
         const std::int64_t loads = c[TURN] * c[ROWS];
         const std::int64_t held = loads * c[VECTOR_IN] * element;
         return loads <= 16 && held >= 16 && held <= (element <= 2 ? 64 : 128);
       }},
      {"A tile holds 4 to 32 KiB, or is 32 x 32 of small elements up to 64 x 64.",
       [=](const Config& c) {
         const std::int64_t tile = c[TILE_X] * c[TILE_Y];
         return tile * element <= 32768 && (tile * element >= 4096 || tile >= 4096);
       }},
      {"A tile is at most four times as long as wide.",
       [](const Config& c) { return c[TILE_X] <= 4 * c[TILE_Y] && c[TILE_Y] <= 4 * c[TILE_X]; }},
      {"A block has 64 to 512 threads.",
       [](const Config& c) { return tiled_threads(c) >= 64 && tiled_threads(c) <= 512; }},
      {"Several tiles a block are for at most 8 loads and 64 bytes a thread.",
       [=](const Config& c) {
         const std::int64_t loads = c[TURN] * c[ROWS];
         return c[TILES] == 1 || (loads <= 8 && loads * c[VECTOR_IN] * element <= 64);
       }},
      {"Flat tiles are for comparison: one a block, in the order of rows, without hints.",
       [](const Config& c) {
         return c[SMEM_LAYOUT] != "flat" || (c[TILES] == 1 && c[BLOCK_ORDER] == "row" && c[LOAD] == "plain" &&
                                             c[STORE] == "plain" && c[START] == "plain");
       }},
      {"Swizzled tiles go one a block and without hints, in the order of rows or columns.",
       [](const Config& c) {
         return c[SMEM_LAYOUT] != "swizzled" || (c[TILES] == 1 && c[LOAD] == "plain" && c[STORE] == "plain" &&
                                                 (c[BLOCK_ORDER] == "row" || c[BLOCK_ORDER] == "column"));
       }},
      {"Diagonals go one tile a block and without hints.",
       [](const Config& c) {
         return c[BLOCK_ORDER] != "diagonal" || (c[TILES] == 1 && c[LOAD] == "plain" && c[STORE] == "plain");
       }},
      {"Loads have a hint where stores have one.",
       [](const Config& c) { return c[LOAD] == "plain" || c[STORE] == "streaming"; }},
      {"Starting early is for small problems: one tile a block in the order of rows, without hints.",
       [](const Config& c) {
         return c[START] == "plain" ||
                (c[TILES] == 1 && c[BLOCK_ORDER] == "row" && c[LOAD] == "plain" && c[STORE] == "plain");
       }},
      {"Room for 48 warps leaves registers for one padded tile a block, in the order of rows, and 64 bytes a "
       "thread, not of single bytes.",
       [=](const Config& c) {
         return c[RESIDENT_WARPS] == 32 ||
                (element > 1 && c[TILES] == 1 && c[SMEM_LAYOUT] == "padded" && c[BLOCK_ORDER] == "row" &&
                 c[VECTOR_IN] * c[TURN] * c[ROWS] * element <= 64);
       }},
  };
  return Space(std::move(axes), std::move(rules));
}

Template tiled() {
  return {.name = "tiled",
          .what = "Tiles through shared memory, turned in registers so that both sides move vectors.",
          .kernels = {"transpose_tiled"},
          .space = tiled_space,
          .work =
              [](const Problem& problem, const Config& config) {
                const Dims d(problem);
                if (d.empty()) return Work{};
                const std::int64_t tiles_x = ceil_divide(d.width, config[TILE_X]);
                const std::int64_t tiles_y = ceil_divide(d.height, config[TILE_Y]);
                Launch launch{
                    .kernel = "transpose_tiled",
                    .grid = {ceil_divide(tiles_x * tiles_y, config[TILES]), std::min(d.batch, grid_limit),
                             ceil_divide(d.batch, grid_limit)},
                    .block = {tiled_threads(config)},
                    .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, d.batch, d.height, d.width,
                                  d.input_pitch, d.output_pitch, static_cast<std::int32_t>(tiles_x),
                                  static_cast<std::int32_t>(tiles_y)},
                    .overlaps_previous = config[START] == "overlapped"};
                return Work{.steps = {launch}};
              },
          .alignment_bytes =
              [](const Problem& problem, const Config& config) {
                return std::max(config[VECTOR_IN], config[VECTOR_OUT]) * bytes(dtype_of(problem));
              }};
}

// ---- shifted

// Elements of a word: those of 1 and 2 bytes are moved as words of 4.
std::int64_t lanes_of(const Problem& problem) {
  return std::max<std::int64_t>(4 / bytes(dtype_of(problem)), 1);
}

std::int64_t shifted_threads(const Problem& problem, const Config& c) {
  const std::int64_t lanes = lanes_of(problem);
  return c[TILE_X] * c[TILE_Y] / (lanes * lanes * c[ROWS]);
}

Space shifted_space(const Problem& problem) {
  const std::int64_t element = bytes(dtype_of(problem)), lanes = lanes_of(problem);
  std::vector<Value> vectors;
  for (std::int64_t vector = 16 / element; vector >= lanes; vector /= 2) vectors.emplace_back(vector);
  std::vector<Axis> axes = {
      {VECTOR_OUT, vectors, "elements of a store"},
      {WINDOW, {32, 64, 16}, "bytes in memory of which the beginning of a block's stretch is a multiple"},
      {TILE_X, {64, 32, 128, 256}, "columns of a tile of the input"},
      {TILE_Y, {64, 32, 128, 256}, "rows of a tile of the input"},
      {ROWS, {16, 8, 4, 2, 1}, "words that a thread loads, or squares of elements where a word holds some"},
      {BLOCK_ORDER, words({"row", "column", "banded"}),
       "in which order blocks take the input's tiles; banded: 8 rows of tiles, column by column"},
      {LOAD, words({"plain", "no_allocate"}), load_what},
      {STORE, words({"plain", "streaming"}), store_what},
      {START, words({"plain", "overlapped"}), "whether the kernel may start while the one before it runs"},
      {RESIDENT_WARPS,
       {32, 48},
       "warps that a multiprocessor must have room for; bounds a thread's registers"},
  };
  std::vector<Rule> rules = {
      {"A tile is at least four windows high.",
       [=](const Config& c) { return 4 * c[WINDOW] <= c[TILE_Y] * element; }},
      {"A tile holds 4 to 32 KiB and is at most four times as long as wide.",
       [=](const Config& c) {
         const std::int64_t x = c[TILE_X], y = c[TILE_Y];
         return x * y * element <= 32768 && x * y * element >= 4096 && x <= 4 * y && y <= 4 * x;
       }},
      {"A thread holds 16 to 64 bytes, or 128 of elements of 8.",
       [=](const Config& c) {
         const std::int64_t held = c[ROWS] * lanes * lanes * element;
         return held >= 16 && held <= (element == 8 ? 128 : 64);
       }},
      {"Room for 48 warps leaves registers for 32 bytes a thread, of elements of 4 bytes at least.",
       [=](const Config& c) { return c[RESIDENT_WARPS] == 32 || (lanes == 1 && c[ROWS] * element <= 32); }},
      {"A block has 64 to 512 threads, at least one for each word of a row.",
       [=](const Config& c) {
         const std::int64_t threads = shifted_threads(problem, c);
         return threads >= 64 && threads <= 512 && threads * lanes >= c[TILE_X];
       }},
      {"Two aligned words that give one come from the first-level cache.",
       [=](const Config& c) { return lanes == 1 || c[LOAD] == "plain"; }},
      {"Starting early is for small problems: in the order of rows, without hints.",
       [](const Config& c) {
         return c[START] == "plain" || (c[BLOCK_ORDER] == "row" && c[LOAD] == "plain" && c[STORE] == "plain");
       }},
  };
  return Space(std::move(axes), std::move(rules));
}

Template shifted() {
  return {
      .name = "shifted",
      .what =
          "Tiles through shared memory for rows that begin anywhere: whole sectors are written "
          "nevertheless.",
      .kernels = {"transpose_shifted"},
      .refuses = [](const Problem& problem) -> std::string {
        return bytes(dtype_of(problem)) < 16
                   ? ""
                   : "Elements of 16 bytes need no shifting; take another template.";
      },
      .space = shifted_space,
      .work =
          [](const Problem& problem, const Config& config) {
            const Dims d(problem);
            if (d.empty()) return Work{};
            // A stretch ends up to a window before its tile's end.
            const std::int64_t before = config[WINDOW] / bytes(dtype_of(problem)) - 1;
            const std::int64_t tiles_x = ceil_divide(d.width, config[TILE_X]);
            const std::int64_t tiles_y = ceil_divide(d.height + before, config[TILE_Y]);
            Launch launch{
                .kernel = "transpose_shifted",
                .grid = {tiles_x * tiles_y, std::min(d.batch, grid_limit), ceil_divide(d.batch, grid_limit)},
                .block = {shifted_threads(problem, config)},
                .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, d.batch, d.height, d.width,
                              d.input_pitch, d.output_pitch, static_cast<std::int32_t>(tiles_x),
                              static_cast<std::int32_t>(tiles_y)},
                .overlaps_previous = config[START] == "overlapped"};
            return Work{.steps = {launch}};
          }};
}

}  // namespace

Op ops_transpose() {
  constexpr std::int64_t side = (std::int64_t{1} << 31) - 1024;
  return {
      .name = "transpose",
      .what = "output[b, x, y] = input[b, y, x], bit by bit, out of place.",
      .parameters =
          {{.name = "batch", .what = "matrices", .minimum = 0, .maximum = side, .initial = Value(1)},
           {.name = "height", .what = "rows of the input", .minimum = 0, .maximum = side},
           {.name = "width", .what = "columns of the input", .minimum = 0, .maximum = side},
           {.name = "input_pitch",
            .what = "elements from row to row of the input, 0: width",
            .minimum = 0,
            .maximum = side,
            .initial = Value(0)},
           {.name = "output_pitch",
            .what = "elements from row to row of the output, 0: height",
            .minimum = 0,
            .maximum = side,
            .initial = Value(0)},
           {.name = "dtype",
            .what = "bits of an element, whatever they mean",
            .words = {"b8", "b16", "b32", "b64", "b128"},
            .initial = "b32"}},
      .check = check,
      .arguments = {{.name = "input",
                     .role = Role::input,
                     .extents =
                         [](const Problem& problem) {
                           const Dims d(problem);
                           return std::vector{d.batch, d.height, d.input_pitch * parts(problem)};
                         },
                     .dtype = checked_as},
                    {.name = "output",
                     .role = Role::output,
                     .extents =
                         [](const Problem& problem) {
                           const Dims d(problem);
                           return std::vector{d.batch, d.width, d.output_pitch * parts(problem)};
                         },
                     .dtype = checked_as}},
      .templates = {base(), tiled(), shifted()},
      .reference = reference,
      .flops = [](const Problem&) { return 0.0; },
      .bytes_moved =
          [](const Problem& problem) {
            const Dims d(problem);
            return 2.0 * static_cast<double>(bytes(dtype_of(problem))) * static_cast<double>(d.batch) *
                   static_cast<double>(d.height) * static_cast<double>(d.width);
          },
      .companions =
          [](const Problem& problem) {
            static constexpr std::int64_t sizes[][5] = {
                {137, 53, 2, 0, 0},  {1, 1, 1, 0, 0},       {80, 144, 2, 0, 0},
                {1, 67, 1, 0, 0},    {45, 1, 1, 0, 48},     {16, 32, 3, 48, 64},
                {272, 16, 1, 17, 0}, {64, 128, 1, 160, 80}, {5, 0, 1, 3, 0}};
            std::vector<Problem> found;
            for (const auto& [height, width, batch, input_pitch, output_pitch] : sizes) {
              Problem other = problem;
              other.set("height", height);
              other.set("width", width);
              other.set("batch", batch);
              other.set("input_pitch", input_pitch);
              other.set("output_pitch", output_pitch);
              found.push_back(std::move(other));
            }
            return found;
          },
      // Which vectors the rows allow says more of two problems than their sizes do; a pitch says nothing
      // else.
      .sizes =
          [](const Problem& problem) {
            const Dims d(problem);
            const std::int64_t element = bytes(dtype_of(problem));
            return Values{{"batch", d.batch},
                          {"height", d.height},
                          {"width", d.width},
                          {"input_vector", widest_vector(element, d.width, d.input_pitch)},
                          {"output_vector", widest_vector(element, d.height, d.output_pitch)}};
          },
      .examples = {"height=160 width=288", "height=67 width=131 batch=2 dtype=b8",
                   "height=272 width=144 dtype=b8", "height=136 width=272 batch=2 dtype=b16",
                   "height=300 width=77 dtype=b16", "height=100 width=60 input_pitch=64 output_pitch=128",
                   "height=133 width=70 dtype=b64", "height=0 width=5"},
      .large_examples = {"height=46349 width=46351 dtype=b8", "height=49152 width=46080 dtype=b8"},
  };
}

}  // namespace tunesmith

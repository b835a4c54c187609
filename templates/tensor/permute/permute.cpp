// SPDX-License-Identifier: Apache-2.0
// The template `permute`: permutations of one array, with a function of each element. Boxes of elements pass
// through shared memory.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "generator/rates.h"
#include "templates/shared_layout.h"
#include "templates/tensor/op.h"

namespace tunesmith::tensor_op {
namespace {

#include "templates/tensor/permute/permute_layout.inl"
static_assert(most_box_dimensions == most_indices);

constexpr CategoricalAxis STAGING("STAGING"), BLOCK_ORDER("BLOCK_ORDER");
constexpr IntegerAxis TILE_IN("TILE_IN"), TILE_OUT("TILE_OUT"), VECTOR_IN("VECTOR_IN"),
    VECTOR_OUT("VECTOR_OUT"), LEAST("LEAST"), PAD("PAD");

struct Sides {
  Nest nest;
  Permutation moves;
  std::int64_t input_elements;
  const View& input() const { return nest.inputs.front(); }
};

Sides sides_of(const Problem& problem) {
  Sides sides = {fused(nest_of(problem)), {}, 0};
  Permutation& p = sides.moves;
  p.rank = static_cast<int>(sides.nest.rank());
  p.input_bytes = static_cast<int>(bytes(dtype_of(problem)));
  p.output_bytes = static_cast<int>(bytes(out_dtype(problem)));
  p.input_start = sides.input().start;
  p.output_start = sides.nest.output.start;
  std::copy(sides.nest.extents.begin(), sides.nest.extents.end(), p.extents);
  const auto set = [&](const View& view, long long* strides, int* order) {
    std::copy(view.strides.begin(), view.strides.end(), strides);
    std::iota(order, order + p.rank, 0);
    // Dimensions that do not move come last.
    const auto step = [&](int d) {
      return strides[d] == 0 ? std::numeric_limits<long long>::max() : std::abs(strides[d]);
    };
    std::stable_sort(order, order + p.rank, [&](int a, int b) { return step(a) < step(b); });
  };
  set(sides.input(), p.input_strides, p.input_order);
  set(sides.nest.output, p.output_strides, p.output_order);
  sides.input_elements = memory(array_layout(problem, sides.input().array)).value();
  return sides;
}

// The axes that a block's work depends on.
struct Choice {
  std::int64_t tile_in, tile_out, least, vector_in, vector_out, pad, block;
  bool staged = true, copied = false;
};
Choice choice_of(const Config& c) {
  return {c[TILE_IN],           c[TILE_OUT],          c[LEAST], c[VECTOR_IN], c[VECTOR_OUT], c[PAD], c[BLOCK],
          c[STAGING] != "none", c[STAGING] == "async"};
}

// The work of a block, as the kernel computes it.
struct BlockWork {
  Box box;
  Rows in, out;
  Shares loads, stores;
  Series series;
  Places places;
};

BlockWork block_work(const Permutation& p, const Choice& c) {
  BlockWork made = {};
  const int most = c.staged ? p.rank : 1;
  made.box = box_of(p, c.tile_in, c.tile_out, c.least);
  made.in = rows_of(p, made.box, true, c.vector_in, most, c.pad > 0 ? padded_dimension(p) : -1);
  made.out = rows_of(p, made.box, false, c.vector_out, most, -1);
  made.loads = shares_of(made.in, c.block);
  made.stores = shares_of(made.out, c.block);
  made.series = series_of(p, made.box, made.out, c.vector_out, c.block);
  if (c.staged && stores_series(p))
    made.stores = {false, 0, made.series.passes};
  else
    made.series.dimension = -1;
  made.places = places_of(p, made.box, made.in, c.vector_in, c.pad);
  return made;
}

bool has_room(const Permutation& p, const Choice& c, const BlockWork& work) {
  return !c.staged || work.places.all * p.input_bytes <= static_shared_limit;
}

bool is_short(const Permutation& p, const Choice& c, const BlockWork& work) {
  const std::int64_t held = c.copied   ? 0
                            : c.staged ? work.loads.passes * c.vector_in
                                       : work.stores.passes * c.vector_out;
  return held * p.input_bytes <= 256 && work.stores.passes <= 32 && (!c.staged || work.loads.passes <= 32);
}

// True if a vector that is read is put into shared memory in pieces of words.
bool puts_words(const Permutation& p, const Choice& c, const BlockWork& work) {
  const std::int64_t piece = work.places.piece;
  return piece == c.vector_in || (work.in.whole && piece * p.input_bytes % 4 == 0);
}
bool may_copy(const Permutation& p, const Choice& c, const BlockWork& work) {
  const std::int64_t bytes = work.places.piece * p.input_bytes;
  return puts_words(p, c, work) && bytes >= 4 && bytes <= 16;
}

std::int64_t blocks_of(const Permutation& p, const Box& box) {
  std::int64_t blocks = 1;
  for (int d = 0; d < p.rank; ++d) blocks *= ceil_divide(p.extents[d], box.tiles[d]);
  return blocks;
}

bool is_contiguous(const Permutation& p, bool reads) {
  return (reads ? p.input_strides[p.input_order[0]] : p.output_strides[p.output_order[0]]) == 1;
}

// The elements of a load or a store if nothing else is chosen: the number at whose multiples rows begin, but
// at least a word of four bytes, even where rows begin anywhere.
std::int64_t usual_vector(const Permutation& p, bool reads) {
  if (!is_contiguous(p, reads)) return 1;
  const std::int64_t word = std::max<std::int64_t>(4 / bytes_of(p, reads), 1);
  return std::max<std::int64_t>(std::min<std::int64_t>(grain_of(p, reads), 16 / bytes_of(p, reads)), word);
}

std::vector<Value> vectors(const Permutation& p, bool reads) {
  const std::int64_t usual = usual_vector(p, reads);
  std::vector<Value> values = {usual};
  if (!is_contiguous(p, reads)) return values;
  for (std::int64_t vector = 16 / bytes_of(p, reads); vector >= 1; vector /= 2)
    if (vector != usual) values.emplace_back(vector);
  return values;
}

// The widest vectors that lie in both arrays in one piece.
std::int64_t common_vector(const Permutation& p) {
  if (p.input_order[0] != p.output_order[0] || !is_contiguous(p, true) || !is_contiguous(p, false)) return 1;
  std::int64_t widest = 16 / std::max(p.input_bytes, p.output_bytes);
  widest = std::min<std::int64_t>({widest, grain_of(p, true), grain_of(p, false)});
  while (p.extents[p.input_order[0]] % widest != 0) widest /= 2;
  return widest;
}

Space space(const Problem& problem) {
  const Permutation p = sides_of(problem).moves;
  const std::int64_t in = usual_vector(p, true), out = usual_vector(p, false), common = common_vector(p);
  const bool same_side = p.input_order[0] == p.output_order[0];
  std::vector<Axis> axes = {
      {STAGING, categories({"shared", "none", "async"}),
       "whether a box is turned in shared memory; async: it comes there by asynchronous copies"},
      {TILE_IN, {64, 32, 16, 128, 256, 512}, "elements that a block reads one behind the other, about"},
      {TILE_OUT, {64, 32, 16, 128, 256, 512}, "elements that a block writes one behind the other, about"},
      {LEAST, {2048, 1024, 512, 4096, 8192, 16384}, "elements of a box, about, where those are fewer"},
      {VECTOR_IN, vectors(p, true), "elements of a load"},
      {VECTOR_OUT, vectors(p, false), "elements of a store"},
      {PAD, {1, 0, 2, 4}, "elements between rows in shared memory, against bank conflicts"},
      block_axis({256, 128, 512}),
      {BLOCK_ORDER, categories({"output", "input"}), "whose neighbouring boxes neighbouring blocks take"},
      load_axis({"plain", "no_allocate"}),
      store_axis(),
      start_axis(),
      trigger_axis(),
  };
  return Space(
      std::move(axes),
      {{"A box with its padding is at most 48 KiB, the limit of static shared memory.",
        [=](const Config& c) {
          const Choice choice = choice_of(c);
          return has_room(p, choice, block_work(p, choice));
        }},
       {"A thread holds at most 256 bytes, in at most 32 loads and 32 stores.",
        [=](const Config& c) {
          const Choice choice = choice_of(c);
          return is_short(p, choice, block_work(p, choice));
        }},
       {"Without shared memory a load is a store: VECTOR_IN is VECTOR_OUT, and no wider than what is in one "
        "piece in both arrays.",
        [=](const Config& c) {
          return c[STAGING] != "none" || (c[VECTOR_IN] == c[VECTOR_OUT] && c[VECTOR_IN] <= common);
        }},
       conditional(
           PAD, 1,
           [is_padded = padded_dimension(p) >= 0](const Config& c) {
             return c[STAGING] != "none" && is_padded;
           },
           "Rows are padded only where a box is turned in shared memory."),
       {"An asynchronous copy moves 4, 8 or 16 bytes, and what it moves is in one piece in shared memory.",
        [=](const Config& c) {
          const Choice choice = choice_of(c);
          return !choice.copied || may_copy(p, choice, block_work(p, choice));
        }},
       conditional(
           LOAD, "plain", [](const Config& c) { return c[STAGING] != "async"; },
           "Asynchronous copies have no hint.")},
      {{"Loads and stores are as wide as rows are aligned, or half of that, but no less than a word.",
        [=](const Config& c) {
          return c[STAGING] == "none" ||
                 (2 * c[VECTOR_IN] >= in && 2 * c[VECTOR_OUT] >= out && c[VECTOR_IN] * p.input_bytes >= 4 &&
                  c[VECTOR_OUT] * p.output_bytes >= 4);
        }},
       {"Where the arrays are contiguous along different dimensions, boxes are turned in shared memory.",
        [=](const Config& c) { return same_side || c[STAGING] != "none"; }},
       {"A block has something to do for each thread.",
        [=](const Config& c) {
          const BlockWork work = block_work(p, choice_of(c));
          return work.in.count * work.in.slots >= c[BLOCK] && work.out.count * work.out.slots >= c[BLOCK];
        }},
       trigger_rule()},
      // Without shared memory one vector is read and written, as wide as lies in one piece here.
      [=](const Config& c) {
        if (c[STAGING] != "none") return Values();
        const std::int64_t width = std::min(c[VECTOR_IN], common);
        return Values{{std::string(VECTOR_IN.name), width}, {std::string(VECTOR_OUT.name), width}};
      });
}

Work work(const Problem& problem, const Config& config) {
  const Sides sides = sides_of(problem);
  if (sides.nest.outputs() == 0) return {};
  const Box box = block_work(sides.moves, choice_of(config)).box;
  return {
      .steps = {Launch{.kernel = "tensor_permute",
                       .grid = {blocks_of(sides.moves, box)},
                       .block = {config[BLOCK]},
                       .arguments = {ArgumentPointer{sides.input().array}, ArgumentPointer{output_argument}},
                       .overlaps_previous = config[START] == "overlapped"}}};
}

template <typename Number>
std::string constant(const std::string& type, const std::string& name, std::span<const Number> values) {
  std::string text =
      "__host__ __device__ constexpr " + type + " " + name + "(int n) {\n  const " + type + " all[] = {";
  for (std::size_t n = 0; n < values.size(); ++n) text += (n == 0 ? "" : ", ") + std::to_string(values[n]);
  return text + "};\n  return all[n];\n}\n";
}

std::string preamble(const Problem& problem) {
  const Sides sides = sides_of(problem);
  const language::Expression function = composed(expression_of(problem));
  const bool is_identity = function.nodes.size() == 1 && out_dtype(problem) == dtype_of(problem);
  const Permutation& p = sides.moves;
  const auto of = [&]<typename Number>(const Number(&all)[most_box_dimensions]) {
    return std::span<const Number>(all).first(static_cast<std::size_t>(p.rank));
  };
  std::string names;
  for (const std::string& name : sides.nest.names) names += (names.empty() ? "" : ", ") + name;
  return "// " + problem.string("expression") + "\n" + types_code(problem) +
         language::code(function, compute_dtype(problem)) +
         "constexpr bool IDENTITY = " + (is_identity ? "true" : "false") + ";\n// Dimensions: " + names +
         "\nconstexpr int RANK = " + std::to_string(sides.nest.rank()) +
         ";\nconstexpr long long input_start = " + std::to_string(sides.input().start) +
         ", output_start = " + std::to_string(sides.nest.output.start) +
         ",\n    input_elements = " + std::to_string(sides.input_elements) + ";\n" +
         constant("long long", "extent_of", of(p.extents)) +
         constant("long long", "input_stride_of", of(p.input_strides)) +
         constant("long long", "output_stride_of", of(p.output_strides)) + "// By rising stride.\n" +
         constant("int", "input_order_of", of(p.input_order)) +
         constant("int", "output_order_of", of(p.output_order));
}

std::string refuses(const Problem& problem) {
  const Expression& e = expression_of(problem);
  const Nest& nest = nest_of(problem);
  if (e.accesses.size() != 1 || nest.free < nest.rank())
    return "This template is for one access without sums, as in out[a,b] = x0[b,a].";
  if (nest.bounds() > 0) return "This template reads no element out of bounds; take another template.";
  if (nest.rank() == 0) return "This template is for arrays of more than one element.";
  if (nest.outputs() == 0) return "This template is for arrays with elements.";
  if (array_bytes(problem, nest.inputs[0].array) < 16 || array_bytes(problem, output_argument) < 16)
    return "This template is for arrays of 16 bytes or more, which are aligned; take another template.";
  return "";
}

// The rates of the two models by which configs are compared for a first guess, per multiprocessor: one of all
// blocks, and one of those that store series of rows.
struct ModelRates {
  double load, load_shifted, load_after_12, store, store_element, store_bound, store_bound_of_first,
      store_after_12, place, place_element, memory, wavefront, hidden, last_round, first_round, launch,
      series_load, series_load_shifted, series_load_after_12, series_put, series_put_word, series_place,
      series_place_dimension, series_element, series_element_crossing, series_element_bound, series_row,
      series_row_element, series_end, series_end_element, series_part_of_sector,
      series_part_of_sector_of_many, series_sector, series_wavefront, series_idle, series_last_round,
      series_first_round, series_launch;
};

ModelRates model_rates(const DeviceFacts& device) {
  const Rates& rates = rates_of("tensor", device);
  const auto of = [&](const char* name) { return rates.value("tensor", std::string("permute ") + name); };
  return {.load = of("load"),
          .load_shifted = of("load_shifted"),
          .load_after_12 = of("load_after_12"),
          .store = of("store"),
          .store_element = of("store_element"),
          .store_bound = of("store_bound"),
          .store_bound_of_first = of("store_bound_of_first"),
          .store_after_12 = of("store_after_12"),
          .place = of("place"),
          .place_element = of("place_element"),
          .memory = of("memory"),
          .wavefront = of("wavefront"),
          .hidden = of("hidden"),
          .last_round = of("last_round"),
          .first_round = of("first_round"),
          .launch = of("launch"),
          .series_load = of("series_load"),
          .series_load_shifted = of("series_load_shifted"),
          .series_load_after_12 = of("series_load_after_12"),
          .series_put = of("series_put"),
          .series_put_word = of("series_put_word"),
          .series_place = of("series_place"),
          .series_place_dimension = of("series_place_dimension"),
          .series_element = of("series_element"),
          .series_element_crossing = of("series_element_crossing"),
          .series_element_bound = of("series_element_bound"),
          .series_row = of("series_row"),
          .series_row_element = of("series_row_element"),
          .series_end = of("series_end"),
          .series_end_element = of("series_end_element"),
          .series_part_of_sector = of("series_part_of_sector"),
          .series_part_of_sector_of_many = of("series_part_of_sector_of_many"),
          .series_sector = of("series_sector"),
          .series_wavefront = of("series_wavefront"),
          .series_idle = of("series_idle"),
          .series_last_round = of("series_last_round"),
          .series_first_round = of("series_first_round"),
          .series_launch = of("series_launch")};
}

// The rough cost of a block on one multiprocessor.
struct Cost {
  double bytes = 0;         // of the sectors that are read and written
  double wavefronts = 0;    // of shared memory
  double instructions = 0;  // of warps
};

// The bytes that a warp's lanes touch in shared memory by one access.
class SharedAccess {
 public:
  void add(std::int64_t byte, std::int64_t bytes) {
    for (std::int64_t word = byte / 4; word <= (byte + bytes - 1) / 4; ++word)
      words_[used_++] = static_cast<std::int32_t>(word % 32 << 24 | word / 32);
  }
  // The most words in one bank: each takes a wavefront.
  double wavefronts() {
    const auto end = words_.begin() + static_cast<std::ptrdiff_t>(used_);
    std::sort(words_.begin(), end);
    int most = 0, here = 0;
    for (std::size_t n = 0; n < used_; ++n) {
      if (n > 0 && words_[n] == words_[n - 1]) continue;
      here = n > 0 && words_[n] >> 24 == words_[n - 1] >> 24 ? here + 1 : 1;
      most = std::max(most, here);
    }
    return most;
  }

 private:
  // A lane touches five words if its 16 bytes begin between words, and more where elements become shorter.
  std::array<std::int32_t, std::size_t{32} * 17> words_;
  std::size_t used_ = 0;
};

// The place of a thread's first vector, as in the kernel's spot_of().
struct Lane {
  std::int64_t place = 0;  // of its row in shared memory
  std::int64_t first = 0;  // in the row
  bool is_there = false;
};
Lane lane_of(const Permutation& p, const BlockWork& work, bool reads, std::int64_t vector,
             std::int64_t thread) {
  const Rows& rows = reads ? work.in : work.out;
  const Shares& shares = reads ? work.loads : work.stores;
  const bool in_series = !reads && stores_series(p) && work.series.dimension >= 0;
  std::int64_t row = thread / rows.slots;
  Lane lane = {.first = thread % rows.slots * vector,
               .is_there = row < rows.count && (!shares.steady || row < shares.rows)};
  const int* const order = reads ? p.input_order : p.output_order;
  const long long* const strides = reads ? p.input_strides : p.output_strides;
  std::int64_t at = reads ? p.input_start : p.output_start;
  const auto move = [&](int d, std::int64_t size) {
    const std::int64_t digit = row % size;
    row /= size;
    lane.place += digit * work.places.strides[d];
    at += digit * strides[d];
  };
  if (in_series) move(work.series.dimension, work.series.starts);
  for (int n = rows.dimensions; n < p.rank; ++n)
    if (!in_series || order[n] != work.series.dimension) move(order[n], work.box.tiles[order[n]]);
  if (rows.shifted) lane.first -= (at % vector + vector) % vector;
  return lane;
}

std::int64_t place_in_row(const Permutation& p, const BlockWork& work, std::int64_t element) {
  std::int64_t place = 0;
  for (int n = 0; n < work.out.dimensions; ++n) {
    const int d = p.output_order[n];
    const std::int64_t size = n + 1 < work.out.dimensions ? work.box.tiles[d] : element + 1;
    place += element % size * work.places.strides[d];
    element /= size;
  }
  return place;
}

// The wavefronts of the first warp's first load or store, which moves `piece` elements at once. The last
// piece of a vector stands for the others.
double wavefronts(const Permutation& p, const Choice& c, const BlockWork& work, bool reads,
                  std::int64_t piece) {
  const std::int64_t vector = reads ? c.vector_in : c.vector_out;
  const bool is_turned = !reads && piece == 1 && turns_vectors(p, work.box, work.places, vector);
  SharedAccess access;
  for (std::int64_t thread = 0; thread < 32; ++thread) {
    const Lane lane = lane_of(p, work, reads, vector, thread);
    const std::int64_t turns = is_turned ? thread * vector / 32 : 0;
    const std::int64_t element = std::max<std::int64_t>(lane.first + (vector - piece + turns) % vector, 0);
    if (!lane.is_there || element >= (reads ? work.in : work.out).elements) continue;
    const std::int64_t place = lane.place + (reads ? element : place_in_row(p, work, element));
    access.add(place * p.input_bytes, piece * p.input_bytes);
  }
  const std::int64_t pieces = vector / piece;
  return access.wavefronts() * static_cast<double>(pieces);
}

double sectors(const Permutation& p, const Rows& rows, bool reads) {
  const auto elements = static_cast<double>(rows.elements), count = static_cast<double>(rows.count);
  if (!is_contiguous(p, reads)) return elements * count;
  const double bytes = elements * bytes_of(p, reads);
  const auto grain = static_cast<double>(grain_of(p, reads) * bytes_of(p, reads));  // of the 32 of a sector
  return count * std::max(1.0, (bytes + 32 - grain) / 32);
}

// The mean number of rows that a thread writes per series.
double rows_of_series(const BlockWork& work) {
  const int d = work.series.dimension;
  return d < 0 ? 1 : static_cast<double>(work.box.tiles[d]) / static_cast<double>(work.series.starts);
}

double instructions(const ModelRates& rate, const Choice& c, const BlockWork& work, bool inner_divides,
                    bool gathers) {
  const auto each_pass = [](const Shares& shares, double instructions, double each_above_12) {
    const auto passes = static_cast<double>(shares.passes);
    return passes * (instructions + each_above_12 * std::max(passes - 12, 0.0));
  };
  const double load = rate.load + (work.in.shifted ? rate.load_shifted : 0);
  const std::int64_t warps = c.block / 32;
  const auto vector = static_cast<double>(c.vector_out), outer = static_cast<double>(work.out.dimensions - 1);
  double store = rate.store;
  if (c.staged && !gathers) store += rate.store_element * vector;
  if (!work.out.whole)
    store += vector * (rate.store_bound +
                       rate.store_bound_of_first * std::min(1.0, 64 / static_cast<double>(work.out.slots)));
  // Finding places in rows of several dimensions costs instructions.
  store += inner_divides ? rate.place * outer : rate.place_element * outer * vector;
  return static_cast<double>(warps) * (each_pass(work.loads, load, rate.load_after_12) +
                                       each_pass(work.stores, store, rate.store_after_12));
}

Cost cost_of(const ModelRates& rate, const Permutation& p, const Choice& c, const BlockWork& work) {
  const bool gathers = gathers_vectors(p, work.box, work.in, work.out, work.places, c.vector_out);
  const auto warps = static_cast<double>(c.block) / 32;
  const std::int64_t inner = work.box.tiles[p.output_order[0]];
  const std::int64_t put = puts_words(p, c, work) ? work.places.piece : 1;
  const bool crosses = work.out.shifted || inner % c.vector_out != 0;
  return {.bytes = 32 * (sectors(p, work.in, true) + sectors(p, work.out, false)),
          .wavefronts = warps * (static_cast<double>(work.loads.passes) * wavefronts(p, c, work, true, put) +
                                 static_cast<double>(work.stores.passes) *
                                     wavefronts(p, c, work, false, gathers ? c.vector_out : 1)),
          .instructions = instructions(rate, c, work, !crosses || inner + 1 >= c.vector_out, gathers)};
}

// The clocks of all blocks that store series of rows.
double series_clocks(const ModelRates& rate, const Permutation& p, const Choice& c, const BlockWork& work,
                     int multiprocessors) {
  const auto number = [](auto n) { return static_cast<double>(n); };
  const bool words = puts_words(p, c, work);
  const bool gathers = gathers_vectors(p, work.box, work.in, work.out, work.places, c.vector_out);
  const bool crosses = work.out.shifted || work.box.tiles[p.output_order[0]] % c.vector_out != 0;
  const double warps = number(c.block) / 32, loads = number(work.loads.passes), vector = number(c.vector_out);
  const double rows = rows_of_series(work);
  const double load = rate.series_load + (work.in.shifted ? rate.series_load_shifted : 0) +
                      (words ? rate.series_put_word * number(c.vector_in / work.places.piece)
                             : rate.series_put * number(c.vector_in)) +
                      (c.copied ? 0 : rate.series_load_after_12 * std::max(loads - 12, 0.0));
  const double places = rate.series_place + rate.series_place_dimension * number(work.out.dimensions - 1) +
                        vector * (rate.series_element + (crosses ? rate.series_element_crossing : 0) +
                                  (work.out.whole ? 0 : rate.series_element_bound));
  const double row = rate.series_row + (gathers ? 0 : rate.series_row_element * vector);
  const double instructions = loads * load + number(work.series.passes) * (places + rows * row);
  const double wavefronts_ =
      loads * wavefronts(p, c, work, true, words ? work.places.piece : 1) +
      number(work.series.passes) * rows * wavefronts(p, c, work, false, gathers ? c.vector_out : 1);
  // Rows' ends cost extra: elements that are stored alone, and sectors of which one block writes only a part.
  double outputs = number(p.output_bytes);
  for (int d = 0; d < p.rank; ++d) outputs *= number(p.extents[d]);
  const double in_part = 1 - number(grain_of(p, false) * p.output_bytes) / 32;
  const double end =
      (work.out.whole ? 0 : rate.series_end + rate.series_end_element * vector) +
      in_part * (outputs > 3e7 ? rate.series_part_of_sector_of_many : rate.series_part_of_sector);
  const double block = rate.series_sector * (sectors(p, work.in, true) + sectors(p, work.out, false)) +
                       warps * (instructions / 4 + rate.series_wavefront * wavefronts_) +
                       number(work.out.count) * end;
  const double held = c.copied ? 0 : loads * number(c.vector_in * p.input_bytes);
  const double rounds = number(blocks_of(p, work.box)) / multiprocessors;
  const double resident = std::min({32.0, (held > 128 ? 512 : 1024) / number(c.block),
                                    233472 / number(work.places.all * p.input_bytes + 1024), rounds});
  const double idle = 1 - std::min(resident * warps / 32, 1.0);
  return block * (1 + rate.series_idle * idle) *
             (std::max(rounds + rate.series_last_round * (std::ceil(rounds) - rounds), 1.0) +
              rate.series_first_round) +
         rate.series_launch;
}

// The clocks of all blocks.
double clocks(const ModelRates& rate, const Permutation& p, const Choice& c, const BlockWork& work,
              int multiprocessors) {
  if (c.staged && stores_series(p)) return series_clocks(rate, p, c, work, multiprocessors);
  const Cost cost = cost_of(rate, p, c, work);
  const double memory = cost.bytes / rate.memory, issue = cost.instructions / 4,
               shared = rate.wavefront * cost.wavefronts;
  const double longest = std::max({memory, issue, shared});
  const double block = longest + rate.hidden * (memory + issue + shared - longest);
  const double rounds = static_cast<double>(blocks_of(p, work.box)) / multiprocessors;
  return block * (std::max(rounds + rate.last_round * (std::ceil(rounds) - rounds), 1.0) + rate.first_round) +
         rate.launch;
}

std::optional<Values> untuned(const Problem& problem, const DeviceFacts& device) {
  const Permutation p = sides_of(problem).moves;
  const int multiprocessors = multiprocessors_to_fill(device);
  const ModelRates rate = model_rates(device);
  const Choice usual = {64, 64, 512, usual_vector(p, true), usual_vector(p, false), 1, 256};
  // Choices with their clocks; the best come first.
  struct Guess {
    double clocks;
    Choice choice;
    Box box;
  };
  std::vector<Guess> guesses;
  const auto consider = [&](const Choice& choice) {
    const BlockWork work = block_work(p, choice);
    if (!has_room(p, choice, work) || !is_short(p, choice, work)) return;
    if (choice.copied && !may_copy(p, choice, work)) return;
    guesses.push_back({clocks(rate, p, choice, work, multiprocessors), choice, work.box});
  };
  const auto sort = [&] {
    std::stable_sort(guesses.begin(), guesses.end(),
                     [](const Guess& a, const Guess& b) { return a.clocks < b.clocks; });
  };
  const std::int64_t common = common_vector(p);
  const bool may_be_direct = p.input_order[0] == p.output_order[0], in_series = stores_series(p);
  // The clocks of direct copies and of series come from different fits and cannot be compared.
  const bool stays_direct = in_series && common * p.input_bytes >= 8;
  for (const std::int64_t tile_in : {64, 32, 16, 128}) {
    for (const std::int64_t tile_out : {64, 32, 16, 128}) {
      for (const std::int64_t elements : {2048, 1024, 512, 4096, 8192, 16384}) {
        if (elements * p.input_bytes > 32768) continue;
        Choice choice = usual;
        choice.tile_in = tile_in;
        choice.tile_out = tile_out;
        choice.least = elements;
        if (!stays_direct) consider(choice);
        if (in_series && !stays_direct) {
          choice.copied = true;
          choice.pad = 0;
          consider(choice);
          choice.copied = false;
        }
        if (!may_be_direct) continue;
        choice.staged = false;
        choice.vector_in = choice.vector_out = common;
        choice.pad = 1;
        consider(choice);
      }
    }
  }
  sort();
  // Then the axes that leave the box as it is. Vectors are at least words.
  const auto is_same_box = [&](const Guess& a, const Guess& b) {
    return a.choice.staged == b.choice.staged && std::equal(a.box.tiles, a.box.tiles + p.rank, b.box.tiles);
  };
  std::vector<Guess> boxed;
  for (const Guess& guess : guesses) {
    if (boxed.size() == (in_series ? 3 : 1)) break;
    if (std::none_of(boxed.begin(), boxed.end(),
                     [&](const Guess& other) { return is_same_box(guess, other); }))
      boxed.push_back(guess);
  }
  for (const auto& [time, its, box] : boxed) {
    const auto widths = [&, &its = its](bool reads, std::int64_t vector) {
      std::vector<std::int64_t> all = {vector};
      for (std::int64_t width = 16 / bytes_of(p, reads);
           its.staged && is_contiguous(p, reads) && width * bytes_of(p, reads) >= 4; width /= 2)
        if (width != vector) all.push_back(width);
      return all;
    };
    for (const std::int64_t block : {256, 128, 512}) {
      for (const std::int64_t vector_in : widths(true, its.vector_in)) {
        for (const std::int64_t vector_out : widths(false, its.vector_out)) {
          for (const std::int64_t pad : {1, 0, 2, 4}) {
            if (pad != 1 && (!its.staged || padded_dimension(p) < 0)) continue;
            Choice choice = {its.tile_in, its.tile_out, its.least, vector_in,
                             vector_out,  pad,          block,     its.staged};
            consider(choice);
            choice.copied = its.staged && in_series;
            if (choice.copied) consider(choice);
          }
        }
      }
    }
  }
  sort();
  const Choice best = guesses.empty() ? usual : guesses.front().choice;
  Values values = {{"STAGING", !best.staged  ? "none"
                               : best.copied ? "async"
                                             : "shared"},
                   {"TILE_IN", best.tile_in},
                   {"TILE_OUT", best.tile_out},
                   {"LEAST", best.least},
                   {"VECTOR_IN", best.vector_in},
                   {"VECTOR_OUT", best.vector_out},
                   {"BLOCK", best.block},
                   {"START", "plain"}};
  if (best.staged && in_series) values.set("BLOCK_ORDER", "input");
  if (best.staged && padded_dimension(p) >= 0) values.set("PAD", best.pad);
  return values;
}

}  // namespace

Template permute() {
  return {
      .name = "permute",
      .room = "permute/",
      .what = "A block takes a box, reads it as the input lies in memory, and writes it as the output does.",
      .kernels = {"tensor_permute"},
      .compiled_in = {"expression", "dtype", "extents", "finish", "out_dtype", "x0", "out"},
      .preamble = preamble,
      .refuses = refuses,
      .untuned = untuned,
      .space = space,
      .work = work,
      .alignment_bytes = [](const Problem& problem, const Config& c) {
        return std::max(c[VECTOR_IN] * bytes(dtype_of(problem)), c[VECTOR_OUT] * bytes(out_dtype(problem)));
      }};
}

}  // namespace tunesmith::tensor_op

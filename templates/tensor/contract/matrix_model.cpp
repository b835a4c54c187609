// SPDX-License-Identifier: Apache-2.0
#include "templates/tensor/contract/matrix_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "templates/tensor/contract/width_table.h"

namespace tunesmith::tensor_op::contraction {
namespace {

// A tile and what a thread has of it, multiplied by warps or by warpgroups.
struct MatrixShape {
  std::int64_t tile_m, tile_n, thread_m, thread_n;
  bool warpgroups;
};
constexpr auto matrix_shapes = std::to_array<MatrixShape>({{128, 256, 2, 64, true},
                                                           {128, 128, 2, 32, true},
                                                           {64, 128, 2, 32, true},
                                                           {128, 64, 2, 16, true},
                                                           {128, 32, 2, 8, true},
                                                           {64, 32, 2, 8, true},
                                                           {64, 64, 2, 16, true},
                                                           {128, 128, 8, 16, false},
                                                           {64, 64, 4, 8, false},
                                                           {32, 64, 4, 8, false},
                                                           {64, 32, 4, 8, false},
                                                           {128, 32, 4, 8, false},
                                                           {32, 32, 4, 8, false},
                                                           {16, 64, 2, 8, false},
                                                           {16, 128, 2, 16, false},
                                                           {16, 128, 2, 8, false}});

constexpr auto halves_shapes = std::to_array<MatrixShape>({{128, 256, 2, 64, true},
                                                           {256, 128, 4, 32, true},
                                                           {128, 128, 2, 32, true},
                                                           {64, 128, 2, 32, true},
                                                           {128, 64, 2, 16, true},
                                                           {64, 64, 2, 16, true}});

// The rates of the model below (generated/*.rates.csv), in clocks and in bytes per clock of a multiprocessor.
struct MatrixRates {
  explicit MatrixRates(const Rates& rates);
  // Clocks of a warp's access, for all warps of a multiprocessor and for a warp alone.
  struct Access {
    double clocks, alone;
  };
  double launch;           // that splits or packs
  double latency, alone;   // of a load that many blocks wait for; of one that is waited for alone
  double product_latency;  // until a product's sums are there
  double block;            // the beginning and the end of a block
  double last, adding;     // the turn of the last block of a tile; a launch that adds parts
  double halves_wait;      // of a warpgroup, until it may add products of halves to its sums
  double operands, memory, packed,
      split;                           // bytes in memory: operands, outputs, what is packed, what is split
  double cache, shared, turned;        // bytes from the second-level cache, of shared memory, that are turned
  double warpgroup_chain, warp_chain;  // of product_latency, which a step waits for
  double halves_step;                  // of the clocks of multiplying
  double ordinary;                     // the part of their rate that multiplications of floats reach
  double tile_end, stored;     // of a block that stays: clocks between two tiles, and bytes that it stores
  double boxes, boxes_out;     // bytes that come as boxes, and that all blocks store so
  double maps;                 // until a block has its tensor maps
  Access wide_copy, copy;      // an asynchronous copy of 16 bytes, a shorter one
  Access single_load, pieces;  // a load of single elements, a vector from pieces
};

MatrixRates::MatrixRates(const Rates& rates) {
  const auto of = [&](const std::string& name) { return rates.value("tensor", name); };
  const auto access = [&](const std::string& name) { return Access{of(name), of(name + "_alone")}; };
  launch = of("launch");
  latency = of("latency");
  alone = of("alone");
  product_latency = of("product_latency");
  block = of("block");
  last = of("last");
  adding = of("adding");
  halves_wait = of("halves_wait");
  operands = of("operands");
  memory = of("memory");
  packed = of("packed");
  split = of("split");
  cache = of("cache");
  shared = of("shared");
  turned = of("turned");
  warpgroup_chain = of("warpgroup_chain");
  warp_chain = of("warp_chain");
  halves_step = of("halves_step");
  ordinary = of("ordinary");
  tile_end = of("tile_end");
  stored = of("stored");
  maps = of("maps");
  boxes = of("boxes");
  boxes_out = of("boxes_out");
  wide_copy = access("wide_copy");
  copy = access("copy");
  single_load = access("single_load");
  pieces = access("pieces");
}

// The first guess for matrix units: the tile, packing and parts of K that need the fewest clocks by a model
// of multiplications, of bytes that fill and leave shared memory, of what a block alone waits for, and of
// storing, packing and adding parts.
class MatrixModel {
 public:
  MatrixModel(const Problem& problem, const Groups& groups, const DeviceFacts& device, const Rates& rates)
      : problem_(problem),
        device_(device),
        rates_(rates),
        widths_(problem, groups),
        has_warpgroups_(has_warpgroups(problem, device)),
        stores_rows_(stores_rows(groups)),
        has_pieces_(has_pieces(problem, groups)),
        has_boxes_out_(has_boxes_out(groups)),
        boxes_(boxes_by_packs(problem, groups, device)),
        least_parts_(least_parts(problem, groups)),
        m_(size_of(groups.m)),
        n_(size_of(groups.n)),
        k_(size_of(groups.k)),
        batch_(size_of(groups.batch)) {
    for (std::size_t pack = 1; pack < number_of_packs; ++pack) {
      const auto packs = static_cast<Packs>(pack);
      if (packs == Packs::channels && windowed_operand(groups) < 0) continue;
      const PackedGroups its = packed(problem, groups, packs, true);
      const std::int64_t elements = its.first.elements + its.second.elements;
      const auto moved = static_cast<double>(2 * elements * bytes(dtype_of(problem)));
      pack_clocks_.at(pack) = moved / rates_.packed / multiprocessors() + rates_.launch;
    }
  }

  // Nothing if no shape is legal.
  std::optional<Values> best(const Values& way) {
    const bool is_open = way.empty(), takes_boxes = way.has(LOAD_BY.name);
    for (const MatrixShape& shape : matrix_shapes) {
      if (shape.warpgroups && !has_warpgroups_) continue;
      if (!is_open && shape.warpgroups != (way.string(UNIT.name) == "wgmma")) continue;
      for (std::size_t pack = 0; pack < number_of_packs && !takes_boxes; ++pack)
        for (const bool second : {false, true})
          for (const std::int64_t stages : {4, 3, 1})
            for (const bool in_pieces : {false, true})
              consider(shape, static_cast<Packs>(pack), second, stages, in_pieces);
      if (!shape.warpgroups || !(is_open || takes_boxes)) continue;
      for (std::size_t pack = 0; pack < number_of_packs; ++pack)
        for (const std::int64_t stages : {8, 6, 4, 3, 2})
          if (boxes_.at(pack)) consider_boxes(shape, static_cast<Packs>(pack), stages);
    }
    return best_;
  }

  // The clocks of a config that multiplies by a unit of the model.
  std::optional<double> clocks(const Config& c) const {
    const bool by_halves = swizzles_halves(c);
    if (!by_halves && !uses_warpgroups(c) && c[UNIT] != "mma") return std::nullopt;
    Way way = {.unit = c[UNIT],
               .shape = {c[TILE_M], c[TILE_N], c[THREAD_M], c[THREAD_N], by_halves || uses_warpgroups(c)},
               .packs = packs_of(c),
               .second = c[ORDER_K] == "second",
               .load_by = choice<LoadBy>(c, LOAD_BY),
               .tile_k = c[TILE_K],
               .stages = c[STAGES],
               .warps = c[RESIDENT_WARPS],
               .out_by = c[OUT_BY]};
    way = by_halves        ? with_clocks_of_halves(way)
          : loads_boxes(c) ? with_clocks_of_boxes(way)
                           : with_clocks(way);
    return clocks_of(way, parts_of(k_, c[SPLIT], way.tile_k, least_parts_), c[ADD_BY] == "last");
  }

  // The same for floats by halves, or by one of two; with `clocks` of ordinary multiplications only if that
  // takes less time.
  std::optional<Values> best_halves(std::string_view unit, std::optional<double> clocks) {
    const bool one_half = unit == "wgmma_half";
    if (!one_half && !are_enough_for_halves(k_, 64)) return std::nullopt;
    for (const MatrixShape& shape : halves_shapes)
      for (const bool second : {false, true})
        for (const std::int64_t stages : {2, 3, 4})
          if (stages > 2 || !one_half) consider_halves(unit, shape, second, stages);
    if (!clocks) return best_;
    const double out_bytes = static_cast<double>(m_) * static_cast<double>(n_ * batch_) *
                             static_cast<double>(bytes(out_dtype(problem_)));
    const double ordinary = *clocks / rates_.ordinary + out_bytes / rates_.memory / multiprocessors();
    return best_ && least_ + rates_.launch < ordinary ? best_ : std::nullopt;
  }

 private:
  static constexpr std::int64_t other_bytes = 4096,
                                most_other_bytes = 17408;  // of shared memory, of tables
  double multiprocessors() const { return static_cast<double>(multiprocessors_to_fill(device_)); }

  // A way to multiply a tile: the clocks of a step of many blocks, and of a block that is alone.
  struct Way {
    std::string_view unit;
    MatrixShape shape;
    Packs packs;
    bool second;
    LoadBy load_by;
    std::int64_t tile_k, stages, warps;
    std::string_view out_by = "registers";
    std::int64_t resident = 0;
    double step = 0, alone = 0, before = 0;  // clocks; of the launches before
  };

  bool counts(Packs packs, bool second, const WidthTable::Widths& widths) const {
    return widths.out > 0 && (!second || (packs == Packs::none && (widths.a_along_k || widths.b_along_k)));
  }

  void consider(const MatrixShape& shape, Packs packs, bool second, std::int64_t stages, bool in_pieces) {
    if (packs != Packs::channels && nest_of(problem_).bounds() > 0) return;
    WidthTable::Widths widths = widths_.of(packs, second);
    if (!counts(packs, second, widths)) return;
    const std::int64_t element = bytes(dtype_of(problem_));
    const bool asynchronous = stages > 1;
    if (in_pieces) {
      if (!has_pieces_ || packs != Packs::none || asynchronous || std::min(widths.a, widths.b) == 8) return;
      widths.a = widths.b = 8;
    } else if (asynchronous != (std::min(widths.a, widths.b) * element >= 4) ||
               (has_pieces_ && !asynchronous)) {
      return;
    }
    if (shape.warpgroups && shape.tile_n % 64 != 0 && !widths.b_along_k) return;  // it is turned
    if (shape.warpgroups && has_bytes(problem_) && !(widths.a_along_k && widths.b_along_k)) return;
    const std::int64_t terms = matrix_terms(problem_), longest = (asynchronous || in_pieces ? 4 : 2) * terms;
    const std::int64_t tile_k = shape.warpgroups ? 4 * terms
                                : k_ >= longest  ? longest
                                : k_ <= terms    ? terms
                                                 : 2 * terms;
    const std::int64_t sums = shape.thread_m * shape.thread_n;
    const std::int64_t threads = shape.tile_m * shape.tile_n / sums;
    const std::int64_t stage_bytes = (shape.tile_m + shape.tile_n) * tile_k * element;
    const std::int64_t block_bytes = std::max<std::int64_t>(2, stages) * stage_bytes;
    if (block_bytes + most_other_bytes > device_.max_shared_bytes_per_block) return;
    // A thread holds both pieces of its vectors while it multiplies.
    const std::int64_t held = in_pieces ? stage_bytes / threads / 2 : 0;
    if (in_pieces && sums + held > 144) return;
    std::int64_t warps = 16;
    while (warps > 8 && (sums + held + 64) * 32 * std::max(warps, threads / 32) > 65536) warps -= 4;
    warps = name_of_warps(threads, warps);
    take(with_clocks({.unit = shape.warpgroups ? "wgmma" : "mma",
                      .shape = shape,
                      .packs = packs,
                      .second = second,
                      .load_by = in_pieces ? LoadBy::pieces : LoadBy::vectors,
                      .tile_k = tile_k,
                      .stages = stages,
                      .warps = warps,
                      .out_by = out_by_of(widths_.of(packs, second))}));
  }

  // Completes a way's clocks.
  Way with_clocks(Way way) const {
    const MatrixShape& shape = way.shape;
    WidthTable::Widths widths = widths_.of(way.packs, way.second);
    const bool in_pieces = way.load_by == LoadBy::pieces;
    if (in_pieces) widths.a = widths.b = 8;
    const bool asynchronous = way.stages > 1;
    const std::int64_t element = bytes(dtype_of(problem_)), terms = matrix_terms(problem_),
                       tile_k = way.tile_k;
    const std::int64_t threads = shape.tile_m * shape.tile_n / (shape.thread_m * shape.thread_n);
    const std::int64_t stage_bytes = (shape.tile_m + shape.tile_n) * tile_k * element;
    // A step of a tile: multiplications, bytes, and accesses of a warp.
    const auto area = static_cast<double>(shape.tile_m * shape.tile_n);
    double products = area * static_cast<double>(tile_k * 16) /
                      static_cast<double>((shape.warpgroups ? 2048 : 1024) * terms);
    // Each 64 rows of a warpgroup, and each warp's rows, read the columns that they are multiplied with.
    const std::int64_t rows = shape.warpgroups ? 64 : 8 * shape.thread_m,
                       columns = shape.warpgroups ? shape.tile_n : 4 * shape.thread_n;
    const std::int64_t readers = shape.tile_m / rows * (shape.tile_n / columns);
    const auto read_bytes = static_cast<double>(readers * (rows + columns) * tile_k * element);
    // Warps turn bytes that stand term by term, with an instruction for four of each lane.
    if (has_bytes(problem_))
      products += static_cast<double>(readers * tile_k *
                                      ((widths.a_along_k ? 0 : rows) + (widths.b_along_k ? 0 : columns))) /
                  rates_.turned;
    double copying = 0, issuing = 0;  // by all warps, by one
    for (const bool is_first : {true, false}) {
      const std::int64_t side = is_first ? shape.tile_m : shape.tile_n,
                         width = is_first ? widths.a : widths.b;
      const MatrixRates::Access& access = in_pieces               ? rates_.pieces
                                          : !asynchronous         ? rates_.single_load
                                          : width * element == 16 ? rates_.wide_copy
                                                                  : rates_.copy;
      const double accesses =
          static_cast<double>(tile_k) / 32 * static_cast<double>(side) / static_cast<double>(width);
      // A short copy's 32 lanes bring one run of neighbours, or several shorter ones.
      const bool along = is_first ? widths.a_along_k : widths.b_along_k;
      const std::int64_t runs = &access == &rates_.copy ? ceil_divide(32 * width, along ? tile_k : side) : 1;
      copying += accesses * access.clocks * static_cast<double>(runs);
      issuing += accesses * access.alone / (static_cast<double>(threads) / 32);
    }
    const double step = std::max({products, filling(stage_bytes, read_bytes), copying});
    const std::int64_t ahead = std::max<std::int64_t>(1, way.stages - (shape.warpgroups ? 2 : 1));
    // A block alone waits for its copies, and a warp for its products: four warps fill a multiprocessor. A
    // warpgroup's products run on.
    const double chained = static_cast<double>(tile_k / terms) * rates_.product_latency;
    const double multiplying =
        shape.warpgroups ? std::max(products, rates_.warpgroup_chain * chained)
                         : products * 4 / static_cast<double>(std::min<std::int64_t>(4, threads / 32)) +
                               rates_.warp_chain * chained;
    const double alone =
        asynchronous ? std::max({step, rates_.latency / static_cast<double>(ahead), multiplying + issuing})
                     : std::max(step, std::max(rates_.alone, multiplying) + issuing);
    way.resident = resident_blocks(
        threads, way.warps, std::max<std::int64_t>(2, way.stages) * stage_bytes + other_bytes, device_);
    way.step = step;
    way.alone = alone;
    way.before = pack_clocks_.at(static_cast<std::size_t>(way.packs));
    return way;
  }

  // Single elements are stored side by side only by way of shared memory.
  std::string_view out_by_of(const WidthTable::Widths& widths) const {
    if (widths.out * bytes(out_dtype(problem_)) >= 8) return "registers";
    return stores_rows_ ? "rows" : "shared";
  }

  void consider_boxes(const MatrixShape& shape, Packs packs, std::int64_t stages) {
    const WidthTable::Widths widths = widths_.of(packs, false);
    const std::int64_t element = bytes(dtype_of(problem_)), out_bytes = bytes(out_dtype(problem_));
    if (!counts(packs, false, widths) || std::min(widths.a, widths.b) * element < 16) return;
    if (has_bytes(problem_) && !(widths.a_along_k && widths.b_along_k)) return;
    if (!widths.b_along_k && shape.tile_n % 64 != 0) return;
    Way way = {.unit = "wgmma",
               .shape = shape,
               .packs = packs,
               .second = false,
               .load_by = LoadBy::boxes,
               .tile_k = 4 * matrix_terms(problem_),
               .stages = stages,
               .warps = 16,
               .out_by = out_by_of(widths)};
    if (has_boxes_out_ && widths.out * out_bytes == 16 && shape.tile_n * out_bytes % 128 == 0)
      way.out_by = "boxes";
    if (boxes_bytes(way) > device_.max_shared_bytes_per_block) return;
    // The warps of all blocks, with those that copy, are shared out to four schedulers of 512 registers a
    // lane.
    const std::int64_t sums = shape.thread_m * shape.thread_n;
    const std::int64_t threads = shape.tile_m * shape.tile_n / sums;
    const auto registers = [&] {
      const std::int64_t blocks = std::max<std::int64_t>(1, way.warps * 32 / threads);
      return 512 / ceil_divide(blocks * (threads / 32 + 1), 4) / 8 * 8;
    };
    while (way.warps > 8 && registers() < sums + 46) way.warps -= 4;
    way.warps = name_of_warps(threads, way.warps);
    take(with_clocks_of_boxes(way));
  }

  // Of the stages, of finished sums and of tables.
  std::int64_t boxes_bytes(const Way& way) const {
    const MatrixShape& shape = way.shape;
    const std::int64_t stage = (shape.tile_m + shape.tile_n) * way.tile_k * bytes(dtype_of(problem_));
    const std::int64_t groups = shape.tile_m / (32 * shape.thread_m);
    const std::int64_t finished = way.out_by == "boxes" ? groups * 2 * 64 * 128
                                  : way.out_by == "registers"
                                      ? 0
                                      : shape.tile_m * (shape.tile_n + 16) * bytes(out_dtype(problem_));
    const std::int64_t tables = way.out_by == "boxes" ? 0 : (shape.tile_m + shape.tile_n) * 16 + 1024;
    return way.stages * stage + finished + tables + 1024;
  }

  // Completes the clocks of a way by boxes. A block copies as far ahead as it has stages.
  Way with_clocks_of_boxes(Way way) const {
    const MatrixShape& shape = way.shape;
    const std::int64_t row = way.tile_k * bytes(dtype_of(problem_)), terms = matrix_terms(problem_);
    const std::int64_t threads = shape.tile_m * shape.tile_n / (shape.thread_m * shape.thread_n);
    const auto area = static_cast<double>(shape.tile_m * shape.tile_n);
    const auto filled = static_cast<double>((shape.tile_m + shape.tile_n) * row);
    const auto read = static_cast<double>(shape.tile_m / 64 * (64 + shape.tile_n) * row);
    const double products = area * static_cast<double>(way.tile_k * 16) / static_cast<double>(2048 * terms);
    const double chained = static_cast<double>(way.tile_k / terms) * rates_.product_latency;
    way.step = std::max({products, filled / rates_.boxes, (filled + read) / rates_.shared});
    way.alone = std::max(
        {way.step, rates_.latency / static_cast<double>(way.stages - 1), rates_.warpgroup_chain * chained});
    way.resident = resident_blocks(threads, way.warps, boxes_bytes(way), device_);
    way.before = pack_clocks_.at(static_cast<std::size_t>(way.packs));
    return way;
  }

  void consider_halves(std::string_view unit, const MatrixShape& shape, bool second, std::int64_t stages) {
    const Packs packs = nest_of(problem_).bounds() > 0 ? Packs::channels : Packs::none;
    if (!counts(packs, second, widths_.of(packs, second))) return;
    const Way way = {.unit = unit,
                     .shape = shape,
                     .packs = packs,
                     .second = second,
                     .load_by = LoadBy::vectors,
                     .tile_k = 64,
                     .stages = stages,
                     .warps = 8,
                     .out_by = out_by_of(widths_.of(packs, second))};
    if (halves_bytes(way) + most_other_bytes <= device_.max_shared_bytes_per_block)
      take(with_clocks_of_halves(way));
  }

  static bool takes_one_half(const Way& way) { return way.unit == "wgmma_half"; }
  static std::int64_t halves_stage_bytes(const Way& way) {
    const std::int64_t planes = takes_one_half(way) ? 1 : 2;
    return planes * (way.shape.tile_m + way.shape.tile_n) * way.tile_k * 2;
  }
  static std::int64_t halves_bytes(const Way& way) { return way.stages * (halves_stage_bytes(way) + 1024); }

  // Completes the clocks of a way by halves.
  Way with_clocks_of_halves(Way way) const {
    const MatrixShape& shape = way.shape;
    const std::int64_t threads = shape.tile_m * shape.tile_n / (shape.thread_m * shape.thread_n);
    // Three products, or one. A warpgroup waits for three to end before it adds them to its sums, while
    // another one may multiply. One product runs on, as of elements of 16 bits.
    const bool one_half = takes_one_half(way);
    const double number = one_half ? 1 : 3;
    const auto area = static_cast<double>(shape.tile_m * shape.tile_n);
    const double products = number * area * static_cast<double>(way.tile_k) / 2048;
    const auto parts =
        static_cast<double>(shape.thread_m / 2 * std::max<std::int64_t>(1, shape.thread_n / 32));
    const double waiting = parts * 2 * (rates_.product_latency + rates_.halves_wait);
    const double read_bytes =
        number * static_cast<double>(shape.tile_m / 64 * (64 + shape.tile_n) * way.tile_k * 2);
    // Before, all tiles are read as floats and written as halves.
    const auto moved = static_cast<double>((round_up(m_, shape.tile_m) + round_up(n_, shape.tile_n)) *
                                           round_up(k_, way.tile_k) * batch_ * (one_half ? 6 : 8));
    const double filled = filling(halves_stage_bytes(way), read_bytes);
    if (one_half) {
      const double copying =
          static_cast<double>(halves_stage_bytes(way)) / (16 * 32) * rates_.wide_copy.clocks;
      const double chained = static_cast<double>(way.tile_k) / 16 * rates_.product_latency;
      way.step = std::max({products, filled, copying});
      way.alone = std::max(
          {way.step, rates_.latency / static_cast<double>(way.stages - 2), rates_.warpgroup_chain * chained});
    } else {
      way.step = rates_.halves_step * std::max(products, filled);
      way.alone =
          std::max({way.step, rates_.latency / static_cast<double>(way.stages - 1), products + waiting});
    }
    way.before = moved / rates_.split / multiprocessors() + rates_.launch +
                 pack_clocks_.at(static_cast<std::size_t>(way.packs));
    way.resident = resident_blocks(threads, way.warps, halves_bytes(way) + other_bytes, device_);
    return way;
  }

  double filling(std::int64_t stage_bytes, double read_bytes) const {
    return std::max(static_cast<double>(stage_bytes) / rates_.cache,
                    (static_cast<double>(stage_bytes) + read_bytes) / rates_.shared);
  }

  // Clocks in which the last block of a tile adds parts.
  double clocks_of_last(const Way& way, const Parts& parts) const {
    const auto area = static_cast<double>(way.shape.tile_m * way.shape.tile_n);
    return rates_.last + static_cast<double>(parts.splits) * area * 4 / rates_.cache;
  }

  double bytes_of_operands() const {
    return static_cast<double>((m_ + n_) * k_ * batch_ * bytes(dtype_of(problem_)));
  }

  // Clocks of all launches. A launch or the last block of a tile adds parts.
  double clocks_of(const Way& way, const Parts& parts, bool adds_last) const {
    const auto area = static_cast<double>(way.shape.tile_m * way.shape.tile_n);
    const double out_bytes = area * static_cast<double>(bytes(out_dtype(problem_)));
    const std::int64_t blocks =
        ceil_divide(m_, way.shape.tile_m) * ceil_divide(n_, way.shape.tile_n) * batch_ * parts.splits;
    const auto steps = static_cast<double>(ceil_divide(parts.terms, way.tile_k));
    const auto rounds =
        static_cast<double>(ceil_divide(blocks, multiprocessors_to_fill(device_) * way.resident));
    const bool stays = way.load_by == LoadBy::boxes;
    const double operands = bytes_of_operands() / rates_.operands / multiprocessors();
    const double stored = parts.splits > 1 ? area * 4 : out_bytes;  // by a block, of a tile
    const double storing = static_cast<double>(blocks) /
                           std::min(multiprocessors(), static_cast<double>(blocks)) * stored /
                           (way.out_by == "boxes" ? rates_.boxes_out : rates_.memory);
    double clocks = 0;
    if (stays) {
      // A tile is stored while the next one is copied, and blocks beside each other multiply meanwhile.
      // Single elements by way of shared memory keep a block from its next tile.
      const double end = rates_.tile_end + stored / rates_.stored;
      const bool stores_vectors = way.out_by == "boxes" || way.out_by == "registers";
      clocks = std::max(rounds_of(blocks, way.resident, device_) * steps * way.step + end,
                        rounds * (steps * way.alone + end));
      clocks = stores_vectors ? std::max(clocks, operands + storing) : std::max(clocks, operands) + storing;
      clocks += rates_.block + rates_.maps;
    } else {
      clocks = std::max(rounds_of(blocks, way.resident, device_) * steps * way.step,
                        rounds * (steps * way.alone + rates_.block));
      clocks = std::max(clocks, operands) + storing;
    }
    if (parts.splits > 1) clocks += adds_last ? clocks_of_last(way, parts) : rates_.adding;
    return clocks + way.before;
  }

  // Takes the parts of K that need the fewest clocks, if these are fewer than before.
  void take(const Way& way) {
    const MatrixShape& shape = way.shape;
    const std::int64_t tiles_m = ceil_divide(m_, shape.tile_m), tiles_n = ceil_divide(n_, shape.tile_n);
    const std::int64_t tiles = tiles_m * tiles_n * batch_;
    for (const std::int64_t split : splits) {
      if (split > 1 && (k_ < way.tile_k * split || tiles * split > 4096)) break;
      if (least_split(k_, split, way.tile_k, least_parts_) != split) continue;
      if (split == 1 && least_parts_ > 1) continue;
      const Parts parts = parts_of(k_, split, way.tile_k, least_parts_);
      const bool adds_last = clocks_of_last(way, parts) < rates_.adding;
      const double clocks = clocks_of(way, parts, adds_last);
      if (best_ && clocks >= least_) continue;
      least_ = clocks;
      best_ = Values{{std::string(UNIT.name), std::string(way.unit)},
                     {std::string(WARP_N.name), std::int64_t{4}},
                     {std::string(TILE_M.name), shape.tile_m},
                     {std::string(TILE_N.name), shape.tile_n},
                     {std::string(THREAD_M.name), shape.thread_m},
                     {std::string(THREAD_N.name), shape.thread_n},
                     {std::string(TILE_K.name), way.tile_k},
                     {std::string(STAGES.name), way.stages},
                     {std::string(LOAD_BY.name), std::string(name_of(way.load_by))},
                     {std::string(SPLIT.name), split},
                     {std::string(ADD_BY.name), split > 1 && adds_last ? "last" : "launch"},
                     {std::string(PACK.name), std::string(name_of(way.packs))},
                     {std::string(RESIDENT_WARPS.name), way.warps}};
      // The next of several launches starts while the one before ends. Where a multiprocessor has room for
      // one block, its blocks may also come early; more would come together onto those that are free first.
      if (way.before > 0 || (parts.splits > 1 && !adds_last)) best_->set(START.name, "overlapped");
      if (way.before > 0 && way.resident == 1) best_->set(TRIGGER.name, "early");
      if (way.second) best_->set(ORDER_K.name, "second");
      if (parts.splits == 1) best_->set(OUT_BY.name, std::string(way.out_by));
      if (tiles_m > 8 && tiles_n > 1 && bytes_of_operands() > 0x1p25) best_->set(BLOCK_ORDER.name, "banded");
    }
  }

  const Problem& problem_;
  const DeviceFacts& device_;
  MatrixRates rates_;
  WidthTable widths_;
  bool has_warpgroups_, stores_rows_, has_pieces_, has_boxes_out_;
  BoxesByPacks boxes_;
  std::int64_t least_parts_, m_, n_, k_, batch_;
  std::array<double, number_of_packs> pack_clocks_ = {};
  std::optional<Values> best_;
  double least_ = 0;
};

}  // namespace

// Of the values of RESIDENT_WARPS that give the same number of blocks the smallest, which names them all.
std::int64_t name_of_warps(std::int64_t threads, std::int64_t warps) {
  const auto blocks = [&](std::int64_t its) { return std::max<std::int64_t>(1, its * 32 / threads); };
  std::int64_t name = 8;
  while (blocks(name) != blocks(warps)) name += 4;
  return name;
}

std::optional<Values> best_of_matrices(const Problem& problem, const Groups& groups,
                                       const DeviceFacts& device, const Rates& rates, const Values& way) {
  return MatrixModel(problem, groups, device, rates).best(way);
}

std::optional<Values> best_of_halves(const Problem& problem, const Groups& groups, const DeviceFacts& device,
                                     const Rates& rates, std::optional<double> clocks) {
  const std::string_view unit = has_one_half(problem, device) ? "wgmma_half" : "wgmma_halves";
  return MatrixModel(problem, groups, device, rates).best_halves(unit, clocks);
}

std::optional<double> modelled_clocks(const Problem& problem, const Config& config, const DeviceFacts& device,
                                      const Rates& rates) {
  return MatrixModel(problem, groups_of(problem), device, rates).clocks(config);
}

}  // namespace tunesmith::tensor_op::contraction

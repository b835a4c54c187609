// SPDX-License-Identifier: Apache-2.0
// The first guess of `contract` and `contract_any`.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "generator/error.h"
#include "generator/number_text.h"
#include "generator/rates.h"
#include "templates/tensor/contract/contract_config.h"
#include "templates/tensor/contract/width_table.h"

namespace tunesmith::tensor_op::contraction {
namespace {

// Of the values of RESIDENT_WARPS that give the same number of blocks the smallest, which names them all.
std::int64_t name_of_warps(std::int64_t threads, std::int64_t warps) {
  const auto blocks = [&](std::int64_t its) { return std::max<std::int64_t>(1, its * 32 / threads); };
  std::int64_t name = 8;
  while (blocks(name) != blocks(warps)) name += 4;
  return name;
}

// The most warps whose sums fit into registers.
std::int64_t most_resident(std::int64_t thread_m, std::int64_t thread_n, std::int64_t area,
                           std::int64_t words) {
  std::int64_t warps = 16;
  while (warps > 8 && !fits_registers(thread_m, thread_n, words, warps)) warps -= 4;
  return name_of_warps(area / (thread_m * thread_n), warps);
}

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
  Access wide_copy, copy;              // an asynchronous copy of 16 bytes, a shorter one
  Access single_load, pieces;          // a load of single elements, a vector from pieces
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
  std::optional<Values> best() {
    for (const MatrixShape& shape : matrix_shapes) {
      if (shape.warpgroups && !has_warpgroups_) continue;
      for (std::size_t pack = 0; pack < number_of_packs; ++pack)
        for (const bool second : {false, true})
          for (const std::int64_t stages : {4, 3, 1})
            for (const bool in_pieces : {false, true})
              consider(shape, static_cast<Packs>(pack), second, stages, in_pieces);
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
               .in_pieces = loads_pieces(c),
               .tile_k = c[TILE_K],
               .stages = c[STAGES],
               .warps = c[RESIDENT_WARPS]};
    way = by_halves ? with_clocks_of_halves(way) : with_clocks(way);
    return clocks_of(way, parts_of(k_, c[SPLIT], way.tile_k, least_parts_), c[ADD_BY] == "last");
  }

  // The same for floats that are multiplied by halves in warpgroups, if that takes less time than ordinary
  // multiplications, for which `clocks` of multiplying are known.
  std::optional<Values> best_halves(double clocks) {
    if (!are_enough_for_halves(k_, 64)) return std::nullopt;
    for (const MatrixShape& shape : halves_shapes)
      for (const bool second : {false, true})
        for (const std::int64_t stages : {2, 3, 4}) consider_halves(shape, second, stages);
    const double out_bytes = static_cast<double>(m_) * static_cast<double>(n_ * batch_) *
                             static_cast<double>(bytes(out_dtype(problem_)));
    const double ordinary = clocks / rates_.ordinary + out_bytes / rates_.memory / multiprocessors();
    return best_ && least_ + rates_.launch < ordinary ? best_ : std::nullopt;
  }

 private:
  static constexpr std::int64_t other_bytes = 4096, most_other_bytes = 17408;  // of shared memory, of tables
  double multiprocessors() const { return static_cast<double>(multiprocessors_to_fill(device_)); }

  // A way to multiply a tile: the clocks of a step of many blocks, and of a block that is alone.
  struct Way {
    std::string_view unit;
    MatrixShape shape;
    Packs packs;
    bool second, in_pieces;
    std::int64_t tile_k, stages, warps;
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
                      .in_pieces = in_pieces,
                      .tile_k = tile_k,
                      .stages = stages,
                      .warps = warps}));
  }

  // Completes a way's clocks.
  Way with_clocks(Way way) const {
    const MatrixShape& shape = way.shape;
    WidthTable::Widths widths = widths_.of(way.packs, way.second);
    if (way.in_pieces) widths.a = widths.b = 8;
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
      const MatrixRates::Access& access = way.in_pieces           ? rates_.pieces
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

  void consider_halves(const MatrixShape& shape, bool second, std::int64_t stages) {
    if (!counts(Packs::none, second, widths_.of(Packs::none, second))) return;
    const Way way = {.unit = "wgmma_halves",
                     .shape = shape,
                     .packs = Packs::none,
                     .second = second,
                     .in_pieces = false,
                     .tile_k = 64,
                     .stages = stages,
                     .warps = 8};
    if (halves_bytes(way) + most_other_bytes <= device_.max_shared_bytes_per_block)
      take(with_clocks_of_halves(way));
  }

  static std::int64_t halves_stage_bytes(const Way& way) {
    constexpr std::int64_t planes = 2;
    return planes * (way.shape.tile_m + way.shape.tile_n) * way.tile_k * 2;
  }
  static std::int64_t halves_bytes(const Way& way) { return way.stages * (halves_stage_bytes(way) + 1024); }

  // Completes the clocks of a way by halves.
  Way with_clocks_of_halves(Way way) const {
    const MatrixShape& shape = way.shape;
    const std::int64_t threads = shape.tile_m * shape.tile_n / (shape.thread_m * shape.thread_n);
    // Three products. A warpgroup waits for them to end before it adds them to its sums, while another one
    // may multiply.
    const auto area = static_cast<double>(shape.tile_m * shape.tile_n);
    const double products = 3 * area * static_cast<double>(way.tile_k) / 2048;
    const auto parts =
        static_cast<double>(shape.thread_m / 2 * std::max<std::int64_t>(1, shape.thread_n / 32));
    const double waiting = parts * 2 * (rates_.product_latency + rates_.halves_wait);
    const double read_bytes =
        3.0 * static_cast<double>(shape.tile_m / 64 * (64 + shape.tile_n) * way.tile_k * 2);
    // Before, all tiles are read as floats and written as halves.
    const auto moved = static_cast<double>((round_up(m_, shape.tile_m) + round_up(n_, shape.tile_n)) *
                                           round_up(k_, way.tile_k) * batch_ * 8);
    way.step = rates_.halves_step * std::max(products, filling(halves_stage_bytes(way), read_bytes));
    way.alone =
        std::max({way.step, rates_.latency / static_cast<double>(way.stages - 1), products + waiting});
    way.before = moved / rates_.split / multiprocessors() + rates_.launch;
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
    double clocks = std::max(rounds_of(blocks, way.resident, device_) * steps * way.step,
                             rounds * (steps * way.alone + rates_.block));
    clocks = std::max(clocks, bytes_of_operands() / rates_.operands / multiprocessors());
    clocks += static_cast<double>(blocks) / std::min(multiprocessors(), static_cast<double>(blocks)) *
              (parts.splits > 1 ? area * 4 : out_bytes) / rates_.memory;
    if (parts.splits > 1) clocks += adds_last ? clocks_of_last(way, parts) : rates_.adding;
    return clocks + way.before;
  }

  // Takes the parts of K that need the fewest clocks, if these are fewer than before.
  void take(const Way& way) {
    const MatrixShape& shape = way.shape;
    const WidthTable::Widths widths = widths_.of(way.packs, way.second);
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
                     {std::string(LOAD_BY.name), way.in_pieces ? "pieces" : "vectors"},
                     {std::string(SPLIT.name), split},
                     {std::string(ADD_BY.name), split > 1 && adds_last ? "last" : "launch"},
                     {std::string(PACK.name), std::string(name_of(way.packs))},
                     {std::string(RESIDENT_WARPS.name), way.warps}};
      // The next of several launches starts while the one before ends. Where a multiprocessor has room for
      // one block, its blocks may also come early; more would come together onto those that are free first.
      if (way.before > 0 || (parts.splits > 1 && !adds_last)) best_->set(START.name, "overlapped");
      if (way.before > 0 && way.resident == 1) best_->set(TRIGGER.name, "early");
      if (way.second) best_->set(ORDER_K.name, "second");
      // Single elements are stored side by side only by way of shared memory.
      if (widths.out * bytes(out_dtype(problem_)) < 8 && parts.splits == 1)
        best_->set(OUT_BY.name, stores_rows_ ? "rows" : "shared");
      if (tiles_m > 8 && tiles_n > 1 && bytes_of_operands() > 0x1p25) best_->set(BLOCK_ORDER.name, "banded");
    }
  }

  const Problem& problem_;
  const DeviceFacts& device_;
  MatrixRates rates_;
  WidthTable widths_;
  bool has_warpgroups_, stores_rows_, has_pieces_;
  std::int64_t least_parts_, m_, n_, k_, batch_;
  std::array<double, number_of_packs> pack_clocks_ = {};
  std::optional<Values> best_;
  double least_ = 0;
};

// A tile that is multiplied by threads.
struct Shape {
  std::int64_t tile_m, tile_n, thread_m, thread_n, warp_n;
  double rate;  // of multiplications, as a part of the best
};

// The tiles of which the data have rates, such as "words 96x64 12x8 8", in their order.
std::vector<Shape> shapes_of(const Rates& rates, std::string_view which) {
  std::vector<Shape> shapes;
  for (const Rate& rate : rates.rates) {
    std::string_view rest = rate.name;
    if (rate.op != "tensor" || !rest.starts_with(which) || rest[which.size()] != ' ') continue;
    rest.remove_prefix(which.size());
    std::array<std::int64_t, 5> numbers = {};
    for (std::int64_t& number : numbers) {
      rest.remove_prefix(std::min<std::size_t>(1, rest.size()));  // a blank or an x
      number = take_number<std::int64_t>(rest).value_or(0);
    }
    const auto [tile_m, tile_n, thread_m, thread_n, warp_n] = numbers;
    if (warp_n < 1)
      throw Error("The rate " + rate.name + " of tensor names no tile, such as \"words 96x64 12x8 8\".");
    shapes.push_back({tile_m, tile_n, thread_m, thread_n, warp_n, rate.value});
  }
  if (shapes.empty()) throw Error("No rate of tensor is of a tile of " + std::string(which) + ".");
  return shapes;
}

}  // namespace

std::optional<double> modelled_clocks(const Problem& problem, const Config& config, const DeviceFacts& device,
                                      const Rates& rates) {
  return MatrixModel(problem, groups_of(problem), device, rates).clocks(config);
}

// Chooses tiles as large as the sides allow with the fewest multiplications in vain, and parts of K where
// tiles are few.
std::optional<Values> untuned(const Problem& problem, const DeviceFacts& device) {
  const Groups groups = groups_of(problem);
  const Rates& rates = rates_of("tensor", device);
  const std::int64_t m = size_of(groups.m), n = size_of(groups.n), k = size_of(groups.k);
  // The host only emulates matrix units.
  if (device.kind == DeviceKind::cuda && has_matrices(problem, device) && std::min(m, n) > 4 && k > 8) {
    if (std::optional<Values> best = MatrixModel(problem, groups, device, rates).best()) return best;
  }
  const bool wide = bytes(compute_dtype(problem)) == 8;
  // Runs that leave sectors of 32 bytes half empty are joined with the next ones; tiles of whole runs do that
  // best.
  const std::int64_t run = run_bytes(problem, groups);
  const bool joins = run < 128 && run % 32 != 0;
  const bool few = k <= 64, thin = std::min(m, n) <= 128;
  const bool in_tensor_cores = has_tensor_cores(problem, device);
  // Where storing takes as long as multiplying, many small blocks are best, so that some of them store at any
  // time.
  const std::string which = in_tensor_cores ? (few ? "few_in_tensor_cores" : "tensor_cores")
                            : wide          ? "doubles"
                            : few           ? "few_words"
                            : thin          ? "thin_words"
                                            : "words";
  const std::vector<Shape> shapes = shapes_of(rates, which);
  // The neighbours of windows are rarely aligned.
  const bool asynchronous = bytes(dtype_of(problem)) >= 4 && (few || !has_windows(expression_of(problem)));
  // Tiles of K are short where K is short, so that few terms are multiplied in vain.
  const bool short_k = !few && 20 * round_up(k, 16) > 21 * k;
  // They are also short where copies of single elements turn an operand: the code for many copies takes too
  // many registers.
  const bool turned = thin && counted_n(groups, 8);
  // Operands are packed where packing takes little time compared to the multiplications, a twentieth to a
  // tenth. One is also packed where the neighbours of the two operands are different terms.
  const double both = static_cast<double>(m) * static_cast<double>(n) / static_cast<double>(m + n);
  const bool one_order = has_one_order_k(groups);
  const bool bounded = nest_of(problem).bounds() > 0;
  const bool packs_first = bounded || (both >= 800 && is_packed_with_gain(groups, groups.m, &Digit::first));
  const bool first_along = first_along_k(groups), second_along = second_along_k(groups);
  const bool packs_second =
      bounded || ((both >= 800 || (std::min(m, n) >= 128 && !one_order && first_along && second_along)) &&
                  is_packed_with_gain(groups, groups.n, &Digit::second));
  const bool packed_before = packs_first || packs_second;
  // Tensor cores' operands that lie along K are left row by row.
  const bool by_rows = in_tensor_cores && !packed_before && (first_along || second_along);
  const std::int64_t tile_k = few || short_k || turned || by_rows ? 8 : 16;
  const std::int64_t stages = !asynchronous                     ? 1
                              : few                             ? (k <= 32 ? 4 : 2)
                              : short_k && !turned              ? 4
                              : in_tensor_cores && tile_k == 16 ? 2
                                                                : 3;
  const auto resident_warps = [&](const Shape& shape) -> std::int64_t {
    const std::int64_t sums = shape.thread_m * shape.thread_n, area = shape.tile_m * shape.tile_n;
    if (in_tensor_cores && few) return sums == 64 ? 8 : 16;
    if (in_tensor_cores && area == 128 * sums) return 12;
    return most_resident(shape.thread_m, shape.thread_n, area, wide ? 2 : 1);
  };
  // Sixteen warps on each multiprocessor, or as many as there is room for, multiply at the full rate. The
  // sums of parts are written and read again.
  const double products_per_clock = wide && !in_tensor_cores ? 64 : 128,
               bytes_per_clock = rates.value("tensor", "added_parts"),
               launch = rates.value("tensor", "added_launch");
  // An operand is turned by copies of single elements. Large tiles need fewer of them for each product.
  const bool copies_single =
      which == "words" && ((first_along && !packs_first) || (second_along && !packs_second));
  const Shape* best = nullptr;
  const std::int64_t long_parts = least_parts(problem, groups), first_split = long_parts == 1 ? 1 : 2;
  std::int64_t split = first_split;
  double least = 0;
  for (const Shape& shape : shapes) {
    const std::int64_t area = shape.tile_m * shape.tile_n,
                       warps = ceil_divide(area, 32 * shape.thread_m * shape.thread_n);
    const std::int64_t tiles =
        ceil_divide(m, shape.tile_m) * ceil_divide(n, shape.tile_n) * size_of(groups.batch);
    const std::int64_t its_warps = resident_warps(shape),
                       bytes_k = (shape.tile_m + shape.tile_n) * (wide ? 8 : 4),
                       resident =
                           resident_blocks(32 * warps, its_warps,
                                           std::max<std::int64_t>(2, stages) * tile_k * bytes_k, device);
    const double full =
        static_cast<double>(std::min<std::int64_t>(16, its_warps)) / static_cast<double>(warps);
    for (std::int64_t its_split = first_split;
         its_split == first_split || (its_split <= 32 && k >= its_split * 64 && tiles * its_split <= 4096);
         its_split *= 2) {
      const Parts its = parts_of(k, its_split, tile_k, long_parts, tiles, resident, device);
      const double filled = std::max(rounds_of(tiles * its.splits, resident, device), full);
      const double products = filled * static_cast<double>(area * its.terms),
                   parts = static_cast<double>(tiles * area * its.splits) / multiprocessors_to_fill(device);
      const double rate = shape.rate * (copies_single && area < 8192 ? 0.94 : 1);
      double clocks = products / rate / products_per_clock;
      if (its_split > 1) clocks += parts * 2 * (wide ? 8 : 4) / bytes_per_clock + launch;
      if (best != nullptr && clocks >= least) continue;
      best = &shape;
      split = its_split;
      least = clocks;
    }
  }
  if (device.kind == DeviceKind::cuda && has_wgmma(device) && has_halves(problem, device)) {
    if (std::optional<Values> by_halves = MatrixModel(problem, groups, device, rates).best_halves(least))
      return by_halves;
  }
  // A wider tile has longer runs of the operand's neighbours, where these are not the output's.
  Shape shape = *best;
  if (turned && shape.tile_m <= 48 && shape.tile_m <= shape.thread_m * shape.thread_n)  // 256 threads
    shape.tile_n = std::max<std::int64_t>(shape.tile_n, 256);
  Values values = {{std::string(TILE_M.name), shape.tile_m},
                   {std::string(TILE_N.name), shape.tile_n},
                   {std::string(THREAD_M.name), shape.thread_m},
                   {std::string(THREAD_N.name), shape.thread_n},
                   {std::string(WARP_N.name), shape.warp_n}};
  values.set(UNIT.name, in_tensor_cores ? "tensor_core" : "fma");
  values.set(RESIDENT_WARPS.name, resident_warps(shape));
  if (few) values.set(STORE.name, "streaming");
  if (few || thin) values.set(START.name, "overlapped");
  // Where the operands exceed a second-level cache, blocks that run at the same time read as few rows and
  // columns as they can.
  const std::int64_t tiles_m = ceil_divide(m, shape.tile_m), tiles_n = ceil_divide(n, shape.tile_n);
  const std::int64_t operand_bytes = (m + n) * k * size_of(groups.batch) * bytes(dtype_of(problem));
  if (tiles_m > 1 && tiles_n > 1 && operand_bytes > std::int64_t{32} << 20) {
    const std::int64_t blocks = std::int64_t{2} * multiprocessors_to_fill(device);
    const auto read = [&](std::int64_t along, std::int64_t side, std::int64_t across, std::int64_t other) {
      return std::min(blocks, along) * side + std::min(ceil_divide(blocks, along), across) * other;
    };
    const std::int64_t by_row = read(tiles_n, shape.tile_n, tiles_m, shape.tile_m),
                       by_column = read(tiles_m, shape.tile_m, tiles_n, shape.tile_n),
                       banded = read(8, shape.tile_m, tiles_n, shape.tile_n);
    if (by_column < by_row) values.set(BLOCK_ORDER.name, "column");
    if (!in_tensor_cores && tiles_m > 8 && 5 * banded < 4 * std::min(by_row, by_column))
      values.set(BLOCK_ORDER.name, "banded");
  }
  const auto packs =
      bounded ? Packs::channels : static_cast<Packs>((packs_first ? 1 : 0) + (packs_second ? 2 : 0));
  values.set(PACK.name, std::string(name_of(packs)));
  if (few && packed_before) values.set(TRIGGER.name, "early");
  // The output is joined in shared memory where its neighbours leave sectors of 32 bytes half empty.
  if (joins && k <= 256 && split == 1) values.set(OUT_BY.name, "shared");
  // Runs have about eight neighbours of the output, and few of these are beyond its end.
  std::int64_t span_n = 1;
  double least_waste = 0;
  for (const std::int64_t span : {8, 4, 16}) {
    const std::optional<Counted> n_in_runs = packs_second ? std::nullopt : counted_n(groups, span);
    if (!n_in_runs || shape.tile_n % (8 * span) != 0) continue;
    const auto columns = static_cast<double>(n_in_runs->in_runs);
    const double waste = static_cast<double>(round_up(n_in_runs->in_runs, span)) / columns;
    if (span_n != 1 && waste >= least_waste - 0.05) continue;
    span_n = span;
    least_waste = waste;
  }
  values.set(SPAN_N.name, span_n);
  // K is counted in the order of the larger operand that has its neighbours there.
  if (!packed_before && second_along && (!first_along || n > m) && !one_order)
    values.set(ORDER_K.name, "second");
  values.set(STAGES.name, stages);
  values.set(TILE_K.name, tile_k);
  values.set(SPLIT.name, split);
  return values;
}

}  // namespace tunesmith::tensor_op::contraction

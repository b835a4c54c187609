// SPDX-License-Identifier: Apache-2.0
// The launches of `contract` and `contract_any`.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <initializer_list>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "templates/axes.h"
#include "templates/shared_layout.h"
#include "templates/tensor/contract/boxed_operands.h"
#include "templates/tensor/contract/contract_config.h"
#include "templates/tensor/contract/groups.h"
#include "templates/tensor/op.h"

namespace tunesmith::tensor_op::contraction {
namespace {

#include "templates/tensor/contract/contract_layout.inl"

// The layouts of a stage and of all shared memory. `groups` are those of the operands after packing.
ContractStage stage_of(const Problem& problem, const Groups& groups, const Config& c) {
  const std::int64_t element = bytes(held_dtype(problem, c)), lanes = 16 / element;
  const auto elements = [&](bool along, std::int64_t tile, std::int64_t thread, std::int64_t span,
                            std::int64_t row_padding, std::int64_t of_matrices) {
    const std::int64_t piece = multiplies_matrices(c) ? of_matrices : std::gcd(thread, lanes);
    return contract_operand_layout({.tile = tile,
                                    .tile_k = c[TILE_K],
                                    .span = span,
                                    .reach = tile / thread * piece,
                                    .row_padding = row_padding,
                                    .lanes = lanes,
                                    .along_k = along,
                                    .tensor_cores = uses_tensor_cores(c),
                                    .matrices = multiplies_matrices(c),
                                    .swizzled = uses_warpgroups(c),
                                    .asynchronous = is_asynchronous(problem, c)})
        .elements;
  };
  return contract_stage({.first_elements = swizzles_halves(c) ? c[TILE_M] * c[TILE_K]
                                                              : elements(first_along_k(groups), c[TILE_M],
                                                                         c[THREAD_M], 1, 2, 1),
                         .second_elements = swizzles_halves(c) ? c[TILE_N] * c[TILE_K]
                                                               : elements(second_along_k(groups), c[TILE_N],
                                                                          c[THREAD_N], c[SPAN_N], 4, 8),
                         .held_bytes = element,
                         .threads = tile_threads(c),
                         .halved = splits_floats(c),
                         .packed_halves = packs_halves(c),
                         .one_half = takes_one_half(c),
                         .swizzled = swizzles_halves(c)});
}

bool stores_boxes(const Config& c, std::int64_t splits) { return c[OUT_BY] == "boxes" && splits <= 1; }

ContractLayout layout_of(const Problem& problem, const ContractStage& stage, const Counted& k,
                         std::int64_t splits, const Config& c) {
  return contract_layout({.tile_m = c[TILE_M],
                          .tile_n = c[TILE_N],
                          .tile_k = c[TILE_K],
                          .stages = is_asynchronous(problem, c) || packs_halves(c) ? c[STAGES] : 2,
                          .stage_elements = stage.elements,
                          .offset_bytes = index_bits(problem) / 8,
                          .held_bytes = bytes(held_dtype(problem, c)),
                          .out_bytes = bytes(out_dtype(problem)),
                          .vector_out = c[VECTOR_OUT],
                          .counted_terms = k.digits.size() > 1 && c[PACK] != "both" && !loads_boxes(c),
                          .joins = c[OUT_BY] == "shared" && splits <= 1,
                          .by_rows = c[OUT_BY] == "rows" && splits <= 1,
                          .swizzled = uses_fours(c),
                          .boxes = loads_boxes(c),
                          .boxes_out = stores_boxes(c, splits) ? tile_threads(c) / 128 : 0});
}

// 2^31 * (the next power of two / the extent), rounded up. It is below 2^32; nest.inl divides with it.
std::int32_t multiplier_of(std::int64_t extent) {
  const auto unsigned_extent = static_cast<std::uint64_t>(extent);
  const std::uint64_t numerator = std::bit_ceil(unsigned_extent) << 31;
  return static_cast<std::int32_t>(
      static_cast<std::uint32_t>((numerator + unsigned_extent - 1) / unsigned_extent));
}

// An array argument with a number for each element of `all`.
template <typename Each, typename Number>
KernelArgument of_each(const std::vector<Each>& all, const Number& number) {
  std::vector<std::invoke_result_t<Number, const Each&>> numbers;
  numbers.reserve(all.size());
  for (const Each& each : all) numbers.push_back(number(each));
  return numbers;
}

constexpr std::int64_t pack_side = contract_pack_side;

std::int64_t packing_blocks(const Packing& packing) {
  if (packing.elements == 0) return 0;
  std::int64_t blocks = 1;
  for (std::size_t d = 0; d < packing.moves.size(); ++d)
    blocks *= d < 2 ? ceil_divide(packing.moves[d].extent, pack_side) : packing.moves[d].extent;
  return blocks;
}

// `to` are the operands' places in the workspace.
Launch packing_launch(const PackedGroups& packed, const Groups& given, std::int64_t element,
                      const std::array<KernelArgument, 2>& to, bool overlaps) {
  const std::int64_t first_blocks = packing_blocks(packed.first);
  std::vector<KernelArgument> arguments = {ArgumentPointer{given.first.array},
                                           ArgumentPointer{given.second.array},
                                           to[0],
                                           to[1],
                                           packed.first.start,
                                           packed.second.start,
                                           int32(first_blocks)};
  for (const Packing* packing : {&packed.first, &packed.second}) {
    std::vector<Move> moves = packing->moves;
    moves.resize(most_digits);
    std::vector<std::int32_t> places;
    for (const Move& move : moves) places.push_back(int32(move.extent));
    for (const Move& move : moves) places.push_back(int32(move.before));
    for (const Move& move : moves) places.push_back(int32(move.extent - move.behind));
    std::vector<std::int64_t> strides;
    for (const Move& move : moves) strides.push_back(move.from);
    for (const Move& move : moves) strides.push_back(move.to);
    arguments.emplace_back(std::move(places));
    arguments.emplace_back(std::move(strides));
  }
  return {.kernel = "tensor_contract_pack",
          .grid = {first_blocks + packing_blocks(packed.second)},
          .block = {contract_pack_threads},
          .dynamic_shared_bytes = pack_side * contract_pack_line(element) * element,
          .arguments = std::move(arguments),
          .overlaps_previous = overlaps};
}

// The launches of a config: what packs or splits the operands into the workspace, the products, and what adds
// the parts of K. The workspace has the counters of tiles, the sums of parts of K, then the packed operands.
class Launches {
 public:
  Launches(const Problem& problem, const Config& config, const DeviceFacts& device)
      : problem_(problem),
        config_(config),
        device_(device),
        given_(groups_of(problem)),
        image_(loads_boxes(config) ? image_operand(given_, packs_of(config)) : -1),
        packed_(loads_boxes(config) ? boxed_groups(problem, given_, packs_of(config)).value()
                                    : packed(problem, given_, config)),
        groups_(packed_.groups),
        m_(counted_m(groups_)),
        n_(counted_n(groups_, config[SPAN_N]).value()),
        k_(counted_k(groups_, config[ORDER_K])),
        tiles_m_(ceil_divide(m_.size(), config[TILE_M])),
        tiles_n_(ceil_divide(n_.size(), config[TILE_N])),
        tiles_(tiles_m_ * tiles_n_ * size_of(groups_.batch)),
        overlaps_(config[START] == "overlapped"),
        operands_({ArgumentPointer{given_.first.array}, ArgumentPointer{given_.second.array}}) {
    const bool two_planes = splits_floats(config) && !(packs_halves(config) && takes_one_half(config));
    const std::int64_t stage_bytes = std::max<std::int64_t>(2, config[STAGES]) * config[TILE_K] *
                                     (config[TILE_M] + config[TILE_N]) * (two_planes ? 2 : 1) *
                                     bytes(held_dtype(problem, config));
    resident_ = resident_blocks(tile_threads(config), config[RESIDENT_WARPS], stage_bytes, device);
    parts_ = parts_of(k_.size(), config[SPLIT], config[TILE_K], least_parts(problem, given_), tiles_,
                      resident_, device);
    layout_ = layout_of(problem, stage_of(problem, groups_, config), k_, parts_.splits, config);
    // Blocks that stay are as many as run at once.
    if (loads_boxes(config))
      resident_ = resident_blocks(tile_threads(config), config[RESIDENT_WARPS], layout_.bytes, device);
    for (const Group* group :
         std::initializer_list<const Group*>{&m_.digits, &n_.digits, &k_.digits, &groups_.batch})
      digits_.insert(digits_.end(), group->begin(), group->end());
    digits_.resize(most_digits);
  }

  Work work() {
    if (parts_.splits > 1) reserve_parts();
    if (config_[PACK] != "none") pack();
    if (packs_halves(config_)) split();
    multiply();
    if (parts_.splits > 1 && config_[ADD_BY] == "launch") add_parts();
    return std::move(work_);
  }

 private:
  using Arguments = std::vector<KernelArgument>;

  // The place of `size` bytes more of the workspace.
  std::int64_t reserve(std::int64_t size) {
    const std::int64_t offset = round_up(work_.workspace_bytes, 256);
    work_.workspace_bytes = offset + size;
    return offset;
  }

  static void add_numbers(Arguments& arguments, std::initializer_list<std::int64_t> numbers) {
    for (const std::int64_t number : numbers) arguments.emplace_back(int32(number));
  }
  void add_extents(Arguments& arguments) const {
    arguments.push_back(of_each(digits_, [](const Digit& digit) { return int32(digit.extent); }));
    arguments.push_back(of_each(digits_, [](const Digit& digit) { return multiplier_of(digit.extent); }));
  }
  void add_strides(Arguments& arguments, Stride stride) const {
    arguments.push_back(of_each(digits_, [=](const Digit& digit) { return digit.*stride; }));
  }
  void add_finish(Arguments& arguments) const {
    const std::vector<int>& accesses = expression_of(problem_).finish.accesses;
    for (std::size_t f = 0; f < accesses.size(); ++f) {
      const View& view = nest_of(problem_).inputs[static_cast<std::size_t>(accesses[f])];
      arguments.emplace_back(ArgumentPointer{view.array});
      arguments.emplace_back(view.start);
      arguments.push_back(of_each(digits_, [=](const Digit& digit) { return digit.finish.at(f); }));
    }
  }

  void reserve_parts() {
    if (config_[ADD_BY] == "last") work_.zeroed_bytes = work_.workspace_bytes = tiles_ * 4;
    sums_at_ =
        reserve(tiles_ * parts_.splits * config_[TILE_M] * config_[TILE_N] * bytes(compute_dtype(problem_)));
  }

  void pack() {
    const std::int64_t element = bytes(dtype_of(problem_));
    const std::array<const Packing*, 2> packings = {&packed_.first, &packed_.second};
    for (std::size_t operand = 0; operand < 2; ++operand)
      if (packings[operand]->elements > 0)
        operands_[operand] = WorkspacePointer{reserve(packings[operand]->elements * element)};
    work_.steps.emplace_back(packing_launch(packed_, given_, element, operands_, overlaps_));
  }

  void split() {
    const std::int64_t rows_of_tiles = size_of(groups_.batch) * ceil_divide(k_.size(), config_[TILE_K]);
    const std::array<std::int64_t, 2> tiles = {tiles_m_ * rows_of_tiles, tiles_n_ * rows_of_tiles};
    const auto reserve_tiles = [&](std::int64_t number, std::int64_t tile) {
      const std::int64_t halves = 2 * tile * config_[TILE_K] * bytes(held_dtype(problem_, config_));
      return WorkspacePointer{reserve(number * (halves + contract_scale_bytes))};
    };
    const WorkspacePointer first = reserve_tiles(tiles[0], config_[TILE_M]),
                           second = reserve_tiles(tiles[1], config_[TILE_N]);
    Arguments arguments = {operands_[0], operands_[1],        first,
                           second,       groups_.first.start, groups_.second.start};
    add_numbers(arguments, {m_.size(), n_.size(), k_.size(), n_.in_runs, tiles_m_, tiles_n_, tiles[0]});
    add_extents(arguments);
    for (const Stride stride : {&Digit::first, &Digit::second}) add_strides(arguments, stride);
    // Of each warp and operand a range of sizes, and one of the sample of rows that share a scale.
    const std::int64_t ranges = swizzles_halves(config_) && takes_one_half(config_) ? 2 : 1;
    operands_ = {first, second};
    work_.steps.emplace_back(
        Launch{.kernel = "tensor_contract_split",
               .grid = {tiles[0] + tiles[1]},
               .block = {tile_threads(config_)},
               .dynamic_shared_bytes = layout_.runs_at + tile_threads(config_) / 32 * 8 * ranges,
               .arguments = std::move(arguments),
               .overlaps_previous = overlaps_});
  }

  // The boxes of an operand, a tile of which they are: of its neighbours 128 bytes, and the rows or terms.
  // The output's are those of a warpgroup.
  KernelArgument boxes_of(Side side) const {
    const bool is_out = side == Side::out, is_first = side == Side::first;
    const bool is_image = !is_out && image_ == (is_first ? 0 : 1);
    BoxedArray view = (is_image ? boxed_image(problem_, groups_, !is_first) : boxed(groups_, side)).value();
    const KernelArgument& its = operands_[is_first ? 0 : 1];
    if (is_out) {
      view.array = ArgumentPointer{groups_.out.array};
    } else if (const auto* in_workspace = std::get_if<WorkspacePointer>(&its)) {
      view.array = *in_workspace;
    } else {
      view.array = std::get<ArgumentPointer>(its);
    }
    view.element_bytes = bytes(is_out ? out_dtype(problem_) : dtype_of(problem_));
    const bool along = is_first ? first_along_k(groups_) : second_along_k(groups_);
    view.dimensions[0].side = contract_box_row / view.element_bytes;
    view.dimensions[1].side = is_out  ? contract_box_rows
                              : along ? config_[is_first ? TILE_M : TILE_N]
                                      : config_[TILE_K];
    return view;
  }

  // The Walks of boxes.inl.
  KernelArgument walks() const {
    std::vector<std::int32_t> numbers(2 * most_digits);
    if (image_ < 0) return numbers;
    const Image image = image_of(groups_, image_ == 1).value();
    const std::size_t of_image = image_ == 0 ? 0 : m_.digits.size(),
                      of_window = m_.digits.size() + n_.digits.size() + 1;
    for (std::size_t d = 0; d < image.dimensions.size(); ++d) {
      const Image::Dimension& its = image.dimensions[d];
      numbers.at(of_image + d) = int32(its.step);
      numbers.at(most_digits + of_image + d) = int32(its.first);
      numbers.at(of_window + d) = int32(its.step_in_window);
    }
    return numbers;
  }

  void multiply() {
    const bool boxes = loads_boxes(config_);
    Arguments arguments;
    if (boxes) {
      arguments = {boxes_of(Side::first), boxes_of(Side::second)};
    } else {
      arguments = {operands_[0], operands_[1]};
    }
    if (stores_boxes(config_, parts_.splits)) {
      arguments.push_back(boxes_of(Side::out));
    } else {
      arguments.emplace_back(ArgumentPointer{groups_.out.array});
    }
    arguments.emplace_back(WorkspacePointer{sums_at_});
    arguments.emplace_back(WorkspacePointer{0});
    if (!boxes) {
      arguments.emplace_back(groups_.first.start);
      arguments.emplace_back(groups_.second.start);
    }
    arguments.emplace_back(groups_.out.start);
    add_numbers(arguments, {m_.size(), n_.size(), k_.size(), n_.in_runs, tiles_m_, tiles_n_, parts_.splits,
                            parts_.terms});
    const std::int64_t all = tiles_ * parts_.splits;
    if (boxes) add_numbers(arguments, {all});
    add_extents(arguments);
    if (!boxes)
      for (const Stride stride : {&Digit::first, &Digit::second}) add_strides(arguments, stride);
    add_strides(arguments, &Digit::out);
    add_finish(arguments);
    if (boxes && windowed_operand(given_) >= 0) arguments.push_back(walks());
    const std::int64_t blocks = boxes ? std::min(all, resident_ * multiprocessors_to_fill(device_)) : all;
    work_.steps.emplace_back(Launch{.kernel = "tensor_contract",
                                    .grid = {blocks},
                                    .block = {tile_threads(config_) + (boxes ? 32 : 0)},
                                    .dynamic_shared_bytes = layout_.bytes,
                                    .arguments = std::move(arguments),
                                    .overlaps_previous = overlaps_});
  }

  void add_parts() {
    const std::int64_t of_run = contract_splits_of_run(parts_.splits),
                       runs = ceil_divide(parts_.splits, of_run);
    const std::int64_t columns = contract_kept_columns(config_[THREAD_N]), threads = tile_threads(config_);
    const std::int64_t lanes = runs <= 4 ? std::gcd(threads, std::int64_t{128}) : 32;  // of a block
    Arguments arguments = {ArgumentPointer{groups_.out.array}, WorkspacePointer{sums_at_}, groups_.out.start};
    add_numbers(arguments, {m_.size(), n_.size(), n_.in_runs, tiles_m_, tiles_n_, parts_.splits, of_run});
    add_extents(arguments);
    add_strides(arguments, &Digit::out);
    add_finish(arguments);
    work_.steps.emplace_back(
        Launch{.kernel = "tensor_contract_kept",
               .grid = {tiles_ * threads / lanes * config_[THREAD_M] * config_[THREAD_N] / columns},
               .block = {lanes, runs},
               .dynamic_shared_bytes = (runs - 1) * columns * lanes * bytes(compute_dtype(problem_)),
               .arguments = std::move(arguments),
               .overlaps_previous = overlaps_});
  }

  const Problem& problem_;
  const Config& config_;
  const DeviceFacts& device_;
  Groups given_;
  int image_;  // the operand that boxes read through windows; -1: neither
  PackedGroups packed_;
  const Groups& groups_;  // after packing
  Counted m_, n_, k_;
  std::int64_t tiles_m_, tiles_n_, tiles_;
  bool overlaps_;
  std::int64_t resident_ = 0;  // blocks of a multiprocessor
  Parts parts_ = {};
  ContractLayout layout_ = {};
  std::vector<Digit> digits_;
  std::array<KernelArgument, 2> operands_;  // where they are by now
  std::int64_t sums_at_ = 0;                // in the workspace, those of parts
  Work work_;
};

}  // namespace

Work work(const Problem& problem, const Config& config, const DeviceFacts& device) {
  return Launches(problem, config, device).work();
}

}  // namespace tunesmith::tensor_op::contraction

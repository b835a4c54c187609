// SPDX-License-Identifier: Apache-2.0
// The templates `contract` and `contract_any` (body.inl): space, work and first guess.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "templates/axes.h"
#include "templates/choice.h"
#include "templates/shared_layout.h"
#include "templates/tensor/contract/groups.h"
#include "templates/tensor/op.h"

namespace tunesmith::tensor_op {
namespace {

#include "templates/tensor/contract/contract_layout.inl"

constexpr CategoricalAxis BLOCK_ORDER("BLOCK_ORDER");
constexpr CategoricalAxis ORDER_K("ORDER_K");
constexpr CategoricalAxis OUT_BY("OUT_BY");
constexpr CategoricalAxis PACK("PACK");
constexpr IntegerAxis SPAN_N("SPAN_N");
constexpr IntegerAxis SPLIT("SPLIT");
constexpr IntegerAxis STAGES("STAGES");
constexpr IntegerAxis THREAD_M("THREAD_M");
constexpr IntegerAxis THREAD_N("THREAD_N");
constexpr IntegerAxis TILE_K("TILE_K");
constexpr IntegerAxis TILE_M("TILE_M");
constexpr IntegerAxis TILE_N("TILE_N");
constexpr CategoricalAxis UNIT("UNIT");
constexpr IntegerAxis VECTOR_A("VECTOR_A");
constexpr IntegerAxis VECTOR_B("VECTOR_B");
constexpr IntegerAxis VECTOR_OUT("VECTOR_OUT");
constexpr IntegerAxis WARP_N("WARP_N");

constexpr std::int64_t most_in_group = (std::int64_t{1} << 31) - 65536;

constexpr std::size_t number_of_packs = names_of(Packs()).size();
Packs packs_of(const Config& c) { return choice<Packs>(c, PACK); }
bool packs_first(const Config& c) { return packs_first(packs_of(c)); }
bool packs_second(const Config& c) { return packs_second(packs_of(c)); }

std::int64_t tile_threads(const Config& c) { return c[TILE_M] / c[THREAD_M] * (c[TILE_N] / c[THREAD_N]); }

// The bits of an offset: 32 if they reach every element of each array and every sum of some of a view's
// strides, else 64.
std::int64_t index_bits(const Problem& problem) {
  const Nest& nest = nest_of(problem);
  const auto is_near = [&](const View& view) {
    double span = static_cast<double>(std::abs(view.start));
    for (std::size_t i = 0; i < nest.rank(); ++i)
      span += static_cast<double>(std::abs(view.strides[i])) * static_cast<double>(nest.extents[i] - 1);
    return span < 0x1p31 - 1;
  };
  return std::all_of(nest.inputs.begin(), nest.inputs.end(), is_near) && is_near(nest.output) ? 32 : 64;
}

bool uses_tensor_cores(const Config& c) { return c[UNIT] == "tensor_core"; }  // of doubles
bool uses_warpgroups(const Config& c) { return c[UNIT] == "wgmma"; }
bool swizzles_halves(const Config& c) { return c[UNIT] == "wgmma_halves"; }
bool packs_halves(const Config& c) { return c[UNIT] == "packed_halves" || swizzles_halves(c); }
bool splits_floats(const Config& c) {  // into 16-bit elements
  return c[UNIT] == "halves" || packs_halves(c);
}
bool uses_fours(const Config& c) { return uses_warpgroups(c) || swizzles_halves(c); }  // of warps
bool multiplies_matrices(const Config& c) {                                            // of 16-bit elements
  return c[UNIT] == "mma" || uses_warpgroups(c) || splits_floats(c);
}

// The type of an element in shared memory.
DType held_dtype(const Problem& problem, const Config& c) {
  if (splits_floats(c)) return DType::f16;
  return multiplies_matrices(c) ? dtype_of(problem) : compute_dtype(problem);
}

bool is_asynchronous(const Problem& problem, const Config& c) {
  return c[STAGES] > 1 && held_dtype(problem, c) == dtype_of(problem);
}

// Packs operands so that their rows begin at multiples of the widest vector.
PackedGroups packed(const Problem& problem, const Groups& groups, Packs packs) {
  return {groups, packs, 16 / bytes(dtype_of(problem))};
}

// The number of blocks that a multiprocessor holds at once if they ask for room for `warps` warps.
std::int64_t resident_blocks(std::int64_t threads, std::int64_t warps, std::int64_t shared_bytes,
                             const DeviceFacts& device) {
  std::int64_t blocks = std::max<std::int64_t>(1, warps * 32 / threads);
  if (device.kind == DeviceKind::cuda && device.shared_bytes_per_multiprocessor > 0)
    blocks = std::min(blocks, device.shared_bytes_per_multiprocessor / (shared_bytes + 1024));
  return std::max<std::int64_t>(1, blocks);
}

// The time of all blocks in rounds of `resident` per multiprocessor (one block alone = 1); a partly filled
// last round is slower.
double rounds_of(std::int64_t blocks, std::int64_t resident, const DeviceFacts& device) {
  const std::int64_t multiprocessors = multiprocessors_to_fill(device), slots = multiprocessors * resident;
  const auto last = static_cast<double>(ceil_divide(blocks % slots, multiprocessors));
  const auto all = static_cast<double>(resident);
  const std::int64_t whole = blocks / slots;
  return static_cast<double>(whole) * all + last * 2 * all / (all + last);
}

// The least number of parts of a long sum of f32, so that each term is rounded few times: a part has at most
// `longest_part` terms, but there are at most `most_parts` parts. 1 unless the sums of the parts are few
// compared to the operands.
constexpr std::int64_t longest_part = 8192, most_parts = 1024;
std::int64_t least_parts(const Problem& problem, const Groups& groups) {
  if (compute_dtype(problem) != DType::f32 || expression_of(problem).reduction != Reduction::sum) return 1;
  const auto m = static_cast<double>(size_of(groups.m)), n = static_cast<double>(size_of(groups.n));
  const std::int64_t k = size_of(groups.k), parts = std::min(most_parts, ceil_divide(k, longest_part));
  const bool are_few = 4 * m * n * static_cast<double>(parts) <= (m + n) * static_cast<double>(k);
  return are_few ? parts : 1;
}

struct Parts {
  std::int64_t splits, terms;
};
// Splits K into `split` parts, but into at least `least` unless `split` is 1.
Parts parts_of(std::int64_t k, std::int64_t split, std::int64_t tile_k, std::int64_t least) {
  const std::int64_t parts = split == 1 ? 1 : std::max(split, least);
  const std::int64_t terms = round_up(ceil_divide(k, parts), tile_k);
  return {ceil_divide(k, terms), terms};
}

// The smallest SPLIT that gives as many parts as `split`.
constexpr std::array<std::int64_t, 8> splits = {1, 2, 4, 8, 16, 32, 64, 128};
std::int64_t least_split(std::int64_t k, std::int64_t split, std::int64_t tile_k, std::int64_t least) {
  return least_alike(splits, split,
                     [=](std::int64_t each) { return parts_of(k, each, tile_k, least).splits; });
}

// Splits K, for each of the tiles, into at most `split` parts and at least half as many, or into `least` to
// twice as many where that is more. Takes the number with which all blocks need the least time.
Parts parts_of(std::int64_t k, std::int64_t split, std::int64_t tile_k, std::int64_t least,
               std::int64_t tiles, std::int64_t resident, const DeviceFacts& device) {
  const std::int64_t given = least_split(k, split, tile_k, least);
  const std::int64_t most = given == 1 || given >= least ? given : 2 * least;
  Parts best = parts_of(k, most, tile_k, least);
  for (std::int64_t its = most - 1; its > most / 2; --its) {
    const Parts parts = parts_of(k, its, tile_k, least);
    const auto clocks = [&](const Parts& of) {
      return rounds_of(tiles * of.splits, resident, device) * static_cast<double>(of.terms);
    };
    if (clocks(parts) < clocks(best)) best = parts;
  }
  return best;
}

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
                         .swizzled = swizzles_halves(c)});
}
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
                          .counted_terms = k.digits.size() > 1 && c[PACK] != "both",
                          .joins = c[OUT_BY] == "shared" && splits <= 1,
                          .by_rows = c[OUT_BY] == "rows" && splits <= 1,
                          .swizzled = uses_fours(c)});
}

// True if terms of zeros may be added: they add nothing.
bool adds_nothing(const Problem& problem) {
  const Expression& expression = expression_of(problem);
  return expression.reduction == Reduction::sum && !product_of(expression.function).empty();
}

// True if the sum is that of products of the two accesses.
bool is_product(const Problem& problem) {
  const Expression& expression = expression_of(problem);
  std::vector<int> factors = product_of(expression.function);
  std::sort(factors.begin(), factors.end());
  return expression.reduction == Reduction::sum && factors == std::vector{0, 1};
}

// True if the operand that is read through windows, and no other access, leaves its array's bounds, in a sum
// of products of 16-bit elements; then the packed copy has the zeros.
bool packs_bounds(const Problem& problem) {
  const Groups groups = groups_of(problem);
  const int windowed = windowed_operand(groups);
  if (windowed < 0 || !is_product(problem) || bytes(dtype_of(problem)) != 2) return false;
  return (windowed == 0 ? groups.first : groups.second).bounds.size() == nest_of(problem).bounds();
}

std::string refuses(const Problem& problem) {
  const Expression& expression = expression_of(problem);
  if (expression.function.inputs != 2) {
    return "This template is for two accesses, and the expression has " +
           std::to_string(expression.function.inputs) + "; take another template.";
  }
  if (expression.finish.accesses.size() > most_finish_accesses)
    return "This template is for a finish of " + std::to_string(most_finish_accesses) +
           " accesses at most, and its finish has " + std::to_string(expression.finish.accesses.size()) +
           "; take another template.";
  const Nest& nest = nest_of(problem);
  if (nest.bounds() > 0 && !packs_bounds(problem))
    return "This template reads elements out of bounds only of images of 16-bit elements with channels, "
           "which "
           "it packs; take another template.";
  if (nest.outputs() == 0 || nest.terms() == 0) return "There is nothing to compute; the base serves that.";
  const Groups groups = groups_of(problem);
  for (const auto& [name, group] : {std::pair("M", &groups.m), std::pair("N", &groups.n),
                                    std::pair("K", &groups.k), std::pair("batch", &groups.batch)}) {
    const std::int64_t size = size_of(*group);
    if (size <= most_in_group) continue;
    return std::string("The group ") + name + " of the indices has " + std::to_string(size) +
           " places, more than the " + std::to_string(most_in_group) +
           " that this template counts; take another template.";
  }
  return "";
}

// True if the device has tensor cores that multiply the problem's type, which is one of `types`; the host
// emulates them.
bool has_tensor_cores(const Problem& problem, const DeviceFacts& device, std::initializer_list<DType> types) {
  return is_product(problem) && std::find(types.begin(), types.end(), dtype_of(problem)) != types.end() &&
         (device.kind != DeviceKind::cuda || device.compute_capability >= 80);
}
bool has_tensor_cores(const Problem& problem, const DeviceFacts& device) {
  return has_tensor_cores(problem, device, {DType::f64});
}
bool has_matrices(const Problem& problem, const DeviceFacts& device) {
  return has_tensor_cores(problem, device, {DType::f16, DType::bf16});
}
// wgmma is of compute capability 9.0 alone.
bool has_warpgroups(const Problem& problem, const DeviceFacts& device) {
  return has_matrices(problem, device) &&
         (device.kind != DeviceKind::cuda || device.compute_capability == 90);
}
bool has_halves(const Problem& problem, const DeviceFacts& device) {
  return has_tensor_cores(problem, device, {DType::f32});
}

// True if a sum of k products of halves keeps the bound of a sum of floats: halves.inl counts the roundings.
// There are at most as many parts of K as there are tiles.
bool are_enough_for_halves(std::int64_t k, std::int64_t tile_k) {
  const auto terms = static_cast<double>(tile_k), tiles = static_cast<double>(ceil_divide(k, tile_k));
  return 13 + 1.26 * terms + 2 * tiles <= static_cast<double>(k);
}

// The properties that the kernel is compiled for; empty for a problem that the template refuses.
Values ranks(const Problem& problem) {
  const Expression& expression = expression_of(problem);
  const std::size_t finish = expression.finish.accesses.size();
  if (expression.function.inputs != 2 || finish > most_finish_accesses) return {};
  const Groups groups = groups_of(problem);
  const auto rank = [](const Group& group) { return static_cast<std::int64_t>(group.size()); };
  return {{"M_RANK", rank(groups.m)},
          {"N_RANK", rank(groups.n)},
          {"K_RANK", rank(groups.k)},
          {"BATCH_RANK", rank(groups.batch)},
          {"A_ALONG_K", std::int64_t{first_along_k(groups)}},
          {"B_ALONG_K", std::int64_t{second_along_k(groups)}},
          {"WINDOWED", std::int64_t{windowed_operand(groups)}},
          {"INDEX", index_bits(problem)},
          {"FINISH_ACCESSES", static_cast<std::int64_t>(finish)}};
}

Values constants_of_any(const Problem& problem) {
  Values constants = ranks(problem);
  if (constants.empty()) return constants;
  constants.set("SWAPPED", std::int64_t{groups_of(problem).swapped});
  constants.set("REDUCTION", static_cast<std::int64_t>(expression_of(problem).reduction));
  constants.set("ZEROS_ADD_NOTHING", std::int64_t{adds_nothing(problem)});
  return constants;
}

std::string codes(const Problem& problem) {
  const Expression& e = expression_of(problem);
  const language::Expression itself = language::parse("a").expression;
  std::string parameters, pointers, strides;
  for (std::size_t f = 0; f < e.finish.accesses.size(); ++f) {
    const std::string its = "finish" + std::to_string(f);
    parameters += ", InputPointer<T> " + its + ", long long " + its + "_start, Strides " + its + "_by";
    pointers += (f == 0 ? "" : ", ") + its + " + " + its + "_start";
    strides += ", " + its + "_by";
  }
  return types_code(problem) + "#define FINISH_PARAMETERS " + parameters + "\n#define FINISH_OPERANDS {{" +
         pointers + "}, {extents, multipliers" + strides + "}}\nnamespace finish {\n" +
         language::code(e.finish.is_there() ? e.finish.function : itself, compute_dtype(problem)) + "}\n";
}

// The elements of the widest load and of the widest store; they divide a tile.
std::int64_t widest_load(const Problem& problem) {
  return std::min<std::int64_t>(8, 16 / bytes(dtype_of(problem)));
}
std::int64_t widest_store(const Problem& problem, bool of_matrices) {
  const std::int64_t number = of_matrices ? 2 : bytes(compute_dtype(problem));
  return 16 / std::max<std::int64_t>(number, bytes(out_dtype(problem)));
}

std::vector<Axis> axes(const Problem& problem) {
  const std::int64_t compute = bytes(compute_dtype(problem));
  const std::vector<Value> vectors = halves(widest_load(problem));
  const bool wide = compute == 8;
  const std::vector<Value> tiles = wide ? std::vector<Value>{64, 128, 32, 16, 256, 24, 48, 96, 80}
                                        : std::vector<Value>{128, 64, 256, 32, 16, 24, 48, 96};
  const std::vector<Value> of_thread =
      wide ? std::vector<Value>{4, 8, 2, 6, 10} : std::vector<Value>{8, 4, 16, 12, 2, 32, 64};
  // The axes with few legal combinations come first, so that a walk through the space skips the rest.
  return {
      {PACK, choices<Packs, Value>(),
       "operands that are first copied into the workspace, their rows side by side; channels: both, and what "
       "is "
       "read through windows with its channels side by side"},
      {SPAN_N,
       {1, 8, 4, 16},
       "columns of N that are neighbours in the output, before the second operand's neighbours"},
      {ORDER_K, categories({"first", "second"}), "the operand whose neighbours are neighbours in K"},
      {VECTOR_A, vectors, "neighbours that a load of the first operand moves"},
      {VECTOR_B, vectors, "neighbours that a load of the second operand moves"},
      {VECTOR_OUT, halves(widest_store(problem, bytes(dtype_of(problem)) == 2)),
       "columns of N that a store moves"},
      {UNIT, categories({"fma", "tensor_core", "mma", "wgmma", "halves", "packed_halves", "wgmma_halves"}),
       "what multiplies and adds: tensor_core doubles, mma elements of 16 bits in a warp, wgmma in four, "
       "halves floats "
       "that are split into two of these, packed_halves the same, split before in the workspace, "
       "wgmma_halves these "
       "in four warps"},
      {TILE_M, tiles, "rows of M of a tile"},
      {TILE_N, tiles, "columns of N of a tile"},
      {THREAD_M, of_thread, "rows of a thread"},
      {THREAD_N, of_thread, "columns of a thread"},
      {WARP_N, {8, 4, 2, 16}, "threads of a warp along N; the others are along M"},
      {TILE_K, wide ? std::vector<Value>{16, 8, 32, 24} : std::vector<Value>{16, 8, 32, 24, 64},
       "terms of a tile"},
      {STAGES,
       {3, 2, 4, 1},
       "tiles of each operand that asynchronous copies bring into shared memory; 1: tiles come by way of "
       "registers, one ahead"},
      {OUT_BY, categories({"registers", "shared", "rows"}),
       "how sums come into the output: from registers, or by way of shared memory, where neighbours of "
       "different threads are joined; rows: in pieces of 16 bytes at any address"},
      {SPLIT,
       {splits.begin(), splits.end()},
       "blocks that share the terms of a tile, at most; at least half as many, as suits the device best"},
      {BLOCK_ORDER, categories({"row", "column", "banded"}),
       "in which order blocks take tiles; banded: 8 rows of tiles, column by column"},
      resident_warps_axis({16, 12, 8}),
      store_axis(),
      start_axis(),
      trigger_axis(),
  };
}

// The widest legal accesses, by the operands that are packed and the order in which N and K are counted.
class WidthTable {
 public:
  struct Widths {
    std::int64_t a = 0, b = 0, out = 0;  // 0: N cannot be counted so
    bool a_along_k = false, b_along_k = false;
  };

  WidthTable(const Problem& problem, const Groups& given) : stored_(widest_store(problem, false)) {
    for (std::size_t pack = 0; pack < number_of_packs; ++pack) {
      const auto packs = static_cast<Packs>(pack);
      if (packs == Packs::channels && windowed_operand(given) < 0) continue;
      const PackedGroups its = packed(problem, given, packs);
      const Groups& groups = its.groups;
      elements_.at(pack) = std::max(its.first.elements, its.second.elements);
      const auto width = [&](const std::optional<Counted>& counted, Stride stride, const View& view,
                             std::int64_t limit) {
        if (!counted || counted->size() > most_in_group) return std::int64_t{0};
        // An array smaller than the widest vector need not be aligned.
        if (array_bytes(problem, view.array) < 16) limit = 1;
        return widest(groups, *counted, stride, view.start, limit);
      };
      // A packed operand's rows follow each other, whatever their indices, and end at a multiple of a vector.
      const auto packed_width = [](const std::optional<Counted>& counted, std::int64_t limit) {
        return counted && counted->size() <= most_in_group ? limit : std::int64_t{0};
      };
      const std::int64_t loaded = widest_load(problem), stored = widest_store(problem, true);
      const bool a_along = first_along_k(groups), b_along = second_along_k(groups);
      const Counted m = counted_m(groups);
      for (const std::int64_t span : spans) {
        const std::optional<Counted> n = counted_n(groups, span);
        for (const bool second : {false, true}) {
          const Counted k = counted_k(groups, second ? "second" : "first");
          table_.at(place(pack, span, second)) = {
              packs_first(packs) ? packed_width(m, loaded)
                                 : width(a_along ? k : m, &Digit::first, groups.first, loaded),
              packs_second(packs) ? packed_width(n, loaded)
                                  : width(b_along ? k : n, &Digit::second, groups.second, loaded),
              width(n, &Digit::out, groups.out, stored), a_along, b_along};
        }
      }
    }
  }

  // A walk through the space decides a rule from the axes that the rule reads, so these functions read no
  // more axes than they need.
  bool counts_n(const Config& c) const { return at(c, false).out > 0; }
  Widths of(const Config& c) const {
    Widths its = at(c, false);
    if (its.a_along_k || its.b_along_k) its = at(c, c[ORDER_K] == "second");
    if (!multiplies_matrices(c)) its.out = std::min(its.out, stored_);
    // Asynchronous copies turn terms into rows one element at a time. For tensor cores they leave the terms
    // where they are.
    const bool turns = c[STAGES] > 1 && !uses_tensor_cores(c) && !multiplies_matrices(c);
    if (turns && its.a_along_k) its.a = 1;
    if (turns && its.b_along_k) its.b = 1;
    return its;
  }
  Widths of(Packs packs, bool second) const {
    return table_[place(static_cast<std::size_t>(packs), 1, second)];
  }  // of matrices
  std::int64_t packed_elements(const Config& c) const {
    return elements_[static_cast<std::size_t>(packs_of(c))];
  }  // the larger one's

 private:
  static constexpr std::array<std::int64_t, 4> spans = {1, 4, 8, 16};
  static std::size_t place(std::size_t pack, std::int64_t span, bool second) {
    return (pack * 2 + (second ? 1U : 0U)) * 17 + static_cast<std::size_t>(span);
  }
  const Widths& at(const Config& c, bool second) const {
    return table_[place(static_cast<std::size_t>(packs_of(c)), c[SPAN_N], second)];
  }

  std::array<Widths, number_of_packs* 2 * 17> table_ = {};
  std::array<std::int64_t, number_of_packs> elements_ = {};
  std::int64_t stored_;  // the widest store of sums that are multiplied as numbers
};

// The bytes of a run of the output's neighbours along N.
std::int64_t run_bytes(const Problem& problem, const Groups& groups) {
  const Digit& along = *std::min_element(
      groups.n.begin(), groups.n.end(),
      [](const Digit& a, const Digit& b) { return distance_of(a.out) < distance_of(b.out); });
  return along.extent * bytes(out_dtype(problem));
}

// True if N is one index, along which the output's elements are neighbours.
bool stores_rows(const Groups& groups) { return groups.n.size() == 1 && groups.n.front().out == 1; }

// True if packing an operand helps: its neighbours are terms, or its nearest rows are not the output's
// nearest, or K has several indices.
bool is_packed_with_gain(const Groups& groups, const Group& rows, Stride stride) {
  return along_k(groups, rows, stride) || groups.k.size() > 1 ||
         !(ordered(rows, stride, &Digit::out).digits.front() ==
           ordered(rows, &Digit::out, stride).digits.front());
}

std::vector<Rule> must(const std::vector<Axis>& its_axes, const Groups& groups,
                       const std::shared_ptr<const WidthTable>& widths, const Problem& problem,
                       const DeviceFacts& device) {
  const DType dtype = dtype_of(problem);
  const std::int64_t element = bytes(compute_dtype(problem));
  const std::int64_t m = size_of(groups.m), n = size_of(groups.n), k = size_of(groups.k);
  const std::int64_t parts = least_parts(problem, groups);
  const bool has_channels = adds_nothing(problem) && windowed_operand(groups) >= 0,
             has_bounds = nest_of(problem).bounds() > 0;
  const bool one_order_k = has_one_order_k(groups), has_rows = stores_rows(groups);
  const bool tensor_cores = has_tensor_cores(problem, device), matrices = has_matrices(problem, device),
             halves = has_halves(problem, device);
  const bool is_9_0 = device.kind != DeviceKind::cuda || device.compute_capability == 90;  // which has wgmma
  std::vector<Rule> rules = {
      {"A warp's threads share a tile: THREAD_M * 32 / WARP_N divides TILE_M, and THREAD_N * WARP_N divides "
       "TILE_N.",
       [](const Config& c) {
         return c[TILE_M] % (c[THREAD_M] * (32 / c[WARP_N])) == 0 &&
                c[TILE_N] % (c[THREAD_N] * c[WARP_N]) == 0;
       }},
      {"Tensor cores multiply doubles from compute capability 8.0 on. Four lanes of a warp are then along N, "
       "and a thread has an even number of rows and columns.",
       [=](const Config& c) {
         return !uses_tensor_cores(c) ||
                (tensor_cores && c[WARP_N] == 4 && c[THREAD_M] % 2 == 0 && c[THREAD_N] % 2 == 0);
       }},
      {"mma and wgmma multiply products of f16 and bf16, and halves those of f32, from compute capability "
       "8.0 "
       "on, 16 terms at a time. Four lanes of a warp are then along N, a thread has an even number of rows "
       "and "
       "a multiple of eight columns, and N is not counted in runs.",
       [=](const Config& c) {
         return !multiplies_matrices(c) ||
                ((splits_floats(c) ? halves : matrices) && c[WARP_N] == 4 && c[THREAD_M] % 2 == 0 &&
                 c[THREAD_N] % 8 == 0 && c[TILE_K] % 16 == 0 && c[SPAN_N] == 1);
       }},
      {"wgmma and wgmma_halves are of compute capability 9.0 alone. A warpgroup has 32 THREAD_M rows of the "
       "tile and all its columns, 64, 128 or 256, of wgmma also 32; a tile has 64 terms, a thread at most "
       "128 "
       "sums, and STAGES of wgmma is 1, 3 or 4.",
       [=](const Config& c) {
         return !uses_fours(c) ||
                (is_9_0 && c[TILE_N] == 4 * c[THREAD_N] && 256 % c[TILE_N] == 0 &&
                 c[TILE_N] >= (uses_warpgroups(c) ? 32 : 64) && c[TILE_M] % (32 * c[THREAD_M]) == 0 &&
                 c[TILE_K] == 64 && c[THREAD_M] * c[THREAD_N] <= 128 &&
                 (c[STAGES] != 2 || swizzles_halves(c)));
       }},
      {"wgmma takes turned operands by 64 rows or columns.",
       [=](const Config& c) {
         return !uses_warpgroups(c) || ((c[TILE_M] % 64 == 0 || widths->of(c).a_along_k) &&
                                        (c[TILE_N] % 64 == 0 || widths->of(c).b_along_k));
       }},
      {"Threads with 2 rows are for mma, wgmma and wgmma_halves, with 32 or 64 columns for the latter two, "
       "and "
       "tiles of 64 terms of f32 for wgmma_halves.",
       [=](const Config& c) {
         if (uses_fours(c) || element == 8) return true;
         return (c[THREAD_M] != 2 || c[UNIT] == "mma") && c[THREAD_M] <= 16 && c[THREAD_N] != 2 &&
                c[THREAD_N] <= 16 && (c[TILE_K] < 64 || bytes(dtype) == 2);
       }},
      {"wgmma's sums fit into the registers of RESIDENT_WARPS, with 26 more for each thread.",
       [=](const Config& c) {
         return !uses_warpgroups(c) ||
                (c[THREAD_M] * c[THREAD_N] + 26) * 32 * std::max(c[RESIDENT_WARPS], tile_threads(c) / 32) <=
                    65536;
       }},
      {"Floats are split on their way through registers, and STAGES is 1; packed halves are copied, in more "
       "stages, and nothing else is packed.",
       [](const Config& c) {
         return !splits_floats(c) || (packs_halves(c) ? c[STAGES] > 1 && c[PACK] == "none" : c[STAGES] == 1);
       }},
      {"Floats are split where a sum has enough terms for the error of that to stay below a plain sum's: 40 "
       "with TILE_K=16, 58 with TILE_K=32, 98 with TILE_K=64.",
       [=](const Config& c) { return !splits_floats(c) || are_enough_for_halves(k, c[TILE_K]); }},
      {"A block has at most 512 threads: more leave too few registers for what a thread has.",
       [](const Config& c) { return tile_threads(c) <= 512; }},
      {"A thread's sums and what it multiplies fit into 255 registers of 4 bytes.",
       [=](const Config& c) {
         const std::int64_t numbers = c[THREAD_M] * c[THREAD_N] + 2 * (c[THREAD_M] + c[THREAD_N]);
         return uses_fours(c) || numbers * element <= std::int64_t{4} * 224;
       }},
      {"Runs in N are for neighbours of the output that are not those of the second operand.",
       [=](const Config& c) { return widths->counts_n(c); }},
      {"Where N is counted in runs, a tile has eight of them, or a multiple.",
       [](const Config& c) { return c[SPAN_N] == 1 || c[TILE_N] % (8 * c[SPAN_N]) == 0; }},
      conditional(
          ORDER_K, "first", [=](const Config& c) { return !one_order_k && c[PACK] == "none"; },
          "Both orders of K are the same, or a packed operand makes another."),
      {"VECTOR_A, VECTOR_B and VECTOR_OUT are as wide as the arrays allow, or 1 for pointers of any "
       "alignment, but for packed operands: an operand's along the first index of M or N, or by way of "
       "registers or for tensor cores of K, the output's along the first index of N.",
       [=](const Config& c) {
         const auto its = widths->of(c);
         return (c[VECTOR_A] == its.a && c[VECTOR_B] == its.b && c[VECTOR_OUT] == its.out) ||
                (c[VECTOR_A] == (packs_first(c) ? its.a : 1) &&
                 c[VECTOR_B] == (packs_second(c) ? its.b : 1) && c[VECTOR_OUT] == 1);
       }},
      {"Channels are packed of sums of products that read one operand through windows, with an index of K's "
       "own beside; always, where it leaves its array's bounds.",
       [=](const Config& c) { return c[PACK] == "channels" ? has_channels : !has_bounds; }},
      {"A packed operand has less than 2^31 elements.",
       [=](const Config& c) { return widths->packed_elements(c) < std::int64_t{1} << 31; }},
      one_name(
          SPLIT, [=](const Config& c) { return least_split(k, c[SPLIT], c[TILE_K], parts); },
          "Of the SPLIT that make as many parts of K one stands for all."),
      {"A long sum of f32 is one of parts, so that few roundings are behind each term.",
       [=](const Config& c) { return c[SPLIT] > 1 || parts == 1; }},
      conditional(
          OUT_BY, "registers", [](const Config& c) { return c[SPLIT] == 1; },
          "Parts of K are written from registers."),
      {"Rows of the output are stored whole where its neighbours are N's one index.",
       [=](const Config& c) { return c[OUT_BY] != "rows" || has_rows; }},
      conditional(
          BLOCK_ORDER, "row", [=](const Config& c) { return m > c[TILE_M] && n > c[TILE_N]; },
          "One row or column of tiles has one order."),
      resident_warps_rule(its_axes, tile_threads),
  };
  if (element != bytes(dtype)) {
    rules.push_back(
        {"Elements of 8 and 16 bits become wider on their way, which is by registers: STAGES is 1, but for "
         "mma, where an "
         "asynchronous copy moves at least 4 bytes.",
         [=](const Config& c) {
           return c[STAGES] == 1 || (multiplies_matrices(c) && c[VECTOR_A] * bytes(dtype) >= 4 &&
                                     c[VECTOR_B] * bytes(dtype) >= 4);
         }});
  }
  return rules;
}

// True if the sums and operands of `warps` warps fit into the registers, with `words` words per number.
bool fits_registers(std::int64_t thread_m, std::int64_t thread_n, std::int64_t words, std::int64_t warps) {
  const std::int64_t numbers = thread_m * thread_n + 2 * (thread_m + thread_n);
  return (numbers * words + 32) * 32 * warps <= 65536 + 2048;
}

std::vector<Rule> worth(const Groups& groups, const std::shared_ptr<const WidthTable>& widths,
                        const Problem& problem) {
  const std::int64_t words = bytes(compute_dtype(problem)) / 4;
  const std::int64_t m = size_of(groups.m), n = size_of(groups.n), k = size_of(groups.k);
  const std::int64_t batch = size_of(groups.batch), run = run_bytes(problem, groups);
  const std::int64_t few_parts = least_parts(problem, groups) == 1 ? 1 : 2;
  const bool has_channels = windowed_operand(groups) >= 0;
  const bool packs_a = n >= 128 && is_packed_with_gain(groups, groups.m, &Digit::first);
  const bool packs_b = m >= 128 && is_packed_with_gain(groups, groups.n, &Digit::second);
  return {
      {"A block has 64 to 256 threads.",
       [](const Config& c) { return tile_threads(c) >= 64 && tile_threads(c) <= 256; }},
      {"A thread has at least 16 sums, and at most four times as many of one side as of the other.",
       [](const Config& c) {
         return uses_fours(c) || (c[THREAD_M] * c[THREAD_N] >= 16 && c[THREAD_M] <= 4 * c[THREAD_N] &&
                                  c[THREAD_N] <= 4 * c[THREAD_M]);
       }},
      {"The sums of RESIDENT_WARPS fit into 65536 registers with what is multiplied.",
       [=](const Config& c) {
         const std::int64_t warps = std::max(c[RESIDENT_WARPS], tile_threads(c) / 32);
         if (uses_warpgroups(c)) return (c[THREAD_M] * c[THREAD_N] + 64) * 32 * warps <= 65536;
         return swizzles_halves(c) || fits_registers(c[THREAD_M], c[THREAD_N], words, warps);
       }},
      {"Halves need as many registers as eight warps have, for at most 64 sums of a thread; 128 of packed "
       "ones, or 8 by 16 of 16 terms.",
       [](const Config& c) {
         const std::int64_t sums = c[THREAD_M] * c[THREAD_N];
         const bool fits =
             sums <= 64 || (sums <= 128 && (packs_halves(c) || (c[THREAD_M] == 8 && c[TILE_K] == 16)));
         return !splits_floats(c) || (c[RESIDENT_WARPS] == 8 && fits);
       }},
      {"A side of a tile is not twice as long as what there is.",
       [=](const Config& c) {
         return (c[TILE_M] < 2 * m || c[TILE_M] <= 16) && (c[TILE_N] < 2 * n || c[TILE_N] <= 16);
       }},
      {"K is split where tiles are few.",
       [=](const Config& c) {
         const std::int64_t tiles = ceil_divide(m, c[TILE_M]) * ceil_divide(n, c[TILE_N]) * batch;
         return c[SPLIT] == few_parts || (tiles * c[SPLIT] <= 2048 && k >= 4 * c[TILE_K] * c[SPLIT]);
       }},
      {"A store's hint is for outputs that are most of what is moved.",
       [=](const Config& c) { return c[STORE] == "plain" || k <= 256; }},
      {"Sums go through shared memory where the output's neighbours along N are shorter than 512 bytes, and "
       "K is short.",
       [=](const Config& c) { return c[OUT_BY] != "shared" || (run < 512 && k <= 256); }},
      {"Accesses are as wide as the arrays allow.",
       [=](const Config& c) {
         const auto its = widths->of(c);
         return c[VECTOR_A] == its.a && c[VECTOR_B] == its.b;
       }},
      {"Operands are packed that are read for 128 rows or columns and whose neighbours are terms, or rows "
       "that are not the output's.",
       [=](const Config& c) {
         if (packs_of(c) == Packs::channels) return has_channels;
         return (!packs_first(c) || packs_a) && (!packs_second(c) || packs_b);
       }},
      {"An early start is for few blocks.",
       [=](const Config& c) {
         const std::int64_t tiles = ceil_divide(m, c[TILE_M]) * ceil_divide(n, c[TILE_N]) * batch;
         return c[START] == "plain" || tiles <= 2048;
       }},
      trigger_rule(),
  };
}

// How a config of another contraction is used for this one: its tiles stay. A unit that this type or device
// has not becomes fma, runs in N that cannot be counted become single columns, and a long sum of f32 gets
// parts. Then accesses are as wide as these arrays allow, or of single elements as there, and what cannot be
// copied asynchronously comes by way of registers.
Space::Translation translation(const Groups& groups, const std::shared_ptr<const WidthTable>& widths,
                               const Problem& problem, const DeviceFacts& device) {
  const bool tensor_cores = has_tensor_cores(problem, device), matrices = has_matrices(problem, device);
  const bool has_parts = least_parts(problem, groups) > 1;
  const std::int64_t element = bytes(dtype_of(problem));
  const bool becomes_wider = element != bytes(compute_dtype(problem));
  return [=](const Config& c) {
    Values changed;
    const bool has_unit = (!uses_tensor_cores(c) || tensor_cores) && (!multiplies_matrices(c) || matrices);
    if (!has_unit) changed.set(UNIT.name, "fma");
    if (!widths->counts_n(c)) changed.set(SPAN_N.name, std::int64_t{1});
    if (has_parts && c[SPLIT] == 1) changed.set(SPLIT.name, std::int64_t{2});
    if (!changed.empty()) return changed;  // the widths depend on it
    const WidthTable::Widths widest = widths->of(c);
    const bool is_narrow =
        (packs_first(c) || c[VECTOR_A] == 1) && (packs_second(c) || c[VECTOR_B] == 1) && c[VECTOR_OUT] == 1;
    const std::int64_t a = is_narrow && !packs_first(c) ? 1 : widest.a,
                       b = is_narrow && !packs_second(c) ? 1 : widest.b;
    changed = {{std::string(VECTOR_A.name), a},
               {std::string(VECTOR_B.name), b},
               {std::string(VECTOR_OUT.name), is_narrow ? 1 : widest.out}};
    const bool is_too_narrow = multiplies_matrices(c) && std::min(a, b) * element < 4;
    if (becomes_wider && (c[UNIT] == "fma" || is_too_narrow)) changed.set(STAGES.name, std::int64_t{1});
    return changed;
  };
}

Space space(const Problem& problem, const DeviceFacts& device) {
  const Groups groups = groups_of(problem);
  std::vector<Axis> its = axes(problem);
  const auto widths = std::make_shared<const WidthTable>(problem, groups);
  std::vector<Rule> rules = must(its, groups, widths, problem, device);
  return Space(std::move(its), std::move(rules), worth(groups, widths, problem),
               translation(groups, widths, problem, device));
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

Launch packing_launch(const Packing& packing, const View& view, std::int64_t element,
                      std::int64_t offset_bytes, bool overlaps) {
  std::vector<Move> moves = packing.moves;
  moves.resize(most_digits);
  std::int64_t blocks = 1;
  for (std::size_t d = 0; d < most_digits; ++d)
    blocks *= d < 2 ? ceil_divide(moves[d].extent, pack_side) : moves[d].extent;
  return {.kernel = "tensor_contract_pack",
          .grid = {blocks},
          .block = {contract_pack_threads},
          .dynamic_shared_bytes = pack_side * (pack_side + 1) * element,
          .arguments = {ArgumentPointer{view.array}, WorkspacePointer{offset_bytes}, view.start,
                        of_each(moves, [](const Move& move) { return int32(move.extent); }),
                        of_each(moves, [](const Move& move) { return int32(move.before); }),
                        of_each(moves, [](const Move& move) { return int32(move.extent - move.behind); }),
                        of_each(moves, [](const Move& move) { return move.from; }),
                        of_each(moves, [](const Move& move) { return move.to; })},
          .overlaps_previous = overlaps};
}

Work work(const Problem& problem, const Config& config, const DeviceFacts& device) {
  const Groups given = groups_of(problem);
  const PackedGroups its_packed = packed(problem, given, packs_of(config));
  const Groups& groups = its_packed.groups;
  const Counted m = counted_m(groups);
  const Counted n = counted_n(groups, config[SPAN_N]).value();
  const Counted k = counted_k(groups, config[ORDER_K]);
  const std::int64_t tiles_m = ceil_divide(m.size(), config[TILE_M]);
  const std::int64_t tiles_n = ceil_divide(n.size(), config[TILE_N]);
  const std::int64_t tiles = tiles_m * tiles_n * size_of(groups.batch);
  const std::int64_t stage_bytes = std::max<std::int64_t>(2, config[STAGES]) * config[TILE_K] *
                                   (config[TILE_M] + config[TILE_N]) * (splits_floats(config) ? 2 : 1) *
                                   bytes(held_dtype(problem, config));
  const std::int64_t resident =
      resident_blocks(tile_threads(config), config[RESIDENT_WARPS], stage_bytes, device);
  const Parts parts =
      parts_of(k.size(), config[SPLIT], config[TILE_K], least_parts(problem, given), tiles, resident, device);
  const bool overlaps = config[START] == "overlapped";
  const DType dtype = dtype_of(problem);

  std::vector<Digit> digits;
  for (const Group* group : {&m.digits, &n.digits, &k.digits, &groups.batch})
    digits.insert(digits.end(), group->begin(), group->end());
  digits.resize(most_digits);
  const auto add_numbers = [](std::vector<KernelArgument>& arguments,
                              std::initializer_list<std::int64_t> numbers) {
    for (const std::int64_t number : numbers) arguments.emplace_back(int32(number));
  };
  const auto add_extents = [&](std::vector<KernelArgument>& arguments) {
    arguments.push_back(of_each(digits, [](const Digit& digit) { return int32(digit.extent); }));
    arguments.push_back(of_each(digits, [](const Digit& digit) { return multiplier_of(digit.extent); }));
  };
  const auto add_strides = [&](std::vector<KernelArgument>& arguments, Stride stride) {
    arguments.push_back(of_each(digits, [=](const Digit& digit) { return digit.*stride; }));
  };
  const auto add_finish = [&](std::vector<KernelArgument>& arguments) {
    const std::vector<int>& accesses = expression_of(problem).finish.accesses;
    for (std::size_t f = 0; f < accesses.size(); ++f) {
      const View& view = nest_of(problem).inputs[static_cast<std::size_t>(accesses[f])];
      arguments.emplace_back(ArgumentPointer{view.array});
      arguments.emplace_back(view.start);
      arguments.push_back(of_each(digits, [=](const Digit& digit) { return digit.finish.at(f); }));
    }
  };

  // The workspace has the sums of parts of K, then the packed operands.
  Work work;
  const ContractStage stage = stage_of(problem, groups, config);
  const ContractLayout layout = layout_of(problem, stage, k, parts.splits, config);
  if (parts.splits > 1)
    work.workspace_bytes =
        tiles * parts.splits * config[TILE_M] * config[TILE_N] * bytes(compute_dtype(problem));
  const auto packed_or_not = [&](const Packing& packing, const View& view) -> KernelArgument {
    if (packing.elements == 0) return ArgumentPointer{view.array};
    const std::int64_t offset = round_up(work.workspace_bytes, 256);
    work.steps.emplace_back(packing_launch(packing, view, bytes(dtype), offset, overlaps));
    work.workspace_bytes = offset + packing.elements * bytes(dtype);
    return WorkspacePointer{offset};
  };
  KernelArgument first = packed_or_not(its_packed.first, given.first),
                 second = packed_or_not(its_packed.second, given.second);
  if (packs_halves(config)) {
    const std::int64_t rows_of_tiles = size_of(groups.batch) * ceil_divide(k.size(), config[TILE_K]);
    const std::int64_t first_tiles = tiles_m * rows_of_tiles, second_tiles = tiles_n * rows_of_tiles;
    const auto packed_bytes = [&](std::int64_t tile) {
      return 2 * tile * config[TILE_K] * bytes(held_dtype(problem, config)) + contract_scale_bytes;
    };
    const std::int64_t first_at = round_up(work.workspace_bytes, 256),
                       second_at = round_up(first_at + first_tiles * packed_bytes(config[TILE_M]), 256);
    work.workspace_bytes = second_at + second_tiles * packed_bytes(config[TILE_N]);
    std::vector<KernelArgument> its = {std::exchange(first, WorkspacePointer{first_at}),
                                       std::exchange(second, WorkspacePointer{second_at}),
                                       WorkspacePointer{first_at},
                                       WorkspacePointer{second_at},
                                       groups.first.start,
                                       groups.second.start};
    add_numbers(its, {m.size(), n.size(), k.size(), n.in_runs, tiles_m, tiles_n, first_tiles});
    add_extents(its);
    for (const Stride stride : {&Digit::first, &Digit::second}) add_strides(its, stride);
    work.steps.emplace_back(Launch{.kernel = "tensor_contract_split",
                                   .grid = {first_tiles + second_tiles},
                                   .block = {tile_threads(config)},
                                   .dynamic_shared_bytes = layout.runs_at + tile_threads(config) / 32 * 8,
                                   .arguments = std::move(its),
                                   .overlaps_previous = overlaps});
  }
  std::vector<KernelArgument> arguments = {
      std::move(first),    std::move(second),  ArgumentPointer{groups.out.array},
      WorkspacePointer{0}, groups.first.start, groups.second.start,
      groups.out.start};
  add_numbers(arguments,
              {m.size(), n.size(), k.size(), n.in_runs, tiles_m, tiles_n, parts.splits, parts.terms});
  add_extents(arguments);
  for (const Stride stride : {&Digit::first, &Digit::second, &Digit::out}) add_strides(arguments, stride);
  add_finish(arguments);
  work.steps.emplace_back(Launch{.kernel = "tensor_contract",
                                 .grid = {tiles * parts.splits},
                                 .block = {tile_threads(config)},
                                 .dynamic_shared_bytes = layout.bytes,
                                 .arguments = std::move(arguments),
                                 .overlaps_previous = overlaps});
  if (parts.splits == 1) return work;
  std::vector<KernelArgument> its = {ArgumentPointer{groups.out.array}, WorkspacePointer{0},
                                     groups.out.start};
  add_numbers(its, {m.size(), n.size(), n.in_runs, tiles_m, tiles_n, parts.splits});
  add_extents(its);
  add_strides(its, &Digit::out);
  add_finish(its);
  work.steps.push_back(
      Launch{.kernel = "tensor_contract_kept",
             .grid = {tiles * config[THREAD_M] * config[THREAD_N] / contract_kept_columns(config[THREAD_N])},
             .block = {tile_threads(config)},
             .dynamic_shared_bytes = layout.terms_at,
             .arguments = std::move(its),
             .overlaps_previous = overlaps});
  return work;
}

std::int64_t alignment_bytes(const Problem& problem, const Config& config) {
  return std::max(
      std::max(packs_first(config) ? 1 : config[VECTOR_A], packs_second(config) ? 1 : config[VECTOR_B]) *
          bytes(dtype_of(problem)),
      config[VECTOR_OUT] * bytes(out_dtype(problem)));
}

// The most warps whose sums fit into registers. Of the values that give the same number of blocks it is the
// smallest, which names them all.
std::int64_t most_resident(std::int64_t thread_m, std::int64_t thread_n, std::int64_t area,
                           std::int64_t words) {
  const std::int64_t threads = area / (thread_m * thread_n);
  std::int64_t warps = 16;
  while (warps > 8 && !fits_registers(thread_m, thread_n, words, warps)) warps -= 4;
  const auto blocks = [&](std::int64_t its) { return std::max<std::int64_t>(1, its * 32 / threads); };
  std::int64_t name = 8;
  while (blocks(name) != blocks(warps)) name += 4;
  return name;
}

// The first guess for matrix units is a model of what bounds them, with rates of the hardware:
// multiplications and bytes of shared memory's filling per clock and multiprocessor, the latency of a tile,
// and what storing, packing and adding parts cost.
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
                                                           {16, 128, 2, 16, false}});

class MatrixModel {
 public:
  MatrixModel(const Problem& problem, const Groups& groups, const DeviceFacts& device)
      : problem_(problem),
        device_(device),
        widths_(problem, groups),
        has_warpgroups_(has_warpgroups(problem, device)),
        stores_rows_(stores_rows(groups)),
        least_parts_(least_parts(problem, groups)),
        m_(size_of(groups.m)),
        n_(size_of(groups.n)),
        k_(size_of(groups.k)),
        batch_(size_of(groups.batch)) {
    for (std::size_t pack = 1; pack < number_of_packs; ++pack) {
      const auto packs = static_cast<Packs>(pack);
      if (packs == Packs::channels && windowed_operand(groups) < 0) continue;
      const PackedGroups its = packed(problem, groups, packs);
      for (const Packing* packing : {&its.first, &its.second}) {
        if (packing->elements == 0) continue;
        const auto moved = static_cast<double>(2 * packing->elements * bytes(dtype_of(problem)));
        pack_clocks_.at(pack) += moved / memory_bytes / multiprocessors() + launch_clocks;
      }
    }
  }

  // Nothing if no shape is legal.
  std::optional<Values> best() {
    for (const MatrixShape& shape : matrix_shapes) {
      if (shape.warpgroups && !has_warpgroups_) continue;
      for (std::size_t pack = 0; pack < number_of_packs; ++pack)
        for (const bool second : {false, true})
          for (const std::int64_t stages : {4, 3, 1})
            consider(shape, static_cast<Packs>(pack), second, stages);
    }
    return best_;
  }

 private:
  static constexpr double launch_clocks = 3000, latency_clocks = 600, product_latency_clocks = 50,
                          memory_bytes = 16, cache_bytes = 64, shared_bytes = 128, access_clocks = 4;
  double multiprocessors() const { return static_cast<double>(multiprocessors_to_fill(device_)); }

  void consider(const MatrixShape& shape, Packs packs, bool second, std::int64_t stages) {
    if (packs != Packs::channels && nest_of(problem_).bounds() > 0) return;
    const WidthTable::Widths widths = widths_.of(packs, second);
    if (widths.out == 0 || (second && (packs != Packs::none || (!widths.a_along_k && !widths.b_along_k))))
      return;
    const std::int64_t element = bytes(dtype_of(problem_));
    const bool asynchronous = stages > 1;
    if (asynchronous != (std::min(widths.a, widths.b) * element >= 4)) return;
    if (shape.warpgroups && shape.tile_n % 64 != 0 && !widths.b_along_k) return;  // it is turned
    const std::int64_t longest = asynchronous ? 64 : 32;
    const std::int64_t tile_k = shape.warpgroups ? 64 : k_ >= longest ? longest : k_ <= 16 ? 16 : 32;
    const std::int64_t sums = shape.thread_m * shape.thread_n;
    const std::int64_t threads = shape.tile_m * shape.tile_n / sums;
    const std::int64_t stage_bytes = (shape.tile_m + shape.tile_n) * tile_k * element;
    std::int64_t warps = 16;
    while (warps > 8 && (sums + 64) * 32 * std::max(warps, threads / 32) > 65536) warps -= 4;
    const std::int64_t resident =
        resident_blocks(threads, warps, std::max<std::int64_t>(2, stages) * stage_bytes + 4096, device_);
    const std::int64_t tiles_m = ceil_divide(m_, shape.tile_m), tiles_n = ceil_divide(n_, shape.tile_n);
    const std::int64_t tiles = tiles_m * tiles_n * batch_;
    // A step of a tile: multiplications, bytes, and accesses of a warp.
    const auto area = static_cast<double>(shape.tile_m * shape.tile_n);
    const double products = area * static_cast<double>(tile_k) / (shape.warpgroups ? 2048 : 1024);
    // Each 64 rows of a warpgroup, and each warp's rows, read the columns that they are multiplied with.
    const std::int64_t rows = shape.warpgroups ? 64 : 8 * shape.thread_m,
                       columns = shape.warpgroups ? shape.tile_n : 4 * shape.thread_n;
    const std::int64_t readers = shape.tile_m / rows * (shape.tile_n / columns);
    const auto read_bytes = static_cast<double>(readers * (rows + columns) * tile_k * element);
    const double filling = std::max(static_cast<double>(stage_bytes) / cache_bytes,
                                    (static_cast<double>(stage_bytes) + read_bytes) / shared_bytes);
    const double accesses = static_cast<double>(tile_k) / 32 *
                            (static_cast<double>(shape.tile_m) / static_cast<double>(widths.a) +
                             static_cast<double>(shape.tile_n) / static_cast<double>(widths.b));
    const double copying = accesses * access_clocks * (asynchronous ? 1 : 2);
    const double step = std::max({products, filling, copying});
    const std::int64_t ahead = std::max<std::int64_t>(1, stages - (shape.warpgroups ? 2 : 1));
    // A block alone waits for its copies, and a warp for its products: four warps fill a multiprocessor.
    const std::int64_t busy = shape.warpgroups ? 4 : std::min<std::int64_t>(4, threads / 32);
    const double waiting =
        static_cast<double>(tile_k) / 16 * product_latency_clocks * (shape.warpgroups ? 1 : 2);
    const double multiplying = products * 4 / static_cast<double>(busy) + waiting;
    const double alone = asynchronous
                             ? std::max({step, latency_clocks / static_cast<double>(ahead), multiplying})
                             : std::max(2 * latency_clocks + copying, multiplying) + copying;
    const double out_bytes = area * static_cast<double>(bytes(out_dtype(problem_)));
    for (const std::int64_t split : splits) {
      if (split > 1 && (k_ < 2 * tile_k * split || tiles * split > 4096)) break;
      if (split == 1 && least_parts_ > 1) continue;
      const Parts parts = parts_of(k_, split, tile_k, least_parts_, tiles, resident, device_);
      const std::int64_t blocks = tiles * parts.splits;
      const auto steps = static_cast<double>(ceil_divide(parts.terms, tile_k));
      const auto rounds =
          static_cast<double>(ceil_divide(blocks, multiprocessors_to_fill(device_) * resident));
      double clocks = std::max(rounds_of(blocks, resident, device_) * steps * step,
                               rounds * (steps * alone + 2 * latency_clocks));
      clocks += static_cast<double>(blocks) / std::min(multiprocessors(), static_cast<double>(blocks)) *
                (parts.splits > 1 ? area * 8 : out_bytes) / memory_bytes;
      if (parts.splits > 1) clocks += launch_clocks;
      clocks += pack_clocks_.at(static_cast<std::size_t>(packs));
      if (best_ && clocks >= least_) continue;
      least_ = clocks;
      best_ = Values{{std::string(UNIT.name), shape.warpgroups ? "wgmma" : "mma"},
                     {std::string(WARP_N.name), std::int64_t{4}},
                     {std::string(TILE_M.name), shape.tile_m},
                     {std::string(TILE_N.name), shape.tile_n},
                     {std::string(THREAD_M.name), shape.thread_m},
                     {std::string(THREAD_N.name), shape.thread_n},
                     {std::string(TILE_K.name), tile_k},
                     {std::string(STAGES.name), stages},
                     {std::string(SPLIT.name), split},
                     {std::string(PACK.name), std::string(name_of(packs))},
                     {std::string(RESIDENT_WARPS.name), warps}};
      if (second) best_->set(ORDER_K.name, "second");
      // Single elements are stored side by side only by way of shared memory.
      if (widths.out * bytes(out_dtype(problem_)) < 8 && parts.splits == 1)
        best_->set(OUT_BY.name, stores_rows_ ? "rows" : "shared");
      const std::int64_t operands = (m_ + n_) * k_ * batch_ * element;
      if (tiles_m > 8 && tiles_n > 1 && operands > std::int64_t{32} << 20)
        best_->set(BLOCK_ORDER.name, "banded");
    }
  }

  const Problem& problem_;
  const DeviceFacts& device_;
  WidthTable widths_;
  bool has_warpgroups_, stores_rows_;
  std::int64_t least_parts_, m_, n_, k_, batch_;
  std::array<double, number_of_packs> pack_clocks_ = {};
  std::optional<Values> best_;
  double least_ = 0;
};

// Chooses tiles as large as the sides allow with the fewest multiplications in vain, and parts of K where
// tiles are few.
std::optional<Values> untuned(const Problem& problem, const DeviceFacts& device) {
  const Groups groups = groups_of(problem);
  const std::int64_t m = size_of(groups.m), n = size_of(groups.n), k = size_of(groups.k);
  if (has_matrices(problem, device) && std::min(m, n) > 4 && k > 8) {
    if (std::optional<Values> best = MatrixModel(problem, groups, device).best()) return best;
  }
  const bool wide = bytes(compute_dtype(problem)) == 8;
  struct Shape {
    std::int64_t tile_m, tile_n, thread_m, thread_n, warp_n;
    double rate;  // of multiplications, as a part of the best
  };
  static const std::vector<Shape> of_words = {
      {96, 64, 12, 8, 8, 1.01},  {128, 128, 8, 8, 8, 1},    {96, 128, 8, 8, 8, 0.97},
      {128, 96, 8, 12, 8, 0.97}, {64, 128, 8, 8, 8, 0.95},  {128, 64, 8, 8, 8, 0.95},
      {64, 64, 8, 4, 8, 0.8},    {256, 24, 8, 12, 2, 0.85}, {24, 256, 12, 4, 16, 0.85},
      {256, 48, 8, 12, 4, 0.9},  {48, 256, 12, 8, 8, 0.9},  {256, 32, 8, 8, 4, 0.85},
      {32, 256, 8, 8, 8, 0.85},  {32, 32, 4, 4, 8, 0.5},    {256, 16, 8, 4, 4, 0.6},
      {16, 256, 4, 8, 8, 0.6}};
  // For problems in which storing takes as long as multiplying: many small blocks, so that some of them store
  // at any time.
  static const std::vector<Shape> of_few_words = {
      {64, 64, 8, 8, 8, 0.99},    {32, 128, 8, 8, 16, 1},    {96, 64, 16, 4, 16, 0.9},
      {24, 256, 12, 4, 16, 0.87}, {48, 256, 12, 4, 16, 0.8}, {256, 24, 8, 12, 2, 0.65},
      {256, 48, 8, 12, 4, 0.65},  {16, 128, 8, 4, 16, 0.75}, {128, 32, 8, 4, 8, 0.65},
      {32, 32, 4, 4, 8, 0.4},     {256, 16, 8, 4, 4, 0.5}};
  // For a small M or N.
  static const std::vector<Shape> of_thin_words = {
      {48, 128, 12, 8, 8, 1.16}, {32, 128, 8, 8, 16, 1.1}, {24, 128, 12, 4, 16, 1},
      {16, 128, 8, 4, 16, 0.85}, {128, 32, 4, 8, 4, 0.95}, {256, 24, 8, 12, 2, 0.8},
      {256, 16, 8, 4, 4, 0.75},  {32, 32, 4, 4, 8, 0.5},   {32, 64, 4, 4, 8, 0.8},
      {64, 32, 4, 4, 8, 0.8},    {16, 64, 4, 4, 16, 0.6},  {32, 16, 4, 4, 4, 0.4},
      {64, 128, 8, 8, 16, 1},    {64, 64, 8, 4, 8, 0.9},   {32, 256, 8, 8, 16, 1}};
  static const std::vector<Shape> of_doubles = {
      {64, 64, 4, 4, 8, 1},    {128, 64, 8, 4, 8, 1},   {64, 128, 4, 8, 8, 1},    {128, 32, 4, 4, 8, 0.9},
      {32, 128, 4, 4, 8, 0.9}, {32, 32, 4, 2, 8, 0.6},  {128, 24, 4, 6, 4, 0.9},  {24, 128, 6, 4, 8, 0.9},
      {128, 16, 4, 4, 4, 0.7}, {16, 128, 4, 4, 8, 0.7}, {256, 48, 8, 6, 4, 0.95}, {48, 256, 6, 8, 8, 0.95}};
  static const std::vector<Shape> of_tensor_cores = {
      {128, 64, 8, 8, 4, 1},   {64, 128, 8, 8, 4, 1},   {64, 64, 8, 4, 4, 0.92},  {128, 32, 4, 8, 4, 0.7},
      {32, 256, 4, 8, 4, 0.7}, {48, 128, 6, 8, 4, 0.8}, {128, 48, 8, 4, 4, 0.75}, {32, 32, 2, 4, 4, 0.5},
      {128, 16, 4, 4, 4, 0.5}, {16, 128, 2, 8, 4, 0.5}, {80, 64, 10, 4, 4, 0.85}};
  static const std::vector<Shape> of_few_in_tensor_cores = {
      {64, 64, 8, 8, 4, 1.05},  {32, 64, 4, 8, 4, 1},    {64, 64, 4, 4, 4, 0.95},  {64, 128, 4, 8, 4, 0.95},
      {32, 256, 4, 8, 4, 0.95}, {128, 32, 4, 8, 4, 0.8}, {48, 128, 6, 8, 4, 0.85}, {32, 32, 2, 4, 4, 0.5},
      {128, 16, 4, 4, 4, 0.5},  {16, 128, 2, 8, 4, 0.5}};
  // Runs that leave sectors of 32 bytes half empty are joined with the next ones; tiles of whole runs do that
  // best.
  const std::int64_t run = run_bytes(problem, groups);
  const bool joins = run < 128 && run % 32 != 0;
  const bool few = k <= 64, thin = std::min(m, n) <= 128;
  const bool in_tensor_cores = has_tensor_cores(problem, device);
  const std::vector<Shape>& shapes = in_tensor_cores ? (few ? of_few_in_tensor_cores : of_tensor_cores)
                                     : wide          ? of_doubles
                                     : few           ? of_few_words
                                     : thin          ? of_thin_words
                                                     : of_words;
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
  const double products_per_clock = wide && !in_tensor_cores ? 64 : 128, bytes_per_clock = 13, launch = 2000;
  // An operand is turned by copies of single elements. Large tiles need fewer of them for each product.
  const bool copies_single =
      &shapes == &of_words && ((first_along && !packs_first) || (second_along && !packs_second));
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

}  // namespace

Template contract() {
  return {
      .name = "contract",
      .room = "contract/",
      .what =
          "Sums of products of two accesses as products of matrices: tiles of both in shared memory, sums "
          "in registers.",
      .kernels = {"tensor_contract", "tensor_contract_kept", "tensor_contract_pack", "tensor_contract_split"},
      .compiled_in = {"dtype", "finish", "out_dtype"},
      .constants = ranks,
      .preamble = codes,
      .refuses = [](const Problem& problem) -> std::string {
        if (is_product(problem)) return refuses(problem);
        return "This template is for sums of products of two accesses; take another template.";
      },
      .untuned = untuned,
      .space = space,
      .work = work,
      .alignment_bytes = alignment_bytes};
}

Template contract_any() {
  return {
      .name = "contract_any",
      .room = "contract/",
      .what = "Any function of two accesses as a product of matrices, as in contract.",
      .kernels = {"tensor_contract", "tensor_contract_kept", "tensor_contract_pack", "tensor_contract_split"},
      .compiled_in = {"expression", "dtype", "finish", "out_dtype"},
      .constants = constants_of_any,
      .preamble =
          [](const Problem& problem) {
            return codes(problem) + language::code(expression_of(problem).function, compute_dtype(problem));
          },
      .refuses = [](const Problem& problem) -> std::string {
        if (!is_product(problem)) return refuses(problem);
        return "Sums of products are for the template contract.";
      },
      .untuned = untuned,
      .space = space,
      .work = work,
      .alignment_bytes = alignment_bytes};
}

}  // namespace tunesmith::tensor_op

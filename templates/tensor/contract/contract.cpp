// SPDX-License-Identifier: Apache-2.0
// The templates `contract` and `contract_any` (body.inl): space and work.

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
#include "templates/tensor/contract/contract_config.h"
#include "templates/tensor/contract/groups.h"
#include "templates/tensor/op.h"

namespace tunesmith::tensor_op {
namespace {

using namespace contraction;

#include "templates/tensor/contract/contract_layout.inl"

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

// True if the operand that is read through windows, and no other access, leaves its array's bounds, in a sum
// of products of 16-bit elements or bytes; then the packed copy has the zeros.
bool packs_bounds(const Problem& problem) {
  const Groups groups = groups_of(problem);
  const int windowed = windowed_operand(groups);
  if (windowed < 0 || !is_product(problem) || bytes(dtype_of(problem)) > 2) return false;
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
    return "This template reads elements out of bounds only of images of 8-bit or 16-bit elements with "
           "channels, which it packs; take another template.";
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

std::vector<Axis> axes(const Problem& problem) {
  const std::int64_t compute = bytes(compute_dtype(problem));
  const bool of_matrices = bytes(dtype_of(problem)) <= 2;
  const std::vector<Value> vectors = halves(widest_load(problem, of_matrices));
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
      {VECTOR_OUT, halves(widest_store(problem, of_matrices)), "columns of N that a store moves"},
      {UNIT, categories({"fma", "tensor_core", "mma", "wgmma", "halves", "packed_halves", "wgmma_halves"}),
       "what multiplies and adds: tensor_core doubles, mma elements of 8 or 16 bits in a warp, wgmma in "
       "four, "
       "halves floats "
       "that are split into two of these, packed_halves the same, split before in the workspace, "
       "wgmma_halves these "
       "in four warps"},
      {STAGES,
       {3, 2, 4, 1},
       "tiles of each operand that asynchronous copies bring into shared memory; 1: tiles come by way of "
       "registers, one ahead"},
      {LOAD_BY, categories({"vectors", "pieces"}),
       "how elements of 16 bits come into registers: in aligned vectors, or at any address in the pieces of "
       "16 "
       "bytes that hold them"},
      {TILE_M, tiles, "rows of M of a tile"},
      {TILE_N, tiles, "columns of N of a tile"},
      {THREAD_M, of_thread, "rows of a thread"},
      {THREAD_N, of_thread, "columns of a thread"},
      {WARP_N, {8, 4, 2, 16}, "threads of a warp along N; the others are along M"},
      {TILE_K,
       wide                 ? std::vector<Value>{16, 8, 32, 24}
       : has_bytes(problem) ? std::vector<Value>{16, 8, 32, 24, 64, 128}
                            : std::vector<Value>{16, 8, 32, 24, 64},
       "terms of a tile"},
      {OUT_BY, categories({"registers", "shared", "rows"}),
       "how sums come into the output: from registers, or by way of shared memory, where neighbours of "
       "different threads are joined; rows: in pieces of 16 bytes at any address"},
      {SPLIT,
       {splits.begin(), splits.end()},
       "blocks that share the terms of a tile, at most; at least half as many, as suits the device best"},
      {ADD_BY, categories({"launch", "last"}),
       "what adds the sums of a tile's parts: a launch, or the block that is the last to have its own"},
      {BLOCK_ORDER, categories({"row", "column", "banded"}),
       "in which order blocks take tiles; banded: 8 rows of tiles, column by column"},
      resident_warps_axis({16, 12, 8}),
      store_axis(),
      start_axis(),
      trigger_axis(),
  };
}

std::vector<Rule> must(const std::vector<Axis>& its_axes, const Groups& groups,
                       const std::shared_ptr<const WidthTable>& widths, const Problem& problem,
                       const DeviceFacts& device) {
  const DType dtype = dtype_of(problem);
  const std::int64_t element = bytes(compute_dtype(problem));
  const std::int64_t m = size_of(groups.m), n = size_of(groups.n), k = size_of(groups.k);
  const std::int64_t parts = least_parts(problem, groups), stored = widest_store(problem, false);
  const std::int64_t out_bytes = bytes(out_dtype(problem));
  const bool has_channels = adds_nothing(problem) && windowed_operand(groups) >= 0,
             has_bounds = nest_of(problem).bounds() > 0;
  const bool one_order_k = has_one_order_k(groups), has_rows = stores_rows(groups),
             pieces = has_pieces(problem, groups);
  const bool tensor_cores = has_tensor_cores(problem, device), matrices = has_matrices(problem, device),
             halves = has_halves(problem, device);
  const bool wgmma = has_wgmma(device);
  const std::int64_t its_terms = matrix_terms(problem);
  const std::int64_t turned = bytes(dtype) == 1 ? std::numeric_limits<std::int64_t>::max() : 64;
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
      {"mma and wgmma multiply products of f16, bf16, i8 and u8, and halves those of f32, from compute "
       "capability 8.0 on, 16 terms at a time, of bytes 32. Four lanes of a warp are then along N, a thread "
       "has an even number of rows and a multiple of eight columns, and N is not counted in runs.",
       [=](const Config& c) {
         return !multiplies_matrices(c) ||
                ((splits_floats(c) ? halves : matrices) && c[WARP_N] == 4 && c[THREAD_M] % 2 == 0 &&
                 c[THREAD_N] % 8 == 0 && c[TILE_K] % its_terms == 0 && c[SPAN_N] == 1);
       }},
      {"wgmma and wgmma_halves are of compute capability 9.0 alone. A warpgroup has 32 THREAD_M rows of the "
       "tile and all its columns, 64, 128 or 256, of wgmma also 32; a tile has 64 terms, of bytes 128, a "
       "thread at most 128 sums, and STAGES of wgmma is 1, 3 or 4.",
       [=](const Config& c) {
         return !uses_fours(c) ||
                (wgmma && c[TILE_N] == 4 * c[THREAD_N] && 256 % c[TILE_N] == 0 &&
                 c[TILE_N] >= (uses_warpgroups(c) ? 32 : 64) && c[TILE_M] % (32 * c[THREAD_M]) == 0 &&
                 c[TILE_K] == 4 * its_terms && c[THREAD_M] * c[THREAD_N] <= 128 &&
                 (c[STAGES] != 2 || swizzles_halves(c)));
       }},
      {"Only mma and wgmma store eight elements of 16 bits at once.",
       [=](const Config& c) { return c[VECTOR_OUT] <= stored || multiplies_matrices(c); }},
      {"wgmma takes turned operands by 64 rows or columns, and of bytes none.",
       [=](const Config& c) {
         return !uses_warpgroups(c) || ((c[TILE_M] % turned == 0 || widths->of(c).a_along_k) &&
                                        (c[TILE_N] % turned == 0 || widths->of(c).b_along_k));
       }},
      {"Threads with 2 rows are for mma, wgmma and wgmma_halves, with 32 or 64 columns for the latter two; "
       "tiles of 64 terms of f32 are for wgmma_halves, and of bytes for mma and wgmma.",
       [=](const Config& c) {
         if (uses_fours(c) || element == 8) return true;
         return (c[THREAD_M] != 2 || c[UNIT] == "mma") && c[THREAD_M] <= 16 && c[THREAD_N] != 2 &&
                c[THREAD_N] <= 16 && (c[TILE_K] < 64 || bytes(dtype) == 2 || c[UNIT] == "mma");
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
      {"Pieces of 16 bytes come by way of registers to mma and wgmma, where each operand's neighbours are "
       "those of one index and nothing is packed.",
       [=](const Config& c) {
         return !loads_pieces(c) || (pieces && multiplies_matrices(c) && c[STAGES] == 1 && c[PACK] == "none");
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
      conditional(
          ADD_BY, "launch", [](const Config& c) { return c[SPLIT] > 1; }, "One part is not added."),
      {"Rows of the output are stored whole where its neighbours are N's one index, and a tile's in pieces "
       "of "
       "16 bytes.",
       [=](const Config& c) { return c[OUT_BY] != "rows" || (has_rows && c[TILE_N] * out_bytes % 16 == 0); }},
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
      {"Pieces are for operands whose vectors have less than 16 bytes.",
       [is_narrow = std::min(widths->of(Packs::none, false).a, widths->of(Packs::none, false).b) <
                    8](const Config& c) { return is_narrow || !loads_pieces(c); }},
      {"The last block of a tile adds few sums.",
       [=](const Config& c) { return c[ADD_BY] == "launch" || c[TILE_M] * c[TILE_N] * c[SPLIT] <= 65536; }},
      {"K is split where tiles are few.",
       [=](const Config& c) {
         const std::int64_t tiles = ceil_divide(m, c[TILE_M]) * ceil_divide(n, c[TILE_N]) * batch;
         return c[SPLIT] == few_parts || (tiles * c[SPLIT] <= 2048 && k >= c[TILE_K] * c[SPLIT]);
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
  const bool tensor_cores = has_tensor_cores(problem, device), matrices = has_matrices(problem, device),
             warpgroups = has_warpgroups(problem, device), halves = has_halves(problem, device);
  const bool has_channels = adds_nothing(problem) && windowed_operand(groups) >= 0,
             has_bounds = nest_of(problem).bounds() > 0;
  const bool has_parts = least_parts(problem, groups) > 1, pieces = has_pieces(problem, groups);
  const std::int64_t element = bytes(dtype_of(problem));
  const bool becomes_wider = element != bytes(compute_dtype(problem));
  return [=](const Config& c) {
    Values changed;
    const bool has_unit = uses_tensor_cores(c)     ? tensor_cores
                          : splits_floats(c)       ? halves
                          : uses_warpgroups(c)     ? warpgroups
                          : multiplies_matrices(c) ? matrices
                                                   : true;
    if (!has_unit) changed.set(UNIT.name, "fma");
    if (loads_pieces(c) && !(pieces && has_unit)) changed.set(LOAD_BY.name, "vectors");
    if (has_bounds && c[PACK] != "channels") changed.set(PACK.name, "channels");
    if (!has_channels && c[PACK] == "channels") changed.set(PACK.name, "none");
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
                                           given.first.start,
                                           given.second.start,
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

Work work(const Problem& problem, const Config& config, const DeviceFacts& device) {
  const Groups given = groups_of(problem);
  const PackedGroups its_packed = packed(problem, given, config);
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

  // The workspace has the counters of tiles, the sums of parts of K, then the packed operands.
  Work work;
  const ContractStage stage = stage_of(problem, groups, config);
  const ContractLayout layout = layout_of(problem, stage, k, parts.splits, config);
  std::int64_t kept_at = 0;
  if (parts.splits > 1) {
    if (config[ADD_BY] == "last") work.zeroed_bytes = tiles * 4;
    kept_at = round_up(work.zeroed_bytes, 256);
    work.workspace_bytes =
        kept_at + tiles * parts.splits * config[TILE_M] * config[TILE_N] * bytes(compute_dtype(problem));
  }
  KernelArgument first = ArgumentPointer{given.first.array}, second = ArgumentPointer{given.second.array};
  for (const auto& [packing, operand] :
       {std::pair(&its_packed.first, &first), std::pair(&its_packed.second, &second)}) {
    if (packing->elements == 0) continue;
    const std::int64_t offset = round_up(work.workspace_bytes, 256);
    work.workspace_bytes = offset + packing->elements * bytes(dtype);
    *operand = WorkspacePointer{offset};
  }
  if (config[PACK] != "none")
    work.steps.emplace_back(packing_launch(its_packed, given, bytes(dtype), {first, second}, overlaps));
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
      std::move(first),          std::move(second),   ArgumentPointer{groups.out.array},
      WorkspacePointer{kept_at}, WorkspacePointer{0}, groups.first.start,
      groups.second.start,       groups.out.start};
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
  if (parts.splits == 1 || config[ADD_BY] == "last") return work;
  std::vector<KernelArgument> its = {ArgumentPointer{groups.out.array}, WorkspacePointer{kept_at},
                                     groups.out.start};
  const std::int64_t of_run = contract_splits_of_run(parts.splits), runs = ceil_divide(parts.splits, of_run);
  const std::int64_t columns = contract_kept_columns(config[THREAD_N]), threads = tile_threads(config);
  const std::int64_t lanes = runs <= 4 ? std::gcd(threads, std::int64_t{128}) : 32;  // of a block
  add_numbers(its, {m.size(), n.size(), n.in_runs, tiles_m, tiles_n, parts.splits, of_run});
  add_extents(its);
  add_strides(its, &Digit::out);
  add_finish(its);
  work.steps.push_back(
      Launch{.kernel = "tensor_contract_kept",
             .grid = {tiles * threads / lanes * config[THREAD_M] * config[THREAD_N] / columns},
             .block = {lanes, runs},
             .dynamic_shared_bytes = (runs - 1) * columns * lanes * bytes(compute_dtype(problem)),
             .arguments = std::move(its),
             .overlaps_previous = overlaps});
  return work;
}

std::int64_t alignment_bytes(const Problem& problem, const Config& config) {
  const bool any = loads_pieces(config);
  return std::max(std::max(any || packs_first(config) ? 1 : config[VECTOR_A],
                           any || packs_second(config) ? 1 : config[VECTOR_B]) *
                      bytes(dtype_of(problem)),
                  config[VECTOR_OUT] * bytes(out_dtype(problem)));
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

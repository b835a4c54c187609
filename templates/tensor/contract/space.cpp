// SPDX-License-Identifier: Apache-2.0
// The space of `contract` and `contract_any`: its axes and rules, and how configs of other contractions are
// used.

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "templates/axes.h"
#include "templates/choice.h"
#include "templates/tensor/contract/contract_config.h"
#include "templates/tensor/contract/groups.h"
#include "templates/tensor/contract/width_table.h"
#include "templates/tensor/op.h"

namespace tunesmith::tensor_op::contraction {
namespace {

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
       "is read through windows with its channels side by side"},
      {SPAN_N,
       {1, 8, 4, 16},
       "columns of N that are neighbours in the output, before the second operand's neighbours"},
      {ORDER_K, categories({"first", "second"}), "the operand whose neighbours are neighbours in K"},
      {VECTOR_A, vectors, "neighbours that a load of the first operand moves"},
      {VECTOR_B, vectors, "neighbours that a load of the second operand moves"},
      {VECTOR_OUT, halves(widest_store(problem, of_matrices)), "columns of N that a store moves"},
      {UNIT,
       categories({"fma", "tensor_core", "mma", "wgmma", "halves", "packed_halves", "wgmma_halves", "half",
                   "packed_half", "wgmma_half"}),
       "what multiplies and adds: tensor_core doubles, mma elements of 8 or 16 bits in a warp, wgmma in "
       "four, halves floats that are split into two of these, packed_halves the same, split before in the "
       "workspace, wgmma_halves these in four warps; half, packed_half and wgmma_half likewise floats that "
       "are rounded to one"},
      {STAGES,
       {3, 2, 4, 1, 6, 8},
       "tiles of each operand that asynchronous copies bring into shared memory; 1: tiles come by way of "
       "registers, one ahead"},
      {LOAD_BY, choices<LoadBy, Value>(),
       "how operands come: in aligned vectors; elements of 16 bits at any address in the pieces of 16 bytes "
       "that hold them; boxes: through tensor maps, by a warp of its own, of blocks that stay for several "
       "tiles"},
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
      {OUT_BY, categories({"registers", "shared", "rows", "boxes"}),
       "how sums come into the output: from registers, or by way of shared memory, where neighbours of "
       "different threads are joined; rows: in pieces of 16 bytes at any address; boxes: through a tensor "
       "map"},
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
                       const std::shared_ptr<const WidthTable>& widths, const BoxesByPacks& boxes,
                       const Problem& problem, const DeviceFacts& device) {
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
             halves = has_halves(problem, device), one_half = has_one_half(problem, device);
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
      {"wgmma, wgmma_halves and wgmma_half are of compute capability 9.0 alone. A warpgroup has 32 THREAD_M "
       "rows of the tile and all its columns, 64, 128 or 256, of wgmma also 32; a tile has 64 terms, of "
       "bytes 128, a thread at most 128 sums, and STAGES of wgmma is 1, 3 or 4, with LOAD_BY=boxes 2 to 8, "
       "of "
       "wgmma_half 3 or 4.",
       [=](const Config& c) {
         return !uses_fours(c) ||
                (wgmma && c[TILE_N] == 4 * c[THREAD_N] && 256 % c[TILE_N] == 0 &&
                 c[TILE_N] >= (uses_warpgroups(c) ? 32 : 64) && c[TILE_M] % (32 * c[THREAD_M]) == 0 &&
                 c[TILE_K] == 4 * its_terms && c[THREAD_M] * c[THREAD_N] <= 128 &&
                 (c[STAGES] != 2 || c[UNIT] == "wgmma_halves" || loads_boxes(c)));
       }},
      {"One half of each float is for problems that accept less accuracy.",
       [=](const Config& c) { return !takes_one_half(c) || one_half; }},
      {"STAGES is at most 4, but with LOAD_BY=boxes.",
       [](const Config& c) { return c[STAGES] <= 4 || loads_boxes(c); }},
      {"Boxes are for wgmma. The rows of each operand are one dimension of its array, and the terms another; "
       "the elements of one are neighbours, and those of the other begin at multiples of 16 bytes. Or "
       "windows "
       "step through one to three dimensions of an image of 64 channels, or a multiple, of bytes 128, as far "
       "as a tensor map can say. All have at most five dimensions, and STAGES is above 1.",
       [=](const Config& c) {
         return !loads_boxes(c) || (uses_warpgroups(c) && c[STAGES] > 1 && c[ORDER_K] == "first" &&
                                    boxes.at(static_cast<std::size_t>(packs_of(c))) &&
                                    c[VECTOR_A] * bytes(dtype) == 16 && c[VECTOR_B] * bytes(dtype) == 16);
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
      {"wgmma's sums fit into the registers of RESIDENT_WARPS, with 26 more for each thread, and "
       "wgmma_half's with 126, since it may have to sum a tile apart.",
       [=](const Config& c) {
         const std::int64_t more = uses_warpgroups(c) ? 26 : c[UNIT] == "wgmma_half" ? 126 : 0;
         return more == 0 ||
                (c[THREAD_M] * c[THREAD_N] + more) * 32 * std::max(c[RESIDENT_WARPS], tile_threads(c) / 32) <=
                    65536;
       }},
      {"Floats are split on their way through registers, and STAGES is 1; packed halves are copied, in more "
       "stages, and nothing else is packed but channels, before they are split.",
       [](const Config& c) {
         const bool splits_in_launch = c[STAGES] > 1 && (c[PACK] == "none" || c[PACK] == "channels");
         return !splits_floats(c) || (packs_halves(c) ? splits_in_launch : c[STAGES] == 1);
       }},
      {"Floats are split into two halves where a sum has enough terms for the error of that to stay below a "
       "plain sum's: 40 with TILE_K=16, 58 with TILE_K=32, 98 with TILE_K=64.",
       [=](const Config& c) {
         return !splits_floats(c) || takes_one_half(c) || are_enough_for_halves(k, c[TILE_K]);
       }},
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
         const bool is_out = c[VECTOR_OUT] == its.out || c[VECTOR_OUT] == its.joined;
         return (c[VECTOR_A] == its.a && c[VECTOR_B] == its.b && is_out) ||
                (c[VECTOR_A] == (packs_first(c) ? its.a : 1) &&
                 c[VECTOR_B] == (packs_second(c) ? its.b : 1) && c[VECTOR_OUT] == 1);
       }},
      {"A vector of the output may go on along N's next index where that follows without gaps, but by way of "
       "shared memory.",
       [=](const Config& c) {
         return c[VECTOR_OUT] == 1 || c[VECTOR_OUT] == widths->of(c).out_by(c[OUT_BY]);
       }},
      {"Pieces of 16 bytes come by way of registers to mma and wgmma, where each operand's neighbours are "
       "those of one index and nothing is packed.",
       [=](const Config& c) {
         return !loads_pieces(c) || (pieces && multiplies_matrices(c) && c[STAGES] == 1 && c[PACK] == "none");
       }},
      {"Channels are packed of sums of products that read one operand through windows, with an index of K's "
       "own beside; always, where it leaves its array's bounds and is not copied in boxes.",
       [=](const Config& c) { return c[PACK] == "channels" ? has_channels : !has_bounds || loads_boxes(c); }},
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
       "of 16 bytes.",
       [=](const Config& c) { return c[OUT_BY] != "rows" || (has_rows && c[TILE_N] * out_bytes % 16 == 0); }},
      {"The output is stored in boxes of 128 bytes of neighbours, which begin at multiples of 16 bytes, with "
       "LOAD_BY=boxes, where M and N are each one dimension of it.",
       [=, has_out = has_boxes_out(groups)](const Config& c) {
         return c[OUT_BY] != "boxes" || (loads_boxes(c) && has_out && c[VECTOR_OUT] * out_bytes == 16 &&
                                         c[TILE_N] * out_bytes % 128 == 0);
       }},
      {"Boxes are stored without a hint.",
       [](const Config& c) { return c[OUT_BY] != "boxes" || c[STORE] == "plain"; }},
      conditional(
          BLOCK_ORDER, "row", [=](const Config& c) { return m > c[TILE_M] && n > c[TILE_N]; },
          "One row or column of tiles has one order."),
      resident_warps_rule(its_axes, tile_threads),
  };
  if (element != bytes(dtype)) {
    rules.push_back(
        {"Elements of 8 and 16 bits become wider on their way, which is by registers: STAGES is 1, but for "
         "mma, where an asynchronous copy moves at least 4 bytes.",
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
                               const BoxesByPacks& boxes, const Problem& problem, const DeviceFacts& device) {
  const bool tensor_cores = has_tensor_cores(problem, device), matrices = has_matrices(problem, device),
             warpgroups = has_warpgroups(problem, device), halves = has_halves(problem, device),
             one_half = has_one_half(problem, device);
  const bool has_channels = adds_nothing(problem) && windowed_operand(groups) >= 0,
             has_bounds = nest_of(problem).bounds() > 0;
  const bool has_parts = least_parts(problem, groups) > 1, pieces = has_pieces(problem, groups);
  const std::int64_t element = bytes(dtype_of(problem));
  const bool becomes_wider = element != bytes(compute_dtype(problem));
  return [=](const Config& c) {
    Values changed;
    const bool has_unit = uses_tensor_cores(c)     ? tensor_cores
                          : takes_one_half(c)      ? one_half
                          : splits_floats(c)       ? halves
                          : uses_warpgroups(c)     ? warpgroups
                          : multiplies_matrices(c) ? matrices
                                                   : true;
    if (!has_unit) changed.set(UNIT.name, "fma");
    if (loads_pieces(c) && !(pieces && has_unit)) changed.set(LOAD_BY.name, "vectors");
    if (loads_boxes(c) &&
        !(has_unit && uses_warpgroups(c) && boxes.at(static_cast<std::size_t>(packs_of(c)))))
      changed.set(LOAD_BY.name, "vectors");
    if (has_bounds && c[PACK] != "channels" && (!loads_boxes(c) || changed.has(LOAD_BY.name)))
      changed.set(PACK.name, "channels");
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
               {std::string(VECTOR_OUT.name), is_narrow ? 1 : widest.out_by(c[OUT_BY])}};
    const bool is_too_narrow = multiplies_matrices(c) && std::min(a, b) * element < 4;
    if (becomes_wider && (c[UNIT] == "fma" || is_too_narrow)) changed.set(STAGES.name, std::int64_t{1});
    return changed;
  };
}

}  // namespace

Space space(const Problem& problem, const DeviceFacts& device) {
  const Groups groups = groups_of(problem);
  std::vector<Axis> its = axes(problem);
  const auto widths = std::make_shared<const WidthTable>(problem, groups);
  const BoxesByPacks boxes = boxes_by_packs(problem, groups, device);
  std::vector<Rule> rules = must(its, groups, widths, boxes, problem, device);
  return Space(std::move(its), std::move(rules), worth(groups, widths, problem),
               translation(groups, widths, boxes, problem, device));
}

}  // namespace tunesmith::tensor_op::contraction

// SPDX-License-Identifier: Apache-2.0
// The axes of `contract` and `contract_any`, and what their values mean, for the space, the work and the
// first guess. Private to this folder.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>

#include "generator/rates.h"
#include "templates/axes.h"
#include "templates/choice.h"
#include "templates/tensor/contract/groups.h"
#include "templates/tensor/op.h"

namespace tunesmith::tensor_op::contraction {

constexpr CategoricalAxis ADD_BY("ADD_BY");
constexpr CategoricalAxis BLOCK_ORDER("BLOCK_ORDER");
constexpr CategoricalAxis LOAD_BY("LOAD_BY");
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
inline Packs packs_of(const Config& c) { return choice<Packs>(c, PACK); }
inline bool packs_first(const Config& c) { return packs_first(packs_of(c)); }
inline bool packs_second(const Config& c) { return packs_second(packs_of(c)); }

inline std::int64_t tile_threads(const Config& c) {
  return c[TILE_M] / c[THREAD_M] * (c[TILE_N] / c[THREAD_N]);
}

inline bool uses_tensor_cores(const Config& c) { return c[UNIT] == "tensor_core"; }  // of doubles
inline bool uses_warpgroups(const Config& c) { return c[UNIT] == "wgmma"; }
inline bool takes_one_half(const Config& c) {  // of two, for a lesser accuracy
  return c[UNIT] == "half" || c[UNIT] == "packed_half" || c[UNIT] == "wgmma_half";
}
inline bool swizzles_halves(const Config& c) { return c[UNIT] == "wgmma_halves" || c[UNIT] == "wgmma_half"; }
inline bool packs_halves(const Config& c) {
  return c[UNIT] == "packed_halves" || c[UNIT] == "packed_half" || swizzles_halves(c);
}
inline bool splits_floats(const Config& c) {  // into 16-bit elements
  return c[UNIT] == "halves" || c[UNIT] == "half" || packs_halves(c);
}
inline bool uses_fours(const Config& c) { return uses_warpgroups(c) || swizzles_halves(c); }  // of warps
inline bool multiplies_matrices(const Config& c) {  // of 16-bit elements or bytes
  return c[UNIT] == "mma" || uses_warpgroups(c) || splits_floats(c);
}

/// What LOAD_BY names.
enum class LoadBy : std::uint8_t { vectors, pieces, boxes };
constexpr auto names_of(LoadBy) { return std::to_array<std::string_view>({"vectors", "pieces", "boxes"}); }
inline bool loads_pieces(const Config& c) { return c[LOAD_BY] == "pieces"; }
inline bool loads_boxes(const Config& c) { return c[LOAD_BY] == "boxes"; }

// The type of an element in shared memory.
inline DType held_dtype(const Problem& problem, const Config& c) {
  if (splits_floats(c)) return DType::f16;
  return multiplies_matrices(c) ? dtype_of(problem) : compute_dtype(problem);
}

inline bool is_asynchronous(const Problem& problem, const Config& c) {
  return c[STAGES] > 1 && held_dtype(problem, c) == dtype_of(problem);
}

// The terms of a product of matrices: 32 bytes, of floats as halves.
inline std::int64_t matrix_terms(const Problem& problem) {
  return 32 / std::min<std::int64_t>(2, bytes(dtype_of(problem)));
}

inline bool has_bytes(const Problem& problem) { return bytes(dtype_of(problem)) == 1; }

// Packs operands so that their rows begin at multiples of the widest vector. For products of matrices of
// bytes, which take four neighbouring terms at once, packed neighbours are terms.
inline PackedGroups packed(const Problem& problem, const Groups& groups, Packs packs, bool of_matrices) {
  return {groups, packs, 16 / bytes(dtype_of(problem)), of_matrices && has_bytes(problem)};
}
inline PackedGroups packed(const Problem& problem, const Groups& groups, const Config& c) {
  return packed(problem, groups, packs_of(c), multiplies_matrices(c));
}

// The number of blocks that a multiprocessor holds at once if they ask for room for `warps` warps.
std::int64_t resident_blocks(std::int64_t threads, std::int64_t warps, std::int64_t shared_bytes,
                             const DeviceFacts& device);

// The time of all blocks in rounds of `resident` per multiprocessor (one block alone = 1); a partly filled
// last round is slower.
double rounds_of(std::int64_t blocks, std::int64_t resident, const DeviceFacts& device);

// The least number of parts of a long sum of f32, so that each term is rounded few times: a part has at most
// `longest_part` terms, but there are at most `most_parts` parts. 1 unless the sums of the parts are few
// compared to the operands.
constexpr std::int64_t longest_part = 8192, most_parts = 1024;
std::int64_t least_parts(const Problem& problem, const Groups& groups);

struct Parts {
  std::int64_t splits, terms;
};
// Splits K into `split` parts, but into at least `least` unless `split` is 1.
Parts parts_of(std::int64_t k, std::int64_t split, std::int64_t tile_k, std::int64_t least);

// The smallest SPLIT that gives as many parts as `split`.
constexpr std::array<std::int64_t, 8> splits = {1, 2, 4, 8, 16, 32, 64, 128};
std::int64_t least_split(std::int64_t k, std::int64_t split, std::int64_t tile_k, std::int64_t least);

// Splits K, for each of the tiles, into at most `split` parts and at least half as many, or into `least` to
// twice as many where that is more. Takes the number with which all blocks need the least time.
Parts parts_of(std::int64_t k, std::int64_t split, std::int64_t tile_k, std::int64_t least,
               std::int64_t tiles, std::int64_t resident, const DeviceFacts& device);

// True if terms of zeros may be added: they add nothing.
bool adds_nothing(const Problem& problem);

// True if the sum is that of products of the two accesses.
bool is_product(const Problem& problem);

// True if the device has tensor cores that multiply the problem's type, which is one of `types`; the host
// emulates them.
bool has_tensor_cores(const Problem& problem, const DeviceFacts& device, std::initializer_list<DType> types);
bool has_tensor_cores(const Problem& problem, const DeviceFacts& device);
bool has_matrices(const Problem& problem, const DeviceFacts& device);
// wgmma is of compute capability 9.0 alone; the host emulates it.
bool has_wgmma(const DeviceFacts& device);
bool has_warpgroups(const Problem& problem, const DeviceFacts& device);
bool has_halves(const Problem& problem, const DeviceFacts& device);
// True if one half of each float may do: the problem permits the error of that.
bool has_one_half(const Problem& problem, const DeviceFacts& device);

// True if a sum of k products of halves keeps the bound of a sum of floats: halves.inl counts the roundings.
// There are at most as many parts of K as there are tiles.
bool are_enough_for_halves(std::int64_t k, std::int64_t tile_k);

// The elements of the widest load and of the widest store; they divide a tile.
std::int64_t widest_load(const Problem& problem, bool of_matrices);
std::int64_t widest_store(const Problem& problem, bool of_matrices);

// The bytes of a run of the output's neighbours along N.
std::int64_t run_bytes(const Problem& problem, const Groups& groups);

// True if N is one index, along which the output's elements are neighbours.
bool stores_rows(const Groups& groups);

// True if each operand's neighbours are those of one index, at any address.
bool has_pieces(const Problem& problem, const Groups& groups);

// The operand that boxes read through windows, from its image as it is or as its channels are packed: 0 or 1;
// -1: neither.
int image_operand(const Groups& groups, Packs packs);

// The groups after packing, where both operands can be copied as boxes through tensor maps then; else
// nothing. And whether the output can.
std::optional<PackedGroups> boxed_groups(const Problem& problem, const Groups& groups, Packs packs);

// The view of that image, of whose channels a tile takes some.
std::optional<BoxedArray> boxed_image(const Problem& problem, const Groups& groups, bool second);

// Whether boxed_groups() is something, by what is packed; never where the device has no warpgroups for the
// problem.
using BoxesByPacks = std::array<bool, number_of_packs>;
BoxesByPacks boxes_by_packs(const Problem& problem, const Groups& groups, const DeviceFacts& device);
bool has_boxes_out(const Groups& groups);

// True if packing an operand helps: its neighbours are terms, or its nearest rows are not the output's
// nearest, or K has several indices.
bool is_packed_with_gain(const Groups& groups, const Group& rows, Stride stride);

// True if the sums and operands of `warps` warps fit into the registers, with `words` words per number.
bool fits_registers(std::int64_t thread_m, std::int64_t thread_n, std::int64_t words, std::int64_t warps);

// The bits of an offset: 32 if they reach every element of each array and every sum of some of a view's
// strides, else 64.
std::int64_t index_bits(const Problem& problem);

// The space and the launches of both templates.
Space space(const Problem& problem, const DeviceFacts& device);
Work work(const Problem& problem, const Config& config, const DeviceFacts& device);
/// The first guess, as Template::untuned.
std::optional<Values> untuned(const Problem& problem, const DeviceFacts& device);
/// The first guess of a unit, as Template::untuned_way.
std::optional<Values> untuned_way(const Problem& problem, const DeviceFacts& device, const Values& way);

/// The clocks of a config's launches by the model of the first guess, for a fit of the rates. Nothing: it is
/// of a unit that the model is not for.
std::optional<double> modelled_clocks(const Problem& problem, const Config& config, const DeviceFacts& device,
                                      const Rates& rates);

}  // namespace tunesmith::tensor_op::contraction

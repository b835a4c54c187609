// SPDX-License-Identifier: Apache-2.0
#include "templates/tensor/contract/contract_config.h"

#include <cmath>
#include <cstdlib>
#include <vector>

#include "templates/tensor/contract/boxed_operands.h"

namespace tunesmith::tensor_op::contraction {

std::int64_t resident_blocks(std::int64_t threads, std::int64_t warps, std::int64_t shared_bytes,
                             const DeviceFacts& device) {
  std::int64_t blocks = std::max<std::int64_t>(1, warps * 32 / threads);
  if (device.kind == DeviceKind::cuda && device.shared_bytes_per_multiprocessor > 0)
    blocks = std::min(blocks, device.shared_bytes_per_multiprocessor / (shared_bytes + 1024));
  return std::max<std::int64_t>(1, blocks);
}

double rounds_of(std::int64_t blocks, std::int64_t resident, const DeviceFacts& device) {
  const std::int64_t multiprocessors = multiprocessors_to_fill(device), slots = multiprocessors * resident;
  const auto last = static_cast<double>(ceil_divide(blocks % slots, multiprocessors));
  const auto all = static_cast<double>(resident);
  const std::int64_t whole = blocks / slots;
  return static_cast<double>(whole) * all + last * 2 * all / (all + last);
}

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

std::int64_t least_parts(const Problem& problem, const Groups& groups) {
  if (compute_dtype(problem) != DType::f32 || expression_of(problem).reduction != Reduction::sum) return 1;
  const auto m = static_cast<double>(size_of(groups.m)), n = static_cast<double>(size_of(groups.n));
  const std::int64_t k = size_of(groups.k), parts = std::min(most_parts, ceil_divide(k, longest_part));
  const bool are_few = 4 * m * n * static_cast<double>(parts) <= (m + n) * static_cast<double>(k);
  return are_few ? parts : 1;
}

Parts parts_of(std::int64_t k, std::int64_t split, std::int64_t tile_k, std::int64_t least) {
  const std::int64_t parts = split == 1 ? 1 : std::max(split, least);
  const std::int64_t terms = round_up(ceil_divide(k, parts), tile_k);
  return {ceil_divide(k, terms), terms};
}

std::int64_t least_split(std::int64_t k, std::int64_t split, std::int64_t tile_k, std::int64_t least) {
  return least_alike(splits, split,
                     [=](std::int64_t each) { return parts_of(k, each, tile_k, least).splits; });
}

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

bool adds_nothing(const Problem& problem) {
  const Expression& expression = expression_of(problem);
  return expression.reduction == Reduction::sum && !product_of(expression.function).empty();
}

bool is_product(const Problem& problem) {
  const Expression& expression = expression_of(problem);
  std::vector<int> factors = product_of(expression.function);
  std::sort(factors.begin(), factors.end());
  return expression.reduction == Reduction::sum && factors == std::vector{0, 1};
}

bool has_tensor_cores(const Problem& problem, const DeviceFacts& device, std::initializer_list<DType> types) {
  return is_product(problem) && std::find(types.begin(), types.end(), dtype_of(problem)) != types.end() &&
         (device.kind != DeviceKind::cuda || device.compute_capability >= 80);
}
bool has_tensor_cores(const Problem& problem, const DeviceFacts& device) {
  return has_tensor_cores(problem, device, {DType::f64});
}
bool has_matrices(const Problem& problem, const DeviceFacts& device) {
  return has_tensor_cores(problem, device, {DType::f16, DType::bf16, DType::i8, DType::u8});
}
bool has_wgmma(const DeviceFacts& device) {
  return device.kind != DeviceKind::cuda || device.compute_capability == 90;
}
bool has_warpgroups(const Problem& problem, const DeviceFacts& device) {
  return has_matrices(problem, device) && has_wgmma(device);
}
bool has_halves(const Problem& problem, const DeviceFacts& device) {
  return has_tensor_cores(problem, device, {DType::f32});
}
bool has_one_half(const Problem& problem, const DeviceFacts& device) {
  return has_halves(problem, device) && may_round_factors(problem);
}

bool are_enough_for_halves(std::int64_t k, std::int64_t tile_k) {
  const auto terms = static_cast<double>(tile_k), tiles = static_cast<double>(ceil_divide(k, tile_k));
  return 13 + 1.26 * terms + 2 * tiles <= static_cast<double>(k);
}

std::int64_t widest_load(const Problem& problem, bool of_matrices) {
  return std::min<std::int64_t>(of_matrices ? 16 : 8, 16 / bytes(dtype_of(problem)));
}
std::int64_t widest_store(const Problem& problem, bool of_matrices) {
  const std::int64_t number = of_matrices ? 2 : bytes(compute_dtype(problem));
  return 16 / std::max<std::int64_t>(number, bytes(out_dtype(problem)));
}

std::int64_t run_bytes(const Problem& problem, const Groups& groups) {
  const Digit& along = *std::min_element(
      groups.n.begin(), groups.n.end(),
      [](const Digit& a, const Digit& b) { return distance_of(a.out) < distance_of(b.out); });
  return along.extent * bytes(out_dtype(problem));
}

bool stores_rows(const Groups& groups) { return groups.n.size() == 1 && groups.n.front().out == 1; }

bool has_pieces(const Problem& problem, const Groups& groups) {
  const auto lies_so = [](const Group& group, Stride stride) {
    return group.size() == 1 && group.front().*stride == 1;
  };
  return bytes(dtype_of(problem)) == 2 && nest_of(problem).bounds() == 0 &&
         lies_so(first_along_k(groups) ? groups.k : groups.m, &Digit::first) &&
         lies_so(second_along_k(groups) ? groups.k : groups.n, &Digit::second);
}

int image_operand(const Groups& groups, Packs packs) {
  const int windowed = windowed_operand(groups);
  const bool is_packed_whole =
      packs != Packs::channels && (windowed == 0 ? packs_first(packs) : packs_second(packs));
  return is_packed_whole ? -1 : windowed;
}

std::optional<BoxedArray> boxed_image(const Problem& problem, const Groups& groups, bool second) {
  return boxed_image(groups, second, 4 * matrix_terms(problem), 16 / bytes(dtype_of(problem)));
}

std::optional<PackedGroups> boxed_groups(const Problem& problem, const Groups& groups, Packs packs) {
  const int image = image_operand(groups, packs);
  if (image < 0 && (packs == Packs::channels || nest_of(problem).bounds() > 0)) return std::nullopt;
  PackedGroups its(groups, packs, 16 / bytes(dtype_of(problem)), has_bytes(problem), false);
  for (const int operand : {0, 1}) {
    const bool exists = operand == image
                            ? boxed_image(problem, its.groups, operand == 1).has_value()
                            : boxed(its.groups, operand == 0 ? Side::first : Side::second).has_value();
    if (!exists) return std::nullopt;
  }
  return its;
}

BoxesByPacks boxes_by_packs(const Problem& problem, const Groups& groups, const DeviceFacts& device) {
  BoxesByPacks all = {};
  for (std::size_t pack = 0; pack < number_of_packs && has_warpgroups(problem, device); ++pack)
    all.at(pack) = boxed_groups(problem, groups, static_cast<Packs>(pack)).has_value();
  return all;
}

bool has_boxes_out(const Groups& groups) { return boxed(groups, Side::out).has_value(); }

bool is_packed_with_gain(const Groups& groups, const Group& rows, Stride stride) {
  return along_k(groups, rows, stride) || groups.k.size() > 1 ||
         !(ordered(rows, stride, &Digit::out).digits.front() ==
           ordered(rows, &Digit::out, stride).digits.front());
}

bool fits_registers(std::int64_t thread_m, std::int64_t thread_n, std::int64_t words, std::int64_t warps) {
  const std::int64_t numbers = thread_m * thread_n + 2 * (thread_m + thread_n);
  return (numbers * words + 32) * 32 * warps <= 65536 + 2048;
}

}  // namespace tunesmith::tensor_op::contraction

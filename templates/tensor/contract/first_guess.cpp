// SPDX-License-Identifier: Apache-2.0
// The first guess of `contract` and `contract_any`.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "generator/error.h"
#include "generator/number_text.h"
#include "generator/rates.h"
#include "templates/tensor/contract/contract_config.h"
#include "templates/tensor/contract/matrix_model.h"

namespace tunesmith::tensor_op::contraction {
namespace {

// The most warps whose sums fit into registers.
std::int64_t most_resident(std::int64_t thread_m, std::int64_t thread_n, std::int64_t area,
                           std::int64_t words) {
  std::int64_t warps = 16;
  while (warps > 8 && !fits_registers(thread_m, thread_n, words, warps)) warps -= 4;
  return name_of_warps(area / (thread_m * thread_n), warps);
}

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

struct Guess {
  Values values;
  double clocks;  // of multiplying
};

// Chooses tiles as large as the sides allow with the fewest multiplications in vain, and parts of K where
// tiles are few, for ordinary multiplications or for tensor cores of doubles. With a single stage, tiles come
// through registers: asynchronous copies of single elements, where rows are not aligned, take long.
Guess untuned_tiles(const Problem& problem, const DeviceFacts& device, bool in_tensor_cores,
                    bool single_stage = false) {
  const Groups groups = groups_of(problem);
  const Rates& rates = rates_of("tensor", device);
  const std::int64_t m = size_of(groups.m), n = size_of(groups.n), k = size_of(groups.k);
  const bool wide = bytes(compute_dtype(problem)) == 8;
  // Runs that leave sectors of 32 bytes half empty are joined with the next ones; tiles of whole runs do that
  // best.
  const std::int64_t run = run_bytes(problem, groups);
  const bool joins = run < 128 && run % 32 != 0;
  const bool few = k <= 64, thin = std::min(m, n) <= 128;
  // Where storing takes as long as multiplying, many small blocks are best, so that some of them store at any
  // time.
  const std::string which = in_tensor_cores ? (few ? "few_in_tensor_cores" : "tensor_cores")
                            : wide          ? "doubles"
                            : few           ? "few_words"
                            : thin          ? "thin_words"
                                            : "words";
  const std::vector<Shape> shapes = shapes_of(rates, which);
  // The neighbours of windows are rarely aligned.
  const bool asynchronous =
      !single_stage && bytes(dtype_of(problem)) >= 4 && (few || !has_windows(expression_of(problem)));
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
  return {std::move(values), least};
}

// The host only emulates matrix units.
bool takes_matrices(const Problem& problem, const DeviceFacts& device) {
  return device.kind == DeviceKind::cuda && has_matrices(problem, device);
}
bool takes_halves(const Problem& problem, const DeviceFacts& device) {
  return device.kind == DeviceKind::cuda && has_wgmma(device) && has_halves(problem, device);
}

// The kinds of a way's unit, and whether the problem takes it on the device.
bool is_of_matrices(std::string_view unit) { return unit == "mma" || unit == "wgmma"; }
bool is_of_halves(std::string_view unit) { return unit == "wgmma_half" || unit == "wgmma_halves"; }
bool takes_unit(const Problem& problem, const DeviceFacts& device, std::string_view unit) {
  if (is_of_matrices(unit)) return takes_matrices(problem, device);
  if (is_of_halves(unit))
    return takes_halves(problem, device) && has_one_half(problem, device) == (unit == "wgmma_half");
  return unit != "tensor_core" || has_tensor_cores(problem, device);
}

}  // namespace

std::optional<Values> untuned(const Problem& problem, const DeviceFacts& device) {
  const Groups groups = groups_of(problem);
  const Rates& rates = rates_of("tensor", device);
  if (takes_matrices(problem, device) && std::min(size_of(groups.m), size_of(groups.n)) > 4 &&
      size_of(groups.k) > 8)
    if (std::optional<Values> best = best_of_matrices(problem, groups, device, rates)) return best;
  Guess guess = untuned_tiles(problem, device, has_tensor_cores(problem, device));
  if (takes_halves(problem, device))
    if (std::optional<Values> best = best_of_halves(problem, groups, device, rates, guess.clocks))
      return best;
  return std::move(guess.values);
}

std::optional<Values> untuned_way(const Problem& problem, const DeviceFacts& device, const Values& way) {
  const std::string& unit = way.string(UNIT.name);
  const Rates& rates = rates_of("tensor", device);
  const bool in_tensor_cores = unit == "tensor_core";
  if (!takes_unit(problem, device, unit)) return std::nullopt;
  if (is_of_matrices(unit)) return best_of_matrices(problem, groups_of(problem), device, rates, way);
  if (is_of_halves(unit)) return best_of_halves(problem, groups_of(problem), device, rates);
  Values values = untuned_tiles(problem, device, in_tensor_cores).values;
  if (way.find(STAGES.name) == nullptr) return values;
  if (values.integer(STAGES.name) == 1) return std::nullopt;  // the way without is the same
  return untuned_tiles(problem, device, in_tensor_cores, true).values;
}

}  // namespace tunesmith::tensor_op::contraction

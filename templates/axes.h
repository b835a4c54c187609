// SPDX-License-Identifier: Apache-2.0
// Axes that have the same meaning in every op: the handles by which rules read them, and the axes themselves.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "generator/device_facts.h"
#include "generator/problem.h"
#include "generator/space.h"

namespace tunesmith {

/// Bytes of shared memory that a block may have on the GPUs that have most. See also static_shared_limit.
inline constexpr std::int64_t largest_shared_limit = std::int64_t{227} * 1024;

inline constexpr IntegerAxis BLOCK("BLOCK");
inline constexpr IntegerAxis BLOCK_X("BLOCK_X");
inline constexpr IntegerAxis BLOCK_Y("BLOCK_Y");
inline constexpr IntegerAxis BLOCKS("BLOCKS");
inline constexpr CategoricalAxis COPY("COPY");
inline constexpr IntegerAxis ITEMS("ITEMS");
inline constexpr CategoricalAxis LOAD("LOAD");
inline constexpr IntegerAxis RESIDENT_WARPS("RESIDENT_WARPS");
inline constexpr CategoricalAxis SMEM_LAYOUT("SMEM_LAYOUT");
inline constexpr CategoricalAxis START("START");
inline constexpr CategoricalAxis STORE("STORE");
inline constexpr CategoricalAxis TRIGGER("TRIGGER");
inline constexpr IntegerAxis UNROLL("UNROLL");
inline constexpr IntegerAxis VECTOR("VECTOR");

inline Axis block_axis(std::vector<Value> threads = {256, 128, 512, 1024}) {
  return {BLOCK, std::move(threads), "threads per block"};
}

/// The axis LOAD with some of the hints; `plain` is none.
inline Axis load_axis(std::initializer_list<const char*> hints) {
  return {LOAD, categories(hints),
          "the hint that inputs are read with; streaming: they leave the caches first; no_allocate, bypass: "
          "they pass by the first-level cache; wide: the same, 256 bytes at once; half: one half leaves the "
          "second-level cache first"};
}

/// The widths from `widest` down to `least`, each half of the previous one.
inline std::vector<Value> halves(std::int64_t widest, std::int64_t least = 1) {
  std::vector<Value> widths;
  for (std::int64_t width = widest; width >= least; width /= 2) widths.emplace_back(width);
  return widths;
}

/// The axis VECTOR: loads of 16 bytes, or of one element for arrays of any alignment and for elements that
/// lie apart.
inline Axis load_vector_axis(std::int64_t element_bytes, bool is_contiguous = true) {
  std::vector<Value> widths = {std::int64_t{1}};
  if (is_contiguous) widths.insert(widths.begin(), 16 / element_bytes);
  return {VECTOR, std::move(widths), "elements per load"};
}

inline Axis resident_warps_axis(std::vector<Value> values) {
  return {RESIDENT_WARPS, std::move(values),
          "warps that a multiprocessor must have room for; bounds a thread's registers"};
}

/// For `must`, if a kernel asks for room for RESIDENT_WARPS in whole blocks of `threads` threads, at least
/// one block: of values that give the same number of blocks, only the smallest is legal, or the first on the
/// axis if `takes_first`.
inline Rule resident_warps_rule(const std::vector<Axis>& axes,
                                const std::function<std::int64_t(const Config&)>& threads,
                                bool takes_first = false) {
  std::vector<std::int64_t> order;
  for (const Axis& axis : axes) {
    if (axis.name != RESIDENT_WARPS.name) continue;
    for (const Value& value : axis.values) order.push_back(std::get<std::int64_t>(value));
  }
  if (!takes_first) std::sort(order.begin(), order.end());
  return one_name(
      RESIDENT_WARPS,
      [order, threads](const Config& c) {
        const std::int64_t block = std::max<std::int64_t>(1, threads(c));
        const auto blocks = [&](std::int64_t warps) { return std::max<std::int64_t>(1, warps * 32 / block); };
        const std::int64_t wanted = blocks(c[RESIDENT_WARPS]);
        return *std::find_if(order.begin(), order.end(),
                             [&](std::int64_t warps) { return blocks(warps) == wanted; });
      },
      "Of the RESIDENT_WARPS that are as many whole blocks one stands for all.");
}

inline Axis start_axis() {
  return {START, categories({"plain", "overlapped"}),
          "whether the kernel may start while the one before it runs"};
}

inline Axis trigger_axis() {
  return {TRIGGER, categories({"none", "early"}),
          "whether the kernel lets the next one start before it has ended"};
}

/// For `worth`.
inline Rule trigger_rule() {
  return {
      "TRIGGER=early gains only where the next kernel has START=overlapped; an ordinary one waits all the "
      "same.",
      [](const Config& c) { return c[TRIGGER] == "none"; }};
}

/// For `worth`; `bytes` is the size of the inputs. Second-level caches have 4 to 128 MiB.
inline Rule half_rule(std::int64_t bytes) {
  constexpr std::int64_t mib = 1 << 20;
  return {
      "LOAD=half is for inputs of 8 to 512 MiB: less stays in the second-level cache, and half of more "
      "does not.",
      [large = bytes >= 8 * mib && bytes <= 512 * mib](const Config& c) {
        return large || c[LOAD] != "half";
      }};
}

/// For Template::untuned: the first legal values suit every problem.
inline std::optional<Values> by_default(const Problem& /*problem*/, const DeviceFacts& /*device*/) {
  return Values();
}

inline Axis store_axis() {
  return {STORE, categories({"plain", "streaming"}), "the hint that outputs are written with"};
}

}  // namespace tunesmith

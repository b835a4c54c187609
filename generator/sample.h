// SPDX-License-Identifier: Apache-2.0
// Problems drawn at random from an op's usual range, such as users have: what a table of times is measured
// on, and what a choice is judged by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "generator/op.h"
#include "generator/random.h"

namespace tunesmith {

/// What a drawn problem may cost, so that many variants of it can be checked and timed: on a GPU up to where
/// rates do not change any more, on the host, where it is emulated, what takes milliseconds.
struct SampleLimits {
  double bytes = 0x1p30;  ///< of all arguments together
  double flops = 5e10;
};
SampleLimits sample_limits(DeviceKind device_kind);
bool affordable(const Op& op, const Problem& problem, const SampleLimits& limits);  ///< and not nothing

/// So many complete and allowed problems, each once; the first ones of a longer list from the same seed.
/// Sizes are log-uniform in `Parameter::usual`, as powers of two, round and familiar numbers, multiples, odd
/// numbers and any. A parameter that has an initial value keeps it about half of the time. Throws Error where
/// an op's range does not hold so many.
std::vector<Problem> sample_problems(const Op& op, std::size_t count, std::uint64_t seed,
                                     const SampleLimits& limits = {});

/// The sizes of `problem` with what variants of the op compile in (a mask, a dtype) from `other`, so that
/// what was compiled for that serves it too; `problem` as it is where that is not allowed or not affordable.
Problem with_constants_of(const Op& op, const Problem& problem, const Problem& other,
                          const SampleLimits& limits = {});

// ---- For Op::sample

/// Log-uniform from `least` to `most`, as people choose sizes.
std::int64_t draw_size(Random& random, std::int64_t least, std::int64_t most);

bool draw_chance(Random& random, int percent);

template <typename Item>
const Item& draw(Random& random, const std::vector<Item>& items) {
  return items[random.below(items.size())];
}

}  // namespace tunesmith

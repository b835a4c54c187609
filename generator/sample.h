// SPDX-License-Identifier: Apache-2.0
// Draws random problems from an op's usual range, such as users have. Timing tables are measured on them, and
// choices are judged by them.
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

/// The cost limit of a drawn problem, so that many variants of it can be checked and timed: on a GPU up to
/// the size from which rates stay constant, on the host, which emulates a GPU, some milliseconds.
struct SampleLimits {
  double bytes = 0x1p30;  ///< all arguments together
  double flops = 5e10;
};
SampleLimits sample_limits(DeviceKind device_kind);
bool affordable(const Op& op, const Problem& problem,
                const SampleLimits& limits);  ///< false also if there is nothing to do

/// Draws `count` complete and allowed problems, each once; a smaller count with the same seed gives the first
/// ones of the same list. Sizes are log-uniform in `Parameter::usual`, as powers of two, round and familiar
/// numbers, multiples, odd numbers and any. A parameter with an initial value keeps it about half of the
/// time. Throws Error if an op's range holds too few problems.
std::vector<Problem> sample_problems(const Op& op, std::size_t count, std::uint64_t seed,
                                     const SampleLimits& limits = {});

/// Returns the sizes of `problem` with the values that variants of the op compile in (a mask, a dtype) from
/// `other`, so that code compiled for `other` serves it too. Returns `problem` unchanged if the result is not
/// allowed or not affordable.
Problem with_constants_of(const Op& op, const Problem& problem, const Problem& other,
                          const SampleLimits& limits = {});

// ---- Helpers for Op::sample

/// Draws log-uniformly from `least` to `most`, as people choose sizes.
std::int64_t draw_size(Random& random, std::int64_t least, std::int64_t most);

bool draw_chance(Random& random, int percent);

template <typename Item>
const Item& draw(Random& random, const std::vector<Item>& items) {
  return items[random.below(items.size())];
}

}  // namespace tunesmith

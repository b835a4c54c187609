// SPDX-License-Identifier: Apache-2.0
// The variants that are tried on a problem: makes the points of each mode.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "db/store.h"
#include "tuner/run/tune.h"
#include "tuner/search/promising.h"
#include "tuner/search/search.h"

namespace tunesmith {

/// The op, problem and device that configs are read for.
struct Place {
  const Op& op;
  const Problem& problem;
  const DeviceFacts& device;
};

/// Variants that were fast on the op's problems: built-in winners, stored winners, and the fastest of other
/// problems and devices. The device's number is that of its row in the database.
std::vector<Guess> guesses(const Place& place, std::span<const BuiltIn> built_in,
                           std::span<const WinnerRow> winners, std::span<const Store::Fast> fastest,
                           std::int64_t device_id);

/// The identities of the kernels that are the library's own winners of the problem.
std::vector<std::string> built_in_hashes(const Place& place, std::span<const BuiltIn> built_in);

/// Each list begins with the base, and has only legal points, never the base again: the fastest variants that
/// were measured on the problem and device; the listed variants, which may be those of a table; and, of the
/// configs that cover each template's axes, the share of one of several problems.
std::vector<Point> stored_points(const Place& place, const Point& base, std::span<const Store::Fast> fastest,
                                 std::int64_t device_id);
std::vector<Point> listed_points(const Place& place, const Point& base, std::span<const NamedVariant> listed);
std::vector<Point> covering_points(const SearchSpace& space, std::size_t random, std::uint64_t seed,
                                   std::size_t problem, std::size_t problems);

/// A search that proposes these points in their order.
std::unique_ptr<Search> search_of(std::vector<Point> points);

}  // namespace tunesmith

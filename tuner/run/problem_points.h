// SPDX-License-Identifier: Apache-2.0
// What is tried on a problem: where the points of each mode come from.
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

/// What configs are read for.
struct Place {
  const Op& op;
  const Problem& problem;
  const DeviceFacts& device;
};

/// What was fast on the op's problems: what is built in, winners, and the fastest of other problems and
/// devices. The device's number is that of its row in the database.
std::vector<Guess> guesses(const Place& place, std::span<const BuiltIn> built_in,
                           std::span<const WinnerRow> winners, std::span<const Store::Fast> fastest,
                           std::int64_t device_id);

/// Identities of the kernels that are the library's own winners of the problem.
std::vector<std::string> built_in_hashes(const Place& place, std::span<const BuiltIn> built_in);

/// Each begins with the base, and has what is legal here, never the base again: the fastest that were
/// measured on the problem and device; what is listed; and the share of one of several problems in what
/// covers each template's axes.
std::vector<Point> stored_points(const Place& place, const Point& base, std::span<const Store::Fast> fastest,
                                 std::int64_t device_id);
std::vector<Point> listed_points(const Place& place, const Point& base, std::span<const NamedVariant> listed);
std::vector<Point> covering_points(const SearchSpace& space, std::size_t random, std::uint64_t seed,
                                   std::size_t problem, std::size_t problems);

/// Proposes these, in their order.
std::unique_ptr<Search> search_of(std::vector<Point> points);

}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
// Finds out on the host why a kernel that is a reference fails: with each of its accesses watched
// (watcher.h), before the access takes place.
#pragma once

#include <cstdint>
#include <string>

#include "generator/op.h"

namespace tunesmith {

/// Runs the reference of a user's op on the problem and on its companions. Returns a sentence on an access
/// outside of an array; empty if there is none, or if this compiler cannot watch.
std::string outside_access_of_reference(const Op& op, const Problem& problem, std::uint64_t seed);

}  // namespace tunesmith

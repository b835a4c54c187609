// Guesses for a search from the database: what was fast on the problem before, or won for another problem of
// the op.
#pragma once

#include <vector>

#include "db/store.h"
#include "tuner/search.h"

namespace tunesmith {

/// Points of `space` to propose first, each once: those of `fastest`, which were measured on this problem,
/// and the configs of `winners` on other problems of the op, the nearest problem first, as far as they are
/// legal here. A template that has changed since most likely still does well with them.
std::vector<Point> promising(const Op& op, const Problem& problem, const DeviceFacts& device,
                             const SearchSpace& space, const std::vector<Store::Tried>& fastest,
                             const std::vector<WinnerRow>& winners);

}  // namespace tunesmith

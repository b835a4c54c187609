// Guesses for a search from the database: what was fast on the problem before, or won for another problem of
// the op.
#pragma once

#include <vector>

#include "db/store.h"
#include "tuner/search.h"

namespace tunesmith {

/// Points of `space` to propose first, each once and only if it is legal here: the configs of `winners`, the
/// nearest problem first, and among those of this problem `fastest`. A template that has changed since most
/// likely still does well with them.
std::vector<Point> promising(const Op& op, const Problem& problem, const DeviceFacts& device,
                             const SearchSpace& space, const std::vector<Store::Tried>& fastest,
                             const std::vector<WinnerRow>& winners);

}  // namespace tunesmith

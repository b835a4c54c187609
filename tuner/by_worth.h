// A search whose points may be tried in any order, by worth: the chance that a point is the fastest so far,
// per second of compiling it. Both are predicted from the points that were tried before, of this run and of
// earlier ones. What is not worth its compilation comes last; nothing is left out.
#pragma once

#include <memory>

#include "tuner/search.h"

namespace tunesmith {

std::unique_ptr<Search> by_worth(std::unique_ptr<Search> search);

}  // namespace tunesmith

// SPDX-License-Identifier: Apache-2.0
// What a tune run found, for people.
#pragma once

#include <string>

#include "tuner/run/tune.h"

namespace tunesmith {

/// Whether something is wrong with the op itself: its base is not ok, or no variant is.
bool is_alarming(const TunedProblem& problem);

/// One table per problem, with its verdicts below it.
std::string winners_text(const TuneResult& result);

/// What the device did, moment by moment, and below it the compilers, which work at the same time.
std::string spent_text(const TuneResult& result);

}  // namespace tunesmith

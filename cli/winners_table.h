// SPDX-License-Identifier: Apache-2.0
// Formats the results of a tune run for people.
#pragma once

#include <string>

#include "generator/op.h"
#include "tuner/run/tune.h"

namespace tunesmith {

/// True if the op itself seems wrong: its base is not ok, or no variant is.
bool is_alarming(const TunedProblem& problem);

/// Writes one table per problem, with its verdicts below it, and with the metrics of a user's op.
std::string winners_text(const TuneResult& result, const Op* op = nullptr);

/// Writes how the device spent its time, and below it the compilers, which work at the same time.
std::string spent_text(const TuneResult& result);

}  // namespace tunesmith

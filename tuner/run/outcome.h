// SPDX-License-Identifier: Apache-2.0
// What a problem's run comes to, for people and for the database: pure functions of what was found and
// decided.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "db/rows.h"
#include "tuner/run/finals.h"
#include "tuner/run/tune.h"

namespace tunesmith {

TunedTime tuned_time(const Trial& trial);

/// `element_bytes`: the alignment of one element, which every pointer has.
TunedWinner tuned_winner(const Findings& findings, const Decision& decision, const Decision::Winner& chosen,
                         std::int64_t element_bytes);

/// Those that ran beside the first winner, itself included, the best first.
std::vector<TunedFinalist> first_finalists(const Findings& findings, const Decision& decision);

/// The rows of each winner's finalists.
std::map<TrialId, std::vector<FinalistRow>> finalist_rows(const Findings& findings, const Decision& decision);

/// The fastest so far, which no finals have compared: overall, and of those that need no more than the
/// alignment of an element. None before the base and all that is promising have been tried: one that is
/// built in may be faster. Where `in_parts`, some of these are tried by others.
std::vector<TrialId> provisional_winners(const Findings& findings, const SearchSpace& space, bool in_parts,
                                         std::int64_t element_bytes);
TunedWinner provisional_winner(const Trial& trial, std::int64_t element_bytes);

/// The counts, and the base's fault if it has one.
void add_counts(TunedProblem& result, const Findings& findings);
std::vector<FailedVariant> failed_variants(const Findings& findings);

}  // namespace tunesmith

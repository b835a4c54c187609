// SPDX-License-Identifier: Apache-2.0
// The results of a problem's run, for people and for the database: pure functions of its findings and
// decision.
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

/// The finalists that ran beside the first winner, itself included, the best first.
std::vector<TunedFinalist> first_finalists(const Findings& findings, const Decision& decision);

/// The rows of each winner's finalists.
std::map<TrialId, std::vector<FinalistRow>> finalist_rows(const Findings& findings, const Decision& decision);

/// The fastest variants so far, which no finals have compared: overall, and among those that need no more
/// than the alignment of an element. None before the base and all promising points have been tried, because a
/// built-in winner may be faster. If `in_parts`, others try some of these.
std::vector<TrialId> provisional_winners(const Findings& findings, const SearchSpace& space, bool in_parts,
                                         std::int64_t element_bytes);
TunedWinner provisional_winner(const Trial& trial, std::int64_t element_bytes);

/// Adds the counts, and the base's fault if it has one.
void add_counts(TunedProblem& result, const Findings& findings);
std::vector<FailedVariant> failed_variants(const Findings& findings);

}  // namespace tunesmith

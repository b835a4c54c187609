// SPDX-License-Identifier: Apache-2.0
// Choices in sentences for people, made when they are asked for. Private to dispatch/, but for a device that
// is not here, which the command line asks about.
#pragma once

#include <string>
#include <vector>

#include "dispatch/plan_state.h"
#include "dispatch/tuning_data.h"

namespace tunesmith {

std::string rounded(double value);  ///< two digits behind the point

/// Why `used` (in `context`) ranks first, what ranks behind it, and what tuning would gain.
std::vector<std::string> why_used(const SelectionContext& context, const Op& op, const Problem& problem,
                                  const Candidate* used);

/// Each reason why others are not used, once, with two of those that have it.
std::vector<std::string> why_not_others(const SelectionContext& context, const Op& op, const Problem& problem,
                                        const std::vector<PlanState::Failure>& failures);

/// The lines above the sentences.
std::string heading(const std::string& op, const std::string& problem, const DeviceFacts& device, Match match,
                    const std::string& template_name, const std::string& config);

/// Whether a device has this text in its name, in upper or lower case, or as its target; empty: all have.
bool is_named(const DeviceFacts& device, const std::string& text);

/// The device of that name, part of a name, or target: one that is known from `database` or the library, else
/// for a target a GPU of which nothing else is known. Throws UsageError naming the known ones.
DeviceFacts find_device(const std::string& text, const std::string& database);

/// What would be used on a device that need not be here; nothing is loaded or compiled. `problem` is
/// complete.
std::string explain_absent(const DeviceFacts& device, const Op& op, const Problem& problem,
                           const std::string& database, bool with_refusals);

}  // namespace tunesmith

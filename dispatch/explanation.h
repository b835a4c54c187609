// SPDX-License-Identifier: Apache-2.0
// Choices in sentences for people, made when they are asked for. Private to dispatch/, except for the
// functions on absent devices, which the command line uses.
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

/// Each reason why other variants are not used, once, with two variants that have it.
std::vector<std::string> why_not_others(const SelectionContext& context, const Op& op, const Problem& problem,
                                        const std::vector<PlanState::Failure>& failures);

/// The lines above the sentences of an explanation.
std::string heading(const std::string& op, const std::string& problem, const DeviceFacts& device, Match match,
                    const std::string& template_name, const std::string& config);

/// True if `text` is part of the device's name, in upper or lower case, or its target. Every device matches
/// an empty text.
bool is_named(const DeviceFacts& device, const std::string& text);

/// Finds a device by its name, a part of the name, or its target: a device known from `database` or the
/// library; else, for a target, a GPU of which nothing else is known. Throws UsageError naming the known
/// devices.
DeviceFacts find_device(const std::string& text, const std::string& database);

/// Explains the choice for a device that need not be in this machine; nothing is loaded or compiled.
/// `problem` is complete.
std::string explain_absent(const DeviceFacts& device, const Op& op, const Problem& problem,
                           const std::string& database, bool with_refusals);

}  // namespace tunesmith
